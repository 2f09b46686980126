//! What bounds a session that another session asked for: the intersection of both, whatever the
//! config of either says.

use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_core::granted::Granted;
use ambit_core::manifest::ChannelFeature;
use ambit_core::permission::{Bound, StandingApproval, Taint};

/// All that whoever asks may do. Made by [`crate::session::Session::within`].
#[derive(Clone, Debug, Default)]
pub struct Within {
    /// What it may ever have; nothing where nobody asked.
    pub(crate) granted: Option<Arc<Granted>>,
    /// Everybody in the chain, the first who asked first.
    pub(crate) bounds: Vec<Bound>,
    /// What its entry point can do.
    pub(crate) channel: BTreeSet<ChannelFeature>,
    /// What it has seen: the task may tell of it.
    pub(crate) taint: Taint,
}

impl Within {
    /// Nobody bounds it, but what it is told came from outside.
    pub fn having_seen_outside() -> Self {
        Within {
            taint: Taint {
                saw_untrusted: true,
                ..Taint::default()
            },
            ..Within::default()
        }
    }
}

/// Bounds, with what a person has said since the work was asked for. They were shown the whole
/// chain, so it is an answer to each in it. What they once said for good to the agent at the end
/// is not: it said nothing of those who ask it now.
pub(crate) fn with_answers(bounds: &[Bound], approved: &[StandingApproval]) -> Vec<Bound> {
    let mut bounds = bounds.to_vec();
    for bound in &mut bounds {
        let new = approved.iter().filter(|it| !bound.standing.contains(it));
        let new: Vec<StandingApproval> = new.cloned().collect();
        bound.standing.extend(new);
    }
    bounds
}
