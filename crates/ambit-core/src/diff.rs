//! What changed between two visible sets, exactly: applied to the first it gives the second.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::id::CapabilityId;
use crate::visible::{HiddenReason, VisibleEntry, VisibleSet};

/// An entry that is no longer visible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedEntry {
    /// Which.
    pub id: CapabilityId,
    /// Why; nothing where it left the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<HiddenReason>,
}

/// An entry that is visible for other reasons, or in another layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedEntry {
    /// As it was.
    pub before: VisibleEntry,
    /// As it is.
    pub after: VisibleEntry,
}

/// The difference of two visible sets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibleDiff {
    /// Newly visible, with reasons.
    pub added: Vec<VisibleEntry>,
    /// No longer visible, with reasons.
    pub removed: Vec<RemovedEntry>,
    /// Visible before and after, and not the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedEntry>,
    /// The new order, where it is not the old one with the new entries at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<CapabilityId>>,
}

impl VisibleDiff {
    /// From one set to another.
    pub fn between(before: &VisibleSet, after: &VisibleSet) -> Self {
        let mut diff = Self::of_entries(before.entries(), after.entries());
        for removed in &mut diff.removed {
            removed.why = after.hidden_reason(&removed.id).cloned();
        }
        diff
    }

    fn of_entries(before: &[VisibleEntry], after: &[VisibleEntry]) -> Self {
        let was: BTreeMap<_, _> = before.iter().map(|it| (&it.id, it)).collect();
        let is: BTreeSet<_> = after.iter().map(|it| &it.id).collect();
        let mut diff = VisibleDiff::default();
        for entry in after {
            match was.get(&entry.id) {
                None => diff.added.push(entry.clone()),
                Some(before) if *before != entry => {
                    diff.changed.push(ChangedEntry {
                        before: (*before).clone(),
                        after: entry.clone(),
                    });
                }
                Some(_) => {}
            }
        }
        diff.removed = before
            .iter()
            .filter(|it| !is.contains(&it.id))
            .map(|it| RemovedEntry {
                id: it.id.clone(),
                why: None,
            })
            .collect();
        if diff.apply(before) != after {
            diff.order = Some(after.iter().map(|it| it.id.clone()).collect());
        }
        diff
    }

    /// The entries after it, from the entries before it.
    pub fn apply(&self, before: &[VisibleEntry]) -> Vec<VisibleEntry> {
        let removed: BTreeSet<_> = self.removed.iter().map(|it| &it.id).collect();
        let changed: BTreeMap<_, _> = self
            .changed
            .iter()
            .map(|it| (&it.after.id, &it.after))
            .collect();
        let kept = before.iter().filter(|it| !removed.contains(&it.id));
        let mut after: Vec<VisibleEntry> = kept
            .map(|it| (*changed.get(&it.id).unwrap_or(&it)).clone())
            .chain(self.added.iter().cloned())
            .collect();
        if let Some(order) = &self.order {
            let places: BTreeMap<_, _> = order.iter().zip(0_usize..).collect();
            after.sort_by_key(|it| places.get(&it.id).copied());
        }
        after
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == VisibleDiff::default()
    }
}
