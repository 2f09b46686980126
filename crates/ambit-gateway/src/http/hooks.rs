//! Requests that start something: `POST /hooks/ID`, by whoever knows its token. What is started,
//! and for whom, is behind a port; here is only the door.

use std::sync::Arc;

use http::{HeaderValue, Method, Request, StatusCode, header};
use hyper::body::Incoming;

use super::access::bearer_text;
use super::answer::{Plain, busy, plain, stopping};
use super::endpoint::Endpoint;

/// The path hooks are below.
const HOOKS: &str = "/hooks/";

/// Takes in what hooks are sent. What that starts is started elsewhere, and later.
pub trait Hooks: Send + Sync {
    /// Takes in one request, or says why not. It may wait for a disk: it is not called on an
    /// async thread.
    fn receive(&self, hook: &str, token: &str, body: &[u8]) -> Result<(), HookAnswer>;
}

/// Why a request starts nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// There is no such hook, or the token is another's: the two look the same.
    Unknown,
    /// What it carries cannot be used.
    Unfit(String),
    /// Too many wait already.
    Busy(String),
    /// It cannot be kept.
    Broken(String),
}

/// Which hook a path means, if it means one.
pub(super) fn hook_of(path: &str) -> Option<&str> {
    let hook = path.strip_prefix(HOOKS)?;
    (!hook.is_empty() && !hook.contains('/')).then_some(hook)
}

impl Endpoint {
    /// Takes in what a hook is sent.
    pub(super) async fn hook(&self, hook: String, request: Request<Incoming>) -> Plain {
        if self.draining.is_cancelled() {
            return stopping();
        }
        if request.method() != Method::POST {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "a hook is called with POST");
        }
        let Some(token) = bearer_text(request.headers()).map(str::to_owned) else {
            return unknown();
        };
        let Ok(_place) = Arc::clone(&self.calls).try_acquire_owned() else {
            return busy("as many calls are at work as may be");
        };
        let body = match self.bodies.read(request.into_body()).await {
            Ok(body) => body,
            Err(refusal) => return plain(refusal.status(), refusal.text()),
        };
        let hooks = Arc::clone(self.generation.load().hooks());
        let taken = tokio::task::spawn_blocking(move || hooks.receive(&hook, &token, &body.bytes));
        match taken.await {
            Ok(Ok(())) => plain(StatusCode::ACCEPTED, "taken in"),
            Ok(Err(HookAnswer::Unknown)) => unknown(),
            Ok(Err(HookAnswer::Unfit(why))) => plain(StatusCode::UNPROCESSABLE_ENTITY, &why),
            Ok(Err(HookAnswer::Busy(why))) => plain(StatusCode::TOO_MANY_REQUESTS, &why),
            Ok(Err(HookAnswer::Broken(why))) => {
                tracing::error!(why, "what a hook was sent cannot be kept");
                busy("it cannot be kept now; try again")
            }
            Err(error) => {
                tracing::error!(%error, "a hook broke");
                busy("it cannot be taken in now; try again")
            }
        }
    }
}

fn unknown() -> Plain {
    let text = "the hook's own token is needed, as `Authorization: Bearer TOKEN`";
    let mut answer = plain(StatusCode::UNAUTHORIZED, text);
    let how = HeaderValue::from_static("Bearer realm=\"ambit\"");
    answer.headers_mut().insert(header::WWW_AUTHENTICATE, how);
    answer
}
