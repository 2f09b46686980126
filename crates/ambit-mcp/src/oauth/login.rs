//! What lets Ambit into one resource: tokens of one issuer for one resource, and as whom they
//! were asked for.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::Url;
use serde::{Deserialize, Serialize};

/// A token about to expire would expire on its way.
const MARGIN: u64 = 30;

/// A login. Its texts are in the clear and never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// Who issued the tokens.
    pub issuer: String,
    /// What they are for. They are sent there and nowhere else.
    pub resource: String,
    /// As whom they were asked for.
    pub client: OauthClient,
    /// Where they are renewed.
    pub token_endpoint: String,
    /// What is sent along with each request.
    pub access_token: String,
    /// What a new one is asked for with.
    #[serde(default)]
    pub refresh_token: Option<String>,
    /// When the token ends, in seconds since 1970, where that is known.
    #[serde(default)]
    pub expires_at: Option<u64>,
    /// What it allows, as far as that was said.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// As whom Ambit is known to an issuer.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OauthClient {
    /// Its id there.
    pub id: String,
    /// What proves it, where the issuer gave out anything.
    #[serde(default)]
    pub secret: Option<String>,
    /// How it is proven.
    pub auth: ClientAuth,
}

/// How a client proves itself where tokens are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuth {
    /// Not at all: a public client.
    None,
    /// In the `Authorization` header.
    Basic,
    /// In the body.
    Post,
}

impl Login {
    /// Whether the token can still be sent.
    pub(crate) fn is_fresh(&self) -> bool {
        self.expires_at.is_none_or(|it| it > now() + MARGIN)
    }

    /// Whether an address is part of what the tokens are for: the same origin, and the same path
    /// or one below.
    pub fn covers(&self, url: &str) -> bool {
        let (Ok(resource), Ok(url)) = (Url::parse(&self.resource), Url::parse(url)) else {
            return false;
        };
        let path = resource.path().trim_end_matches('/');
        let below = url.path().strip_prefix(path);
        resource.origin() == url.origin()
            && below.is_some_and(|it| it.is_empty() || it.starts_with('/'))
    }

    /// What must never be shown.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let others = [&self.refresh_token, &self.client.secret];
        let others = others.into_iter().flatten().map(String::as_str);
        std::iter::once(self.access_token.as_str()).chain(others)
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("issuer", &self.issuer)
            .field("resource", &self.resource)
            .field("expires_at", &self.expires_at)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OauthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OauthClient")
            .field("id", &self.id)
            .field("auth", &self.auth)
            .finish_non_exhaustive()
    }
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// What an issuer answers when it issues tokens.
#[derive(Deserialize)]
pub(super) struct Issued {
    pub(super) access_token: String,
    #[serde(default)]
    pub(super) token_type: String,
    #[serde(default)]
    pub(super) refresh_token: Option<String>,
    #[serde(default)]
    pub(super) expires_in: Option<u64>,
    #[serde(default)]
    pub(super) scope: Option<String>,
}

impl Issued {
    /// When the token ends.
    pub(super) fn expires_at(&self) -> Option<u64> {
        self.expires_in.map(|it| now().saturating_add(it))
    }

    /// What it allows, if the issuer says so.
    pub(super) fn scopes(&self) -> Option<Vec<String>> {
        let scope = self.scope.as_deref()?;
        Some(scope.split_whitespace().map(str::to_owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(resource: &str) -> Login {
        Login {
            issuer: "https://auth.example".to_owned(),
            resource: resource.to_owned(),
            client: OauthClient {
                id: "ambit".to_owned(),
                secret: Some("hunter2-client".to_owned()),
                auth: ClientAuth::Basic,
            },
            token_endpoint: "https://auth.example/token".to_owned(),
            access_token: "hunter2-access".to_owned(),
            refresh_token: Some("hunter2-refresh".to_owned()),
            expires_at: None,
            scopes: Vec::new(),
        }
    }

    #[test]
    fn a_token_goes_to_its_resource_and_nowhere_else() {
        let root = "https://mcp.example";
        let deep = "https://mcp.example/a";
        for (resource, url, covered) in [
            (root, "https://mcp.example/mcp", true),
            (root, "https://mcp.example:443/mcp?x=1", true),
            (root, "https://mcp.example:444/mcp", false),
            (root, "http://mcp.example/mcp", false),
            (root, "https://mcp.example.evil/mcp", false),
            (root, "https://evil/https://mcp.example", false),
            (deep, "https://mcp.example/a", true),
            (deep, "https://mcp.example/a/b", true),
            (deep, "https://mcp.example/ab", false),
            (deep, "https://mcp.example/", false),
            (deep, "https://mcp.example/a/../b", false),
            (root, "nonsense", false),
        ] {
            assert_eq!(login(resource).covers(url), covered, "{resource} {url}");
        }
    }

    #[test]
    fn it_does_not_show() {
        let login = login("https://mcp.example");
        let shown = format!("{login:?} {:?}", login.client);
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(login.secrets().count(), 3);
    }
}
