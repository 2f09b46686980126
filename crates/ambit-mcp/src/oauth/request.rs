//! What a login is asked for with, and why it did not come about.

use std::fmt;

use thiserror::Error;

/// What a login is asked for with.
#[derive(Clone, Debug, Default)]
pub struct LoginRequest {
    /// As whom.
    pub client: ClientChoice,
    /// The scopes to ask for; without any, those the server says it needs.
    pub scopes: Vec<String>,
    /// Where the person comes back to.
    pub redirect: String,
}

/// As whom Ambit introduces itself to an authorization server.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum ClientChoice {
    /// It registers itself.
    #[default]
    Registered,
    /// By the address of a document about it, where the server reads such; else it registers.
    Document(String),
    /// As a client somebody registered by hand.
    Known {
        /// Its id.
        id: String,
        /// What proves it, if anything.
        secret: Option<String>,
    },
}

impl fmt::Debug for ClientChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientChoice::Registered => f.write_str("Registered"),
            ClientChoice::Document(url) => f.debug_tuple("Document").field(url).finish(),
            ClientChoice::Known { id, .. } => f.debug_tuple("Known").field(id).finish(),
        }
    }
}

/// A login that did not come about.
#[derive(Debug, Error)]
pub enum LoginError {
    /// It is a program here, not a server elsewhere.
    #[error("server `{0}` is not reached over HTTP: there is nothing to log in to")]
    NotRemote(String),
    /// Its address is none.
    #[error("server `{0}`: its `url` is not an http address")]
    BadUrl(String),
    /// It neither asks for a login nor says where one would be.
    #[error("server `{0}` does not ask for a login")]
    NotAsked(String),
    /// It could not be reached.
    #[error("server `{server}` cannot be reached: {reason}")]
    Unreachable {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// What it publishes about its logins cannot be used.
    #[error("what server `{server}` says about logins cannot be used: {reason}")]
    Metadata {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// Its authorization server wants to know its clients beforehand.
    #[error("`{issuer}` does not register Ambit: {reason}")]
    NotRegistered {
        /// The authorization server.
        issuer: String,
        /// Why.
        reason: String,
    },
    /// The person or the authorization server said no.
    #[error("`{issuer}` refused: {reason}")]
    Denied {
        /// The authorization server.
        issuer: String,
        /// What it said.
        reason: String,
    },
    /// What came back is not the answer to what was asked.
    #[error("what came back is not an answer of `{issuer}`: {reason}")]
    Mismatch {
        /// The authorization server.
        issuer: String,
        /// Why.
        reason: String,
    },
    /// The code could not be traded for a token.
    #[error("`{issuer}` issued no token: {reason}")]
    NoToken {
        /// The authorization server.
        issuer: String,
        /// Why.
        reason: String,
    },
}

impl LoginError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            LoginError::NotRegistered { .. } => Some(
                "register a client there by hand and put its id into the server's \
                 `oauth.clientId`"
                    .to_owned(),
            ),
            LoginError::NotAsked(_) => Some("`ambit doctor` connects it".to_owned()),
            LoginError::Mismatch { .. } => {
                Some("begin again with `ambit login`, and use the newest address only".to_owned())
            }
            _ => None,
        }
    }
}
