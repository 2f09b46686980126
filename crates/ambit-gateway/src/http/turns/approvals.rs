//! What waits for a person, and a person's answers.
//!
//! An agent sees what waits for itself. Answering takes a token of its own kind, an operator's:
//! what an agent may not do alone, it may not allow itself either.

use std::sync::Arc;

use ambit_core::id::CapabilityId;
use ambit_core::permission::Answer;
use ambit_runtime::journal::SessionId;
use http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use super::answers::json;
use super::problem::Problem;
use super::shapes::NewAnswer;
use crate::http::access::Visitor;
use crate::http::answer::Plain;
use crate::http::endpoint::Endpoint;

/// Where requests wait for a person and are answered, by whatever way. It may block.
pub trait ApprovalDesk: Send + Sync {
    /// What waits, oldest first.
    fn waiting(&self) -> Result<Vec<WaitingApproval>, DeskError>;

    /// Takes a person's answer, and says how far it reaches: a yes to every later call may be one
    /// to this call only.
    fn answer(&self, number: i64, answer: Answer) -> Result<(WaitingApproval, Answer), DeskError>;
}

/// A call that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitingApproval {
    /// Its number.
    pub number: i64,
    /// The agent that wants it.
    pub agent: String,
    /// In which session.
    pub session: String,
    /// What it wants to call.
    pub id: CapabilityId,
    /// With what, secrets taken out.
    pub arguments: Value,
    /// Why a person is asked.
    pub why: String,
    /// Since when, in UTC.
    pub at: String,
}

/// Why there is no answer to be had or given.
#[derive(Debug, Error)]
pub enum DeskError {
    /// There is no such request, or it has been decided.
    #[error("there is no pending request {0}")]
    NoSuchRequest(i64),
    /// The store behind it does not answer.
    #[error("what waits for a person cannot be read: {0}")]
    Failed(String),
}

impl From<DeskError> for Problem {
    fn from(error: DeskError) -> Self {
        match error {
            DeskError::NoSuchRequest(_) => {
                Problem::new(StatusCode::NOT_FOUND, "no_such_request", error.to_string())
                    .hint("`GET /v1/approvals` lists what waits")
            }
            DeskError::Failed(_) => {
                tracing::error!(%error, "approvals");
                let message = "what waits for a person cannot be read";
                Problem::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "trust_unavailable",
                    message,
                )
                .hint("the log of the server says why")
            }
        }
    }
}

#[derive(Serialize)]
struct Waiting {
    pending: Vec<WaitingApproval>,
}

#[derive(Serialize)]
struct Decided {
    number: i64,
    id: CapabilityId,
    session: Option<SessionId>,
    answer: Answer,
}

impl Endpoint {
    pub(super) async fn approvals(&self, visitor: Visitor) -> Result<Plain, Problem> {
        let desk = Arc::clone(self.generation.load().desk());
        let pending = blocking(move || desk.waiting()).await?;
        let door = self.door.load();
        let sees = |it: &WaitingApproval| match visitor {
            Visitor::Operator => door.serves(&it.agent),
            Visitor::Harness(_) => door.speaks_for(visitor, Some(&it.agent)).is_ok(),
        };
        let pending = pending.into_iter().filter(sees).collect();
        Ok(json(StatusCode::OK, &Waiting { pending }))
    }

    pub(super) async fn answer(
        &self,
        visitor: Visitor,
        number: i64,
        wanted: NewAnswer,
    ) -> Result<Plain, Problem> {
        if visitor != Visitor::Operator {
            let message = "an agent cannot answer for a person";
            return Err(
                Problem::new(StatusCode::FORBIDDEN, "operator_needed", message).hint(format!(
                    "answer with `ambit approvals allow {number}`, or with a token of `ambit agents token --operator`"
                )),
            );
        }
        let generation = self.generation.load_full();
        let door = self.door.load_full();
        let answer = wanted.answer;
        let decided = blocking(move || {
            let desk = generation.desk();
            // What is served elsewhere is answered elsewhere.
            let waiting = desk.waiting()?.into_iter().find(|it| it.number == number);
            match waiting.filter(|it| door.serves(&it.agent)) {
                Some(_) => desk.answer(number, answer),
                None => Err(DeskError::NoSuchRequest(number)),
            }
        });
        let (decided, answer) = decided.await?;
        tracing::info!(number, agent = decided.agent, answer = ?answer, "answered by an operator");
        let decided = Decided {
            number,
            id: decided.id,
            session: decided.session.parse().ok(),
            answer,
        };
        Ok(json(StatusCode::OK, &decided))
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DeskError> + Send + 'static,
) -> Result<T, DeskError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(DeskError::Failed(error.to_string())))
}
