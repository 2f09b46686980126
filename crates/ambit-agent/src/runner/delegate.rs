//! Asking another agent, or doing a part of the work apart: a run of its own inside the bounds of
//! the session that asks.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use ambit_core::diff::VisibleDiff;
use ambit_core::event::EventBody;
use ambit_core::intent::CallId;
use ambit_core::lineage::Lineage;
use ambit_core::run::RunEnd;
use ambit_runtime::CancellationToken;
use ambit_runtime::conversation::Conversation;
use ambit_runtime::delegate::{Colleague, Delegate, Delegated, DelegatedTask, Worker};
use ambit_runtime::session::Session;
use async_trait::async_trait;
use parking_lot::Mutex;

use super::limits::{Meter, recorded};
use super::profile::AgentProfile;
use super::transcript::shortened;
use super::{AgentRunner, Place, Task};
use crate::usage::Usage;

/// How often the call that waits is kept from its deadline. The sub-agent has limits of its own.
const STILL_AT_IT: Duration = Duration::from_secs(10);

/// Asks on behalf of one session.
pub(super) struct SessionDelegate {
    runner: AgentRunner,
    place: Place,
    /// How its own agent is run.
    own: AgentProfile,
    cancel: CancellationToken,
    session: OnceLock<Weak<Session>>,
    goal: Mutex<String>,
}

/// What is asked, of whom.
struct Asked {
    lineage: Lineage,
    profile: AgentProfile,
    task: String,
    skill: Option<ambit_core::id::CapabilityId>,
}

impl SessionDelegate {
    pub(super) fn new(
        runner: &AgentRunner,
        place: &Place,
        own: &AgentProfile,
        cancel: &CancellationToken,
    ) -> Arc<Self> {
        Arc::new(SessionDelegate {
            runner: runner.clone(),
            place: place.clone(),
            own: own.clone(),
            cancel: cancel.clone(),
            session: OnceLock::new(),
            goal: Mutex::default(),
        })
    }

    /// The session it asks for.
    pub(super) fn bind(&self, session: &Arc<Session>) {
        let _ = self.session.set(Arc::downgrade(session));
    }

    /// What the session is about now.
    pub(super) fn aim(&self, goal: &str) {
        *self.goal.lock() = goal.to_owned();
    }

    fn asked(&self, worker: Worker) -> Result<Asked, String> {
        match worker {
            Worker::Agent { name, task } => {
                let lineage = self.place.lineage.with(&name);
                Ok(Asked {
                    lineage: lineage.map_err(|why| format!("`{name}` cannot be asked: {why}"))?,
                    profile: self.runner.agents.profile(&name)?,
                    task,
                    skill: None,
                })
            }
            Worker::Skill { id, instructions } => {
                let lineage = self.place.lineage.forked();
                let mut profile = self.own.clone();
                profile.instructions.push(instructions);
                Ok(Asked {
                    lineage: lineage.map_err(|why| format!("`{id}` cannot be run apart: {why}"))?,
                    profile,
                    task: self.goal.lock().clone(),
                    skill: Some(id),
                })
            }
        }
    }
}

/// Records the end of a delegation, also where nobody waits for it any more.
struct OpenDelegation<'a> {
    parent: &'a Session,
    call: CallId,
    child: String,
    finished: Option<(RunEnd, u32, Usage)>,
}

impl Drop for OpenDelegation<'_> {
    fn drop(&mut self) {
        let stopped = (RunEnd::Interrupted, 0, Usage::default());
        let (ended, turns, usage) = self.finished.take().unwrap_or(stopped);
        self.parent.record(
            EventBody::DelegationFinished {
                call: self.call.clone(),
                child: std::mem::take(&mut self.child),
                ended,
                turns,
                usage: recorded(&usage),
            },
            Vec::new(),
        );
    }
}

#[async_trait]
impl Delegate for SessionDelegate {
    fn colleagues(&self) -> Vec<Colleague> {
        let names = self.runner.agents.names().into_iter();
        let others = names.filter(|(name, _)| name != self.place.lineage.last());
        others
            .map(|(name, description)| Colleague {
                unavailable: self
                    .place
                    .lineage
                    .with(&name)
                    .err()
                    .map(|it| it.to_string()),
                name,
                description,
            })
            .collect()
    }

    async fn delegate(
        &self,
        task: DelegatedTask,
        conversation: &Conversation,
    ) -> Result<Delegated, String> {
        let parent = self.session.get().and_then(Weak::upgrade);
        let parent = parent.ok_or("the session that asks has ended")?;
        let Asked {
            lineage,
            mut profile,
            task: said,
            skill,
        } = self.asked(task.worker)?;
        profile.spec.within = Some(parent.within());
        // Whoever is asked to approve something sits where the whole chain came in.
        profile.spec.channel = parent.bounds().channel.clone();
        let place = Place {
            meter: Meter::new(profile.limits, Some(Arc::clone(&self.place.meter))),
            lineage,
        };
        let cancel = self.cancel.child_token();
        // Dropped with this future, and everything below it with that.
        let _ends_with_this = cancel.clone().drop_guard();
        let asked = shortened(&parent.market().redactor().written(&said));
        let opened = self
            .runner
            .open(profile, Task::Begin(said), place, cancel)
            .await;
        let mut run = opened.map_err(|error| error.to_string())?;
        let child = run.session.id().to_string();
        parent.record(
            EventBody::DelegationStarted {
                call: task.call.clone(),
                agent: run.place.lineage.last().to_owned(),
                child: child.clone(),
                chain: run.place.lineage.agents().to_vec(),
                task: asked,
                skill,
            },
            Vec::new(),
        );
        let session = Arc::clone(&run.session);
        let mut open = OpenDelegation {
            parent: &parent,
            call: task.call,
            child: child.clone(),
            finished: None,
        };
        let report = {
            let mut tick = tokio::time::interval(STILL_AT_IT);
            let mut working = run.go();
            loop {
                tokio::select! {
                    biased;
                    report = &mut working => break report,
                    _ = tick.tick() => conversation.renew(),
                }
            }
        };
        parent.absorb(&session);
        open.finished = Some((report.ended, report.turns, report.usage));
        drop(open);
        Ok(Delegated {
            answer: report.answer,
            session: child,
            ended: report.ended,
            turns: report.turns,
            diff: VisibleDiff::between(&parent.visible(), &session.visible()),
        })
    }
}
