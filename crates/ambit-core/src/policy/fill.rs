//! Who gets in, and how much of each is shown, while the budget and the limit last.
//!
//! Two rounds. First membership: the strongest first, each at the price of its line, and having
//! been visible counts. Then layers: what is left of the budget goes to the strongest, and having
//! been visible does *not* count. So what is visible stays, yet selecting again from the result
//! changes nothing.

use crate::id::{CapabilityId, Kind};
use crate::policy::Candidate;
use crate::turn::TurnInput;
use crate::visible::{HiddenReason, Layer, Signal, VisibleEntry};

/// Shares out the budget. The result is in order of strength; what does not get in is added to
/// `hidden` with its reason.
pub(super) fn fill(
    mut candidates: Vec<Candidate<'_>>,
    turn: &TurnInput,
    hidden: &mut Vec<(CapabilityId, HiddenReason)>,
) -> Vec<VisibleEntry> {
    let mut room = turn.budget.unwrap_or(u32::MAX);
    let mut places = turn.limit.unwrap_or(u32::MAX);
    let mut members = Vec::new();
    sort(&mut candidates, |it| it.score);
    for candidate in candidates {
        let line = candidate.descriptor.tokens.index;
        let full = if places == 0 {
            Some(HiddenReason::OverLimit)
        } else {
            (line > room).then_some(HiddenReason::OverBudget)
        };
        match full {
            Some(reason) => hidden.push((
                candidate.descriptor.id.clone(),
                candidate.forbidden.unwrap_or(reason),
            )),
            None => {
                room -= line;
                places -= 1;
                members.push(candidate);
            }
        }
    }

    sort(&mut members, |it| it.fresh_score());
    let mut visible = Vec::new();
    for member in members {
        let (layer, tokens) = widest(&member, room);
        room -= tokens - member.descriptor.tokens.index.min(tokens);
        let id = member.descriptor.id.clone();
        match member.forbidden {
            Some(reason) => hidden.push((id, reason)),
            None => visible.push(VisibleEntry {
                id,
                layer,
                tokens,
                reasons: member.reasons,
            }),
        }
    }
    visible
}

/// Injections, then pins, then by score, then by id.
fn sort(candidates: &mut [Candidate<'_>], score: impl Fn(&Candidate<'_>) -> i64) {
    let class = |it: &Candidate<'_>| match it {
        it if it.has(Signal::Injected) => 0,
        it if it.has(Signal::Pinned) => 1,
        _ => 2,
    };
    candidates.sort_by(|a, b| {
        let key = |it: &Candidate<'_>| (class(it), std::cmp::Reverse(score(it)));
        key(a)
            .cmp(&key(b))
            .then_with(|| a.descriptor.id.cmp(&b.descriptor.id))
    });
}

/// The fullest layer for which there is room beyond the line already paid for. A skill is its
/// line until it is loaded, and then its body is in the conversation already.
fn widest(member: &Candidate<'_>, room: u32) -> (Layer, u32) {
    let costs = member.descriptor.tokens;
    let line = (Layer::Index, costs.index);
    if member.descriptor.kind == Kind::Skill {
        return line;
    }
    let fits = |(_, cost): &(Layer, u32)| cost.saturating_sub(costs.index) <= room;
    [(Layer::Full, costs.full), (Layer::Card, costs.card)]
        .into_iter()
        .find(fits)
        .unwrap_or(line)
}
