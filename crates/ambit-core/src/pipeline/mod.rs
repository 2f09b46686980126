//! One call on its way, as a state machine without I/O.
//!
//! ```text
//! intent ─ visible? ─ validate ─ permitted? ─┬─ ask ──▶ Asking ─┐
//!                                            └──────────────────┴▶ BeforeHooks ─▶ Starting
//!   ─▶ Executing ─ output schema, redact ─▶ AfterHooks ─ truncate ─▶ Storing ─▶ Done
//! ```
//!
//! [`begin`] takes an intent through both gates as far as it gets without help. After that each
//! step hands the driver one [`Effect`] to perform and takes back a [`Fact`]. Every state and
//! fact have an outcome: [`advance`] is total.
//!
//! Visibility is asked *before* the schema: what is not visible gets the same answer as what
//! does not exist, so nobody can probe a hidden schema with bad arguments.

mod begin;
mod conclude;
mod state;

pub use begin::begin;
pub use state::{CallLimits, CallPolicy, CallState, Effect, Fact, Step};

use crate::code::Code;
use crate::event::{ApprovalOutcome, EventBody, HookStage};
use crate::gate::PendingCall;
use crate::intent::CallId;
use crate::observation::{Denial, Failure, Observation};
use conclude::{check_output, deliver, finish, redact};
use state::InFlight;

/// Takes one fact in and says what to do next.
pub fn advance(state: CallState, fact: Fact, policy: &CallPolicy<'_>) -> Step {
    use CallState as S;
    match (state, fact) {
        (S::Asking(pending), Fact::Approval(decision)) => {
            let call = pending.call().clone();
            let outcome = ApprovalOutcome::Answered(decision.answer);
            let decided = EventBody::ApprovalDecided {
                call: call.clone(),
                outcome,
            };
            match pending.decide(&decision) {
                Ok(permitted) => Step::next(
                    vec![decided],
                    S::BeforeHooks(permitted),
                    Effect::RunBeforeHooks,
                ),
                Err(denial) => finish(vec![decided], call, Observation::Denied(denial), policy),
            }
        }
        (S::Asking(pending), Fact::NobodyToAsk { how }) => {
            let reason = format!(
                "a person has to allow this call ({}), and nobody could be asked here; {how}",
                pending.reason()
            );
            unanswered(
                &pending,
                ApprovalOutcome::NobodyToAsk,
                Denial::new(Code::ApprovalPending, reason),
                policy,
            )
        }
        (S::Asking(pending), Fact::ApprovalTimedOut) => {
            let reason = format!(
                "a person has to allow this call ({}), and nobody answered in time",
                pending.reason()
            );
            unanswered(
                &pending,
                ApprovalOutcome::TimedOut,
                Denial::new(Code::ApprovalTimedOut, reason),
                policy,
            )
        }

        (S::BeforeHooks(permitted), Fact::HooksPassed { notes }) => {
            let events = hook_events(permitted.call(), HookStage::Before, &notes, None, policy);
            let flight = InFlight::new(&permitted, notes);
            Step::next(events, S::Starting(flight), Effect::RecordStart(permitted))
        }
        (S::BeforeHooks(permitted), Fact::HookRefused(denial)) => {
            let call = permitted.call().clone();
            let events = hook_events(&call, HookStage::Before, &[], Some(&denial), policy);
            finish(events, call, Observation::Denied(denial), policy)
        }

        (S::Starting(flight), Fact::StartRecorded) => Step::next(
            Vec::new(),
            S::Executing(flight),
            Effect::Execute {
                deadline: policy.limits.call,
            },
        ),
        (S::Starting(flight), Fact::RecordFailed { why }) => {
            let reason = format!("the start could not be recorded, so nothing ran: {why}");
            finish(
                Vec::new(),
                flight.call,
                Observation::Denied(Denial::new(Code::JournalUnavailable, reason)),
                policy,
            )
        }

        (S::Executing(mut flight), Fact::Executed { result, elapsed }) => {
            flight.elapsed = elapsed;
            match result.and_then(|output| check_output(&flight, output)) {
                Ok(output) => {
                    // Before the hooks: they are somebody else, too.
                    let output = redact(output, policy);
                    Step::next(
                        Vec::new(),
                        S::AfterHooks(flight, output.clone()),
                        Effect::RunAfterHooks(output),
                    )
                }
                Err(failure) => flight.fail(failure, policy),
            }
        }
        (S::Executing(mut flight), Fact::DeadlineExceeded { limit, elapsed }) => {
            flight.elapsed = elapsed;
            let message = format!("it went on for {limit:?} without progress and was stopped");
            flight.fail(
                Failure {
                    retryable: true,
                    ..Failure::new(Code::DeadlineExceeded, message)
                },
                policy,
            )
        }

        (S::AfterHooks(mut flight, output), Fact::HooksPassed { notes }) => {
            let events = hook_events(&flight.call, HookStage::After, &notes, None, policy);
            flight.notes.extend(notes);
            deliver(events, flight, output, policy)
        }
        (S::AfterHooks(flight, _), Fact::HookRefused(denial)) => {
            let events = hook_events(&flight.call, HookStage::After, &[], Some(&denial), policy);
            flight.conclude(events, Observation::Denied(denial), policy)
        }

        (S::Storing(flight, completed), Fact::ResultStored(reference)) => {
            conclude::deliver_cut(flight, completed, Ok(reference), policy)
        }
        (S::Storing(flight, completed), Fact::StoreFailed { why }) => {
            conclude::deliver_cut(flight, completed, Err(why), policy)
        }

        (S::Done, _) => Step {
            events: Vec::new(),
            state: S::Done,
            effect: None,
        },
        (state, Fact::Cancelled) => {
            let message = "whoever asked called it off".to_owned();
            state.give_up(
                Failure {
                    retryable: true,
                    ..Failure::new(Code::Cancelled, message)
                },
                policy,
            )
        }
        // A driver that reports something it was not asked for has a bug; the call must not run on.
        (state, fact) => {
            let message = format!("`{}` cannot happen while {}", fact.name(), state.name());
            state.give_up(Failure::new(Code::Internal, message), policy)
        }
    }
}

fn unanswered(
    pending: &PendingCall,
    outcome: ApprovalOutcome,
    denial: Denial,
    policy: &CallPolicy<'_>,
) -> Step {
    let call = pending.call().clone();
    let decided = EventBody::ApprovalDecided {
        call: call.clone(),
        outcome,
    };
    finish(vec![decided], call, Observation::Denied(denial), policy)
}

fn hook_events(
    call: &CallId,
    stage: HookStage,
    notes: &[String],
    refused: Option<&Denial>,
    policy: &CallPolicy<'_>,
) -> Vec<EventBody> {
    if notes.is_empty() && refused.is_none() {
        return Vec::new();
    }
    let written = |it: &String| policy.redactor.written(it).into_owned();
    vec![EventBody::HookDecided {
        call: call.clone(),
        stage,
        notes: notes.iter().map(written).collect(),
        refused: refused.map(|it| written(&it.reason)),
    }]
}

#[cfg(test)]
mod tests;
