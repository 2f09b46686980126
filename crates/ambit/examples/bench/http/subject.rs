//! Something that is called for some time, so many calls at once, by one kind of client.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::raw::{Connection, Raw};
use super::sdk::{self, Sdk};
use super::{Era, Outcome};

/// Which client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Raw,
    Sdk,
}

impl By {
    pub(crate) fn name(self) -> &'static str {
        match self {
            By::Raw => "raw client",
            By::Sdk => "SDK client",
        }
    }
}

/// A connected client.
pub(crate) enum Subject {
    Raw(Raw, Vec<Connection>),
    Sdk(Sdk),
}

/// Calls of one tool over some time.
#[derive(Default)]
pub(crate) struct Calls {
    /// How long each took, in milliseconds.
    pub(crate) each: Vec<f64>,
    /// How long all of them took, in seconds.
    pub(crate) all: f64,
}

impl Subject {
    pub(crate) async fn connect(by: By, url: &str, era: Era, tool: &str) -> Outcome<Self> {
        Ok(match by {
            By::Raw => Subject::Raw(Raw::new(url, era, tool).await?, Vec::new()),
            By::Sdk => Subject::Sdk(Sdk::new(url, era, tool).await?),
        })
    }

    /// Calls for some time.
    pub(crate) async fn calls(&mut self, at_once: usize, time: Duration) -> Outcome<Calls> {
        let begun = Instant::now();
        let each = match self {
            Subject::Raw(raw, connections) => {
                while connections.len() < at_once {
                    connections.push(raw.connect().await?);
                }
                let mut callers = JoinSet::new();
                for mut connection in connections.drain(..) {
                    let raw = raw.clone();
                    callers.spawn_local(async move {
                        let mut each = Vec::new();
                        while begun.elapsed() < time {
                            let sent = Instant::now();
                            raw.call(&mut connection).await?;
                            each.push(millis_since(sent));
                        }
                        Outcome::Ok((each, connection))
                    });
                }
                let mut each = Vec::new();
                while let Some(caller) = callers.join_next().await {
                    let (calls, connection) = caller??;
                    each.extend(calls);
                    connections.push(connection);
                }
                each
            }
            Subject::Sdk(client) => {
                let mut callers = JoinSet::new();
                for _ in 0..at_once {
                    let (peer, request) = (client.peer(), client.call());
                    callers.spawn_local(async move {
                        let mut each = Vec::new();
                        while begun.elapsed() < time {
                            let sent = Instant::now();
                            sdk::call(&peer, request.clone()).await?;
                            each.push(millis_since(sent));
                        }
                        Outcome::Ok(each)
                    });
                }
                let mut each = Vec::new();
                while let Some(caller) = callers.join_next().await {
                    each.extend(caller??);
                }
                each
            }
        };
        let all = begun.elapsed().as_secs_f64();
        Ok(Calls { each, all })
    }
}

fn millis_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}
