//! Performs what the pipeline asks for. All decisions are in `ambit_core::pipeline`; this file
//! only does things and reports back what happened.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_core::code::Code;
use ambit_core::event::{EventBody, HookStage};
use ambit_core::gate::{ApprovalDecision, PendingCall};
use ambit_core::id::Kind;
use ambit_core::intent::{CallId, ToolIntent};
use ambit_core::loaded::LoadedCapability;
use ambit_core::observation::{Denial, Failure, Observation, Output};
use ambit_core::permission::{Answer, StandingApproval};
use ambit_core::pipeline::{CallPolicy, CallState, Effect, Fact, Step, advance, begin};
use futures_util::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approver::{ApprovalReply, ApprovalRequest};
use crate::conversation::{Caller, Conversation, NobodyCalling};
use crate::dispatch::{Dispatched, dispatch};
use crate::filling::fill;
use crate::hook::{HookCall, HookVerdict};
use crate::journal::Receipt;
use crate::patience::Patience;
use crate::random::random_word;
use crate::recorder::Recorder;
use crate::session::Session;
use crate::skill::{SKILL_MD, own_place};
use crate::start::{StartedCall, record_start};

/// What somebody wants to call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest {
    /// An id or a wire name.
    pub target: String,
    /// The arguments.
    pub arguments: Value,
}

impl CallRequest {
    /// A call of this, with that.
    pub fn new(target: impl Into<String>, arguments: Value) -> Self {
        CallRequest {
            target: target.into(),
            arguments,
        }
    }
}

/// How a call ended, and where that is on record.
#[derive(Debug)]
pub struct CallReport {
    /// The call's name in the journal.
    pub call: CallId,
    /// How it ended.
    pub observation: Observation,
    /// From intent to observation.
    pub duration: Duration,
    /// Whether its start was recorded: it may have had effects, whatever came of it.
    pub started: bool,
    /// The first and the last batch of its events.
    pub recorded: (Receipt, Receipt),
}

impl Session {
    /// Takes one call through the pipeline of the current turn. It always ends in an observation.
    pub async fn call(&self, request: CallRequest, cancel: &CancellationToken) -> CallReport {
        self.call_for(request, Arc::new(NobodyCalling), cancel)
            .await
    }

    /// The same for somebody who can be asked and told things while it runs.
    pub async fn call_for(
        &self,
        request: CallRequest,
        caller: Arc<dyn Caller>,
        cancel: &CancellationToken,
    ) -> CallReport {
        let call = CallId(format!("call-{}", random_word(10)));
        self.call_as(call, request, caller, cancel).await
    }

    /// The same under a name of the caller's choosing, which no other call of this session may have.
    pub async fn call_as(
        &self,
        call: CallId,
        request: CallRequest,
        caller: Arc<dyn Caller>,
        cancel: &CancellationToken,
    ) -> CallReport {
        let begun = Instant::now();
        let turn = self.turn();
        let Dispatched {
            target,
            via,
            arguments,
        } = dispatch(request, &turn.visible, |id| self.scope.address(id));
        let capability = turn
            .visible
            .find(&target)
            .and_then(|id| self.scope.market.load(id))
            .filter(|it| turn.judged(it));
        let policy = CallPolicy {
            limits: &self.scope.market.parts.limits,
            redactor: &self.scope.market.parts.redactor,
        };
        let permission = self.permission(turn.mode);
        let intent = ToolIntent {
            call: call.clone(),
            target,
            via,
            arguments,
        };
        // With or without `load_skill` in between: a skill called for no file of it is loaded.
        let loads_skill = capability
            .as_deref()
            .is_some_and(|it| it.descriptor().kind == Kind::Skill)
            && !names_file(&intent.arguments);
        let mut drive = Drive {
            session: self,
            policy,
            cancel,
            recorder: Recorder::new(self, call.clone()),
            capability: capability.clone(),
            arguments: self.arguments_for_hooks(&intent.arguments),
            started: None,
            caller,
            patience: Arc::default(),
        };
        let mut step = begin(
            intent,
            turn.number,
            &turn.visible,
            capability,
            &permission,
            &policy,
        );
        let observation = loop {
            drive.recorder.add(std::mem::take(&mut step.events));
            match drive.perform(&mut step).await {
                Next::Ended(observation) => break observation,
                Next::Happened(fact) => step = advance(step.state, fact, &policy),
            }
        };
        if let Some(capability) = &drive.capability {
            self.observed(capability.descriptor(), &observation);
            if loads_skill && matches!(observation, Observation::Completed(_)) {
                let loaded = self.loaded(&call, capability);
                drive.recorder.add(vec![loaded]);
            }
        }
        let started = drive.recorder.is_started();
        let recorded = drive.recorder.finish(drive.capability.as_deref()).await;
        CallReport {
            call,
            observation,
            duration: begun.elapsed(),
            started,
            recorded,
        }
    }

    /// A skill's body is in the conversation now.
    fn loaded(&self, call: &CallId, capability: &LoadedCapability) -> EventBody {
        let descriptor = capability.descriptor();
        self.scope.heard.lock().loaded.insert(descriptor.id.clone());
        EventBody::CapabilityLoaded {
            call: call.clone(),
            id: descriptor.id.clone(),
            definition: descriptor.digest,
        }
    }

    /// Hooks see the arguments; without hooks nobody needs the copy.
    fn arguments_for_hooks(&self, arguments: &Value) -> Value {
        if self.scope.market.parts.hooks.is_empty() {
            Value::Null
        } else {
            self.scope.market.parts.redactor.shown_json(arguments)
        }
    }
}

/// Whether a call of a skill is for a file beside its `SKILL.md`.
fn names_file(arguments: &Value) -> bool {
    let uri = arguments.get("uri").and_then(Value::as_str);
    let beside = uri.is_some_and(|it| own_place(it).is_none_or(|(_, path)| path != SKILL_MD));
    beside || arguments.get("path").is_some()
}

enum Next {
    Happened(Fact),
    Ended(Observation),
}

struct Drive<'a> {
    session: &'a Session,
    policy: CallPolicy<'a>,
    cancel: &'a CancellationToken,
    recorder: Recorder<'a>,
    capability: Option<Arc<LoadedCapability>>,
    arguments: Value,
    started: Option<StartedCall>,
    caller: Arc<dyn Caller>,
    patience: Arc<Patience>,
}

impl Drive<'_> {
    async fn perform(&mut self, step: &mut Step) -> Next {
        let Some(effect) = step.effect.take() else {
            let message = "the pipeline ended without an observation";
            return Next::Ended(Observation::Failed(Failure::new(Code::Internal, message)));
        };
        Next::Happened(match effect {
            Effect::Observe(observation) => return Next::Ended(observation),
            Effect::Ask => match &step.state {
                CallState::Asking(pending) => {
                    self.recorder.hand_over();
                    Box::pin(self.ask(pending)).await
                }
                _ => Fact::Cancelled,
            },
            // What seldom happens is in boxes: every call has room for all of this.
            Effect::RunBeforeHooks | Effect::RunAfterHooks(_)
                if self.session.scope.market.parts.hooks.is_empty() =>
            {
                Fact::HooksPassed { notes: Vec::new() }
            }
            Effect::RunBeforeHooks => Box::pin(self.hooks(HookStage::Before, None)).await,
            Effect::RunAfterHooks(output) => {
                Box::pin(self.hooks(HookStage::After, Some(output))).await
            }
            Effect::RecordStart(permitted) => {
                let market = &self.session.scope.market;
                let object = market.definition_object(permitted.capability());
                let stores = object.as_ref().map(|(digest, _)| *digest);
                let effectful = permitted.capability().descriptor().effects.is_effectful();
                let cause = self.recorder.cause();
                let before = self.recorder.take();
                match record_start(
                    market.journal(),
                    &self.session.scope.id,
                    permitted,
                    before,
                    cause,
                    object.into_iter().collect(),
                    Conversation::new(
                        Arc::clone(&self.caller),
                        Arc::clone(&self.patience),
                        self.policy.limits.approval,
                    ),
                )
                .await
                {
                    Ok((started, receipt)) => {
                        if let Some(digest) = stores {
                            market.handed_over(digest, &receipt);
                        }
                        self.recorder.started(receipt, effectful);
                        self.started = Some(started);
                        Fact::StartRecorded
                    }
                    Err(error) => Fact::RecordFailed {
                        why: error.to_string(),
                    },
                }
            }
            Effect::Execute { deadline } => self.execute(deadline).await,
            Effect::StoreResult(output) => {
                let results = self.session.scope.market.parts.results.clone();
                let agent = self.session.scope.agent.clone();
                match tokio::task::spawn_blocking(move || results.store(&agent, &output)).await {
                    Ok(Ok(reference)) => Fact::ResultStored(reference),
                    Ok(Err(error)) => Fact::StoreFailed {
                        why: error.to_string(),
                    },
                    Err(error) => Fact::StoreFailed {
                        why: error.to_string(),
                    },
                }
            }
        })
    }

    async fn ask(&self, pending: &PendingCall) -> Fact {
        let capability = pending.validated().capability();
        let arguments = &pending.validated().intent().arguments;
        let request = ApprovalRequest {
            agent: self.session.scope.agent.clone(),
            asked_by: self.session.asked_by(),
            session: self.session.scope.id.to_string(),
            id: capability.descriptor().id.clone(),
            definition: capability.descriptor().digest,
            title: capability.descriptor().title.clone(),
            effects: capability.descriptor().effects,
            arguments: self.policy.redactor.shown_json(arguments),
            written_arguments: self.policy.redactor.written_json(arguments),
            reason: pending.reason().clone(),
            digest: pending.digest(),
            caller: Arc::clone(&self.caller),
        };
        let approver = &self.session.scope.market.parts.approver;
        let reply = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Fact::Cancelled,
            reply = tokio::time::timeout(self.policy.limits.approval, approver.ask(&request)) => reply,
        };
        match reply {
            Err(_) => Fact::ApprovalTimedOut,
            Ok(ApprovalReply::NobodyToAsk { how }) => Fact::NobodyToAsk { how },
            Ok(ApprovalReply::Answered(answer)) => {
                let answer = request.reason.bounded(answer);
                if matches!(answer, Answer::Session | Answer::Always) {
                    self.session.stand(StandingApproval {
                        id: request.id,
                        definition: request.definition,
                    });
                }
                Fact::Approval(ApprovalDecision {
                    call: request.digest,
                    answer,
                })
            }
        }
    }

    async fn hooks(&self, stage: HookStage, output: Option<Output>) -> Fact {
        let mut notes = Vec::new();
        let Some(capability) = &self.capability else {
            return Fact::HooksPassed { notes };
        };
        let session = self.session.scope.id.to_string();
        for hook in &self.session.scope.market.parts.hooks {
            if !hook.wants(stage, capability.descriptor()) {
                continue;
            }
            let call = HookCall {
                stage,
                agent: &self.session.scope.agent,
                session: &session,
                call: &self.recorder.call().0,
                id: &capability.descriptor().id,
                arguments: &self.arguments,
                result: output.as_ref(),
            };
            let looking =
                FutureExt::catch_unwind(AssertUnwindSafe(async { hook.look(&call).await }));
            let verdict = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Fact::Cancelled,
                verdict = looking => verdict.unwrap_or_else(|_| panicked(hook.name())),
            };
            match verdict {
                HookVerdict::Pass { note } => {
                    notes.extend(note.map(|it| format!("{}: {it}", hook.name())))
                }
                HookVerdict::Refuse(denial) => return Fact::HookRefused(denial),
            }
        }
        Fact::HooksPassed { notes }
    }

    async fn execute(&mut self, deadline: Duration) -> Fact {
        let begun = Instant::now();
        let ended = |result| Fact::Executed {
            result,
            elapsed: begun.elapsed(),
        };
        let Some(mut call) = self.started.take() else {
            return Fact::Cancelled;
        };
        if let Err(failure) = self.fill(&mut call).await {
            return ended(Err(failure));
        }
        let Some(executor) = self.session.executor(call.id()) else {
            return ended(Err(Failure::unreachable("its provider is gone")));
        };
        // One bad provider hurts only itself: a panic ends this call and nothing else.
        let running = async { executor.execute(call).await };
        let running = FutureExt::catch_unwind(AssertUnwindSafe(running));
        self.patience.begin(deadline);
        tokio::select! {
            // What is called off before it begins does not begin.
            biased;
            () = self.cancel.cancelled() => Fact::Cancelled,
            result = running => match result {
                Ok(result) => ended(result),
                Err(_) => ended(Err(Failure::new(Code::Internal, "its provider panicked"))),
            },
            () = self.patience.runs_out() => Fact::DeadlineExceeded {
                limit: self.patience.limit(),
                elapsed: begun.elapsed(),
            },
        }
    }
}

impl Drive<'_> {
    /// Puts secrets in their places, where the capability has such places.
    async fn fill(&self, call: &mut StartedCall) -> Result<(), Failure> {
        match &self.capability {
            Some(capability) if !capability.manifest().secret_fields.is_empty() => {
                let fillers = self.session.fillers();
                fill(call, capability, &fillers, self.policy.redactor).await
            }
            _ => Ok(()),
        }
    }
}

/// A guard that breaks is a closed door.
fn panicked(hook: &str) -> HookVerdict {
    let reason = format!("the hook `{hook}` panicked; a broken hook refuses");
    HookVerdict::Refuse(Denial::new(Code::HookFailed, reason))
}

/// Not a public event: what a call that was dropped in flight leaves behind.
pub(crate) fn abandoned(call: CallId) -> EventBody {
    EventBody::ToolObservation(ambit_core::event::ObservationRecord {
        call,
        status: "failed".to_owned(),
        code: Some(Code::Cancelled),
        reason: Some("whoever asked went away".to_owned()),
        bytes: 0,
        digest: ambit_core::digest::Digest::ZERO,
        excerpt: String::new(),
        result_ref: None,
        untrusted: false,
        duration_ms: 0,
    })
}
