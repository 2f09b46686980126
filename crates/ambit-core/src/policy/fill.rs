//! Who gets in, and how much of each is shown, while the budget and the limit last.
//!
//! Two rounds. First membership: the strongest first, each at the price of its line, and having
//! been visible counts. Then layers, from what is left: what was asked for is shown in full, what
//! a model has read keeps its layer in the order it was read, and the rest goes to the strongest.
//! So what was read stays as it was for as long as possible, and selecting again from the result
//! changes nothing.

use std::cmp::Reverse;
use std::collections::HashMap;

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
                members.push(Member {
                    candidate,
                    layer: Layer::Index,
                });
            }
        }
    }
    members.sort_by(|a, b| {
        let key = |it: &Member<'_>| (it.candidate.score.rank, Reverse(it.candidate.score.fresh));
        key(a).cmp(&key(b)).then_with(|| a.id().cmp(b.id()))
    });
    share_out(&mut members, room, turn);

    let mut visible = Vec::new();
    for Member { candidate, layer } in members {
        let tokens = candidate.descriptor.tokens.of(layer);
        let id = candidate.descriptor.id.clone();
        match candidate.forbidden {
            Some(reason) => left_out.push((candidate.at, id, reason)),
            None => visible.push(VisibleEntry {
                id,
                layer,
                tokens,
                reasons: candidate.score.into_reasons(),
            }),
        }
    }
    (visible, left_out)
}

/// Something that is in, and how much of it is shown so far.
struct Member<'a> {
    candidate: Candidate<'a>,
    layer: Layer,
}

impl Member<'_> {
    fn id(&self) -> &CapabilityId {
        &self.candidate.descriptor.id
    }

    /// Shows more of it, up to a layer, if there is room. A skill is its line until it is loaded,
    /// and then its body is in the conversation already. A resource is its line until it is read.
    fn widen(&mut self, most: Layer, room: &mut u32) {
        if matches!(self.candidate.descriptor.kind, Kind::Skill | Kind::Resource) {
            return;
        }
        let costs = self.candidate.descriptor.tokens;
        let paid = costs.of(self.layer);
        let fits = |layer: &Layer| {
            *layer <= most && *layer > self.layer && costs.of(*layer) <= room.saturating_add(paid)
        };
        if let Some(layer) = [Layer::Full, Layer::Card].into_iter().find(fits) {
            *room = room.saturating_add(paid) - costs.of(layer);
            self.layer = layer;
        }
    }
}

/// Gives what is left of the budget to members, which are in order of strength.
fn share_out(members: &mut [Member<'_>], mut room: u32, turn: &TurnInput) {
    let asked_for = members
        .iter_mut()
        .filter(|it| it.candidate.score.is_asked_for());
    asked_for.for_each(|it| it.widen(Layer::Full, &mut room));

    let places: HashMap<CapabilityId, usize> =
        members.iter().map(|it| it.id().clone()).zip(0..).collect();
    for shown in &turn.previous {
        let member = places.get(&shown.id).and_then(|at| members.get_mut(*at));
        if let Some(member) = member {
            member.widen(shown.layer, &mut room);
        }
    }
    members
        .iter_mut()
        .for_each(|it| it.widen(Layer::Full, &mut room));
}
