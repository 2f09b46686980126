//! The discovery policy: which capabilities does the model see this turn? Pure, deterministic,
//! and every answer has its reason.
//!
//! Filters first (`filter`), each with a [`HiddenReason`]; then integer scores by signal
//! (`score`); then the budget (`fill`). Prompts and resources are for whoever uses the agent as much
//! as for the model: what of them is not shown can still be asked for. Order is order of first appearance, so that what a model
//! has read already keeps its place.
//!
//! [`HiddenReason`]: crate::visible::HiddenReason

mod fill;
mod filter;
mod score;
#[cfg(test)]
mod tests;

pub use filter::hides;

use std::collections::HashMap;

use crate::catalog::CatalogSnapshot;
use crate::descriptor::CapabilityDescriptor;
use crate::granted::Granted;
use crate::id::{CapabilityId, Kind};
use crate::turn::TurnInput;
use crate::visible::{HiddenReason, Layer, Signal, VisibleEntry, VisibleReason, VisibleSet};
use crate::wire::{BareNames, Naming, is_injection};
use score::{Score, Scores};

/// Recorded with every turn: replay refuses to compare across versions.
pub const POLICY_VERSION: u32 = 2;

/// Something that may be visible, and how much speaks for it.
struct Candidate<'a> {
    descriptor: &'a CapabilityDescriptor,
    /// How many of the hidden stand before it.
    at: usize,
    score: Score,
    /// A rule forbids it. It still takes its place while the budget is shared out, so that
    /// forbidding something never lets something else in.
    forbidden: Option<HiddenReason>,
}

/// What is not visible, and why, by id.
type Hidden = Vec<(CapabilityId, HiddenReason)>;

/// Selects what is visible.
///
/// It runs before every turn over all there is, so it is one walk: catalog, grants and signals
/// are all in the order of ids.
pub fn select(catalog: &CatalogSnapshot, granted: &Granted, turn: &TurnInput) -> VisibleSet {
    let mut scores = Scores::of(turn);
    let mut candidates = Vec::new();
    let mut unlisted = Vec::new();
    let mut hidden = Hidden::with_capacity(catalog.len());
    let mut grants = granted.iter().peekable();
    let mut naming = Naming::Prefixed;
    for descriptor in catalog.iter() {
        // Equal first: it is the usual case, and ids that share their text are equal at a glance.
        let mut is_granted = grants.next_if(|id| **id == descriptor.id).is_some();
        if !is_granted {
            while grants.next_if(|id| **id < descriptor.id).is_some() {}
            is_granted = grants.next_if(|id| **id == descriptor.id).is_some();
        }
        if is_granted && descriptor.naming == Naming::Bare {
            naming = Naming::Bare;
        }
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
        if descriptor.kind == Kind::Prompt && forbidden.is_none() {
            unlisted.push(descriptor.id.clone());
            continue;
        }
        match scores.judge(descriptor) {
            Err(_) if descriptor.kind == Kind::Resource && forbidden.is_none() => {
                unlisted.push(descriptor.id.clone());
            }
            Ok(score) => candidates.push(Candidate {
                descriptor,
                at: hidden.len(),
                score,
                forbidden,
            }),
            Err(reason) => hidden.push((descriptor.id.clone(), forbidden.unwrap_or(reason))),
        }
    }
    let (mut visible, mut left_out) = fill::fill(candidates, turn);
    left_out.retain(|(_, id, reason)| {
        let asked_for = id.kind() == Kind::Resource
            && matches!(reason, HiddenReason::OverLimit | HiddenReason::OverBudget);
        if asked_for {
            unlisted.push(id.clone());
        }
        !asked_for
    });
    unlisted.sort();
    visible.extend(unlisted.into_iter().map(unlisted_entry));

    let shown = turn.previous.iter().map(|it| &it.id);
    let places: HashMap<_, _> = shown.zip(0_usize..).collect();
    // New entries keep the order of their strength, which `fill` put them in.
    visible.sort_by_key(|entry| places.get(&entry.id).copied().unwrap_or(usize::MAX));
    let bare = match naming {
        Naming::Prefixed => BareNames::default(),
        Naming::Bare => bare_names(catalog, granted),
    };
    VisibleSet::new(visible, put_back(hidden, left_out), bare)
}

/// Injections keep their names whether or not this agent has them: the runtime knows them by name.
fn bare_names(catalog: &CatalogSnapshot, granted: &Granted) -> BareNames {
    let counts = |id: &CapabilityId| is_injection(id) || granted.contains(id);
    let entries = catalog.iter().filter(|it| counts(&it.id));
    BareNames::among(entries.map(|it| (&it.id, it.naming)))
}

/// Something that costs nothing and is there for whoever asks for it.
fn unlisted_entry(id: CapabilityId) -> VisibleEntry {
    VisibleEntry {
        id,
        layer: Layer::Unlisted,
        tokens: 0,
        reasons: vec![VisibleReason {
            signal: Signal::Base,
            weight: 0,
        }],
    }
}

/// Puts what did not get in where its id belongs among the hidden.
fn put_back(hidden: Hidden, mut left_out: Vec<(usize, CapabilityId, HiddenReason)>) -> Hidden {
    if left_out.is_empty() {
        return hidden;
    }
    left_out.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut all = Hidden::with_capacity(hidden.len() + left_out.len());
    let mut hidden = hidden.into_iter();
    let mut taken = 0;
    for (at, id, reason) in left_out {
        all.extend(hidden.by_ref().take(at - taken));
        all.push((id, reason));
        taken = at;
    }
    all.extend(hidden);
    all
}
