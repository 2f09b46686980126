//! Where a server and its supervisor stand: not connected, connecting, or connected; and what
//! the past says about trying again. No waiting happens here.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::breaker::{Admission, Breaker};
use crate::connection::Connection;
use crate::error::McpError;
use crate::status::{ServerState, ServerStatus};

/// So many calls in a row without any answer, and the server counts as silent: who calls next
/// gets a new connection. Calls still under way keep the old one.
const SILENT_AFTER: u32 = 3;

/// How opening a connection ended.
pub(crate) type Outcome = Result<Arc<Connection>, Arc<McpError>>;

#[derive(Default)]
enum State {
    #[default]
    Idle,
    Connecting(watch::Receiver<Option<Outcome>>),
    Live(Arc<Connection>),
}

/// A connection, now or soon.
pub(crate) enum Lease {
    Live(Arc<Connection>),
    Opening(watch::Receiver<Option<Outcome>>),
}

#[derive(Default)]
pub(crate) struct Link {
    state: State,
    breaker: Breaker,
    used: Option<Instant>,
    unanswered: u32,
    last_error: Option<String>,
    connected_in: Option<Duration>,
}

impl Link {
    /// The connection there is, or the one `open` begins to open after the pause it is given.
    pub(crate) fn lease(
        &mut self,
        server: &str,
        now: Instant,
        open: impl FnOnce(Duration) -> watch::Receiver<Option<Outcome>>,
    ) -> Result<Lease, Arc<McpError>> {
        match &self.state {
            State::Live(connection) if connection.is_closed() => {
                let gone = McpError::Gone {
                    server: server.to_owned(),
                    reason: Some("it ended while nobody used it".to_owned()),
                };
                self.fail(&gone, now);
            }
            State::Live(connection) => {
                self.used = Some(now);
                return Ok(Lease::Live(Arc::clone(connection)));
            }
            State::Connecting(outcome) => return Ok(Lease::Opening(outcome.clone())),
            State::Idle => {}
        }
        match self.breaker.admit(now) {
            Admission::Refused { failures, again_in } => Err(Arc::new(McpError::CircuitOpen {
                server: server.to_owned(),
                failures,
                again_in,
            })),
            Admission::After(pause) => {
                let outcome = open(pause);
                self.state = State::Connecting(outcome.clone());
                Ok(Lease::Opening(outcome))
            }
        }
    }

    /// Opening ended.
    pub(crate) fn opened(&mut self, outcome: &Outcome, begun: Instant, now: Instant) {
        match outcome {
            Ok(connection) => {
                self.state = State::Live(Arc::clone(connection));
                self.connected_in = Some(now - begun);
                self.used = Some(now);
                self.unanswered = 0;
                self.last_error = None;
            }
            Err(error) => self.fail(error, now),
        }
    }

    /// A call was answered. Only that forgives: a server that connects and dies with each call
    /// must not be started for ever.
    pub(crate) fn answered(&mut self, now: Instant) {
        self.breaker.answered();
        self.used = Some(now);
        self.unanswered = 0;
    }

    /// A call ended without an answer, with the connection as it is.
    pub(crate) fn unanswered(&mut self, server: &str, on: &Arc<Connection>, now: Instant) {
        self.used = Some(now);
        if !self.is_live(on) {
            return;
        }
        self.unanswered += 1;
        if self.unanswered >= SILENT_AFTER {
            let silent = McpError::Gone {
                server: server.to_owned(),
                reason: Some(format!("{SILENT_AFTER} calls in a row had no answer")),
            };
            self.fail(&silent, now);
        }
    }

    /// A connection turned out to be of no use.
    pub(crate) fn lost(&mut self, connection: &Arc<Connection>, error: &McpError, now: Instant) {
        if self.is_live(connection) {
            self.fail(error, now);
        }
    }

    /// The connection, if there is one.
    pub(crate) fn live(&self) -> Option<Arc<Connection>> {
        match &self.state {
            State::Live(connection) => Some(Arc::clone(connection)),
            _ => None,
        }
    }

    /// Takes the connection out.
    pub(crate) fn take(&mut self) -> Option<Arc<Connection>> {
        match std::mem::take(&mut self.state) {
            State::Live(connection) => Some(connection),
            connecting @ State::Connecting(_) => {
                self.state = connecting;
                None
            }
            State::Idle => None,
        }
    }

    /// When this connection was used last, if it is the one in use.
    pub(crate) fn used(&self, connection: &Weak<Connection>) -> Option<Instant> {
        let live = connection.upgrade().is_some_and(|it| self.is_live(&it));
        self.used.filter(|_| live)
    }

    /// Why a call now would be turned away.
    pub(crate) fn refusal(&self, server: &str) -> Option<McpError> {
        match (&self.state, self.breaker.admit(Instant::now())) {
            (State::Idle, Admission::Refused { failures, again_in }) => {
                Some(McpError::CircuitOpen {
                    server: server.to_owned(),
                    failures,
                    again_in,
                })
            }
            _ => None,
        }
    }

    pub(crate) fn status(&self, stderr: String) -> ServerStatus {
        let state = match (&self.state, self.breaker.admit(Instant::now())) {
            (State::Live(it), _) if !it.is_closed() => ServerState::Connected,
            (State::Connecting(_), _) => ServerState::Connecting,
            (_, Admission::Refused { again_in, .. }) => ServerState::LeftAlone { again_in },
            _ => ServerState::NotConnected,
        };
        let live = match &self.state {
            State::Live(it) => Some(it),
            _ => None,
        };
        let table = live.map(|it| it.table()).unwrap_or_default();
        ServerStatus {
            state,
            last_error: self.last_error.clone(),
            stderr,
            connected_in: self.connected_in,
            tools: table.tools(),
            refused: table.refused.clone(),
            version: live.map(|it| it.about().version.clone()),
            protocol: live.map(|it| it.about().protocol.clone()),
            process: live.and_then(|it| it.process_id()),
        }
    }

    fn is_live(&self, connection: &Arc<Connection>) -> bool {
        matches!(&self.state, State::Live(it) if Arc::ptr_eq(it, connection))
    }

    fn fail(&mut self, error: &McpError, now: Instant) {
        self.state = State::Idle;
        self.unanswered = 0;
        // Who logs in now is not made to wait for having been asked to.
        if !matches!(error, McpError::LoginNeeded { .. }) {
            self.breaker.failed(now);
        }
        self.last_error = Some(error.to_string());
    }
}
