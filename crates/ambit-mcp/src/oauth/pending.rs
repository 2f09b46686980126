//! A login under way: what the server says about itself is discovered, Ambit is made known to
//! its authorization server, a person is sent there, and what comes back is traded for tokens.

use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::{StatusCode, Url};
use rmcp::transport::auth::AuthorizationCallback;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig, OAuthHttpClient,
    OAuthHttpClientFuture, OAuthHttpRequest,
};
use serde_json::{Value, json};

use super::login::{ClientAuth, Issued, Login, OauthClient};
use super::renew::with_sources;
use super::request::{ClientChoice, LoginError, LoginRequest};
use crate::egress::{Dialer, EgressError, PATIENCE};
use crate::handshake::MAX_REASON;
use crate::map::cut;
use crate::spec::{ServerSpec, Transport};

/// How Ambit calls itself where it registers.
const NAME: &str = "Ambit";
const OFFLINE: &str = "offline_access";

/// A login that waits for a person.
pub struct PendingLogin {
    manager: AuthorizationManager,
    documents: Arc<Documents>,
    url: String,
    issuer: String,
    resource: String,
    token_endpoint: String,
    client: OauthClient,
    scopes: Vec<String>,
}

impl PendingLogin {
    /// Finds out where to send the person.
    pub async fn begin(spec: &ServerSpec, request: LoginRequest) -> Result<Self, LoginError> {
        let Transport::Http { url, headers } = &spec.transport else {
            return Err(LoginError::NotRemote(spec.name.clone()));
        };
        let server = Url::parse(url).ok().filter(Url::has_host);
        let server = server.ok_or_else(|| LoginError::BadUrl(spec.name.clone()))?;
        let unreachable = |error: EgressError| LoginError::Unreachable {
            server: spec.name.clone(),
            reason: cut(&with_sources(&error), MAX_REASON),
        };
        let unusable = |reason: String| LoginError::Metadata {
            server: spec.name.clone(),
            reason: cut(&reason, MAX_REASON),
        };
        // One for all of it: who is asked further on is who challenged.
        let documents = Arc::new(Documents {
            dialer: Dialer::of(&server),
            failed: Mutex::default(),
        });
        let dialer = &documents.dialer;
        let challenge = challenge(dialer, &server, headers).await;
        let challenge = challenge.map_err(unreachable)?;
        let manager = AuthorizationManager::new_with_oauth_http_client(
            server.as_str(),
            Arc::clone(&documents) as _,
        );
        let mut manager = manager.await.map_err(|it| unusable(words(&it)))?;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref());
        let found = found.await.map_err(|it| unusable(words(&it)))?;
        if challenge.is_none() && !found.source.is_discovered() {
            return Err(LoginError::NotAsked(spec.name.clone()));
        }
        let metadata = found.metadata;
        for endpoint in [&metadata.authorization_endpoint, &metadata.token_endpoint] {
            let unsafe_to_use = || unusable(format!("`{endpoint}` is not safe to send a login to"));
            let endpoint = Url::parse(endpoint).map_err(|_| unsafe_to_use())?;
            if endpoint.scheme() != "https" && endpoint.scheme() != server.scheme() {
                return Err(unsafe_to_use());
            }
            let judged = dialer.judge(&endpoint).await;
            judged.map_err(|it| unusable(it.to_string()))?;
        }
        let issuer = issuer(&metadata);
        manager.set_metadata(metadata.clone());
        let mut scopes = request.scopes;
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
        } else if offers_offline(&metadata) && !scopes.iter().any(|it| it == OFFLINE) {
            scopes.push(OFFLINE.to_owned());
        }
        let client = introduce(
            &mut manager,
            &metadata,
            request.client,
            &request.redirect,
            &scopes,
        );
        let client = client.await.map_err(|error| LoginError::NotRegistered {
            issuer: issuer.clone(),
            reason: cut(&words(&error), MAX_REASON),
        })?;
        let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let url = manager.get_authorization_url(&asked).await;
        let url = url.map_err(|it| unusable(words(&it)))?;
        Ok(PendingLogin {
            resource: parameter(&url, "resource").unwrap_or_else(|| server.to_string()),
            manager,
            documents,
            url,
            issuer,
            token_endpoint: metadata.token_endpoint,
            client,
            scopes,
        })
    }

    /// Where the person has to go.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Who is asked.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Whether an address is an answer to this login and not to another.
    pub fn is_answer(&self, came_back: &str) -> bool {
        let state = parameter(&self.url, "state");
        state.is_some() && parameter(came_back, "state") == state
    }

    /// Trades what came back for tokens: the whole address the person was sent back to.
    pub async fn finish(self, came_back: &str) -> Result<Login, LoginError> {
        let issuer = || self.issuer.clone();
        if let Some(error) = parameter(came_back, "error") {
            let more = parameter(came_back, "error_description").unwrap_or_default();
            return Err(LoginError::Denied {
                issuer: issuer(),
                reason: cut(format!("{error} {more}").trim(), MAX_REASON),
            });
        }
        let mismatch = |error: &AuthError| LoginError::Mismatch {
            issuer: issuer(),
            reason: cut(&words(error), MAX_REASON),
        };
        let answer = AuthorizationCallback::from_redirect_url(came_back.trim());
        let answer = answer.map_err(|it| mismatch(&it))?;
        let traded = self.manager.exchange_code_for_token_with_issuer(
            &answer.code,
            &answer.csrf_token,
            answer.issuer.as_deref(),
        );
        let no_token = |reason: &str| LoginError::NoToken {
            issuer: issuer(),
            reason: cut(reason, MAX_REASON),
        };
        let token = traded.await.map_err(|error| match &error {
            AuthError::TokenExchangeFailed(_) => {
                let failed = self.documents.failed.lock().take();
                no_token(&failed.unwrap_or_else(|| words(&error)))
            }
            _ => mismatch(&error),
        })?;
        let issued = serde_json::to_value(&token).and_then(serde_json::from_value::<Issued>);
        let issued = issued.map_err(|_| no_token("its answer has no token"))?;
        if !issued.token_type.eq_ignore_ascii_case("bearer") {
            return Err(no_token("the token is not a bearer token"));
        }
        Ok(Login {
            expires_at: issued.expires_at(),
            scopes: issued.scopes().unwrap_or_else(|| self.scopes.clone()),
            access_token: issued.access_token,
            refresh_token: issued.refresh_token,
            issuer: self.issuer,
            resource: self.resource,
            client: self.client,
            token_endpoint: self.token_endpoint,
        })
    }
}

/// What the server answers to somebody it does not know, if it turns them away.
async fn challenge(
    dialer: &Dialer,
    server: &Url,
    headers: &[(String, String)],
) -> Result<Option<String>, EgressError> {
    // Some let anybody introduce themselves and ask who it is only then.
    let asks = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "ambit", "version": env!("CARGO_PKG_VERSION")},
        }}),
    ];
    let client = dialer.to_server()?;
    for ask in asks {
        let mut request = client
            .post(server.clone())
            .timeout(PATIENCE)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(ask.to_string());
        let own = |name: &str| !name.eq_ignore_ascii_case("authorization");
        for (name, value) in headers.iter().filter(|(name, _)| own(name)) {
            request = request.header(name, value);
        }
        let answer = request.send().await?;
        if answer.status() == StatusCode::UNAUTHORIZED {
            let challenges = answer.headers().get_all(WWW_AUTHENTICATE).iter();
            let challenges: Vec<&str> = challenges.filter_map(|it| it.to_str().ok()).collect();
            return Ok(Some(challenges.join(", ")));
        }
    }
    Ok(None)
}

/// Makes Ambit known, one way or another.
async fn introduce(
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    choice: ClientChoice,
    redirect: &str,
    scopes: &[String],
) -> Result<OauthClient, AuthError> {
    let more = |key: &str| metadata.additional_fields.get(key);
    let reads_documents = more("client_id_metadata_document_supported") == Some(&json!(true));
    let config = match choice {
        ClientChoice::Known { id, secret } => {
            let config = OAuthClientConfig::new(id, redirect);
            let config = match secret {
                Some(secret) => config.with_client_secret(secret),
                None => config,
            };
            manager.configure_client(config.clone())?;
            config
        }
        ClientChoice::Document(url) if reads_documents => {
            let config = OAuthClientConfig::new(url, redirect);
            manager.configure_client(config.clone())?;
            config
        }
        ClientChoice::Document(_) | ClientChoice::Registered => {
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
            manager.register_client(NAME, redirect, &scopes).await?
        }
    };
    let methods = more("token_endpoint_auth_methods_supported").and_then(Value::as_array);
    let takes = |method: &str| methods.is_some_and(|it| it.contains(&json!(method)));
    let auth = match &config.client_secret {
        None => ClientAuth::None,
        Some(_) if takes("client_secret_post") && !takes("client_secret_basic") => ClientAuth::Post,
        Some(_) => ClientAuth::Basic,
    };
    Ok(OauthClient {
        id: config.client_id,
        secret: config.client_secret,
        auth,
    })
}

/// The SDK's way out is Ambit's.
struct Documents {
    dialer: Dialer,
    /// What went wrong last; the SDK does not always pass it on.
    failed: Mutex<Option<String>>,
}

impl OAuthHttpClient for Documents {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            // Redirects are never followed here: where one leads is a request of its own.
            let request = reqwest::Request::try_from(request.request)?;
            let fetched = self.dialer.fetch(request).await.inspect_err(|error| {
                *self.failed.lock() = Some(with_sources(error));
            })?;
            let mut answer = http::Response::builder().status(fetched.head.status());
            for (name, value) in fetched.head.headers() {
                answer = answer.header(name, value);
            }
            Ok(answer.body(fetched.body)?)
        })
    }
}

/// Who issues. Servers of the first specification do not say; then it is where they are.
fn issuer(metadata: &AuthorizationMetadata) -> String {
    let origin = || {
        let url = Url::parse(&metadata.token_endpoint).ok();
        url.map(|it| it.origin().ascii_serialization())
    };
    metadata.issuer.clone().or_else(origin).unwrap_or_default()
}

fn offers_offline(metadata: &AuthorizationMetadata) -> bool {
    let offered = metadata.scopes_supported.as_ref();
    offered.is_some_and(|it| it.iter().any(|it| it == OFFLINE))
}

fn parameter(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url.trim()).ok()?;
    let mut pairs = url.query_pairs();
    pairs
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}

/// An error of the SDK on one line.
fn words(error: &AuthError) -> String {
    let text = with_sources(error);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
