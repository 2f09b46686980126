//! Going on with a session after the process that had it is gone.
//!
//! What it had seen and heard comes from the journal, what it was allowed from the approver, and its
//! bounds are those of now.
//! Its last turn is begun again as far as they let it, so that it can call at once.

use std::sync::Arc;

use ambit_core::event::EventBody;
use ambit_core::grant::GrantProblem;
use thiserror::Error;

use crate::journal::{Durability, JournalError, NewEvent, SessionId};
use crate::marketplace::CapabilityMarketplace;
use crate::past::SessionPast;
use crate::session::{Session, SessionSpec};

/// Why a session cannot go on.
#[derive(Debug, Error)]
pub enum ResumeError {
    /// The journal knows no such session.
    #[error("there is no session `{0}` to go on with; `ambit log` lists those there are")]
    Unknown(SessionId),
    /// Somebody ended it for good.
    #[error("the session `{0}` has ended; begin a new one")]
    Ended(SessionId),
    /// It is somebody else's.
    #[error("the session `{id}` is of the agent `{agent}`; go on with it as that one")]
    OtherAgent {
        /// Which.
        id: SessionId,
        /// Whose.
        agent: String,
    },
    /// What the agent is given now cannot be granted.
    #[error("the agent's capabilities cannot be granted: {}", list(.0))]
    Grants(Vec<GrantProblem>),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

fn list(problems: &[GrantProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

impl CapabilityMarketplace {
    /// What is on record of a session, everything appended so far included.
    pub async fn past(&self, id: &SessionId) -> Result<SessionPast, ResumeError> {
        let journal = self.journal().clone();
        journal.flush().await?;
        let (wanted, missing) = (id.clone(), id.clone());
        let read = tokio::task::spawn_blocking(move || {
            journal
                .reader()
                .and_then(|it| SessionPast::read(&it, &wanted))
        });
        let past = read.await.map_err(|_| JournalError::Ended)??;
        past.ok_or(ResumeError::Unknown(missing))
    }

    /// Goes on with a session of the spec's agent, in the bounds of the spec.
    pub async fn resume_session(
        self: &Arc<Self>,
        spec: SessionSpec,
        id: &SessionId,
    ) -> Result<Session, ResumeError> {
        let past = self.past(id).await?;
        self.go_on(spec, past).await
    }

    /// The same, with what was read of it.
    pub async fn go_on(
        self: &Arc<Self>,
        spec: SessionSpec,
        past: SessionPast,
    ) -> Result<Session, ResumeError> {
        if past.ended {
            return Err(ResumeError::Ended(past.id));
        }
        if past.agent != spec.agent {
            return Err(ResumeError::OtherAgent {
                id: past.id,
                agent: past.agent,
            });
        }
        self.make_session(spec, past.into())
            .await
            .map_err(ResumeError::Grants)
    }
}

impl Session {
    /// Ends it for good: nobody can go on with it. Waits until that is on record.
    pub async fn end(&self) -> Result<(), JournalError> {
        let turn = self.turn().number;
        let body = EventBody::SessionEnded { turn };
        let journal = self.scope.market.journal();
        let event = NewEvent { body, cause: None };
        let receipt = journal.append(self.id(), vec![event], Vec::new(), Durability::Written);
        receipt.written().await.map(drop)
    }
}
