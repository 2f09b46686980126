//! The turn API, for harnesses that bring their own model: sessions, turns, calls, what happened,
//! and what waits for a person. Everything is JSON; `openapi.rs` is the reference.
//!
//! A session belongs to its agent. It is kept in memory while it is used and found again in the
//! journal when it is not there, so neither a restart nor an edit of the configuration ends it.

mod answered;
mod answers;
mod approvals;
mod calls;
mod events;
mod keyed;
mod openapi;
mod problem;
mod reading;
mod route;
mod sessions;
mod shapes;

use std::sync::Arc;

use ambit_runtime::discovery::TurnRequest;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;

pub use approvals::{ApprovalDesk, DeskError, WaitingApproval};
pub use openapi::openapi;
pub(crate) use sessions::TurnSessions;

use super::access::{RefusalReason, Visitor};
use super::body::BodyRefusal;
use super::connections::Connection;
use super::endpoint::{Answer, Endpoint};
use super::hold::{Held, Holds};
use answers::json;
use problem::Problem;
use reading::{Parameters, read};
use route::{Operation, route};
use sessions::TurnSession;
use shapes::{NewCall, NewSession, NewTurn, SessionDocument};

/// Where sessions of this API say they came in.
const FRONT: &str = "turns";

/// How much of a text is searched for, and how many of a kind: whatever follows changes nothing
/// about what is wanted, and costs time.
const LONGEST_TEXT: usize = 4_000;
const MOST_TEXTS: usize = 64;

/// Whether a path belongs to this API.
pub(crate) fn is_here(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}

/// A request that does not get as far as this API, said in its way.
pub(crate) fn refused(reason: RefusalReason) -> Answer {
    Problem::refused(reason).answer().map(Held::nothing)
}

impl Endpoint {
    /// A request to the turn API.
    pub(super) async fn turns(
        self: &Arc<Self>,
        visitor: Visitor,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Answer {
        let served = self.serve_turns(visitor, request, connection).await;
        served.unwrap_or_else(|problem| problem.answer().map(Held::nothing))
    }

    async fn serve_turns(
        self: &Arc<Self>,
        visitor: Visitor,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Result<Answer, Problem> {
        let operation = route(request.method(), request.uri().path())?;
        if self.draining.is_cancelled() {
            return Err(Problem::stopping());
        }
        let (parts, body) = request.into_parts();
        let body = match parts.method == Method::POST {
            true => Some(self.bodies.read(body).await.map_err(too_much)?),
            false => None,
        };
        let body = body.as_ref().map(|it| it.bytes.as_ref()).unwrap_or(b"");
        let (places, full) = match operation {
            Operation::Events(_) => (&self.streams, "as many streams are open as may be"),
            _ => (&self.calls, "as many calls are at work as may be"),
        };
        let place = Arc::clone(places).try_acquire_owned();
        let holds = Holds {
            _connection: connection.busy(),
            _run: match operation {
                Operation::Events(_) => None,
                _ => Some(self.running.begin()),
            },
            _place: place.map_err(|_| Problem::busy(full))?,
            _session: None,
        };
        let answer = self.perform(visitor, operation, &parts, body).await?;
        Ok(answer.map(|body| Held::all(body, holds)))
    }

    async fn perform(
        self: &Arc<Self>,
        visitor: Visitor,
        operation: Operation,
        parts: &Parts,
        body: &[u8],
    ) -> Result<super::answer::Plain, Problem> {
        if !matches!(operation, Operation::Events(_)) {
            Parameters::of(&parts.uri, &[])?;
        }
        match operation {
            Operation::OpenSession => {
                let session = self.open_turns(visitor, read(body)?).await?;
                Ok(json(StatusCode::CREATED, &session))
            }
            Operation::ReadSession(id) => {
                let session = self.turn_session(visitor, &id).await?;
                Ok(json(StatusCode::OK, &SessionDocument::of(&session.session)))
            }
            Operation::EndSession(id) => {
                let session = self.turn_session(visitor, &id).await?;
                session.session.end().await.map_err(Problem::journal)?;
                self.turn_sessions.forget(&id);
                Ok(answers::nothing())
            }
            Operation::Turn(id) => {
                let wanted: NewTurn = read(body)?;
                let session = self.turn_session(visitor, &id).await?;
                Ok(json(StatusCode::OK, &turn(&session, wanted).await?))
            }
            Operation::Call(id) => {
                let call: NewCall = read(body)?;
                let key = keyed::key(&parts.headers)?;
                let session = self.turn_session(visitor, &id).await?;
                let observed = self.call(session, call, key).await?;
                Ok(json(StatusCode::OK, &observed))
            }
            Operation::Events(id) => {
                let after = events::after(parts)?;
                let session = self.turn_session(visitor, &id).await?;
                events::stream(self, visitor, &session, after)
            }
            Operation::Approvals => self.approvals(visitor).await,
            Operation::Answer(number) => self.answer(visitor, number, read(body)?).await,
        }
    }

    async fn open_turns(
        self: &Arc<Self>,
        visitor: Visitor,
        wanted: NewSession,
    ) -> Result<SessionDocument, Problem> {
        let caller = self
            .door
            .load()
            .speaks_for(visitor, wanted.agent.as_deref());
        let caller = caller.map_err(|reason| Problem::no_agent(reason, wanted.agent.as_deref()))?;
        let generation = self.generation.load_full();
        let session = self
            .turn_sessions
            .open(&generation, &caller.agent, wanted.mode)
            .await?;
        Ok(SessionDocument::of(&session.session))
    }

    /// A session this visitor may use. Anybody else's is unknown.
    async fn turn_session(
        self: &Arc<Self>,
        visitor: Visitor,
        id: &str,
    ) -> Result<Arc<TurnSession>, Problem> {
        let generation = self.generation.load_full();
        let door = self.door.load_full();
        let may_use = |agent: &str| door.speaks_for(visitor, Some(agent)).is_ok();
        self.turn_sessions.find(&generation, id, may_use).await
    }
}

async fn turn(
    session: &TurnSession,
    wanted: NewTurn,
) -> Result<ambit_runtime::turn::TurnReport, Problem> {
    let own = session.session.bounds().mode;
    let mode = wanted.mode.filter(|it| *it > own);
    if let Some(looser) = mode {
        return Err(Problem::looser("the session's", looser, own));
    }
    let few = |it: Vec<String>| it.into_iter().take(MOST_TEXTS).map(|it| clip(&it));
    let request = TurnRequest {
        goal: clip(&wanted.goal),
        touched: few(wanted.touched).collect(),
        project: few(wanted.project).collect(),
        evidence: few(wanted.evidence).collect(),
        budget: wanted.budget,
        mode: wanted.mode,
    };
    Ok(session
        .session
        .next_turn(&request, wanted.format.into())
        .await)
}

fn clip(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

fn too_much(refusal: BodyRefusal) -> Problem {
    let code = match refusal {
        BodyRefusal::TooLarge => "body_too_large",
        BodyRefusal::TooSlow => "body_too_slow",
        BodyRefusal::Broken => "body_broken",
    };
    Problem::new(refusal.status(), code, refusal.text())
}
