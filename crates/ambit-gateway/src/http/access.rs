//! Who may come in, and where to. One pure function over what a request says of itself; whatever
//! it does not open stays shut.
//!
//! An agent nobody issued a token for is open on loopback. From its first token on, a token is
//! needed. Who may not come in learns nothing: an agent that does not exist is refused in the same
//! words as one that is there.

use std::collections::BTreeMap;
use std::net::IpAddr;

use http::{HeaderMap, HeaderName, StatusCode, Uri, header};

use super::host::{AllowedHost, AllowedOrigin, authority, host_is_allowed, origin_is_allowed};
use super::token::TokenDigest;

/// The path of the only agent, or of the one that is named in its place.
const MCP: &str = "/mcp";

/// Whether one needs a token to use an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lock {
    /// No token was ever issued, and only this machine can ask.
    Open,
    /// One of these; none of them fits when there are none.
    Tokens(Vec<TokenDigest>),
}

/// What decides.
#[derive(Clone, Debug, Default)]
pub struct Door {
    /// Names this server goes by, besides loopback and its own address.
    pub hosts: Vec<AllowedHost>,
    /// Origins whose pages may ask, besides those of this machine.
    pub origins: Vec<AllowedOrigin>,
    /// The agents served, each with its lock.
    pub agents: BTreeMap<String, Lock>,
    /// The agent of `/mcp`.
    pub main: Option<String>,
}

/// Who was let in: a session belongs to one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Caller {
    /// The agent it speaks for.
    pub agent: String,
    /// By which token; none where none is needed.
    pub token: Option<TokenDigest>,
}

/// Where a request may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// To an agent.
    Agent(Caller),
    /// To one of the pages for whoever runs this server.
    Page(Page),
    /// Nowhere.
    Refused(RefusalReason),
}

/// Pages for whoever runs this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// Whether it is alive.
    Healthz,
    /// Whether it can serve.
    Readyz,
    /// What it counts.
    Metrics,
}

/// Why a request goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalReason {
    /// It is meant for somebody else, or does not say for whom.
    Host,
    /// A page asks that may not.
    Origin,
    /// There is nothing at this path.
    Path,
    /// A token is needed, and there is none or a wrong one.
    Token,
}

impl RefusalReason {
    /// As a status.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            RefusalReason::Host | RefusalReason::Origin => StatusCode::FORBIDDEN,
            RefusalReason::Path => StatusCode::NOT_FOUND,
            RefusalReason::Token => StatusCode::UNAUTHORIZED,
        }
    }

    /// In words, and what to do.
    pub(crate) fn text(self) -> &'static str {
        match self {
            RefusalReason::Host => {
                "this server does not go by that name; `serve.hosts` in ambit.json names others"
            }
            RefusalReason::Origin => {
                "pages of this origin may not ask; `serve.origins` in ambit.json names those that may"
            }
            RefusalReason::Path => "nothing is here; MCP is at /mcp and /mcp/AGENT",
            RefusalReason::Token => {
                "a token of the agent is needed; `ambit agents token NAME` issues one"
            }
        }
    }
}

/// What a request says of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    /// The address it came in on.
    pub(crate) local: IpAddr,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
}

/// Decides about one request.
pub(crate) fn decide(door: &Door, facts: &Facts<'_>) -> Access {
    let refused = Access::Refused;
    if !is_meant(door, facts) {
        return refused(RefusalReason::Host);
    }
    if !may_ask(door, facts) {
        return refused(RefusalReason::Origin);
    }
    let token = bearer(facts.headers);
    match facts.uri.path() {
        "/healthz" => Access::Page(Page::Healthz),
        "/readyz" => Access::Page(Page::Readyz),
        "/metrics" => match door.shows_metrics(token) {
            true => Access::Page(Page::Metrics),
            false => refused(RefusalReason::Token),
        },
        path => match agent_of(path, door) {
            Some(agent) => door.enter(agent, token),
            None => refused(RefusalReason::Path),
        },
    }
}

impl Door {
    /// Lets somebody in to an agent that may not exist.
    fn enter(&self, agent: Option<&str>, token: Option<TokenDigest>) -> Access {
        let lock = agent.and_then(|it| self.agents.get_key_value(it));
        let caller = |agent: &String, token| {
            Access::Agent(Caller {
                agent: agent.clone(),
                token,
            })
        };
        match lock {
            Some((agent, Lock::Open)) => caller(agent, None),
            Some((agent, Lock::Tokens(known))) => match token.filter(|it| it.is_among(known)) {
                Some(token) => caller(agent, Some(token)),
                None => Access::Refused(RefusalReason::Token),
            },
            // As if it were there and locked, unless nothing here is.
            None if self.is_open() => Access::Refused(RefusalReason::Path),
            None => Access::Refused(RefusalReason::Token),
        }
    }

    /// Whether any agent's token, or none being needed, opens what is not one agent's.
    fn shows_metrics(&self, token: Option<TokenDigest>) -> bool {
        let fits = |lock: &Lock| match lock {
            Lock::Open => false,
            Lock::Tokens(known) => token.is_some_and(|it| it.is_among(known)),
        };
        // Each is asked, whatever the others say.
        let fitting = self.agents.values().filter(|it| fits(it)).count();
        self.is_open() || fitting > 0
    }

    fn is_open(&self) -> bool {
        self.agents.values().all(|it| *it == Lock::Open)
    }

    /// Whether a session of this caller may go on.
    pub(crate) fn knows(&self, caller: &Caller) -> bool {
        match (self.agents.get(&caller.agent), caller.token) {
            (Some(Lock::Open), None) => true,
            (Some(Lock::Tokens(known)), Some(token)) => token.is_among(known),
            _ => false,
        }
    }
}

/// Which agent a path means; nothing if it means none.
fn agent_of<'a>(path: &'a str, door: &'a Door) -> Option<Option<&'a str>> {
    match path.strip_prefix(MCP)? {
        "" | "/" => Some(door.main.as_deref()),
        rest => {
            let name = rest.strip_prefix('/')?;
            (!name.contains('/')).then_some(Some(name))
        }
    }
}

fn is_meant(door: &Door, facts: &Facts<'_>) -> bool {
    let allowed = |host: &str| host_is_allowed(host, facts.local, &door.hosts);
    let in_line = authority(facts.uri).is_none_or(allowed);
    in_line && only(facts.headers, &header::HOST).is_ok_and(|it| it.is_some_and(allowed))
}

fn may_ask(door: &Door, facts: &Facts<'_>) -> bool {
    match only(facts.headers, &header::ORIGIN) {
        Ok(None) => true,
        Ok(Some(origin)) => origin_is_allowed(origin, &door.origins),
        Err(Unclear) => false,
    }
}

/// The token a request presents. One that cannot be read is none.
fn bearer(headers: &HeaderMap) -> Option<TokenDigest> {
    let (scheme, token) = only(headers, &header::AUTHORIZATION)
        .ok()??
        .split_once(' ')?;
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    is_bearer.then(|| TokenDigest::of(token.trim()))
}

/// A header that is there twice, or is no text.
struct Unclear;

/// A header that may be there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Unclear> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Unclear),
        (Some(_), Some(_)) => Err(Unclear),
    }
}

#[cfg(test)]
mod tests;
