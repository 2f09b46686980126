//! The HTTP front, as far as config says: where it listens, by which names it goes, and how much
//! of everything it takes.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_gateway::http::{AllowedHost, AllowedOrigin, HttpLimits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::defaults;

/// How `ambit serve` serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServeFile {
    /// Where it listens, `address:port`.
    #[serde(default)]
    #[schemars(extend("default" = defaults::LISTEN, "examples" = ["127.0.0.1:7777", "[::1]:7777"]))]
    pub listen: Option<String>,
    /// Names it goes by besides loopback and its address, `name` or `name:port`. A request for any
    /// other is refused.
    #[serde(default)]
    #[schemars(extend("examples" = [["ambit.example"]]))]
    pub hosts: BTreeSet<String>,
    /// Origins whose web pages may ask besides those of this machine, `https://name[:port]`.
    #[serde(default)]
    #[schemars(extend("examples" = [["https://app.example"]]))]
    pub origins: BTreeSet<String>,
    /// Most connections at once. One more closes the one that has been idle longest.
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = HttpLimits::default().connections))]
    pub max_connections: Option<usize>,
    /// Most sessions at once. One more ends the one that has been idle longest.
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = HttpLimits::default().sessions))]
    pub max_sessions: Option<usize>,
    /// Most calls at work at once.
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = HttpLimits::default().calls))]
    pub max_calls: Option<usize>,
    /// Most bytes of one request.
    #[serde(default)]
    #[schemars(range(min = 1024), extend("default" = HttpLimits::default().body_bytes))]
    pub max_body_bytes: Option<usize>,
    /// Most headers of one request.
    #[serde(default)]
    #[schemars(range(min = 16, max = 1024), extend("default" = HttpLimits::default().headers))]
    pub max_headers: Option<usize>,
    /// Seconds a session may be unused before it ends.
    #[serde(default)]
    #[schemars(
        range(min = 1, max = 604800),
        extend("default" = HttpLimits::default().session_idle.as_secs())
    )]
    pub session_idle_seconds: Option<u64>,
    /// Seconds a connection may be without a whole request head before it is closed.
    #[serde(default)]
    #[schemars(
        range(min = 1, max = 86400),
        extend("default" = HttpLimits::default().head_time.as_secs())
    )]
    pub connection_idle_seconds: Option<u64>,
    /// Seconds the rest of a request may take to arrive.
    #[serde(default)]
    #[schemars(
        range(min = 1, max = 86400),
        extend("default" = HttpLimits::default().body_time.as_secs())
    )]
    pub body_seconds: Option<u64>,
    /// Seconds what runs may go on when the server is told to stop.
    #[serde(default)]
    #[schemars(
        range(min = 0, max = 3600),
        extend("default" = HttpLimits::default().drain.as_secs())
    )]
    pub drain_seconds: Option<u64>,
}

/// How it serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serve {
    /// Where it listens, as written.
    pub listen: Option<String>,
    /// Names it goes by, as written.
    pub hosts: BTreeSet<String>,
    /// Origins whose pages may ask, as written.
    pub origins: BTreeSet<String>,
    /// How much of everything.
    pub limits: HttpLimits,
}

impl Serve {
    /// One file over another; names of both.
    pub(super) fn of(over: ServeFile, under: ServeFile) -> Self {
        let default = HttpLimits::default();
        let seconds = |over: Option<u64>, under: Option<u64>, default| {
            over.or(under).map_or(default, Duration::from_secs)
        };
        let limits = HttpLimits {
            connections: over
                .max_connections
                .or(under.max_connections)
                .unwrap_or(default.connections),
            sessions: over
                .max_sessions
                .or(under.max_sessions)
                .unwrap_or(default.sessions),
            calls: over.max_calls.or(under.max_calls).unwrap_or(default.calls),
            body_bytes: over
                .max_body_bytes
                .or(under.max_body_bytes)
                .unwrap_or(default.body_bytes),
            headers: over
                .max_headers
                .or(under.max_headers)
                .unwrap_or(default.headers),
            session_idle: seconds(
                over.session_idle_seconds,
                under.session_idle_seconds,
                default.session_idle,
            ),
            head_time: seconds(
                over.connection_idle_seconds,
                under.connection_idle_seconds,
                default.head_time,
            ),
            body_time: seconds(over.body_seconds, under.body_seconds, default.body_time),
            drain: seconds(over.drain_seconds, under.drain_seconds, default.drain),
            ..default
        };
        Serve {
            listen: over.listen.or(under.listen),
            hosts: over.hosts.into_iter().chain(under.hosts).collect(),
            origins: over.origins.into_iter().chain(under.origins).collect(),
            limits,
        }
    }

    /// Where it listens.
    pub fn listen(&self) -> &str {
        self.listen.as_deref().unwrap_or(defaults::LISTEN)
    }

    /// Names it goes by.
    pub fn allowed_hosts(&self) -> Vec<AllowedHost> {
        let hosts = self.hosts.iter();
        hosts.filter_map(|it| AllowedHost::parse(it)).collect()
    }

    /// Origins whose pages may ask.
    pub fn allowed_origins(&self) -> Vec<AllowedOrigin> {
        let origins = self.origins.iter();
        origins.filter_map(|it| AllowedOrigin::parse(it)).collect()
    }
}
