//! How much speaks for a capability, signal by signal.

use std::collections::{BTreeMap, btree_map};
use std::iter::Peekable;

use globset::{Glob, GlobSetBuilder};

use crate::descriptor::CapabilityDescriptor;
use crate::id::{CapabilityId, Kind};
use crate::permission::is_external;
use crate::turn::{Asked, TurnInput};
use crate::visible::{HiddenReason, Signal, VisibleReason};
use crate::wire::is_injection;

/// So many failures in a row are bad luck; from here on they are a fact.
const FAILURES_EXCUSED: u32 = 2;

/// What comes before points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Injected,
    Pinned,
    Scored,
}

/// How much speaks for one capability. Most of a catalog is judged and then hidden, so nothing
/// is allocated here for what nobody asked for.
pub(super) struct Score {
    pub(super) rank: Rank,
    pub(super) points: i64,
    /// What speaks for it besides having been visible.
    pub(super) fresh: i64,
    /// What the turn says about it.
    said: Vec<VisibleReason>,
    /// What it is by itself.
    own: [Option<VisibleReason>; 3],
}

impl Score {
    /// Whether somebody asked for it by name: the runtime, the config, or a search just now.
    pub(super) fn is_asked_for(&self) -> bool {
        self.rank != Rank::Scored || self.said.iter().any(|it| it.signal == Signal::Candidate)
    }

    /// Reason by reason, in order.
    pub(super) fn into_reasons(self) -> Vec<VisibleReason> {
        let mut reasons = self.said;
        reasons.extend(self.own.into_iter().flatten());
        reasons.sort();
        reasons
    }
}

type Signals<'a> = BTreeMap<&'a CapabilityId, Vec<VisibleReason>>;

/// What speaks for capabilities this turn, to be asked about them in the order of their ids.
pub(super) struct Scores<'a> {
    turn: &'a TurnInput,
    signals: Peekable<btree_map::IntoIter<&'a CapabilityId, Vec<VisibleReason>>>,
    has_direction: bool,
}

impl<'a> Scores<'a> {
    pub(super) fn of(turn: &'a TurnInput) -> Self {
        let mut signals = Signals::new();
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
                add(
                    &mut signals,
                    id,
                    signal,
                    i32::try_from(share).unwrap_or(i32::MAX),
                );
            }
        }
        for (ids, signal, weight) in [
            (&turn.candidates, Signal::Candidate, weights.candidate),
            (&turn.called, Signal::Called, weights.called),
            (&turn.loaded, Signal::Loaded, weights.loaded),
            (&turn.pins, Signal::Pinned, 0),
        ] {
            ids.iter()
                .for_each(|id| add(&mut signals, id, signal, weight));
        }
        turn.previous
            .iter()
            .for_each(|it| add(&mut signals, &it.id, Signal::Stays, weights.stays));
        Scores {
            turn,
            signals: signals.into_iter().peekable(),
            has_direction: turn.has_direction(),
        }
    }

    /// What the turn says about a capability. Ids come in order on both sides.
    fn said(&mut self, id: &CapabilityId) -> Vec<VisibleReason> {
        while self.signals.next_if(|(it, _)| *it < id).is_some() {}
        let found = self.signals.next_if(|(it, _)| *it == id);
        found.map(|(_, reasons)| reasons).unwrap_or_default()
    }

    /// The sum of what speaks for a capability, or why nothing does.
    pub(super) fn judge(
        &mut self,
        capability: &CapabilityDescriptor,
    ) -> Result<Score, HiddenReason> {
        let said = self.said(&capability.id);
        let weights = &self.turn.weights;
        let reason = |signal, weight| Some(VisibleReason { signal, weight });
        let injected = is_injection(&capability.id);
        let special = if injected {
            reason(Signal::Injected, 0)
        } else if self.is_touched(capability) {
            reason(Signal::Touched, weights.touched)
        } else {
            None
        };
        // Without a direction nothing is irrelevant. With one, what comes with Ambit stays at hand,
        // and so does a skill's line unless the skill itself says when it is wanted.
        let at_hand = !is_external(&capability.id)
            && (capability.kind != Kind::Skill || capability.hints.is_empty());
        let base = match !self.has_direction || at_hand {
            true => reason(Signal::Base, weights.base),
            false => None,
        };
        let failures = self.turn.failures.get(&capability.id).copied().unwrap_or(0);
        let counted = failures.saturating_sub(FAILURES_EXCUSED);
        let failing = match i32::try_from(counted).unwrap_or(i32::MAX) {
            0 => None,
            counted => reason(
                Signal::Failing,
                weights.failure.saturating_mul(counted).saturating_neg(),
            ),
        };
        let own = [special, base, failing];
        let points = said.iter().chain(own.iter().flatten());
        let points: i64 = points.map(|it| i64::from(it.weight)).sum();
        let found = |signal| said.iter().find(|it| it.signal == signal);
        let rank = match (injected, found(Signal::Pinned)) {
            (true, _) => Rank::Injected,
            (false, Some(_)) => Rank::Pinned,
            (false, None) => Rank::Scored,
        };
        match (rank < Rank::Scored || points > 0, counted > 0) {
            (true, _) => Ok(Score {
                rank,
                points,
                fresh: points - found(Signal::Stays).map_or(0, |it| i64::from(it.weight)),
                said,
                own,
            }),
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

/// Of one kind of signal the strongest counts: ten observations that mention a capability are
/// not ten reasons.
fn add<'a>(signals: &mut Signals<'a>, id: &'a CapabilityId, signal: Signal, weight: i32) {
    let reasons = signals.entry(id).or_default();
    match reasons.iter_mut().find(|it| it.signal == signal) {
        Some(reason) => reason.weight = reason.weight.max(weight),
        None => reasons.push(VisibleReason { signal, weight }),
    }
}
