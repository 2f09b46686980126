//! Calls of tools that say everything as they should, answered without the SDK. Its way builds a
//! service for each request of the stateless era, and takes one of a session through four tasks.
//!
//! Nothing is refused here. A request that is in any way out of the ordinary is the SDK's, which
//! knows what is wrong with it and how to say so. So is one of a session whose client can be asked
//! things, or wants to hear of progress: questions need a way back, and such streams can be taken
//! up again, and only the SDK has either.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, ErrorData, RequestId,
    RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, RequestContext, RoleServer, Service as _, serve_directly};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::answer::Plain;
use super::endpoint::{METHOD, STATELESS, VERSION};
use crate::aside::{Aside, Told};
use crate::handler::Handler;
use crate::style::Era;

const NAME: &str = "mcp-name";
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
/// How long a stream may be silent.
const SILENCE: Duration = Duration::from_secs(15);

/// A call of a tool.
pub(super) struct Call {
    id: RequestId,
    request: CallToolRequestParams,
    meta: RequestMetaObject,
}

/// Who answers calls past the SDK, and towards whom.
pub(super) struct Desk {
    handler: Arc<Handler>,
    client: Peer<RoleServer>,
    era: Era,
}

impl Desk {
    /// For requests that have no session.
    pub(super) fn without_session(handler: Handler) -> Self {
        Desk {
            handler: Arc::new(handler),
            client: nobody(),
            era: Era::Stateless,
        }
    }

    /// For those of a session.
    pub(super) fn of_session(handler: Arc<Handler>, client: Peer<RoleServer>) -> Self {
        Desk {
            handler,
            client,
            era: Era::Session,
        }
    }

    /// Whether a call is answered here.
    pub(super) fn takes(&self, call: &Call, headers: &HeaderMap) -> bool {
        match self.era {
            Era::Session => call.is_of_session(headers, &self.client),
            Era::Stateless => call.is_stateless(headers) && !self.handler.has_header_arguments(),
        }
    }
}

/// Stands for a client where there is no line to one: of a request that speaks for itself nothing
/// is asked of it.
fn nobody() -> Peer<RoleServer> {
    static NOBODY: OnceLock<Peer<RoleServer>> = OnceLock::new();
    let peer = NOBODY.get_or_init(|| {
        let line = (tokio::io::empty(), tokio::io::sink());
        serve_directly(Silent, line, None).peer().clone()
    });
    peer.clone()
}

/// Answers nothing.
struct Silent;

impl ServerHandler for Silent {}

#[derive(Deserialize)]
struct Head<'a> {
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// The call a request is, if it is one and its head is as it should be in any era.
pub(super) fn read(parts: &Parts, body: &[u8]) -> Option<Call> {
    let accepts = only(&parts.headers, header::ACCEPT.as_str())?;
    let is_ordinary = parts.method == Method::POST
        && accepts.contains("application/json")
        && accepts.contains("text/event-stream")
        && only(&parts.headers, header::CONTENT_TYPE.as_str())?.starts_with("application/json");
    if !is_ordinary {
        return None;
    }
    let head: Head<'_> = serde_json::from_slice(body).ok()?;
    if head.method != Some("tools/call") {
        return None;
    }
    let mut request: CallToolRequestParams = serde_json::from_str(head.params?.get()).ok()?;
    Some(Call {
        id: head.id?,
        meta: request.meta.take().unwrap_or_default(),
        request,
    })
}

/// The one value of a header.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

impl Call {
    /// Whether it says of itself all that one of the stateless era has to, and its head the same.
    fn is_stateless(&self, headers: &HeaderMap) -> bool {
        let version = self.meta.protocol_version();
        version.is_some_and(|it| it.as_str() == STATELESS)
            && only(headers, VERSION) == Some(STATELESS)
            && only(headers, METHOD) == Some("tools/call")
            && only(headers, NAME) == Some(&*self.request.name)
            && self.meta.client_info().is_some()
            && self.meta.client_capabilities().is_some()
    }

    /// Whether it relies on what its session said.
    fn is_of_session(&self, headers: &HeaderMap, client: &Peer<RoleServer>) -> bool {
        let agreed = client.peer_info().map(|it| it.protocol_version.clone());
        let said = headers.get(VERSION).map(HeaderValue::to_str);
        let is_agreed = match (said, &agreed) {
            (None, Some(_)) => true,
            (Some(Ok(said)), Some(agreed)) => said == agreed.as_str(),
            _ => false,
        };
        is_agreed
            && self.meta.protocol_version().is_none()
            && self.meta.get_progress_token().is_none()
    }
}

type Calling = Pin<Box<dyn Future<Output = Result<ServerResult, ErrorData>> + Send>>;

/// Runs a call to its end, or to the first thing it says on the way: from there on the answer is
/// a stream.
pub(super) async fn answer(desk: &Desk, call: Call, stop: &CancellationToken) -> Plain {
    let (aside, mut told) = Aside::new();
    let cancel = stop.child_token();
    let mut context = RequestContext::new(call.id.clone(), desk.client.clone());
    context.ct = cancel.clone();
    context.meta = call.meta;
    context.extensions.insert(aside);
    // Without a session, hanging up is the only way to call one off.
    let running = match desk.era {
        Era::Session => Some(desk.handler.running.begin(call.id.clone(), cancel.clone())),
        Era::Stateless => None,
    };
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(call.request));
    let handler = Arc::clone(&desk.handler);
    let calling = Box::pin(async move {
        let _running = running;
        handler.handle_request(request, context).await
    });
    // In a session hanging up says nothing; without one, it calls the call off.
    let (mut calling, hanging_up): (Calling, _) = match desk.era {
        Era::Session => (Box::pin(in_task(calling)), None),
        Era::Stateless => (calling, Some(cancel.drop_guard())),
    };
    let ended = tokio::select! {
        biased;
        ended = &mut calling => ended,
        Some(first) = told.recv() => {
            return stream_on(call.id, first, told, calling, hanging_up);
        }
    };
    let message = Ended::of(&call.id, &ended);
    match told.try_recv() {
        Ok(first) => {
            let ended: Calling = Box::pin(std::future::ready(ended));
            stream_on(call.id, first, told, ended, hanging_up)
        }
        Err(_) => whole(&message),
    }
}

/// A call that goes on whoever waits for it.
async fn in_task(
    calling: impl Future<Output = Result<ServerResult, ErrorData>> + Send + 'static,
) -> Result<ServerResult, ErrorData> {
    let ended = tokio::spawn(calling).await;
    ended.unwrap_or_else(|_| Err(ErrorData::internal_error("the call broke off", None)))
}

/// How a call ended, on the wire.
#[derive(Serialize)]
struct Ended<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a ServerResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorData>,
}

impl<'a> Ended<'a> {
    fn of(id: &'a RequestId, ended: &'a Result<ServerResult, ErrorData>) -> Self {
        Ended {
            jsonrpc: "2.0",
            id,
            result: ended.as_ref().ok(),
            error: ended.as_ref().err(),
        }
    }

    /// As the SDK has it for the era that says so.
    fn status(&self) -> StatusCode {
        match self.error.map(|it| it.code) {
            Some(
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
                | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
                | ErrorCode::HEADER_MISMATCH,
            ) => StatusCode::BAD_REQUEST,
            Some(ErrorCode::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        }
    }

    fn written(&self) -> Vec<u8> {
        // Of what comes from JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn whole(message: &Ended<'_>) -> Plain {
    let mut answer = Response::new(Full::from(message.written()).boxed());
    *answer.status_mut() = message.status();
    answer.headers_mut().insert(header::CONTENT_TYPE, JSON);
    answer
}

/// The rest of a call that has something to say before it ends.
fn stream_on(
    id: RequestId,
    first: Vec<u8>,
    mut told: Told,
    calling: Calling,
    hanging_up: Option<DropGuard>,
) -> Plain {
    let (to, events) = mpsc::unbounded_channel();
    let _ = to.send(first);
    tokio::spawn(async move {
        let mut calling = calling;
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut calling => break ended,
                Some(message) = told.recv() => {
                    let _ = to.send(message);
                }
            }
        };
        while let Ok(message) = told.try_recv() {
            let _ = to.send(message);
        }
        let _ = to.send(Ended::of(&id, &ended).written());
    });
    let streaming = Streaming {
        events,
        _hanging_up: hanging_up,
    };
    let frames = stream::unfold(streaming, |mut it| async move {
        let event = match timeout(SILENCE, it.events.recv()).await {
            Ok(message) => event(&message?),
            Err(_) => Bytes::from_static(b":\n\n"),
        };
        Some((Ok::<_, Infallible>(Frame::data(event)), it))
    });
    let mut answer = Response::new(StreamBody::new(frames).boxed());
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// A stream somebody listens to.
struct Streaming {
    events: mpsc::UnboundedReceiver<Vec<u8>>,
    _hanging_up: Option<DropGuard>,
}

fn event(message: &[u8]) -> Bytes {
    [b"data: ", message, b"\n\n"].concat().into()
}
