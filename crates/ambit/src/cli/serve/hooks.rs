//! Requests from outside, kept as runs that are to be started.

use std::sync::Arc;

use ambit_builtins::Builtins;
use ambit_builtins::triggers::{HookRefusal, receive};
use ambit_gateway::http::{HookAnswer, Hooks};

/// Starts triggers of a workspace.
pub(super) struct TriggerHooks(pub(super) Builtins);

impl Hooks for TriggerHooks {
    fn receive(&self, hook: &str, token: &str, body: &[u8]) -> Result<(), HookAnswer> {
        let Builtins { store, clock, .. } = &self.0;
        receive(&Arc::clone(store), clock(), hook, token, body).map_err(|refusal| match refusal {
            HookRefusal::Unknown => HookAnswer::Unknown,
            HookRefusal::Payload => HookAnswer::Unfit(refusal.to_string()),
            HookRefusal::Busy(why) => HookAnswer::Busy(why),
            HookRefusal::Store(error) => HookAnswer::Broken(error.to_string()),
        })
    }
}
