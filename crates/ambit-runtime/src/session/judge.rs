//! What a session's calls are judged by: the mode, the rules, what people said, what was seen.

use std::sync::Arc;

use ambit_core::code::Code;
use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::observation::Observation;
use ambit_core::permission::{Bound, Mode, PermissionInput, PermissionTerms, StandingApproval};

use crate::within::{self, Within};

use super::Session;

impl Session {
    /// What calls are judged by now, made anew only if that has changed.
    pub(crate) fn permission(&self, mode: Mode) -> PermissionTerms {
        let bounds = self.scope.bounds();
        let mut state = self.scope.state.lock();
        let within = within::with_answers(&bounds.within, &state.approved);
        let terms = state.terms.take().filter(|it| {
            let input = it.input();
            input.mode == mode
                && input.taint == state.taint
                && input.standing == state.standing
                && input.rules == bounds.rules
                && input.within == within
        });
        let terms = terms.unwrap_or_else(|| {
            PermissionTerms::from(PermissionInput {
                agent: self.scope.agent.clone(),
                mode,
                rules: bounds.rules.clone(),
                standing: state.standing.clone(),
                taint: state.taint,
                asker: self.scope.asker,
                within,
            })
        });
        state.terms.insert(terms).clone()
    }

    /// What bounds the sessions this one asks for: all it may do itself.
    pub fn within(&self) -> Within {
        let bounds = self.scope.bounds_now();
        let state = self.scope.state.lock();
        let own = Bound {
            agent: self.scope.agent.clone(),
            mode: bounds.mode,
            rules: bounds.rules.clone(),
            standing: state.standing.clone(),
        };
        let above = within::with_answers(&bounds.within, &state.approved);
        Within {
            granted: Some(Arc::clone(&bounds.granted)),
            bounds: above.into_iter().chain([own]).collect(),
            channel: bounds.channel.clone(),
            taint: state.taint,
        }
    }

    /// Those that asked for it, the first who asked first.
    pub(crate) fn asked_by(&self) -> Vec<String> {
        let bounds = self.scope.bounds();
        bounds.within.iter().map(|it| it.agent.clone()).collect()
    }

    /// Takes in what a session that this one asked for has seen: its answer may tell of it.
    pub fn absorb(&self, other: &Session) {
        let seen = other.scope.state.lock().taint;
        let mut state = self.scope.state.lock();
        state.taint = state.taint.and(seen);
    }

    pub(crate) fn stand(&self, approval: StandingApproval) {
        let mut state = self.scope.state.lock();
        if !state.standing.contains(&approval) {
            state.approved.push(approval.clone());
            state.standing.push(approval);
        }
    }

    /// Takes in how a call of a capability ended.
    pub(crate) fn observed(&self, capability: &CapabilityDescriptor, observation: &Observation) {
        if quotes(observation.code()) {
            let mut state = self.scope.state.lock();
            state.taint = state.taint.after(capability);
            if let Observation::Completed(it) = observation {
                state.taint.saw_untrusted |= it.untrusted;
            }
        }
        self.scope.heard.lock().observe(&capability.id, observation);
    }
}

/// Whether the caller of a call that ended like this is given words of the provider: its errors
/// carry them as its results do, and nothing else does.
pub(crate) fn quotes(code: Option<Code>) -> bool {
    matches!(
        code,
        None | Some(
            Code::ProviderFailed
                | Code::ProviderUnreachable
                | Code::LoginRequired
                | Code::Refused
                | Code::OutputInvalid
        )
    )
}
