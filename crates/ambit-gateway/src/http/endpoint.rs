//! One request from its head to its answer: is it let in, is there room for it, and who answers.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arc_swap::ArcSwap;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::access::{Access, Caller, Door, Facts, RefusalReason, decide};
use super::answer::{Plain, busy, no_session, plain, refused, stopping, unreadable};
use super::body::{Bodies, Read};
use super::connections::{Connection, Connections};
use super::cors::{allow, is_preflight, named_origin, preflight};
use super::direct;
use super::hold::{Held, Holds};
use super::limits::HttpLimits;
use super::metrics::{CallCounts, RequestCounts};
use super::running::Running;
use super::served::{Front, Generation};
use super::sessions::{SessionTable, Use};
use super::turns::{self, TurnSessions};

pub(super) const SESSION: &str = "mcp-session-id";
pub(super) const METHOD: &str = "mcp-method";
pub(super) const VERSION: &str = "mcp-protocol-version";
/// From this version on there are no sessions.
pub(super) const STATELESS: &str = "2026-07-28";

/// Everything requests share.
pub(crate) struct Endpoint {
    pub(crate) limits: HttpLimits,
    pub(crate) door: ArcSwap<Door>,
    pub(crate) generation: ArcSwap<Generation>,
    pub(crate) sessions: Arc<SessionTable>,
    pub(crate) turn_sessions: TurnSessions,
    pub(crate) connections: Arc<Connections>,
    pub(crate) running: Running,
    /// Nothing new is begun any more.
    pub(crate) draining: CancellationToken,
    /// Streams end, and calls are called off.
    pub(crate) stop: CancellationToken,
    pub(crate) calls_ended: Arc<CallCounts>,
    pub(super) requests: RequestCounts,
    pub(super) bodies: Bodies,
    pub(super) calls: Arc<Semaphore>,
    pub(super) streams: Arc<Semaphore>,
}

/// An answer, and what is held until it has been sent.
pub(crate) type Answer = Response<Held>;

impl Endpoint {
    pub(crate) fn new(
        limits: HttpLimits,
        door: Door,
        generation: Generation,
        calls_ended: Arc<CallCounts>,
    ) -> Self {
        Endpoint {
            door: ArcSwap::from_pointee(door),
            generation: ArcSwap::from_pointee(generation),
            sessions: SessionTable::new(limits.sessions, limits.session_idle),
            turn_sessions: TurnSessions::new(limits.sessions, limits.session_idle),
            connections: Connections::new(limits.connections),
            running: Running::default(),
            draining: CancellationToken::new(),
            stop: CancellationToken::new(),
            calls_ended,
            requests: RequestCounts::default(),
            bodies: Bodies::new(&limits),
            calls: Arc::new(Semaphore::new(limits.calls)),
            streams: Arc::new(Semaphore::new(limits.streams())),
            limits,
        }
    }

    /// Answers one request.
    pub(crate) async fn respond(
        self: &Arc<Self>,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
        local: IpAddr,
    ) -> Answer {
        let (access, origin) = {
            let door = self.door.load();
            let facts = Facts {
                local,
                uri: request.uri(),
                headers: request.headers(),
            };
            (
                decide(&door, &facts),
                named_origin(&door, request.headers()),
            )
        };
        let mut answer = match (access, &origin) {
            (
                Access::Agent(_) | Access::Turns(_) | Access::Refused(RefusalReason::Token),
                Some(_),
            ) if is_preflight(request.method(), request.headers()) => {
                preflight().map(Held::nothing)
            }
            (Access::Refused(reason), _) if turns::is_here(request.uri().path()) => {
                turns::refused(reason)
            }
            (Access::Refused(reason), _) => refused(reason).map(Held::nothing),
            (Access::Turns(visitor), _) => Box::pin(self.turns(visitor, request, connection)).await,
            (Access::Hook(hook), _) => self.hook(hook, request).await.map(Held::nothing),
            (Access::Page(page), _) => self.page(page, request.method()).await.map(Held::nothing),
            (Access::Agent(caller), _) => self.agent(&caller, request, connection).await,
        };
        if let Some(origin) = origin {
            allow(origin, answer.headers_mut());
        }
        let counted = match answer.status() {
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => &self.requests.refused,
            StatusCode::SERVICE_UNAVAILABLE => &self.requests.turned_away,
            _ => &self.requests.served,
        };
        counted.fetch_add(1, Relaxed);
        answer
    }

    /// A request to an agent.
    async fn agent(
        &self,
        caller: &Caller,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Answer {
        let entered = match self.enter(caller, request, connection).await {
            Ok(entered) => entered,
            Err(answer) => return answer.map(Held::nothing),
        };
        let (parts, bytes) = (entered.parts, entered.body.bytes);
        let desk = match &entered.holds._session {
            Some(session) => session.desk(),
            None => entered.front.desk(),
        };
        let call = desk.as_deref().and_then(|desk| {
            let call = direct::read(&parts, &bytes)?;
            desk.takes(&call, &parts.headers).then_some((desk, call))
        });
        if let Some((desk, call)) = call {
            let answer = direct::answer(desk, call, &self.stop).await;
            return answer.map(|body| Held::all(body, entered.holds));
        }
        let is_json = is_json(&parts.headers);
        let request = Request::from_parts(parts, Full::new(bytes.clone()));
        let answer = entered.front.service.handle(request).await;
        let answer = match answer.status() {
            // What the SDK says of a body it cannot read.
            StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => unreadable(&bytes),
            _ => answer,
        };
        answer.map(|body| Held::all(body, entered.holds))
    }

    /// Reads a request and finds everything it needs, or says why it cannot be served now.
    async fn enter(
        &self,
        caller: &Caller,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Result<Entered, Box<Plain>> {
        if self.draining.is_cancelled() {
            return Err(Box::new(stopping()));
        }
        let (mut parts, body) = request.into_parts();
        let body = self.bodies.read(body).await;
        let body = body.map_err(|refusal| plain(refusal.status(), refusal.text()))?;
        // Where there are no sessions, an id says nothing.
        let is_stateless = is_stateless(&parts.headers);
        if is_stateless {
            parts.headers.remove(SESSION);
        }
        let stays = is_stateless && is_subscription(&parts.headers);
        let (by, places, full) = match parts.method == Method::GET || stays {
            true => (
                Use::Listen,
                &self.streams,
                "as many streams are open as may be",
            ),
            false => (
                Use::Call,
                &self.calls,
                "as many calls are at work as may be",
            ),
        };
        let place = Arc::clone(places).try_acquire_owned();
        let place = place.map_err(|_| busy(full))?;
        let generation = self.generation.load_full();
        let front = generation.front(caller, &self.sessions, &self.limits, &self.stop);
        let front = front.ok_or_else(|| refused(RefusalReason::Path))?;
        let session = match parts.headers.get(SESSION).map(HeaderValue::to_str) {
            None if !self.sessions.has_room() && is_hello(&body.bytes) => {
                return Err(Box::new(busy("as many sessions are in use as may be")));
            }
            None => None,
            Some(id) => {
                let session = id.ok().and_then(|id| front.sessions.enter(id, by));
                Some(session.ok_or_else(no_session)?)
            }
        };
        Ok(Entered {
            parts,
            body,
            front,
            holds: Holds {
                _connection: connection.busy(),
                _run: (by == Use::Call).then(|| self.running.begin()),
                _place: place,
                _session: session,
            },
            _generation: generation,
        })
    }
}

/// A request that will be served.
struct Entered {
    parts: Parts,
    body: Read,
    front: Arc<Front>,
    holds: Holds,
    /// Kept for as long as something of it is used.
    _generation: Arc<Generation>,
}

/// Whether a request of the stateless era opens a stream and stays. That the header says what the
/// body says is checked where the body is read.
fn is_subscription(headers: &HeaderMap) -> bool {
    headers
        .get(METHOD)
        .is_some_and(|it| it == "subscriptions/listen")
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
