//! One call on a connection, from the first request to the last answer: rounds in which the
//! server asks for more, and notices on the way.

use ambit_core::observation::{Failure, Output};
use ambit_runtime::conversation::{Answers, Conversation, Question, QuestionKind, Questions};
use futures_util::FutureExt as _;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientRequest, GetExtensions as _,
    GetPromptRequest, GetPromptRequestParams, InputRequests, ReadResourceRequest,
    ReadResourceRequestParams, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::{Map, Value};

use crate::calls::Gone;
use crate::connection::Connection;
use crate::direct::Brought;
use crate::error::McpError;
use crate::map::{self, Raw};
use crate::results;

/// A server that asks on and on is not asked for the same thing for ever.
const MAX_ROUNDS: usize = 16;

/// In a request's `_meta`: from which gravity on log lines are wanted.
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What goes out again with an answer to the server's questions.
pub(crate) struct Round {
    pub(crate) answers: Option<Answers>,
    pub(crate) state: Option<String>,
}

/// The outer error is the connection's, the inner one the server's answer.
pub(crate) type Reply<T> = Result<Result<T, Failure>, McpError>;

impl Connection {
    /// Runs one call. Dropping the future tells the server that nobody waits any more; the
    /// connection stays.
    pub(crate) async fn run(
        &self,
        raw: &Raw,
        arguments: Value,
        conversation: &Conversation,
    ) -> Reply<Output> {
        let mut round = Round {
            answers: conversation.caller().given(),
            state: None,
        };
        for _ in 0..MAX_ROUNDS {
            let brought = match (self.direct(), raw) {
                (Some(direct), Raw::Tool(name)) => {
                    let flights = self.flights();
                    let exchange = direct.exchange(flights, name, &arguments, &round, conversation);
                    match exchange.await {
                        Ok(brought) => brought,
                        Err(Gone) => {
                            let closed = ServiceError::TransportClosed;
                            return Err(Box::pin(self.lost(closed)).await);
                        }
                    }
                }
                _ => {
                    let request = request(raw, &arguments, round);
                    let result = Box::pin(self.exchange(request, conversation)).await?;
                    result.map(|it| Brought::Other(Box::new(it)))
                }
            };
            let result = match brought {
                Ok(Brought::Output(output)) => return Ok(Ok(output)),
                Ok(Brought::Other(result)) => *result,
                Err(error) => return Ok(Err(map::refusal(&error))),
            };
            match result {
                ServerResult::InputRequiredResult(asks) => {
                    let requests = asks.input_requests.unwrap_or_default();
                    let asked = Box::pin(ask(requests, conversation)).await;
                    round = match asked {
                        Ok(answers) => Round {
                            answers: Some(answers),
                            state: asks.request_state,
                        },
                        Err(failure) => return Ok(Err(failure)),
                    };
                }
                ServerResult::CreateTaskResult(task) => {
                    return Box::pin(self.see_through(task, conversation)).await;
                }
                result => return Ok(results::output(result)),
            }
        }
        Ok(Err(Failure::provider(format!(
            "the server asked for more input {MAX_ROUNDS} times and still has no answer"
        ))))
    }

    /// Sends a request and waits for its answer, passing on what is said meanwhile.
    pub(crate) async fn exchange(
        &self,
        mut request: ClientRequest,
        conversation: &Conversation,
    ) -> Result<Result<ServerResult, ErrorData>, McpError> {
        let mut flight = self.flights().begin(conversation.clone());
        request.extensions_mut().insert(flight.ticket());
        let mut options = PeerRequestOptions::no_options();
        if self.about().stateless {
            options = options.with_meta(meta(conversation));
        }
        let sent = self.peer().send_request_with_option(request, options);
        let mut handle = match sent.await {
            Ok(handle) => handle,
            Err(error) => return Err(self.lost(error).await),
        };
        let mut called_off = CalledOff {
            peer: self.peer(),
            id: Some(handle.id.clone()),
        };
        let answer = loop {
            tokio::select! {
                biased;
                Some(notice) = flight.notices.recv() => conversation.tell(notice).await,
                answer = &mut handle.rx => break answer,
            }
        };
        called_off.id = None;
        // They came in before the answer did.
        while let Ok(notice) = flight.notices.try_recv() {
            conversation.tell(notice).await;
        }
        match answer.unwrap_or(Err(ServiceError::TransportClosed)) {
            Ok(result) => Ok(Ok(result)),
            Err(ServiceError::McpError(error)) => Ok(Err(error)),
            Err(error) => Err(self.lost(error).await),
        }
    }
}

/// Puts the server's questions to whoever called.
pub(crate) async fn ask(
    requests: InputRequests,
    conversation: &Conversation,
) -> Result<Answers, Failure> {
    let mut questions = Questions::new();
    for (key, request) in requests {
        let value = serde_json::to_value(&request).unwrap_or_default();
        let method = value.get("method").and_then(Value::as_str);
        let Some(kind) = method.and_then(QuestionKind::of_method) else {
            return Err(Failure::provider(
                "the server asks for something nobody could answer",
            ));
        };
        let params = value.get("params").cloned().unwrap_or(Value::Null);
        questions.insert(key, Question { kind, params });
    }
    if questions.is_empty() {
        return Ok(Answers::new());
    }
    conversation
        .ask(questions)
        .await
        .map_err(|why| Failure::provider(format!("the server asks for more input, and {why}")))
}

fn request(raw: &Raw, arguments: &Value, round: Round) -> ClientRequest {
    let object = arguments.as_object();
    match raw {
        Raw::Tool(name) => {
            let mut params = CallToolRequestParams::new(name.clone());
            params.arguments = object.cloned();
            params.input_responses = round.answers;
            params.request_state = round.state;
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        }
        Raw::Prompt(name) => {
            let mut params = GetPromptRequestParams::new(name.clone());
            params.arguments = object.cloned().filter(|it| !it.is_empty());
            params.input_responses = round.answers;
            params.request_state = round.state;
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        }
        Raw::Resource(_) | Raw::Template => {
            let named = arguments.get("uri").and_then(Value::as_str);
            let uri = match raw {
                Raw::Resource(uri) => uri,
                _ => named.unwrap_or_default(),
            };
            let mut params = ReadResourceRequestParams::new(uri);
            params.input_responses = round.answers;
            params.request_state = round.state;
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        }
    }
}

/// What a stateless server is told of the caller with every request.
pub(crate) fn meta(conversation: &Conversation) -> RequestMetaObject {
    let caller = conversation.caller();
    let mut meta = RequestMetaObject::new();
    let abilities: Map<String, Value> = caller.abilities();
    let capabilities: ClientCapabilities =
        serde_json::from_value(Value::Object(abilities)).unwrap_or_default();
    meta.set_client_capabilities(capabilities);
    if let Some(level) = caller.log_level() {
        meta.insert(LOG_LEVEL.to_owned(), Value::String(level));
    }
    meta
}

/// Tells the server when nobody waits for a request any more.
struct CalledOff<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CalledOff<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        let mut telling = Box::pin(async move {
            let cancelled = rmcp::model::CancelledNotificationParam::new(Some(id), None);
            let _ = peer.notify_cancelled(cancelled).await;
        });
        // Begun here, so that it goes out before whatever is called next.
        if telling.as_mut().now_or_never().is_none() {
            runtime.spawn(telling);
        }
    }
}
