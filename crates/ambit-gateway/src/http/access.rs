//! Who may come in, and where to. One pure function over what a request says of itself; whatever
//! it does not open stays shut.
//!
//! An agent nobody issued a token for is open on loopback. From its first token on, a token is
//! needed. Who may not come in learns nothing: an agent that does not exist is refused in the same
//! words as one that is there.

use std::collections::BTreeMap;
use std::net::IpAddr;

use http::{HeaderMap, HeaderName, StatusCode, Uri, header};

use super::hooks::hook_of;
use super::host::{AllowedHost, AllowedOrigin, authority, host_is_allowed, origin_is_allowed};
use super::token::TokenDigest;
use super::turns::is_here as is_turns;

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
    /// Who may answer for a person.
    pub operators: Vec<TokenDigest>,
}

/// Who was let in: a session belongs to one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Caller {
    /// The agent it speaks for.
    pub agent: String,
    /// By which token; none where none is needed.
    pub token: Option<TokenDigest>,
}

/// Who asks for something of the turn API. For which agent it may speak is decided once it is known
/// which it is: a session says that, and so may a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visitor {
    /// A harness, by this token or without one.
    Harness(Option<TokenDigest>),
    /// Somebody who answers for a person, and speaks for no agent.
    Operator,
}

/// Where a request may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// To an agent.
    Agent(Caller),
    /// To the turn API.
    Turns(Visitor),
    /// To a hook, which has a token of its own.
    Hook(String),
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
    /// The reference of the turn API.
    OpenApi,
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
            RefusalReason::Path => {
                "nothing is here; MCP is at /mcp and /mcp/AGENT, the turn API at /v1, hooks at /hooks/ID"
            }
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
        "/v1/openapi.json" => Access::Page(Page::OpenApi),
        path if is_turns(path) => match door.visitor(token) {
            Some(visitor) => Access::Turns(visitor),
            None => refused(RefusalReason::Token),
        },
        path => match (agent_of(path, door), hook_of(path)) {
            (Some(agent), _) => door.enter(agent, token),
            (None, Some(hook)) => Access::Hook(hook.to_owned()),
            (None, None) => refused(RefusalReason::Path),
        },
    }
}

impl Door {
    /// Lets somebody in to an agent that may not exist.
    fn enter(&self, agent: Option<&str>, token: Option<TokenDigest>) -> Access {
        match self.admit(agent, token) {
            Ok(caller) => Access::Agent(caller),
            Err(reason) => Access::Refused(reason),
        }
    }

    fn admit(
        &self,
        agent: Option<&str>,
        token: Option<TokenDigest>,
    ) -> Result<Caller, RefusalReason> {
        let lock = agent.and_then(|it| self.agents.get_key_value(it));
        let caller = |agent: &String, token| Caller {
            agent: agent.clone(),
            token,
        };
        match lock {
            Some((agent, Lock::Open)) => Ok(caller(agent, None)),
            Some((agent, Lock::Tokens(known))) => match token.filter(|it| it.is_among(known)) {
                Some(token) => Ok(caller(agent, Some(token))),
                None => Err(RefusalReason::Token),
            },
            // As if it were there and locked, unless nothing here is.
            None if self.is_open() => Err(RefusalReason::Path),
            None => Err(RefusalReason::Token),
        }
    }

    /// Who comes to the turn API by this token; nothing if it opens nothing and something is needed.
    fn visitor(&self, token: Option<TokenDigest>) -> Option<Visitor> {
        if token.is_some_and(|it| it.is_among(&self.operators)) {
            return Some(Visitor::Operator);
        }
        let opens = self.agents.values().any(|it| *it == Lock::Open);
        match token.filter(|it| self.agent_by(*it).is_some()) {
            Some(token) => Some(Visitor::Harness(Some(token))),
            None => opens.then_some(Visitor::Harness(None)),
        }
    }

    /// The agent a token opens.
    fn agent_by(&self, token: TokenDigest) -> Option<&str> {
        let fits = |lock: &Lock| matches!(lock, Lock::Tokens(known) if token.is_among(known));
        // Each is asked, whatever the others say.
        let fitting: Vec<&String> = self
            .agents
            .iter()
            .filter(|(_, it)| fits(it))
            .map(|it| it.0)
            .collect();
        fitting.first().map(|it| it.as_str())
    }

    /// As which caller a visitor speaks for an agent; without a name, for the one its token opens
    /// or that of `/mcp`.
    pub(crate) fn speaks_for(
        &self,
        visitor: Visitor,
        agent: Option<&str>,
    ) -> Result<Caller, RefusalReason> {
        let Visitor::Harness(token) = visitor else {
            return Err(RefusalReason::Token);
        };
        let own = || token.and_then(|it| self.agent_by(it));
        let agent = agent.or_else(own).or(self.main.as_deref());
        self.admit(agent, token)
    }

    /// Whether an agent is here at all.
    pub(crate) fn serves(&self, agent: &str) -> bool {
        self.agents.contains_key(agent)
    }

    /// Whether any agent's token, or none being needed, opens what is not one agent's.
    fn shows_metrics(&self, token: Option<TokenDigest>) -> bool {
        let fits = |lock: &Lock| match lock {
            Lock::Open => false,
            Lock::Tokens(known) => token.is_some_and(|it| it.is_among(known)),
        };
        // Each is asked, whatever the others say.
        let fitting = self.agents.values().filter(|it| fits(it)).count();
        let is_operator = token.is_some_and(|it| it.is_among(&self.operators));
        self.is_open() || is_operator || fitting > 0
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
    bearer_text(headers).map(TokenDigest::of)
}

/// The same, as it was sent.
pub(super) fn bearer_text(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, &header::AUTHORIZATION)
        .ok()??
        .split_once(' ')?;
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    is_bearer.then(|| token.trim())
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
