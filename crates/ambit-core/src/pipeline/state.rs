//! The states of a call, what can happen to it, and what it asks of the driver.

use std::sync::Arc;
use std::time::Duration;

use crate::event::EventBody;
use crate::gate::{ApprovalDecision, PendingCall, PermittedCall};
use crate::intent::{CallId, InputLimit};
use crate::loaded::LoadedCapability;
use crate::observation::{Completed, Denial, Failure, Observation, Output, ResultRef};
use crate::pipeline::conclude::{finish, finish_after};
use crate::redact::Redactor;

/// Bounds of every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// How large arguments may be.
    pub input: InputLimit,
    /// How long a call may run.
    pub call: Duration,
    /// How long a person may take to answer.
    pub approval: Duration,
    /// How many bytes of a result the caller is given; the rest is paged.
    pub result_bytes: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        CallLimits {
            input: InputLimit {
                bytes: 10 << 20,
                depth: 100,
            },
            call: Duration::from_secs(120),
            approval: Duration::from_secs(300),
            result_bytes: 100_000,
        }
    }
}

/// What holds for every step of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallPolicy<'a> {
    /// Bounds.
    pub limits: &'a CallLimits,
    /// Knows what must not be shown or written.
    pub redactor: &'a Redactor,
}

/// What is left of a call once its proof has gone to be recorded.
#[derive(Debug)]
pub struct InFlight {
    pub(crate) call: CallId,
    pub(crate) capability: Arc<LoadedCapability>,
    pub(crate) notes: Vec<String>,
    pub(crate) elapsed: Duration,
}

impl InFlight {
    pub(crate) fn new(permitted: &PermittedCall, notes: Vec<String>) -> Self {
        InFlight {
            call: permitted.call().clone(),
            capability: Arc::clone(permitted.capability()),
            notes,
            elapsed: Duration::ZERO,
        }
    }

    pub(crate) fn fail(self, failure: Failure, policy: &CallPolicy<'_>) -> Step {
        self.conclude(Vec::new(), Observation::Failed(failure), policy)
    }

    pub(crate) fn conclude(
        self,
        events: Vec<EventBody>,
        observation: Observation,
        policy: &CallPolicy<'_>,
    ) -> Step {
        finish_after(events, self.call, self.elapsed, observation, policy)
    }
}

/// Where a call is.
#[derive(Debug)]
pub enum CallState {
    /// A person is being asked.
    Asking(PendingCall),
    /// Hooks look at a permitted call.
    BeforeHooks(PermittedCall),
    /// Its start is being recorded.
    Starting(InFlight),
    /// It runs.
    Executing(InFlight),
    /// Hooks look at the result.
    AfterHooks(InFlight, Output),
    /// The whole result is being stored, because it is larger than the caller is given.
    Storing(InFlight, Completed),
    /// It ended.
    Done,
}

impl CallState {
    /// For messages and tests.
    pub fn name(&self) -> &'static str {
        match self {
            CallState::Asking(_) => "asking",
            CallState::BeforeHooks(_) => "before-hooks",
            CallState::Starting(_) => "starting",
            CallState::Executing(_) => "executing",
            CallState::AfterHooks(..) => "after-hooks",
            CallState::Storing(..) => "storing",
            CallState::Done => "done",
        }
    }

    /// Ends the call here, wherever it is.
    pub(crate) fn give_up(self, failure: Failure, policy: &CallPolicy<'_>) -> Step {
        match self {
            CallState::Asking(pending) => finish(
                Vec::new(),
                pending.call().clone(),
                Observation::Failed(failure),
                policy,
            ),
            CallState::BeforeHooks(permitted) => finish(
                Vec::new(),
                permitted.call().clone(),
                Observation::Failed(failure),
                policy,
            ),
            CallState::Starting(flight)
            | CallState::Executing(flight)
            | CallState::AfterHooks(flight, _)
            | CallState::Storing(flight, _) => flight.fail(failure, policy),
            CallState::Done => Step {
                events: Vec::new(),
                state: CallState::Done,
                effect: None,
            },
        }
    }
}

/// Something that happened to a call.
#[derive(Debug)]
pub enum Fact {
    /// A person answered.
    Approval(ApprovalDecision),
    /// There is nobody to ask; `how` says how to get an answer all the same.
    NobodyToAsk {
        /// What the caller can do.
        how: String,
    },
    /// Nobody answered in time.
    ApprovalTimedOut,
    /// No hook objects.
    HooksPassed {
        /// What they had to say.
        notes: Vec<String>,
    },
    /// A hook objects, or broke.
    HookRefused(Denial),
    /// The start is on record.
    StartRecorded,
    /// The start could not be recorded.
    RecordFailed {
        /// Why.
        why: String,
    },
    /// The executor is done.
    Executed {
        /// What it brought, or why not.
        result: Result<Output, Failure>,
        /// How long it took.
        elapsed: Duration,
    },
    /// It ran too long.
    DeadlineExceeded {
        /// How long it may go without progress.
        limit: Duration,
        /// How long it ran in all.
        elapsed: Duration,
    },
    /// Whoever asked called it off.
    Cancelled,
    /// The whole result is stored.
    ResultStored(ResultRef),
    /// The whole result could not be stored.
    StoreFailed {
        /// Why.
        why: String,
    },
}

impl Fact {
    /// For messages and tests.
    pub fn name(&self) -> &'static str {
        match self {
            Fact::Approval(_) => "approval",
            Fact::NobodyToAsk { .. } => "nobody-to-ask",
            Fact::ApprovalTimedOut => "approval-timed-out",
            Fact::HooksPassed { .. } => "hooks-passed",
            Fact::HookRefused(_) => "hook-refused",
            Fact::StartRecorded => "start-recorded",
            Fact::RecordFailed { .. } => "record-failed",
            Fact::Executed { .. } => "executed",
            Fact::DeadlineExceeded { .. } => "deadline-exceeded",
            Fact::Cancelled => "cancelled",
            Fact::ResultStored(_) => "result-stored",
            Fact::StoreFailed { .. } => "store-failed",
        }
    }
}

/// What the driver has to do. Each is answered by a [`Fact`], except `Observe`, the last.
#[derive(Debug)]
pub enum Effect {
    /// Ask a person about the pending call, for so long.
    Ask,
    /// Run the hooks that look before.
    RunBeforeHooks,
    /// Record the start; the permitted call becomes a started one by it.
    RecordStart(PermittedCall),
    /// Execute the started call.
    Execute {
        /// For at most so long.
        deadline: Duration,
    },
    /// Run the hooks that look after.
    RunAfterHooks(Output),
    /// Keep the whole result where `read_result` finds it.
    StoreResult(Output),
    /// Tell the caller.
    Observe(Observation),
}

/// One step: what to remember, where the call is now, what to do.
#[derive(Debug)]
pub struct Step {
    /// For the journal, in order.
    pub events: Vec<EventBody>,
    /// Where the call is.
    pub state: CallState,
    /// What to do; nothing only after the end.
    pub effect: Option<Effect>,
}

impl Step {
    pub(crate) fn next(events: Vec<EventBody>, state: CallState, effect: Effect) -> Self {
        Step {
            events,
            state,
            effect: Some(effect),
        }
    }
}
