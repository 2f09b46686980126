//! A client as the caller of a call: it is asked by requests of its own and told by notifications.
//! That is how the session era does it; a client of the stateless era is told the same way, and
//! asked in rounds.

#![expect(
    deprecated,
    reason = "log lines are of the session era, which is served here"
)]

use std::sync::Arc;

use ambit_runtime::CancellationToken;
use ambit_runtime::conversation::{Answers, Caller, Notice, Question, Questions, Unanswered};
use async_trait::async_trait;
use parking_lot::Mutex;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ServerRequest,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Map, Value, json};

use crate::aside::Aside;
use crate::style::Era;

/// In a request's `_meta`: from which gravity on log lines are wanted.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// From which gravity on a client of the session era wants log lines; all, until it says so.
pub(crate) type Level = Arc<Mutex<Option<LoggingLevel>>>;

/// One request's client.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    name: Arc<str>,
    peer: Peer<RoleServer>,
    /// Where it is told things past the SDK.
    aside: Option<Aside>,
    abilities: Arc<Map<String, Value>>,
    progress: Option<ProgressToken>,
    logs: Logs,
    /// Nobody is left to be asked.
    hung_up: CancellationToken,
}

/// Which log lines it wants.
#[derive(Clone, Debug)]
enum Logs {
    /// As it said last.
    AsSet(Level),
    /// As this request says; none if it says nothing.
    AsAsked(Option<LoggingLevel>),
}

impl Client {
    /// Whoever sent this request.
    pub(crate) fn of(
        context: &RequestContext<RoleServer>,
        era: Era,
        abilities: Arc<Map<String, Value>>,
        name: &Arc<str>,
        level: &Level,
        hung_up: &CancellationToken,
    ) -> Self {
        let asked = context.meta.get(LOG_LEVEL).cloned();
        Client {
            name: Arc::clone(name),
            peer: context.peer.clone(),
            aside: context.extensions.get().cloned(),
            abilities,
            progress: context.meta.get_progress_token(),
            logs: match era {
                Era::Session => Logs::AsSet(Arc::clone(level)),
                Era::Stateless => {
                    Logs::AsAsked(asked.and_then(|it| serde_json::from_value(it).ok()))
                }
            },
            hung_up: hung_up.clone(),
        }
    }

    /// Whether anything can be asked of it.
    pub(crate) fn is_able(&self) -> bool {
        !self.abilities.is_empty()
    }

    async fn ask_one(&self, question: Question) -> Result<Value, Unanswered> {
        let method = question.kind.method();
        let unclear = || Unanswered::Refused(format!("`{method}` cannot be put to this client"));
        let request = json!({"method": method, "params": question.params});
        let request: ServerRequest = serde_json::from_value(request).map_err(|_| unclear())?;
        let answer = tokio::select! {
            answer = self.peer.send_request(request) => answer,
            () = self.hung_up.cancelled() => {
                return Err(Unanswered::Refused("the client hung up".to_owned()));
            }
        };
        let answer = answer.map_err(|error| Unanswered::Refused(error.to_string()))?;
        serde_json::to_value(answer).map_err(|_| unclear())
    }

    fn wants(&self, level: LoggingLevel) -> bool {
        match &self.logs {
            Logs::AsSet(set) => set.lock().is_none_or(|it| gravity(level) >= gravity(it)),
            Logs::AsAsked(asked) => asked.is_some_and(|it| gravity(level) >= gravity(it)),
        }
    }
}

/// What a request's client can do, as it said.
pub(crate) fn abilities(context: &RequestContext<RoleServer>) -> Arc<Map<String, Value>> {
    let said = context.client_capabilities();
    match said.and_then(|it| serde_json::to_value(it).ok()) {
        Some(Value::Object(abilities)) => Arc::new(abilities),
        _ => Arc::default(),
    }
}

fn gravity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

#[async_trait]
impl Caller for Client {
    fn abilities(&self) -> Map<String, Value> {
        Map::clone(&self.abilities)
    }

    fn log_level(&self) -> Option<String> {
        let level = match &self.logs {
            Logs::AsSet(set) => *set.lock(),
            Logs::AsAsked(asked) => *asked,
        };
        let level = serde_json::to_value(level?).ok()?;
        level.as_str().map(str::to_owned)
    }

    /// One after the other: a client shows one form at a time.
    async fn ask(&self, questions: Questions) -> Result<Answers, Unanswered> {
        let mut answers = Answers::new();
        for (key, question) in questions {
            answers.insert(key, self.ask_one(question).await?);
        }
        Ok(answers)
    }

    async fn tell(&self, notice: Notice) {
        let told = match notice {
            Notice::Progress {
                progress,
                total,
                message,
            } => {
                let Some(token) = self.progress.clone() else {
                    return;
                };
                let mut params = ProgressNotificationParam::new(token, progress);
                params.total = total;
                params.message = message;
                if let Some(aside) = &self.aside {
                    return aside.tell("notifications/progress", &params);
                }
                self.peer.notify_progress(params).await
            }
            Notice::Log {
                level,
                logger,
                data,
            } => {
                let level: Option<LoggingLevel> = serde_json::from_value(json!(level)).ok();
                let Some(level) = level.filter(|it| self.wants(*it)) else {
                    return;
                };
                let mut params = LoggingMessageNotificationParam::new(level, data);
                params.logger = logger;
                if let Some(aside) = &self.aside {
                    return aside.tell("notifications/message", &params);
                }
                self.peer.notify_logging_message(params).await
            }
            // It waits for the end as for any other call.
            Notice::Task { .. } => return,
        };
        if let Err(error) = told {
            tracing::debug!(%error, "the client was not told");
        }
    }

    fn name(&self) -> &str {
        &self.name
    }
}
