//! The agent runner: turns of a model over a marketplace, until it is done.
//!
//! It has no wiring knowledge. A session is opened as it is told, a model is asked through its
//! port, and whatever the model wants to call goes through the session's pipeline. Each round: the
//! visible set, the request, the answer, the calls, and what they brought back to the model.

mod calls;
mod delegate;
mod limits;
mod news;
mod profile;
mod prompt;
mod recall;
mod report;
mod results;
mod round;
mod transcript;
mod window;

use std::sync::Arc;

use ambit_core::grant::GrantProblem;
use ambit_core::lineage::Lineage;
use ambit_runtime::CancellationToken;
use ambit_runtime::journal::{JournalError, SessionId};
use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::resume::ResumeError;
use thiserror::Error;

use crate::message::Message;
use delegate::SessionDelegate;
use limits::Meter;
use recall::{Recalled, recall};
use round::Run;
use transcript::Transcript;

pub use limits::{RunLimits, TURNS};
pub use news::{RunListener, RunNews, Unheard};
pub use profile::{AgentProfile, Agents, NoAgents};
pub use report::{Exposure, RunReport};

/// The front that sessions of runs come in by, and can be gone on with.
pub const FRONT: &str = "run";

/// What an agent is to do.
#[derive(Clone, Debug)]
pub enum Task {
    /// Something new.
    Begin(String),
    /// To go on with a session.
    GoOn {
        /// Which.
        session: SessionId,
        /// What else is said; nothing where it only is to go on.
        said: Option<String>,
    },
}

/// Why a run did not begin.
#[derive(Debug, Error)]
pub enum RunError {
    /// The agent's capabilities cannot be granted.
    #[error("the agent's capabilities cannot be granted")]
    Grants(Vec<GrantProblem>),
    /// The session cannot go on.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The session has no open end and nothing new was said.
    #[error("the session `{0}` was done; say what to do next")]
    NothingToDo(SessionId),
}

/// Where a run stands: who asked whom, and what may be used up.
#[derive(Clone)]
pub(crate) struct Place {
    lineage: Lineage,
    meter: Arc<Meter>,
}

/// Runs agents on a marketplace.
#[derive(Clone)]
pub struct AgentRunner {
    market: Arc<CapabilityMarketplace>,
    agents: Arc<dyn Agents>,
    listener: Arc<dyn RunListener>,
}

impl AgentRunner {
    /// On a marketplace, knowing these agents, and telling what happens.
    pub fn new(
        market: Arc<CapabilityMarketplace>,
        agents: Arc<dyn Agents>,
        listener: Arc<dyn RunListener>,
    ) -> Self {
        AgentRunner {
            market,
            agents,
            listener,
        }
    }

    /// Runs an agent until it is done, reaches a limit, or is cancelled. Its session can go on
    /// whichever it is.
    pub async fn run(
        &self,
        profile: AgentProfile,
        task: Task,
        cancel: &CancellationToken,
    ) -> Result<RunReport, RunError> {
        let place = Place {
            lineage: Lineage::of(profile.spec.agent.clone()),
            meter: Meter::new(profile.limits, None),
        };
        let mut run = self.open(profile, task, place, cancel.clone()).await?;
        Ok(run.go().await)
    }

    /// Opens the session of a run, or the one it goes on with.
    async fn open(
        &self,
        profile: AgentProfile,
        task: Task,
        place: Place,
        cancel: CancellationToken,
    ) -> Result<Run, RunError> {
        let delegate = SessionDelegate::new(self, &place, &profile, &cancel);
        let mut spec = profile.spec.clone();
        spec.callbacks.delegate = Some(Arc::clone(&delegate) as _);
        let (session, transcript, goal) = match task {
            Task::Begin(goal) => {
                let opened = match place.lineage.agents().len() {
                    1 => self.market.open_session_at(FRONT, spec).await,
                    // Only whoever asked can go on with it.
                    _ => self.market.open_session(spec).await,
                };
                let session = opened.map_err(RunError::Grants)?;
                let mut transcript = Transcript::default();
                transcript.push(Message::user(goal.as_str()));
                (session, transcript, goal)
            }
            Task::GoOn { session, said } => {
                let past = self.market.past(&session).await?;
                let reader = self.market.journal().reader()?;
                let recalled = recall(&reader, &session, &past)?;
                drop(reader);
                let (transcript, goal) = self.take_up(recalled, said, &session)?;
                let opened = self.market.go_on(spec, past).await?;
                (opened, transcript, goal)
            }
        };
        let session = Arc::new(session);
        delegate.bind(&session);
        delegate.aim(&goal);
        Ok(Run::new(
            self, profile, place, cancel, session, transcript, goal,
        ))
    }

    /// The conversation as it goes on.
    fn take_up(
        &self,
        recalled: Recalled,
        said: Option<String>,
        session: &SessionId,
    ) -> Result<(Transcript, String), RunError> {
        let Recalled {
            mut messages,
            settled,
            goal,
        } = recalled;
        let open = messages.split_off(settled);
        let mut transcript = Transcript::recalled(messages, self.market.redactor());
        for message in open {
            transcript.push(message);
        }
        match said {
            Some(said) => {
                transcript.push(Message::user(said.as_str()));
                Ok((transcript, said))
            }
            None if matches!(
                transcript.messages().last(),
                Some(Message::Assistant { .. }) | None
            ) =>
            {
                Err(RunError::NothingToDo(session.clone()))
            }
            None => Ok((transcript, goal)),
        }
    }
}
