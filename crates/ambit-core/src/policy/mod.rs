//! The discovery policy: which capabilities does the model see this turn? Pure, deterministic,
//! and every answer has its reason.
//!
//! Filters first (`filter`), each with a [`HiddenReason`]; then integer scores by signal
//! (`score`); then the budget (`fill`). Order is order of first appearance, so that what a model
//! has read already keeps its place.
//!
//! [`HiddenReason`]: crate::visible::HiddenReason

mod fill;
mod filter;
mod score;
#[cfg(test)]
mod tests;

pub use filter::{eligible, hides};

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::CatalogSnapshot;
use crate::descriptor::CapabilityDescriptor;
use crate::granted::Granted;
use crate::turn::TurnInput;
use crate::visible::{HiddenReason, Signal, VisibleReason, VisibleSet};
use score::Scores;

/// Recorded with every turn: replay refuses to compare across versions.
pub const POLICY_VERSION: u32 = 1;

/// Something that may be visible, and how much speaks for it.
struct Candidate<'a> {
    descriptor: &'a Arc<CapabilityDescriptor>,
    score: i64,
    reasons: Vec<VisibleReason>,
    /// A rule forbids it. It still takes its place while the budget is shared out, so that
    /// forbidding something never lets something else in.
    forbidden: Option<HiddenReason>,
}

impl Candidate<'_> {
    fn has(&self, signal: Signal) -> bool {
        self.reasons.iter().any(|it| it.signal == signal)
    }

    /// What speaks for it besides having been visible.
    fn fresh_score(&self) -> i64 {
        let stays = self.reasons.iter().find(|it| it.signal == Signal::Stays);
        self.score - stays.map_or(0, |it| i64::from(it.weight))
    }
}

/// Selects what is visible.
pub fn select(catalog: &CatalogSnapshot, granted: &Granted, turn: &TurnInput) -> VisibleSet {
    let mut scores = Scores::of(turn);
    let mut candidates = Vec::new();
    let mut hidden = Vec::new();
    let mut grants = granted.iter().peekable();
    for descriptor in catalog.iter() {
        // Both are in id order: one walk along both answers "granted?" for all.
        while grants.next_if(|id| **id < descriptor.id).is_some() {}
        let is_granted = grants.next_if(|id| **id == descriptor.id).is_some();
        let reason = match is_granted {
            false => Some(HiddenReason::NotGranted),
            true => hides(catalog, turn, descriptor),
        };
        let forbidden = match reason {
            Some(rule @ HiddenReason::RuleForbids { .. }) => Some(rule),
            Some(reason) => {
                hidden.push((descriptor.id.clone(), reason));
                continue;
            }
            None => None,
        };
        match scores.judge(descriptor) {
            Ok((score, reasons)) => candidates.push(Candidate {
                descriptor,
                score,
                reasons,
                forbidden,
            }),
            Err(reason) => hidden.push((descriptor.id.clone(), forbidden.unwrap_or(reason))),
        }
    }
    let mut visible = fill::fill(candidates, turn, &mut hidden);

    let places: HashMap<_, _> = turn.previous.iter().zip(0_usize..).collect();
    // New entries keep the order of their strength, which `fill` put them in.
    visible.sort_by_key(|entry| places.get(&entry.id).copied().unwrap_or(usize::MAX));
    hidden.sort_by(|(a, _), (b, _)| a.cmp(b));
    VisibleSet::new(visible, hidden)
}
