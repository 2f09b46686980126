//! One request from its head to its answer: is it let in, is there room for it, and who answers.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::access::{Access, Caller, Door, Facts, Page, RefusalReason, decide};
use super::body::{Bodies, Read};
use super::connections::{Busy, Connection, Connections};
use super::limits::HttpLimits;
use super::running::{Run, Running};
use super::served::Generation;
use super::sessions::{InUse, SessionTable, Use};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// From this version on there are no sessions.
const STATELESS: &str = "2026-07-28";
/// When to try again where there was no room, in seconds.
const SOON: HeaderValue = HeaderValue::from_static("1");

/// Everything requests share.
pub(crate) struct Endpoint {
    pub(crate) limits: HttpLimits,
    pub(crate) door: ArcSwap<Door>,
    pub(crate) generation: ArcSwap<Generation>,
    pub(crate) sessions: Arc<SessionTable>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) running: Running,
    /// Nothing new is begun any more.
    pub(crate) draining: CancellationToken,
    /// Streams end, and calls are called off.
    pub(crate) stop: CancellationToken,
    bodies: Bodies,
    calls: Arc<Semaphore>,
}

/// An answer, and what is held until it has been sent.
pub(crate) type Answer = Response<Held>;

impl Endpoint {
    pub(crate) fn new(limits: HttpLimits, door: Door, generation: Generation) -> Self {
        Endpoint {
            door: ArcSwap::from_pointee(door),
            generation: ArcSwap::from_pointee(generation),
            sessions: SessionTable::new(limits.sessions, limits.session_idle),
            connections: Connections::new(limits.connections),
            running: Running::default(),
            draining: CancellationToken::new(),
            stop: CancellationToken::new(),
            bodies: Bodies::new(&limits),
            calls: Arc::new(Semaphore::new(limits.calls)),
            limits,
        }
    }

    /// Answers one request.
    pub(crate) async fn respond(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
        local: IpAddr,
    ) -> Answer {
        let facts = Facts {
            local,
            uri: request.uri(),
            headers: request.headers(),
        };
        let answer = match decide(&self.door.load(), &facts) {
            Access::Refused(reason) => refused(reason),
            Access::Page(page) => self.page(page, request.method()).await,
            Access::Agent(_) if self.draining.is_cancelled() => {
                let mut answer = busy("this server is stopping; try again in a moment");
                let close = HeaderValue::from_static("close");
                answer.headers_mut().insert(header::CONNECTION, close);
                answer
            }
            Access::Agent(caller) => return self.agent(&caller, request, connection).await,
        };
        answer.map(Held::nothing)
    }

    /// A request to an agent.
    async fn agent(
        &self,
        caller: &Caller,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Answer {
        let (mut parts, body) = request.into_parts();
        let Read { bytes, share } = match self.bodies.read(body).await {
            Ok(read) => read,
            Err(refusal) => return plain(refusal.status(), refusal.text()).map(Held::nothing),
        };
        let by = match parts.method {
            Method::GET => Use::Listen,
            _ => Use::Call,
        };
        let permit = match by {
            Use::Listen => None,
            Use::Call => match Arc::clone(&self.calls).try_acquire_owned() {
                Ok(permit) => Some(permit),
                Err(_) => return busy("as many calls are at work as may be").map(Held::nothing),
            },
        };
        let generation = self.generation.load_full();
        let front = generation.front(caller, &self.sessions, &self.limits, &self.stop);
        let Some(front) = front else {
            return refused(RefusalReason::Path).map(Held::nothing);
        };
        // Where there are no sessions, an id says nothing.
        if is_stateless(&parts.headers) {
            parts.headers.remove(SESSION);
        }
        let session = match parts.headers.get(SESSION).map(HeaderValue::to_str) {
            None if !self.sessions.has_room() && is_hello(&bytes) => {
                return busy("as many sessions are in use as may be").map(Held::nothing);
            }
            None => None,
            Some(id) => match id.ok().and_then(|id| front.sessions.enter(id, by)) {
                Some(session) => Some(session),
                None => {
                    let unknown = "there is no such session; begin a new one";
                    return plain(StatusCode::NOT_FOUND, unknown).map(Held::nothing);
                }
            },
        };
        let holds = Holds {
            _busy: connection.busy(),
            _run: (by == Use::Call).then(|| self.running.begin()),
            _permit: permit,
            _session: session,
        };
        let is_json = is_json(&parts.headers);
        let sent = bytes.clone();
        let request = Request::from_parts(parts, Full::new(bytes));
        let answer = front.service.handle(request).await;
        drop(share);
        let answer = match answer.status() {
            // What the SDK says of a body it cannot read.
            StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => unreadable(&sent),
            _ => answer,
        };
        answer.map(|body| Held {
            body,
            holds: Some(Box::new(holds)),
        })
    }

    async fn page(&self, page: Page, method: &Method) -> Response<BoxBody<Bytes, Infallible>> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "this can only be read");
        }
        match page {
            Page::Healthz => plain(StatusCode::OK, "ok"),
            Page::Readyz if self.draining.is_cancelled() => {
                plain(StatusCode::SERVICE_UNAVAILABLE, "stopping")
            }
            Page::Readyz => match self.generation.load().market().journal().flush().await {
                Ok(()) => plain(StatusCode::OK, "ok"),
                Err(error) => {
                    tracing::error!(%error, "the journal cannot be written");
                    plain(
                        StatusCode::SERVICE_UNAVAILABLE,
                        "the journal cannot be written",
                    )
                }
            },
            Page::Metrics => plain(StatusCode::NOT_FOUND, ""),
        }
    }
}

fn is_stateless(headers: &HeaderMap) -> bool {
    let version = headers.get(VERSION).and_then(|it| it.to_str().ok());
    version.is_some_and(|it| it >= STATELESS)
}

/// What of a message is looked at here.
#[derive(Deserialize)]
struct Glance<'a> {
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
}

/// Whether a message would begin a session.
fn is_hello(message: &[u8]) -> bool {
    serde_json::from_slice::<Glance<'_>>(message)
        .is_ok_and(|it| it.method.as_deref() == Some("initialize"))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|it| it.as_bytes().starts_with(b"application/json"))
}

/// A body that is no message of the protocol, said in the protocol's own way.
fn unreadable(body: &[u8]) -> Response<BoxBody<Bytes, Infallible>> {
    let read = serde_json::from_slice::<serde_json::Value>(body);
    let (code, message, id) = match &read {
        Err(error) => (-32700, format!("not JSON: {error}"), None),
        Ok(value) => (
            -32600,
            "not a request, notification or response of the protocol".to_owned(),
            value
                .get("id")
                .filter(|it| it.is_string() || it.is_number()),
        ),
    };
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    let mut answer = plain(StatusCode::BAD_REQUEST, &error.to_string());
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}

fn refused(reason: RefusalReason) -> Response<BoxBody<Bytes, Infallible>> {
    tracing::debug!(?reason, "a request was refused");
    let mut answer = plain(reason.status(), reason.text());
    if reason == RefusalReason::Token {
        let how = HeaderValue::from_static("Bearer realm=\"ambit\"");
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, how);
    }
    answer
}

/// There is no room for it now.
fn busy(text: &str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut answer = plain(StatusCode::SERVICE_UNAVAILABLE, text);
    answer.headers_mut().insert(header::RETRY_AFTER, SOON);
    answer
}

fn plain(status: StatusCode, text: &str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut answer = Response::new(Full::from(format!("{text}\n")).boxed());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// What a request holds while it is at work.
struct Holds {
    _busy: Busy,
    _run: Option<Run>,
    _permit: Option<OwnedSemaphorePermit>,
    _session: Option<InUse>,
}

/// A body that lets go of what its request held when it has ended.
pub(crate) struct Held {
    body: BoxBody<Bytes, Infallible>,
    holds: Option<Box<Holds>>,
}

impl Held {
    fn nothing(body: BoxBody<Bytes, Infallible>) -> Self {
        Held { body, holds: None }
    }
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() {
            self.holds = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
