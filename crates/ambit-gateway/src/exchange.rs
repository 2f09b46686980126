//! One round of a call: a request comes in, and goes out with the result, a question or a task.

use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_runtime::CancellationToken;
use ambit_runtime::conversation::{Answers, Questions};
use rmcp::model::ErrorData;
use serde_json::json;

use crate::caller::Client;
use crate::front::{Ended, Front, Wanted};
use crate::held::{HeldCall, Next};
use crate::rounds::{Rounds, Task};
use crate::style::Era;

/// What a request brings along from the round before.
pub(crate) struct Round {
    answers: Option<Answers>,
    state: Option<String>,
}

/// What a request is answered with.
pub(crate) enum Rounded {
    Ended(Arc<Ended>),
    /// These are to be answered, and the word is to come back.
    Asks(Questions, String),
    /// It goes on by itself, under this name.
    Task(String, Arc<Task>),
}

impl Round {
    pub(crate) fn new(answers: Option<Answers>, state: Option<String>) -> Self {
        Round { answers, state }
    }

    /// Takes the call one step further.
    pub(crate) async fn take(
        self,
        front: &Arc<Front>,
        wanted: Wanted,
        client: Client,
        rounds: &Rounds,
        era: Era,
        cancel: &CancellationToken,
    ) -> Result<Rounded, ErrorData> {
        let has_rounds = client.is_able() || self.answers.is_some() || self.state.is_some();
        if era == Era::Session || !has_rounds {
            // It can be run where it stands.
            let ended = front.call(wanted, Arc::new(client), cancel).await;
            return Ok(Rounded::Ended(Arc::new(ended)));
        }
        Box::pin(self.hold(front, wanted, client, rounds, cancel)).await
    }

    /// The same for a call that may outlive its request.
    async fn hold(
        self,
        front: &Arc<Front>,
        wanted: Wanted,
        client: Client,
        rounds: &Rounds,
        cancel: &CancellationToken,
    ) -> Result<Rounded, ErrorData> {
        let about = about(front, &wanted);
        let call = match self.state {
            Some(word) => {
                let call = rounds.resume(&word, &about).ok_or_else(unknown_state)?;
                call.attend(client);
                call.end_round(self.answers.unwrap_or_default());
                call
            }
            None => begin(front, wanted, client, self.answers),
        };
        let no_words = || ErrorData::internal_error("there is no randomness to be had", None);
        let next = tokio::select! {
            next = call.next() => next,
            () = cancel.cancelled() => {
                call.cancel.cancel();
                call.next().await
            }
        };
        match next {
            Next::Ended(ended) => Ok(Rounded::Ended(ended)),
            Next::Asks(questions) => {
                let word = rounds.wait(call, about).ok_or_else(no_words)?;
                Ok(Rounded::Asks(questions, word))
            }
            Next::Task(terms) => {
                let (name, task) = rounds.keep(call, terms).ok_or_else(no_words)?;
                Ok(Rounded::Task(name, task))
            }
        }
    }
}

/// Begins a call in a task of its own: it may outlive this request.
fn begin(
    front: &Arc<Front>,
    wanted: Wanted,
    client: Client,
    given: Option<Answers>,
) -> Arc<HeldCall> {
    let call = HeldCall::new(client, given);
    let (front, running) = (Arc::clone(front), Arc::clone(&call));
    tokio::spawn(async move {
        let caller = Arc::clone(&running);
        let ended = front.call(wanted, caller, &running.cancel).await;
        running.end(ended);
    });
    call
}

/// What a round is about: whose call, of what, with which arguments.
fn about(front: &Front, wanted: &Wanted) -> String {
    let what = match wanted {
        Wanted::Tool { name, arguments } => json!(["tool", name, arguments]),
        Wanted::Prompt { name, arguments } => json!(["prompt", name, arguments]),
        Wanted::Resource { uri } => json!(["resource", uri]),
    };
    Digest::of_json(&json!([front.name().as_ref(), what])).to_string()
}

fn unknown_state() -> ErrorData {
    let said =
        "this `requestState` was not given for this call, or it is too old; begin again without it";
    ErrorData::invalid_params(said, None)
}
