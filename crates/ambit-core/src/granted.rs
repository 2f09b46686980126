//! The outer bound of what one agent may ever have: what the registry resolved, and the runtime's
//! injections. Recorded once by digest, since a turn that repeats ten thousand ids says nothing new.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::CapabilityId;

/// A set of ids with its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    ids: BTreeSet<CapabilityId>,
    digest: Digest,
}

impl Granted {
    /// Whether an id is in it.
    pub fn contains(&self, id: &CapabilityId) -> bool {
        self.ids.contains(id)
    }

    /// The ids, in order.
    pub fn iter(&self) -> impl Iterator<Item = &CapabilityId> {
        self.ids.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether nothing is granted.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Of the ids.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl FromIterator<CapabilityId> for Granted {
    fn from_iter<T: IntoIterator<Item = CapabilityId>>(iter: T) -> Self {
        let ids: BTreeSet<CapabilityId> = iter.into_iter().collect();
        let digest = Digest::of_fields(ids.iter().map(|id| id.as_str().as_bytes()));
        Granted { ids, digest }
    }
}

impl Default for Granted {
    fn default() -> Self {
        Granted::from_iter([])
    }
}

impl Serialize for Granted {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ids.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Granted {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeSet::deserialize(deserializer).map(Granted::from_iter)
    }
}
