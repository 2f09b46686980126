//! A server that wants somebody to log in: found in what went wrong, and said as what to do.

use std::error::Error;
use std::fmt;

use reqwest::Url;
use rmcp::transport::auth::WWWAuthenticateParams;
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};

use super::keeper::Keeper;
use crate::error::McpError;
use crate::spec::{ServerSpec, Transport};

/// Why a person has to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginReason {
    /// Nobody ever did, or whoever did has logged out.
    NeverLoggedIn,
    /// The issuer ended the login: it was revoked, or not used for too long.
    Ended,
    /// The server refuses the token, renewed or not.
    Refused,
    /// The login does not allow this; these scopes would.
    Scopes(String),
    /// The configuration has an `Authorization` header, and the server refuses it.
    OwnHeader,
}

impl fmt::Display for LoginReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LoginReason::NeverLoggedIn => "needs a login",
            LoginReason::Ended => "needs a new login: the last one has ended",
            LoginReason::Refused => "needs a new login: it refuses the last one",
            LoginReason::Scopes(_) => "needs a login that allows more",
            LoginReason::OwnHeader => "refuses the `Authorization` header it is sent",
        })
    }
}

impl LoginReason {
    /// What a person does about it.
    pub fn remedy(&self, server: &str) -> String {
        match self {
            LoginReason::Scopes(scopes) => {
                format!("log in with `ambit login {server} --scope \"{scopes}\"`")
            }
            LoginReason::OwnHeader => "renew the token in the server's `headers`, or remove it \
                 and log in with `ambit login`"
                .to_owned(),
            _ => format!("log in with `ambit login {server}`"),
        }
    }
}

/// The challenge in what went wrong, if a login is what is missing.
pub(crate) fn challenge_in<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a str> {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(it) = error.downcast_ref::<AuthRequiredError>() {
            return Some(&it.www_authenticate_header);
        }
        if let Some(it) = error.downcast_ref::<InsufficientScopeError>() {
            return Some(&it.www_authenticate_header);
        }
        current = error.source();
    }
    None
}

/// What a challenge means for whoever called.
pub(crate) fn login_needed(
    spec: &ServerSpec,
    keeper: Option<&Keeper>,
    challenge: &str,
) -> McpError {
    let url = match &spec.transport {
        Transport::Http { url, .. } => Url::parse(url).ok(),
        Transport::Stdio { .. } => None,
    };
    let asked = url.map(|it| WWWAuthenticateParams::parse(challenge, &it));
    let asked = asked.filter(WWWAuthenticateParams::is_insufficient_scope);
    let reason = match (keeper, asked) {
        (None, _) => LoginReason::OwnHeader,
        (Some(_), Some(asked)) => LoginReason::Scopes(plain(&asked.scope.unwrap_or_default())),
        (Some(keeper), None) => keeper.reason(),
    };
    McpError::LoginNeeded {
        server: spec.name.clone(),
        reason,
    }
}

/// Scopes as they may stand in a command to be typed: without what a shell or a terminal reads.
fn plain(scopes: &str) -> String {
    let kept = |c: &char| c.is_ascii_alphanumeric() || " -_.:/+*@~".contains(*c);
    scopes.chars().filter(kept).take(1000).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_no_command() {
        for (scopes, expected) in [
            ("mcp:read files.write", "mcp:read files.write"),
            ("a\"; rm -rf ~; \"$(x)`y`\u{1b}[2J", "a rm -rf ~ xy2J"),
        ] {
            assert_eq!(plain(scopes), expected);
        }
    }
}
