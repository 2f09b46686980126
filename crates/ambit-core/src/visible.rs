//! What the model sees this turn, each entry with its reasons, and what it does not, with one.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::CapabilityId;
use crate::manifest::ChannelFeature;
use crate::wire::{WireNames, wire_name};

/// Why an entry is visible.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "signal", rename_all = "camelCase")]
pub enum VisibleReason {
    /// It is granted, and nothing hides it.
    Granted,
}

/// Why an entry is not visible.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "camelCase")]
pub enum HiddenReason {
    /// The agent's config does not list it.
    NotGranted,
    /// Its source cannot serve at the moment.
    SourceDown {
        /// Why.
        why: String,
    },
    /// The mode forbids what it does.
    ModeForbids,
    /// A rule forbids it.
    RuleForbids {
        /// Which.
        rule: String,
    },
    /// The entry point lacks a feature it needs.
    ChannelCannot {
        /// Which.
        feature: ChannelFeature,
    },
}

impl fmt::Display for HiddenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HiddenReason::NotGranted => f.write_str("the agent's `capabilities` do not list it"),
            HiddenReason::SourceDown { why } => write!(f, "its source is down: {why}"),
            HiddenReason::ModeForbids => f.write_str("the mode forbids what it does"),
            HiddenReason::RuleForbids { rule } => write!(f, "the rule `{rule}` forbids it"),
            HiddenReason::ChannelCannot { feature } => {
                write!(f, "this entry point cannot `{}`", feature.as_str())
            }
        }
    }
}

/// One visible entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibleEntry {
    /// Which.
    pub id: CapabilityId,
    /// Why.
    pub reasons: Vec<VisibleReason>,
}

/// The result of one selection.
#[derive(Clone, Debug, Default)]
pub struct VisibleSet {
    entries: Vec<VisibleEntry>,
    hidden: BTreeMap<CapabilityId, HiddenReason>,
    names: WireNames,
}

impl VisibleSet {
    /// Entries in the order a model sees them, and reasons for the rest.
    pub(crate) fn new(
        entries: Vec<VisibleEntry>,
        hidden: BTreeMap<CapabilityId, HiddenReason>,
    ) -> Self {
        let names = WireNames::assign(entries.iter().map(|it| &it.id));
        VisibleSet {
            entries,
            hidden,
            names,
        }
    }

    /// The entries, in the order a model sees them.
    pub fn entries(&self) -> &[VisibleEntry] {
        &self.entries
    }

    /// What is not visible, and why.
    pub fn hidden(&self) -> &BTreeMap<CapabilityId, HiddenReason> {
        &self.hidden
    }

    /// How visible entries are called by a model or client.
    pub fn names(&self) -> &WireNames {
        &self.names
    }

    /// The visible capability a caller means by an id or a wire name.
    pub fn find(&self, target: &str) -> Option<&CapabilityId> {
        self.names
            .id_of(target)
            .or_else(|| self.names.known(target))
    }

    /// The hidden capability that an id or a wire name would mean, and why it is hidden.
    pub fn find_hidden(&self, target: &str) -> Option<(&CapabilityId, &HiddenReason)> {
        self.hidden
            .iter()
            .find(|(id, _)| id.as_str() == target || wire_name(id) == target)
    }

    /// Of the entries, their order and their reasons.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.entries).unwrap_or(Digest::ZERO)
    }
}
