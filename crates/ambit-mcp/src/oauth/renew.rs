//! A new token for an old one. Asked of the issuer that issued the old one, as the client it was
//! issued to, for the resource it was for.

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Request, Url};
use serde::Deserialize;
use thiserror::Error;

use super::login::{ClientAuth, Issued, Login};
use crate::egress::{Dialer, EgressError};
use crate::handshake::MAX_REASON;
use crate::map::cut;

/// Why there is no new token.
#[derive(Debug, Error)]
pub(super) enum RenewError {
    /// The issuer says that the login is over.
    #[error("the issuer takes the login for ended")]
    Over,
    /// It may work later.
    #[error("the token could not be renewed at `{issuer}`: {reason}")]
    Failed { issuer: String, reason: String },
}

#[derive(Deserialize)]
struct Refused {
    error: String,
}

/// Answers of an issuer after which only a person can help.
const OVER: [&str; 3] = ["invalid_grant", "invalid_client", "unauthorized_client"];

/// Renews a login on behalf of a server.
pub(super) async fn renew(login: &Login, server: &Url) -> Result<Login, RenewError> {
    let failed = |reason: String| RenewError::Failed {
        issuer: login.issuer.clone(),
        reason: cut(&reason, MAX_REASON),
    };
    let Some(refresh_token) = &login.refresh_token else {
        return Err(RenewError::Over);
    };
    let unsent = |error: EgressError| failed(with_sources(&error));
    let dialer = Dialer::of(server);
    let request = request(&dialer, login, refresh_token).map_err(failed)?;
    let fetched = dialer.fetch(request).await.map_err(unsent)?;
    let status = fetched.head.status();
    if !status.is_success() {
        let refused = serde_json::from_slice::<Refused>(&fetched.body);
        return Err(match refused {
            Ok(it) if OVER.contains(&it.error.as_str()) => RenewError::Over,
            Ok(it) => failed(format!("{status}, {}", it.error)),
            Err(_) => failed(status.to_string()),
        });
    }
    // What it says is not repeated: there may be a token in it.
    let issued: Issued = serde_json::from_slice(&fetched.body)
        .map_err(|_| failed("it answered with something other than a token".to_owned()))?;
    Ok(Login {
        expires_at: issued.expires_at(),
        scopes: issued.scopes().unwrap_or_else(|| login.scopes.clone()),
        access_token: issued.access_token,
        refresh_token: issued.refresh_token.or_else(|| login.refresh_token.clone()),
        ..login.clone()
    })
}

fn request(dialer: &Dialer, login: &Login, refresh_token: &str) -> Result<Request, String> {
    let client = &login.client;
    let secret = client.secret.as_deref().unwrap_or_default();
    let mut fields = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh_token),
        ("resource", login.resource.as_str()),
    ];
    if client.auth != ClientAuth::Basic {
        fields.push(("client_id", &client.id));
    }
    if client.auth == ClientAuth::Post {
        fields.push(("client_secret", secret));
    }
    let url = Url::parse(&login.token_endpoint).map_err(|it| it.to_string())?;
    let request = dialer
        .post(url)
        .map_err(|it| with_sources(&it))?
        .header(ACCEPT, "application/json")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(form(&fields));
    let request = match client.auth {
        ClientAuth::Basic => request.basic_auth(encoded(&client.id), Some(encoded(secret))),
        ClientAuth::None | ClientAuth::Post => request,
    };
    request.build().map_err(|it| it.to_string())
}

/// A form as it stands in a body.
fn form(fields: &[(&str, &str)]) -> String {
    // An address knows how to write a query, and a form is written like one.
    let Ok(mut url) = Url::parse("form:") else {
        return String::new();
    };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

fn encoded(text: &str) -> String {
    form(&[("", text)]).trim_start_matches('=').to_owned()
}

/// An error with what caused it, on one line.
pub(super) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_keeps_what_is_in_it() {
        for (fields, expected) in [
            (&[("a", "b"), ("c", "d e&f=+")][..], "a=b&c=d+e%26f%3D%2B"),
            (&[("u", "https://x/y")], "u=https%3A%2F%2Fx%2Fy"),
        ] {
            assert_eq!(form(fields), expected);
        }
        assert_eq!(encoded("=a:b"), "%3Da%3Ab");
    }
}
