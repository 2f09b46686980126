//! All descriptors, as immutable snapshots. Sources push whole-source snapshots; the catalog
//! computes what changed. System facts, never shown raw to a model.

#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::descriptor::CapabilityDescriptor;
use crate::digest::Digest;
use crate::id::CapabilityId;
use crate::quarantine::{Quarantine, QuarantineReason};
use crate::wire::BareNames;

/// One state of the catalog. Equal contents have equal digests, whatever order they came in.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogSnapshot {
    revision: u64,
    digest: Digest,
    entries: BTreeMap<CapabilityId, Arc<CapabilityDescriptor>>,
    unavailable: BTreeMap<String, String>,
    quarantined: BTreeMap<CapabilityId, Quarantine>,
}

/// What one source offers now.
#[derive(Clone, Debug)]
pub struct SourceSnapshot {
    /// The source's name, `local:files`.
    pub source: String,
    /// Everything it offers.
    pub descriptors: Vec<Arc<CapabilityDescriptor>>,
    /// Why it cannot serve at the moment. Its descriptors stay known, and unavailable.
    pub unavailable: Option<String>,
    /// What of it is held back until a person has accepted it.
    pub quarantined: BTreeMap<CapabilityId, Quarantine>,
}

/// What a new snapshot changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogChange {
    /// Not there before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<CapabilityId>,
    /// No longer there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<CapabilityId>,
    /// There with another definition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<CapabilityId>,
    /// Refused because a person could mistake it for another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedEntry>,
    /// Held back now, until a person has accepted it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<CapabilityId>,
    /// No longer held back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<CapabilityId>,
    /// Sources that stopped or began to serve, with the reason they stopped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub availability: BTreeMap<String, Option<String>>,
}

impl CatalogChange {
    /// Whether anything happened.
    pub fn is_empty(&self) -> bool {
        *self == CatalogChange::default()
    }
}

/// An entry that was not let in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedEntry {
    /// The entry.
    pub id: CapabilityId,
    /// The one it looks like.
    pub resembles: CapabilityId,
}

impl Default for CatalogSnapshot {
    fn default() -> Self {
        Self::assemble(0, BTreeMap::new(), BTreeMap::new(), BTreeMap::new())
    }
}

impl CatalogSnapshot {
    fn assemble(
        revision: u64,
        entries: BTreeMap<CapabilityId, Arc<CapabilityDescriptor>>,
        unavailable: BTreeMap<String, String>,
        quarantined: BTreeMap<CapabilityId, Quarantine>,
    ) -> Self {
        let contents = entries.values().flat_map(|entry| {
            [
                entry.id.as_str().as_bytes(),
                entry.source.as_bytes(),
                entry.digest.as_bytes().as_slice(),
            ]
        });
        let down = unavailable.keys().map(String::as_bytes);
        let held = quarantined
            .iter()
            .flat_map(|(id, it)| [id.as_str().as_bytes(), it.reason.as_str().as_bytes()]);
        let digest = Digest::of_fields(contents.chain(down).chain(held));
        CatalogSnapshot {
            revision,
            digest,
            entries,
            unavailable,
            quarantined,
        }
    }

    /// Counts changes since the catalog began.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Of the contents.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// One entry.
    pub fn get(&self, id: &CapabilityId) -> Option<&Arc<CapabilityDescriptor>> {
        self.entries.get(id)
    }

    /// All entries, by id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<CapabilityDescriptor>> {
        self.entries.values()
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Why an entry's source cannot serve at the moment, if so.
    pub fn unavailable(&self, entry: &CapabilityDescriptor) -> Option<&str> {
        self.unavailable.get(&entry.source).map(String::as_str)
    }

    /// Every source that cannot serve at the moment, and why. Some of them have no entries.
    pub fn unavailable_sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let sources = self.unavailable.iter();
        sources.map(|(source, why)| (source.as_str(), why.as_str()))
    }

    /// Why a capability is held back, if it is.
    pub fn quarantine(&self, id: &CapabilityId) -> Option<&Quarantine> {
        self.quarantined.get(id)
    }

    /// All that is held back.
    pub fn quarantined(&self) -> impl Iterator<Item = (&CapabilityId, &Quarantine)> {
        self.quarantined.iter()
    }

    /// Who goes by a bare name where everything is granted.
    pub fn bare_names(&self) -> BareNames {
        BareNames::among(self.iter().map(|it| (&it.id, it.naming)))
    }

    /// The snapshot after one source has said what it offers now, and what that changed. The
    /// revision moves only when something did.
    pub fn with_source(&self, source: SourceSnapshot) -> (CatalogSnapshot, CatalogChange) {
        self.with_sources([source])
    }

    /// The same for several sources at once. A snapshot costs as much as the whole catalog, so
    /// whoever has many sources to tell of tells of them together.
    pub fn with_sources(
        &self,
        sources: impl IntoIterator<Item = SourceSnapshot>,
    ) -> (CatalogSnapshot, CatalogChange) {
        let mut change = CatalogChange::default();
        let mut entries = self.entries.clone();
        let mut down = self.unavailable.clone();
        let mut held = self.quarantined.clone();
        let mut said: HashMap<String, BTreeSet<CapabilityId>> = HashMap::new();
        for SourceSnapshot {
            source,
            descriptors,
            unavailable,
            mut quarantined,
        } in sources
        {
            let offered = admit(&entries, &source, &descriptors, &mut change);
            for (id, descriptor) in &offered {
                let holds = quarantined.remove(id);
                let (was, is) = (held.contains_key(id), holds.is_some());
                match (was, is) {
                    (false, true) => change.quarantined.push(id.clone()),
                    (true, false) => change.released.push(id.clone()),
                    _ => {}
                }
                match holds {
                    Some(it) => held.insert(id.clone(), it),
                    None => held.remove(id),
                };
                match entries.insert(id.clone(), Arc::clone(descriptor)) {
                    Some(before) if before.digest == descriptor.digest => {}
                    Some(_) => change.changed.push(id.clone()),
                    None => change.added.push(id.clone()),
                }
            }
            let before = match &unavailable {
                Some(reason) => down.insert(source.clone(), reason.clone()),
                None => down.remove(&source),
            };
            if before != unavailable {
                change.availability.insert(source.clone(), unavailable);
            }
            said.insert(source, offered.into_keys().collect());
        }
        entries.retain(|id, entry| {
            let stays = said.get(&entry.source).is_none_or(|it| it.contains(id));
            if !stays {
                held.remove(id);
                change.removed.push(id.clone());
            }
            stays
        });
        let moved = u64::from(!change.is_empty());
        let next = Self::assemble(self.revision + moved, entries, down, held);
        (next, change)
    }

    /// The snapshot after a source is gone for good.
    pub fn without_source(&self, source: &str) -> (CatalogSnapshot, CatalogChange) {
        self.with_source(SourceSnapshot {
            source: source.to_owned(),
            descriptors: Vec::new(),
            unavailable: None,
            quarantined: BTreeMap::new(),
        })
    }
}

/// Keeps what nobody could mistake for something else: among names of one provider that
/// differ only by case or look-alike letters, one already known stays and the others are
/// refused; where none was known, all are, since nothing says which is the real one. An id
/// that another source already holds cannot be taken over.
fn admit(
    entries: &BTreeMap<CapabilityId, Arc<CapabilityDescriptor>>,
    source: &str,
    descriptors: &[Arc<CapabilityDescriptor>],
    change: &mut CatalogChange,
) -> BTreeMap<CapabilityId, Arc<CapabilityDescriptor>> {
    // Who shares a skeleton with whom. Hardly anyone does, so a group is made by its second.
    let mut first: HashMap<String, &CapabilityId> = HashMap::with_capacity(descriptors.len());
    let mut groups: HashMap<String, BTreeSet<&CapabilityId>> = HashMap::new();
    for descriptor in descriptors {
        let id = &descriptor.id;
        match first.entry(id.skeleton()) {
            Entry::Vacant(free) => {
                free.insert(id);
            }
            Entry::Occupied(taken) if *taken.get() == id => {}
            Entry::Occupied(taken) => {
                let group = groups.entry(taken.key().clone()).or_default();
                group.extend([*taken.get(), id]);
            }
        }
    }
    let known = |id: &CapabilityId| entries.get(id).is_some_and(|entry| entry.source == source);
    let twin = |id: &CapabilityId| {
        let group = match groups.is_empty() {
            true => None,
            false => groups.get(&id.skeleton()),
        };
        let others = || group.into_iter().flatten().filter(|it| **it != id);
        others().find(|it| known(it)).or(others().next()).copied()
    };
    let mut offered = BTreeMap::new();
    for descriptor in descriptors {
        let id = &descriptor.id;
        let resembles = match entries.get(id) {
            Some(entry) if entry.source == source => None,
            Some(_) => Some(id),
            None => twin(id),
        };
        match resembles {
            Some(resembles) => {
                let refused = RefusedEntry {
                    id: id.clone(),
                    resembles: resembles.clone(),
                };
                if !change.refused.contains(&refused) {
                    change.refused.push(refused);
                }
            }
            None => {
                offered.insert(id.clone(), Arc::clone(descriptor));
            }
        }
    }
    offered
}

/// A snapshot as it is stored, once per digest, so that a turn can be recomputed later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredCatalog {
    revision: u64,
    entries: Vec<Arc<CapabilityDescriptor>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    unavailable: BTreeMap<String, String>,
    /// Without what is different: that is for a person, and recorded apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    quarantined: BTreeMap<CapabilityId, QuarantineReason>,
}

impl From<&CatalogSnapshot> for StoredCatalog {
    fn from(it: &CatalogSnapshot) -> Self {
        StoredCatalog {
            revision: it.revision,
            entries: it.entries.values().cloned().collect(),
            unavailable: it.unavailable.clone(),
            quarantined: it
                .quarantined
                .iter()
                .map(|(id, it)| (id.clone(), it.reason))
                .collect(),
        }
    }
}

impl From<StoredCatalog> for CatalogSnapshot {
    fn from(it: StoredCatalog) -> Self {
        let entries = it
            .entries
            .into_iter()
            .map(|entry| (entry.id.clone(), entry))
            .collect();
        let held = |reason| Quarantine {
            reason,
            diff: String::new(),
        };
        let quarantined = it
            .quarantined
            .into_iter()
            .map(|(id, reason)| (id, held(reason)))
            .collect();
        CatalogSnapshot::assemble(it.revision, entries, it.unavailable, quarantined)
    }
}
