//! How much speaks for a capability, signal by signal.

use std::collections::HashMap;

use globset::{Glob, GlobSetBuilder};

use crate::descriptor::CapabilityDescriptor;
use crate::id::{CapabilityId, Kind};
use crate::permission::is_external;
use crate::turn::{Asked, TurnInput};
use crate::visible::{HiddenReason, Signal, VisibleReason};
use crate::wire::is_injection;

/// So many failures in a row are bad luck; from here on they are a fact.
const FAILURES_EXCUSED: u32 = 2;

/// What speaks for capabilities this turn.
pub(super) struct Scores<'a> {
    turn: &'a TurnInput,
    signals: HashMap<&'a CapabilityId, Vec<VisibleReason>>,
    has_direction: bool,
}

impl<'a> Scores<'a> {
    pub(super) fn of(turn: &'a TurnInput) -> Self {
        let mut scores = Scores {
            turn,
            signals: HashMap::new(),
            has_direction: turn.has_direction(),
        };
        let weights = &turn.weights;
        for relevance in &turn.relevance {
            let (signal, weight) = match relevance.asked {
                Asked::Goal => (Signal::Goal, weights.goal),
                Asked::Evidence => (Signal::Evidence, weights.evidence),
                Asked::Touched => (Signal::Touched, weights.touched),
                Asked::Project => (Signal::Project, weights.project),
            };
            let best = relevance
                .hits
                .iter()
                .map(|(_, score)| *score)
                .max()
                .unwrap_or(0)
                .max(1);
            for (id, score) in &relevance.hits {
                let share = i64::from(weight) * i64::from(*score) / i64::from(best);
                scores.add(id, signal, i32::try_from(share).unwrap_or(i32::MAX));
            }
        }
        for (ids, signal, weight) in [
            (&turn.candidates, Signal::Candidate, weights.candidate),
            (&turn.called, Signal::Called, weights.called),
            (&turn.loaded, Signal::Loaded, weights.loaded),
            (&turn.pins, Signal::Pinned, 0),
        ] {
            ids.iter().for_each(|id| scores.add(id, signal, weight));
        }
        turn.previous
            .iter()
            .for_each(|id| scores.add(id, Signal::Stays, weights.stays));
        scores
    }

    /// Of one kind of signal the strongest counts: ten observations that mention a capability are
    /// not ten reasons.
    fn add(&mut self, id: &'a CapabilityId, signal: Signal, weight: i32) {
        let reasons = self.signals.entry(id).or_default();
        match reasons.iter_mut().find(|it| it.signal == signal) {
            Some(reason) => reason.weight = reason.weight.max(weight),
            None => reasons.push(VisibleReason { signal, weight }),
        }
    }

    /// The sum of what speaks for a capability, or why nothing does.
    pub(super) fn judge(
        &mut self,
        capability: &CapabilityDescriptor,
    ) -> Result<(i64, Vec<VisibleReason>), HiddenReason> {
        let mut reasons = self.signals.remove(&capability.id).unwrap_or_default();
        let mut add = |signal, weight| reasons.push(VisibleReason { signal, weight });
        if is_injection(&capability.id) {
            add(Signal::Injected, 0);
        } else if self.is_touched(capability) {
            add(Signal::Touched, self.turn.weights.touched);
        }
        // Without a direction nothing is irrelevant. With one, what comes with Ambit stays at hand,
        // and so does a skill's line unless the skill itself says when it is wanted.
        let at_hand = !is_external(&capability.id)
            && (capability.kind != Kind::Skill || capability.hints.is_empty());
        if !self.has_direction || at_hand {
            add(Signal::Base, self.turn.weights.base);
        }
        let failures = self.turn.failures.get(&capability.id).copied().unwrap_or(0);
        let counted = failures.saturating_sub(FAILURES_EXCUSED);
        if counted > 0 {
            let taken = self
                .turn
                .weights
                .failure
                .saturating_mul(i32::try_from(counted).unwrap_or(i32::MAX));
            add(Signal::Failing, taken.saturating_neg());
        }
        reasons.sort();
        let score: i64 = reasons.iter().map(|it| i64::from(it.weight)).sum();
        let fixed = reasons
            .iter()
            .any(|it| matches!(it.signal, Signal::Injected | Signal::Pinned));
        match (fixed || score > 0, counted > 0) {
            (true, _) => Ok((score, reasons)),
            (false, true) => Err(HiddenReason::Failing { failures }),
            (false, false) => Err(HiddenReason::NotRelevant),
        }
    }

    fn is_touched(&self, capability: &CapabilityDescriptor) -> bool {
        if self.turn.touched.is_empty() || capability.hints.paths.is_empty() {
            return false;
        }
        let mut globs = GlobSetBuilder::new();
        for glob in capability
            .hints
            .paths
            .iter()
            .filter_map(|it| Glob::new(it).ok())
        {
            globs.add(glob);
        }
        globs
            .build()
            .is_ok_and(|globs| self.turn.touched.iter().any(|path| globs.is_match(path)))
    }
}
