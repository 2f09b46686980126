//! A call that outlives the request that began it. In the stateless era a question is an answer:
//! the request ends with what is asked, and the next one brings the reply. The call itself waits
//! here meanwhile, with its place in the pipeline; it is one call and one record, however many
//! rounds it takes, and whichever era its provider lives in.

use std::sync::Arc;
use std::time::Duration;

use ambit_runtime::CancellationToken;
use ambit_runtime::conversation::{Answers, Caller, Notice, Questions, Unanswered};
use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::{oneshot, watch};

use crate::caller::Client;
use crate::front::Ended;

/// A call, between requests or within one.
#[derive(Debug)]
pub(crate) struct HeldCall {
    state: Mutex<State>,
    /// Moves when there is something to say.
    moved: watch::Sender<u64>,
    /// Calls it off.
    pub(crate) cancel: CancellationToken,
    name: Arc<str>,
    abilities: Map<String, Value>,
    log_level: Option<String>,
    given: Option<Answers>,
}

#[derive(Debug, Default)]
struct State {
    /// Whoever hears of progress now.
    client: Option<Client>,
    asked: Option<Asked>,
    task: Option<TaskTerms>,
    ended: Option<Arc<Ended>>,
}

#[derive(Debug)]
struct Asked {
    open: Questions,
    answers: Answers,
    reply: oneshot::Sender<Answers>,
}

/// How a provider's task is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskTerms {
    /// How often.
    pub(crate) poll: Option<Duration>,
    /// How long its outcome is kept.
    pub(crate) keeps: Option<Duration>,
}

/// What a call has come to.
#[derive(Debug)]
pub(crate) enum Standing {
    /// It is at work.
    Working,
    /// It waits for these.
    Asks(Questions),
    /// It is over.
    Ended(Arc<Ended>),
}

/// What a request is answered with.
pub(crate) enum Next {
    /// The call asks this.
    Asks(Questions),
    /// The call goes on by itself.
    Task(TaskTerms),
    /// The call is over.
    Ended(Arc<Ended>),
}

impl HeldCall {
    /// A call of this client, with answers it sent along unasked.
    pub(crate) fn new(client: Client, given: Option<Answers>) -> Arc<Self> {
        Arc::new(HeldCall {
            moved: watch::Sender::default(),
            cancel: CancellationToken::new(),
            name: client.name().into(),
            abilities: client.abilities(),
            log_level: client.log_level(),
            given,
            state: Mutex::new(State {
                client: Some(client),
                ..State::default()
            }),
        })
    }

    /// From now on this request's client hears of it.
    pub(crate) fn attend(&self, client: Client) {
        self.state.lock().client = Some(client);
    }

    /// Where it stands.
    pub(crate) fn standing(&self) -> Standing {
        let state = self.state.lock();
        match (&state.ended, &state.asked) {
            (Some(ended), _) => Standing::Ended(Arc::clone(ended)),
            (None, Some(asked)) => Standing::Asks(asked.open.clone()),
            (None, None) => Standing::Working,
        }
    }

    /// Whether it is over.
    pub(crate) fn has_ended(&self) -> bool {
        self.state.lock().ended.is_some()
    }

    /// Waits until there is something to answer a request with.
    pub(crate) async fn next(&self) -> Next {
        let mut moved = self.moved.subscribe();
        loop {
            match self.standing() {
                Standing::Ended(ended) => return Next::Ended(ended),
                Standing::Asks(questions) => return Next::Asks(questions),
                Standing::Working => {}
            }
            if let Some(terms) = self.state.lock().task.take() {
                return Next::Task(terms);
            }
            // The sender is this call's own.
            let _ = moved.changed().await;
        }
    }

    /// Answers what it asks, as far as these go. Whether everything is answered now.
    pub(crate) fn answer(&self, answers: Answers) -> bool {
        let mut state = self.state.lock();
        let Some(asked) = &mut state.asked else {
            return true;
        };
        for (key, answer) in answers {
            asked.open.remove(&key);
            asked.answers.insert(key, answer);
        }
        if !asked.open.is_empty() {
            return false;
        }
        self.reply(&mut state);
        true
    }

    /// Ends the round, whatever is still open: whoever asked sees what is missing.
    pub(crate) fn end_round(&self, answers: Answers) {
        if !self.answer(answers) {
            self.reply(&mut self.state.lock());
        }
    }

    fn reply(&self, state: &mut State) {
        if let Some(asked) = state.asked.take() {
            // Whoever asked may have gone.
            let _ = asked.reply.send(asked.answers);
        }
    }

    /// It is over.
    pub(crate) fn end(&self, ended: Ended) {
        let mut state = self.state.lock();
        state.ended = Some(Arc::new(ended));
        state.client = None;
        drop(state);
        self.moved.send_modify(|it| *it += 1);
    }
}

#[async_trait]
impl Caller for HeldCall {
    fn abilities(&self) -> Map<String, Value> {
        self.abilities.clone()
    }

    fn log_level(&self) -> Option<String> {
        self.log_level.clone()
    }

    fn given(&self) -> Option<Answers> {
        self.given.clone()
    }

    async fn ask(&self, questions: Questions) -> Result<Answers, Unanswered> {
        let (reply, answered) = oneshot::channel();
        self.state.lock().asked = Some(Asked {
            open: questions,
            answers: Answers::new(),
            reply,
        });
        self.moved.send_modify(|it| *it += 1);
        answered
            .await
            .map_err(|_| Unanswered::Refused("nobody answered".to_owned()))
    }

    async fn tell(&self, notice: Notice) {
        if let Notice::Task { poll, keeps } = notice {
            self.state.lock().task = Some(TaskTerms { poll, keeps });
            self.moved.send_modify(|it| *it += 1);
            return;
        }
        let client = self.state.lock().client.clone();
        if let Some(client) = client {
            client.tell(notice).await;
        }
    }

    fn name(&self) -> &str {
        &self.name
    }
}
