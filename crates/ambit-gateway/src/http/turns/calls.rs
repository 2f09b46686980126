//! One call of a harness, with a key or without.
//!
//! Without a key a call belongs to its request: whoever goes away calls it off. With a key it is
//! carried to its end, so that whoever asks again gets what came of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use ambit_core::code::Code;
use ambit_core::intent::CallId;
use ambit_runtime::conversation::{Answers, Caller, NobodyCalling, Notice, Questions, Unanswered};
use ambit_runtime::random::random_word;
use ambit_runtime::{CallReport, CallRequest, CancellationToken, ObservedCall};
use async_trait::async_trait;
use http::StatusCode;
use serde_json::{Map, Value};

use super::keyed::{Name, Standing};
use super::problem::Problem;
use super::sessions::TurnSession;
use super::shapes::NewCall;
use crate::http::endpoint::Endpoint;
use crate::http::metrics::CallCounts;

/// Longest wait for a person.
const LONGEST_WAIT: u32 = 600;

impl Endpoint {
    /// Makes a call of a session.
    pub(super) async fn call(
        &self,
        session: Arc<TurnSession>,
        wanted: NewCall,
        key: Option<String>,
    ) -> Result<ObservedCall, Problem> {
        if wanted.wait > LONGEST_WAIT {
            let message = format!("`wait` is at most {LONGEST_WAIT} seconds");
            return Err(Problem::bad("body_invalid", message));
        }
        let making = Making {
            session,
            counts: Arc::clone(&self.calls_ended),
            cancel: self.stop.child_token(),
            wanted,
        };
        match key {
            None => Ok(making.make(fresh_name()).await.0),
            Some(key) => {
                let run = self.running.begin();
                // In a task of its own: it goes on when whoever asked does not.
                let made = tokio::spawn(async move {
                    let made = making.make_keyed(&key).await;
                    drop(run);
                    made
                });
                made.await.unwrap_or_else(|error| {
                    tracing::error!(%error, "a call broke");
                    let status = StatusCode::INTERNAL_SERVER_ERROR;
                    Err(Problem::new(status, "internal", "a bug in Ambit"))
                })
            }
        }
    }
}

fn fresh_name() -> CallId {
    CallId(format!("call-{}", random_word(10)))
}

struct Making {
    session: Arc<TurnSession>,
    counts: Arc<CallCounts>,
    cancel: CancellationToken,
    wanted: NewCall,
}

/// Whether a call began: it may have had effects then.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Began {
    Yes,
    No,
}

impl Making {
    async fn make(&self, call: CallId) -> (ObservedCall, Began) {
        let session = &self.session.session;
        let harness = Arc::new(Harness {
            name: session.id().to_string(),
            waits: Duration::from_secs(self.wanted.wait.into()),
            left: AtomicI64::new(0),
        });
        let request = CallRequest {
            target: self.wanted.id.clone(),
            arguments: Value::Object(self.wanted.input.clone()),
        };
        let caller = Arc::clone(&harness) as Arc<dyn Caller>;
        let calling = session.call_as(call, request, caller, &self.cancel);
        let report: CallReport = Box::pin(calling).await;
        self.counts.ended(&report.observation, report.duration);
        let began = match report.started {
            true => Began::Yes,
            false => Began::No,
        };
        let mut observed = ObservedCall::new(session.id(), report);
        let left = harness.left.load(Relaxed);
        observed.approval =
            (observed.code == Some(Code::ApprovalPending) && left > 0).then_some(left);
        (observed, began)
    }

    async fn make_keyed(&self, key: &str) -> Result<ObservedCall, Problem> {
        let id = self.session.session.id();
        let name = Name::new(id, key, &self.wanted.id, &self.wanted.input);
        let mut place = self.session.keyed.take(name).await?;
        let call = match place.standing() {
            Standing::Free(call) => call,
            Standing::Ended(call) => return self.again(call).await,
            Standing::Unknown(call) => return Ok(ObservedCall::unknown(id, call)),
        };
        place.begin(call.clone());
        let (observed, began) = self.make(call.clone()).await;
        match began {
            Began::No => place.free(),
            Began::Yes => {
                self.keep(&observed).await;
                place.end(call);
            }
        }
        Ok(observed)
    }

    /// Keeps what came of a call for whoever asks again.
    async fn keep(&self, observed: &ObservedCall) {
        let results = self.session.market.results().clone();
        let agent = self.session.session.agent().to_owned();
        let (call, text) = (observed.call.clone(), serde_json::to_string(observed));
        let kept = tokio::task::spawn_blocking(move || results.keep(&agent, &call, &text?));
        match kept.await {
            Ok(Ok(())) => {}
            // The journal still has that it ran, and the beginning of its result.
            Ok(Err(error)) => tracing::warn!(%error, "the outcome of a call is not kept"),
            Err(error) => tracing::warn!(%error, "the outcome of a call is not kept"),
        }
    }

    /// What came of a call that has ended.
    async fn again(&self, call: CallId) -> Result<ObservedCall, Problem> {
        let session = &self.session.session;
        let market = &self.session.market;
        let results = market.results().clone();
        let (agent, wanted) = (session.agent().to_owned(), call.clone());
        let kept = tokio::task::spawn_blocking(move || results.kept(&agent, &wanted));
        let kept = kept.await.ok().flatten();
        if let Some(observed) = kept.and_then(|it| serde_json::from_str(&it).ok()) {
            return Ok(observed);
        }
        let mut past = market.past(session.id()).await?;
        let ended = past.calls.remove(&call).and_then(|it| it.ended);
        Ok(match ended {
            Some(record) => ObservedCall::recalled(session.id(), record),
            None => ObservedCall::unknown(session.id(), call),
        })
    }
}

/// Whoever calls over this API: can wait, and cannot be asked.
#[derive(Debug)]
struct Harness {
    name: String,
    waits: Duration,
    /// The number of what was left for a person; 0 where nothing was.
    left: AtomicI64,
}

#[async_trait]
impl Caller for Harness {
    fn abilities(&self) -> Map<String, Value> {
        Map::new()
    }

    fn waits(&self) -> Duration {
        self.waits
    }

    fn left(&self, number: i64) {
        self.left.store(number, Relaxed);
    }

    async fn ask(&self, questions: Questions) -> Result<Answers, Unanswered> {
        NobodyCalling.ask(questions).await
    }

    async fn tell(&self, _: Notice) {}

    fn name(&self) -> &str {
        &self.name
    }
}
