//! Runs what a model wants to call: reads side by side, whatever changes something alone and in
//! order. Every call ends as a result for the model, whatever is wrong with it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ambit_core::code::Code;
use ambit_core::id::Source;
use ambit_core::intent::CallId;
use ambit_core::lineage::Lineage;
use ambit_core::observation::{Denial, Failure, Observation};
use ambit_runtime::conversation::{Answers, Caller, Notice, Questions, Unanswered};
use ambit_runtime::session::Session;
use ambit_runtime::{CallRequest, CancellationToken};
use async_trait::async_trait;
use futures_util::stream::FuturesOrdered;
use futures_util::{FutureExt, StreamExt};
use serde_json::{Map, Value};

use super::news::{RunListener, RunNews};
use super::results::{Trace, result};
use crate::message::{Arguments, ToolCall, ToolResult};

/// How many reads run side by side.
const SIDE_BY_SIDE: usize = 8;

/// One call of a turn.
#[derive(Clone, Debug)]
pub(super) struct Intent {
    pub(super) call: CallId,
    pub(super) wanted: ToolCall,
}

/// Runs calls of one session.
pub(super) struct Calls<'a> {
    pub(super) session: &'a Session,
    pub(super) who: &'a Lineage,
    pub(super) listener: &'a Arc<dyn RunListener>,
    pub(super) cancel: &'a CancellationToken,
}

impl Calls<'_> {
    /// All calls of a turn. One result for each, in their order.
    pub(super) async fn run(&self, intents: &[Intent]) -> Vec<ToolResult> {
        let mut results = Vec::with_capacity(intents.len());
        let mut rest = intents.iter().peekable();
        while let Some(first) = rest.next() {
            let mut running = FuturesOrdered::from_iter([self.one(first).boxed()]);
            while self.reads(first)
                && running.len() < SIDE_BY_SIDE
                && let Some(next) = rest.next_if(|it| self.reads(it))
            {
                running.push_back(self.one(next).boxed());
            }
            while let Some(result) = running.next().await {
                results.push(result);
            }
        }
        results
    }

    /// Whether a call changes nothing, as far as it is known what it calls.
    fn reads(&self, intent: &Intent) -> bool {
        let visible = self.session.visible();
        let catalog = self.session.market().catalog();
        let found = visible.find(&intent.wanted.name);
        found
            .and_then(|id| catalog.get(id))
            .is_none_or(|it| !it.effects.is_effectful())
    }

    async fn one(&self, intent: &Intent) -> ToolResult {
        let Intent { call, wanted } = intent;
        let name = wanted.name.as_str();
        let arguments = match &wanted.arguments {
            // Its start is not even recorded: nothing of it is left to wonder about.
            _ if self.cancel.is_cancelled() => return self.not_called(intent, stopped()),
            Arguments::Object(map) => Value::Object(map.clone()),
            Arguments::Malformed(text) => return self.not_called(intent, malformed(text)),
        };
        let news = RunNews::Calling {
            call,
            name,
            arguments: &arguments,
        };
        self.listener.hear(self.who, news);
        let caller = Arc::new(Running {
            call: call.clone(),
            name: format!("run {}", self.session.id()),
            who: self.who.clone(),
            listener: Arc::clone(self.listener),
        });
        let request = CallRequest {
            target: wanted.name.clone(),
            arguments,
        };
        let reads = self.reads(intent);
        let report = self
            .session
            .call_as(call.clone(), request, caller, self.cancel)
            .await;
        self.listener.hear(
            self.who,
            RunNews::Called {
                call,
                name,
                observation: &report.observation,
                duration: report.duration,
            },
        );
        let trace = match report.started && !reads {
            true => Trace::Possible,
            false => Trace::Known,
        };
        result(wanted, &report.observation, trace)
    }

    /// A call that never went into the pipeline.
    fn not_called(&self, intent: &Intent, observation: Observation) -> ToolResult {
        let news = RunNews::Called {
            call: &intent.call,
            name: &intent.wanted.name,
            observation: &observation,
            duration: Duration::ZERO,
        };
        self.listener.hear(self.who, news);
        result(&intent.wanted, &observation, Trace::Known)
    }

    /// The files these calls are about, as far as calls of the workspace's files say.
    pub(super) fn touched(&self, intents: &[Intent]) -> Vec<String> {
        let visible = self.session.visible();
        let catalog = self.session.market().catalog();
        let about_files = |name: &str| {
            let found = visible.find(name).and_then(|id| catalog.get(id));
            found.is_some_and(|it| {
                it.id.source() == Source::Local
                    && it
                        .permissions
                        .iter()
                        .any(|it| it.as_str().starts_with("fs:"))
            })
        };
        let about = intents.iter().filter(|it| about_files(&it.wanted.name));
        about
            .filter_map(|it| match &it.wanted.arguments {
                Arguments::Object(map) => map.get("path")?.as_str().map(str::to_owned),
                Arguments::Malformed(_) => None,
            })
            .collect()
    }
}

/// How much of arguments that make no sense is repeated.
const REPEATED: usize = 200;

fn stopped() -> Observation {
    let reason = "not run: the run was stopped before";
    Observation::Failed(Failure::new(Code::Cancelled, reason))
}

fn malformed(text: &str) -> Observation {
    let text: String = text.chars().take(REPEATED).collect();
    let reason = format!("the arguments are no JSON object, so nothing was called: `{text}`");
    Observation::Denied(Denial::new(Code::InputInvalid, reason))
}

/// Hears what a running call has to say.
struct Running {
    call: CallId,
    name: String,
    who: Lineage,
    listener: Arc<dyn RunListener>,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Running").field(&self.call).finish()
    }
}

#[async_trait]
impl Caller for Running {
    fn abilities(&self) -> Map<String, Value> {
        Map::new()
    }

    async fn ask(&self, questions: Questions) -> Result<Answers, Unanswered> {
        let first = questions.values().next().map(|it| it.kind.method());
        Err(Unanswered::Unable(first.unwrap_or("questions")))
    }

    async fn tell(&self, notice: Notice) {
        let news = RunNews::Noticed {
            call: &self.call,
            notice: &notice,
        };
        self.listener.hear(&self.who, news);
    }

    fn name(&self) -> &str {
        &self.name
    }
}
