//! Everything that can go wrong between Ambit and a server, in words, with what to do about it.

use std::time::Duration;

use ambit_core::code::Code;
use ambit_core::observation::Failure;
use ambit_runtime::cache::CacheError;
use thiserror::Error;

use crate::oauth::LoginReason;
use crate::pin::PinError;

/// A server that could not be used.
#[derive(Debug, Error)]
pub enum McpError {
    /// The program did not start.
    #[error("server `{server}`: `{command}` cannot be started: {source}")]
    Spawn {
        /// The server.
        server: String,
        /// The program.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// A header of the configuration cannot be sent.
    #[error("server `{server}`: the header `{header}` cannot be sent as it is written")]
    BadHeader {
        /// The server.
        server: String,
        /// The header's name.
        header: String,
    },
    /// It was not ready in time.
    #[error("server `{server}` was not ready within {}", in_words(*.after))]
    ConnectTimeout {
        /// The server.
        server: String,
        /// How long it was given.
        after: Duration,
    },
    /// The handshake failed.
    #[error("server `{server}` cannot be connected: {reason}")]
    Connect {
        /// The server.
        server: String,
        /// What the other side said or did.
        reason: String,
    },
    /// Its address is none.
    #[error("server `{server}`: its `url` is not an http address")]
    BadUrl {
        /// The server.
        server: String,
    },
    /// It wants somebody to log in first. What to do is part of it: nothing else helps.
    #[error("server `{server}` {reason}; {}", reason.remedy(server))]
    LoginNeeded {
        /// The server.
        server: String,
        /// Why.
        reason: LoginReason,
    },
    /// Its list of tools is longer than anybody's.
    #[error("server `{server}` lists more than {limit}")]
    ListTooLong {
        /// The server.
        server: String,
        /// What it went over.
        limit: &'static str,
    },
    /// The connection ended before an answer came.
    #[error("server `{server}` went away before it answered{}", because(.reason))]
    Gone {
        /// The server.
        server: String,
        /// What is known of its end.
        reason: Option<String>,
    },
    /// It failed too often to be tried again now.
    #[error("server `{server}` failed {failures} times in a row and is left alone for {}", in_words(*.again_in))]
    CircuitOpen {
        /// The server.
        server: String,
        /// How often.
        failures: u32,
        /// When it is tried again.
        again_in: Duration,
    },
    /// Too many calls are waiting for it.
    #[error("server `{server}` is busy: {waiting} calls are waiting")]
    Busy {
        /// The server.
        server: String,
        /// How many.
        waiting: usize,
    },
    /// What it offered could not be remembered.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Nobody can say whether what it offers was accepted.
    #[error(transparent)]
    Pins(#[from] PinError),
}

impl McpError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            McpError::Spawn {
                source, command, ..
            } if source.kind() == std::io::ErrorKind::NotFound => {
                Some(format!("is `{command}` installed and on PATH?"))
            }
            McpError::Spawn { .. } => None,
            McpError::BadHeader { .. } => {
                Some("header names and values are plain ASCII without line breaks".to_owned())
            }
            McpError::ConnectTimeout { server, .. } | McpError::Connect { server, .. } => Some(
                format!("`ambit doctor` shows what `{server}` wrote to stderr"),
            ),
            McpError::BadUrl { .. } => Some("it begins with https:// or http://".to_owned()),
            McpError::LoginNeeded { .. } | McpError::ListTooLong { .. } => None,
            McpError::Gone { server, .. } | McpError::CircuitOpen { server, .. } => {
                Some(format!("`ambit doctor` shows what became of `{server}`"))
            }
            McpError::Busy { .. } => Some("wait for running calls to end".to_owned()),
            McpError::Cache(_) => None,
            McpError::Pins(_) => Some("`ambit doctor` looks at the trust store".to_owned()),
        }
    }

    /// The same towards whoever made a call. All of these may pass by themselves, but for a login.
    pub fn failure(&self) -> Failure {
        match self {
            McpError::LoginNeeded { .. } => Failure::new(Code::LoginRequired, self.to_string()),
            _ => Failure::unreachable(self.to_string()),
        }
    }
}

fn in_words(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{} s", time.as_secs_f32().round())
    }
}

fn because(reason: &Option<String>) -> String {
    reason
        .as_ref()
        .map_or_else(String::new, |it| format!(": {it}"))
}
