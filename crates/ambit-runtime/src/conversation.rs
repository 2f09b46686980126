//! What a running call can say to whoever asked for it, and ask of them: progress and log lines,
//! and the questions a provider has for the person or the model behind the call.
//!
//! Questions travel as the methods of MCP name them, since those are what providers and clients
//! speak; nothing here depends on that protocol's types.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ambit_core::pipeline::CallLimits;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::patience::Patience;

/// What kind of thing is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionKind {
    /// The person is to fill in a form or visit an address.
    Elicitation,
    /// The caller's model is to write something.
    Sampling,
    /// Which folders the caller works in.
    Roots,
}

impl QuestionKind {
    /// All of them.
    pub const ALL: [QuestionKind; 3] = [
        QuestionKind::Elicitation,
        QuestionKind::Sampling,
        QuestionKind::Roots,
    ];

    /// The request it is on the wire.
    pub fn method(self) -> &'static str {
        match self {
            QuestionKind::Elicitation => "elicitation/create",
            QuestionKind::Sampling => "sampling/createMessage",
            QuestionKind::Roots => "roots/list",
        }
    }

    /// What a request on the wire asks.
    pub fn of_method(method: &str) -> Option<Self> {
        QuestionKind::ALL
            .into_iter()
            .find(|it| it.method() == method)
    }

    /// The word under which a client says that it can answer such questions.
    pub fn ability(self) -> &'static str {
        match self {
            QuestionKind::Elicitation => "elicitation",
            QuestionKind::Sampling => "sampling",
            QuestionKind::Roots => "roots",
        }
    }
}

/// One question of a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What kind.
    pub kind: QuestionKind,
    /// The request's parameters, as the provider wrote them.
    pub params: Value,
}

/// Questions asked together, by the provider's own keys.
pub type Questions = BTreeMap<String, Question>;

/// Answers by the same keys, as the caller wrote them.
pub type Answers = BTreeMap<String, Value>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// Whoever called cannot be asked such a thing.
    #[error("whoever called cannot answer `{0}`")]
    Unable(&'static str),
    /// Whoever called said no, or went away.
    #[error("{0}")]
    Refused(String),
}

/// What is told without waiting for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// How far a call is.
    Progress {
        /// So far.
        progress: f64,
        /// Of how much, if that is known.
        total: Option<f64>,
        /// In words.
        message: Option<String>,
    },
    /// A log line of the provider.
    Log {
        /// How grave, in the words of syslog.
        level: String,
        /// Which part of the provider says it.
        logger: Option<String>,
        /// What it says.
        data: Value,
    },
    /// The provider goes on by itself; the call will end when that does.
    Task {
        /// How long to wait between two looks at it, if the provider says so.
        poll: Option<Duration>,
        /// How long the provider keeps its outcome.
        keeps: Option<Duration>,
    },
}

/// Whoever asked for a call.
///
/// The contract: `ask` may take as long as a person does, and the deadline of the call stands
/// still meanwhile; it is dropped at the limit for persons, and with the call. `tell` must not wait for anybody.
#[async_trait]
pub trait Caller: fmt::Debug + Send + Sync {
    /// What it can do, as a client declares it: a key for each kind of question it answers, and
    /// its extensions.
    fn abilities(&self) -> Map<String, Value>;

    /// From which gravity on it wants to hear log lines, where it says so with each call.
    fn log_level(&self) -> Option<String> {
        None
    }

    /// Answers it sends along before anything is asked.
    fn given(&self) -> Option<Answers> {
        None
    }

    /// How long it waits for a person who is asked elsewhere.
    fn waits(&self) -> Duration {
        Duration::ZERO
    }

    /// The question whether its call may run was left for a person, under this number.
    fn left(&self, _number: i64) {}

    /// Asks all of these, together.
    async fn ask(&self, questions: Questions) -> Result<Answers, Unanswered>;

    /// Tells something.
    async fn tell(&self, notice: Notice);

    /// Which caller it is: calls with equal names come from the same one.
    fn name(&self) -> &str;
}

/// Has nobody to ask and nobody to tell.
#[derive(Debug)]
pub struct NobodyCalling;

#[async_trait]
impl Caller for NobodyCalling {
    fn abilities(&self) -> Map<String, Value> {
        Map::new()
    }

    async fn ask(&self, questions: Questions) -> Result<Answers, Unanswered> {
        let first = questions.values().next();
        Err(first.map_or_else(
            || Unanswered::Refused("nothing was asked".to_owned()),
            |it| Unanswered::Unable(it.kind.method()),
        ))
    }

    async fn tell(&self, _: Notice) {}

    fn name(&self) -> &str {
        ""
    }
}

/// The way back from a running call to its caller.
#[derive(Clone, Debug)]
pub struct Conversation {
    caller: Arc<dyn Caller>,
    patience: Arc<Patience>,
    /// How long an answer is waited for: the call's own deadline stands still meanwhile.
    answer_within: Duration,
}

impl Conversation {
    pub(crate) fn new(
        caller: Arc<dyn Caller>,
        patience: Arc<Patience>,
        answer_within: Duration,
    ) -> Self {
        Conversation {
            caller,
            patience,
            answer_within,
        }
    }

    /// With this caller, outside a pipeline: no deadline depends on it.
    pub fn with(caller: Arc<dyn Caller>) -> Self {
        Conversation::new(caller, Arc::default(), CallLimits::default().approval)
    }

    /// With nobody at the other end.
    pub fn with_nobody() -> Self {
        Conversation::with(Arc::new(NobodyCalling))
    }

    /// Whoever asked for the call.
    pub fn caller(&self) -> &Arc<dyn Caller> {
        &self.caller
    }

    /// Whether the caller can be asked such a thing.
    pub fn can_answer(&self, kind: QuestionKind) -> bool {
        self.caller.abilities().contains_key(kind.ability())
    }

    /// Asks the caller, who has as long as a person has to approve a call. The call's deadline
    /// stands still until there is an answer.
    pub async fn ask(&self, questions: Questions) -> Result<Answers, Unanswered> {
        if let Some(unable) = questions.values().find(|it| !self.can_answer(it.kind)) {
            return Err(Unanswered::Unable(unable.kind.method()));
        }
        let _standing_still = self.patience.hold();
        let answered = timeout(self.answer_within, self.caller.ask(questions)).await;
        answered.unwrap_or_else(|_| {
            let waited = self.answer_within;
            Err(Unanswered::Refused(format!(
                "nobody answered within {waited:?}"
            )))
        })
    }

    /// Shortens the call's limit, where its provider has one of its own.
    pub fn hurry(&self, limit: Duration) {
        self.patience.shorten(limit);
    }

    /// Starts the call's deadline anew: it gets on, though there is nothing to tell.
    pub fn renew(&self) {
        self.patience.renew();
    }

    /// Tells the caller something. Progress starts the call's deadline anew.
    pub async fn tell(&self, notice: Notice) {
        if matches!(notice, Notice::Progress { .. }) {
            self.patience.renew();
        }
        self.caller.tell(notice).await;
    }
}
