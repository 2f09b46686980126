//! Questions in the middle of a request, in either era.
//!
//! Whoever asks says, given what is known so far, what to ask next or that all is done. In the
//! stateless era the questions are the result and the request comes again with answers; what was
//! answered in earlier rounds travels in a sealed state. In the session era the same questions are
//! requests to the client.

use std::collections::BTreeMap;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::server::stateless;

/// Answers by key.
pub(crate) type Known = BTreeMap<String, Value>;

/// What comes next, given what is known.
pub(crate) enum Step<T> {
    Ask(InputRequests),
    Done(T),
}

/// How a request ended.
pub(crate) enum Outcome<T> {
    Asks(InputRequiredResult),
    Done(T),
}

/// Whether answers are remembered from round to round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Each round stands alone, and carries no state.
    None,
    /// In a state that the client cannot change unnoticed.
    Sealed,
}

/// What a request of the stateless era brought along.
pub(crate) struct Brought {
    pub(crate) answers: Option<InputResponses>,
    pub(crate) state: Option<String>,
}

/// The key that states are sealed with.
pub(crate) struct Rounds {
    codec: RequestStateCodec,
}

impl Default for Rounds {
    fn default() -> Self {
        Rounds {
            codec: RequestStateCodec::new(*b"the fixture's key, known to everybody"),
        }
    }
}

impl Rounds {
    /// Goes on with a request as far as that is possible. States are sealed for `name`.
    pub(crate) async fn go_on<T>(
        &self,
        name: &str,
        memory: Memory,
        brought: Brought,
        context: &RequestContext<RoleServer>,
        step: impl Fn(&Known) -> Step<T>,
    ) -> Result<Outcome<T>, ErrorData> {
        let mut known = self.remembered(name, memory, &brought)?;
        let answers = brought.answers.unwrap_or_default();
        loop {
            let questions = match step(&known) {
                Step::Done(result) => return Ok(Outcome::Done(result)),
                Step::Ask(questions) => questions,
            };
            check_declared(&questions, context)?;
            if !stateless(context) {
                for (key, question) in questions {
                    known.insert(key, ask(question, context).await?);
                }
                continue;
            }
            let before = known.clone();
            let mut open = InputRequests::new();
            for (key, question) in questions {
                match answers.get(&key).filter(|it| fits(&question, it)) {
                    Some(answer) => drop(known.insert(key, answer.clone())),
                    None => drop(open.insert(key, question)),
                }
            }
            if !open.is_empty() {
                let state = match memory {
                    Memory::None => None,
                    Memory::Sealed => Some(self.seal(name, &before)?),
                };
                return Ok(Outcome::Asks(InputRequiredResult::new(Some(open), state)));
            }
        }
    }

    fn remembered(
        &self,
        name: &str,
        memory: Memory,
        brought: &Brought,
    ) -> Result<Known, ErrorData> {
        match (memory, &brought.state) {
            (Memory::None, _) => Ok(Known::new()),
            (Memory::Sealed, Some(state)) => self
                .codec
                .open_json_with(state, name.as_bytes())
                .map_err(|error| ErrorData::invalid_params(error.to_string(), None)),
            (Memory::Sealed, None) if brought.answers.is_none() => Ok(Known::new()),
            (Memory::Sealed, None) => {
                let message = "`inputResponses` came without the `requestState` they answer";
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    fn seal(&self, name: &str, known: &Known) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(name.as_bytes());
        self.codec
            .seal_json_with(known, &options)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

/// Whether an answer has the shape its question asks for. One that has not counts as missing.
fn fits(question: &InputRequest, answer: &Value) -> bool {
    match question {
        InputRequest::Elicitation(_) => answer["action"].is_string(),
        InputRequest::CreateMessage(_) => answer["content"].is_object(),
        InputRequest::ListRoots(_) => answer["roots"].is_array(),
        _ => false,
    }
}

/// Refuses to ask what the client has not said it can answer.
fn check_declared(
    questions: &InputRequests,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let declared = context.client_capabilities().unwrap_or_default();
    let mut lacking = ClientCapabilities::default();
    for question in questions.values() {
        match question {
            InputRequest::CreateMessage(_) if declared.sampling.is_none() => {
                lacking.sampling = Some(SamplingCapability::default());
            }
            InputRequest::Elicitation(_) if declared.elicitation.is_none() => {
                lacking.elicitation = Some(ElicitationCapability::default());
            }
            InputRequest::ListRoots(_) if declared.roots.is_none() => {
                lacking.roots = Some(RootsCapabilities::default());
            }
            _ => {}
        }
    }
    if lacking == ClientCapabilities::default() {
        Ok(())
    } else {
        Err(ErrorData::missing_required_client_capability(lacking))
    }
}

/// Asks a client with a session.
async fn ask(
    question: InputRequest,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    let request = match question {
        InputRequest::CreateMessage(it) => ServerRequest::CreateMessageRequest(it),
        InputRequest::Elicitation(it) => ServerRequest::ElicitRequest(it),
        InputRequest::ListRoots(it) => ServerRequest::ListRootsRequest(it),
        _ => return Err(ErrorData::internal_error("no such question", None)),
    };
    let failed = |error: &dyn std::error::Error| ErrorData::internal_error(error.to_string(), None);
    let answer = context.peer.send_request(request).await;
    serde_json::to_value(answer.map_err(|it| failed(&it))?).map_err(|it| failed(&it))
}

/// A form to fill in.
pub(crate) fn form(message: &str, schema: Value) -> InputRequest {
    question(
        "elicitation/create",
        json!({"mode": "form", "message": message, "requestedSchema": schema}),
    )
}

/// A form with one field that must be filled in.
pub(crate) fn field(message: &str, name: &str, kind: &str) -> InputRequest {
    form(
        message,
        json!({"type": "object", "properties": {name: {"type": kind}}, "required": [name]}),
    )
}

/// A prompt for the client's model.
pub(crate) fn sampling(prompt: &str, max_tokens: u32) -> InputRequest {
    let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
    question(
        "sampling/createMessage",
        json!({"messages": [message], "maxTokens": max_tokens}),
    )
}

/// The client's roots.
pub(crate) fn roots() -> InputRequest {
    question("roots/list", json!({}))
}

fn question(method: &str, params: Value) -> InputRequest {
    serde_json::from_value(json!({"method": method, "params": params}))
        .expect("a request of the protocol")
}
