//! From an intent through both gates, as far as it gets without help.

use std::sync::Arc;

use serde_json::Value;

use crate::code::Code;
use crate::digest::Digest;
use crate::event::EventBody;
use crate::gate::{Gate, permit};
use crate::intent::{InvalidInput, ToolIntent, is_larger, validate};
use crate::loaded::LoadedCapability;
use crate::observation::{Denial, Observation};
use crate::permission::PermissionTerms;
use crate::pipeline::conclude::finish;
use crate::pipeline::state::{CallPolicy, CallState, Effect, Step};
use crate::schema::SchemaProblem;
use crate::visible::VisibleSet;

/// Arguments larger than this are remembered by digest only.
const RECORDED_ARGUMENTS: usize = 64 << 10;

/// Starts a call. `capability` is what the driver loaded for the target; it is used only if the
/// target is visible in this turn's set.
pub fn begin(
    intent: ToolIntent,
    turn: u32,
    visible: &VisibleSet,
    capability: Option<Arc<LoadedCapability>>,
    permission: &PermissionTerms,
    policy: &CallPolicy<'_>,
) -> Step {
    let call = intent.call.clone();
    let id = visible.find(&intent.target).cloned();
    let capability = capability.filter(|it| Some(&it.descriptor().id) == id.as_ref());
    let mut events = vec![EventBody::ToolIntent {
        call: call.clone(),
        turn,
        target: clip(&policy.redactor.written(&intent.target)),
        via: intent.via.clone(),
        id,
        arguments: recorded_arguments(&intent, policy),
        digest: Digest::of_json(&intent.arguments),
    }];
    let Some(capability) = capability else {
        let hidden = visible.find_hidden(&intent.target);
        let why = hidden.map(|(_, reason)| reason.clone());
        let target = clip(&policy.redactor.written(&intent.target));
        let reason = format!("there is no capability `{target}` to use in this turn");
        events.push(EventBody::CapabilityRefused {
            call: call.clone(),
            target,
            why,
        });
        return finish(
            events,
            call,
            Observation::Denied(Denial::new(Code::NotVisible, reason)),
            policy,
        );
    };

    let definition = capability.descriptor().digest;
    let validated = validate(intent, capability, policy.limits.input);
    let problems = match &validated {
        Ok(_) => Vec::new(),
        Err(InvalidInput::TooLarge(message)) => vec![SchemaProblem {
            at: String::new(),
            message: message.clone(),
        }],
        Err(InvalidInput::Problems(problems)) => problems
            .iter()
            .map(|it| SchemaProblem {
                at: policy.redactor.written(&it.at).into_owned(),
                message: policy.redactor.written(&it.message).into_owned(),
            })
            .collect(),
    };
    events.push(EventBody::ToolValidation {
        call: call.clone(),
        definition,
        problems,
    });
    let validated = match validated {
        Ok(validated) => validated,
        Err(invalid) => return finish(events, call, Observation::Denied(invalid.denial()), policy),
    };

    let (decision, gate) = permit(validated, permission);
    events.push(EventBody::ToolPermission {
        call: call.clone(),
        input: Arc::clone(permission.input()),
        decision,
    });
    match gate {
        Gate::Denied(denial) => finish(events, call, Observation::Denied(denial), policy),
        Gate::Permitted(permitted) => Step::next(
            events,
            CallState::BeforeHooks(permitted),
            Effect::RunBeforeHooks,
        ),
        Gate::Ask(pending) => {
            events.push(EventBody::ApprovalRequested {
                call,
                digest: pending.digest(),
                reason: pending.reason().clone(),
            });
            Step::next(events, CallState::Asking(pending), Effect::Ask)
        }
    }
}

fn recorded_arguments(intent: &ToolIntent, policy: &CallPolicy<'_>) -> Value {
    match is_larger(&intent.arguments, RECORDED_ARGUMENTS) {
        true => Value::Null,
        false => policy.redactor.written_json(&intent.arguments),
    }
}

/// A target is quoted back and written down; a megabyte of it is not.
fn clip(target: &str) -> String {
    target.chars().take(200).collect()
}
