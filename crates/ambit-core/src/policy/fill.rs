//! Who gets in, and how much of each is shown, while the budget and the limit last.
//!
//! Two rounds. First membership: the strongest first, each at the price of its line, and having
//! been visible counts. Then layers: what is left of the budget goes to the strongest, and having
//! been visible does *not* count. So what is visible stays, yet selecting again from the result
//! changes nothing.

use std::cmp::Reverse;

use crate::id::{CapabilityId, Kind};
use crate::policy::Candidate;
use crate::turn::TurnInput;
use crate::visible::{HiddenReason, Layer, VisibleEntry};

/// What does not get in: how many of the hidden stand before it, what, and why not.
type LeftOut = (usize, CapabilityId, HiddenReason);

/// Shares out the budget among candidates in the order of their ids. What gets in is in order of
/// strength.
pub(super) fn fill(
    mut candidates: Vec<Candidate<'_>>,
    turn: &TurnInput,
) -> (Vec<VisibleEntry>, Vec<LeftOut>) {
    let mut left_out = Vec::new();
    let mut room = turn.budget.unwrap_or(u32::MAX);
    let mut places = turn.limit.unwrap_or(u32::MAX);
    let mut members = Vec::new();
    // Injections, then pins, then by score; a stable sort leaves equals in the order of ids.
    candidates.sort_by_key(|it| (it.score.rank, Reverse(it.score.points)));
    for candidate in candidates {
        let line = candidate.descriptor.tokens.index;
        let full = if places == 0 {
            Some(HiddenReason::OverLimit)
        } else {
            (line > room).then_some(HiddenReason::OverBudget)
        };
        match full {
            Some(reason) => left_out.push((
                candidate.at,
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

    members.sort_by(|a, b| {
        let key = |it: &Candidate<'_>| (it.score.rank, Reverse(it.score.fresh));
        let by_id = || a.descriptor.id.cmp(&b.descriptor.id);
        key(a).cmp(&key(b)).then_with(by_id)
    });
    let mut visible = Vec::new();
    for member in members {
        let (layer, tokens) = widest(&member, room);
        room -= tokens - member.descriptor.tokens.index.min(tokens);
        let id = member.descriptor.id.clone();
        match member.forbidden {
            Some(reason) => left_out.push((member.at, id, reason)),
            None => visible.push(VisibleEntry {
                id,
                layer,
                tokens,
                reasons: member.score.into_reasons(),
            }),
        }
    }
    (visible, left_out)
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
