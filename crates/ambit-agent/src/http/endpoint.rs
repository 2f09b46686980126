//! Where a provider is, and asking it for a turn until there is one or no hope for it.

use std::sync::OnceLock;
use std::time::Duration;

use ambit_runtime::CancellationToken;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde_json::Value;

use super::answer::refusal;
use super::fault::Fault;
use super::pause::{LONGEST_ASKED, chance, pause};
use super::stream::{Assembly, assemble, bytes_of, innermost};
use crate::engine::{Listener, ModelNews, ModelTurn};
use crate::error::EngineError;
use crate::key::ApiKey;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(20);
/// How long nothing may come. A local model may read a long prompt for minutes before its first
/// word.
const PATIENCE: Duration = Duration::from_secs(300);

/// One address of one provider, and the key to it.
#[derive(Debug)]
pub(crate) struct Endpoint {
    engine: &'static str,
    model: String,
    url: Url,
    /// Marked as sensitive where they are.
    headers: HeaderMap,
    key: Option<ApiKey>,
    patience: Duration,
    /// Made when first needed: reading the system's certificates takes a moment.
    client: OnceLock<Client>,
}

impl Endpoint {
    /// At this address, for this model.
    pub(crate) fn new(
        engine: &'static str,
        model: &str,
        url: &str,
        key: Option<&ApiKey>,
    ) -> Result<Self, EngineError> {
        let parsed = Url::parse(url).ok();
        let url = parsed
            .filter(|it| matches!(it.scheme(), "http" | "https") && it.has_host())
            .ok_or_else(|| {
                EngineError::Config(format!(
                    "`baseUrl` of `{model}` is not an http or https url"
                ))
            })?;
        Ok(Endpoint {
            engine,
            model: model.to_owned(),
            url,
            headers: HeaderMap::new(),
            key: key.cloned(),
            patience: PATIENCE,
            client: OnceLock::new(),
        })
    }

    /// With a header.
    #[must_use]
    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        let name = HeaderName::from_static(name);
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    /// With the key in this header, after `before`.
    pub(crate) fn with_key_in(
        mut self,
        name: &'static str,
        before: &str,
    ) -> Result<Self, EngineError> {
        if let Some(key) = &self.key {
            let value = HeaderValue::from_str(&format!("{before}{}", key.expose()));
            let mut value = value.map_err(|_| {
                let model = &self.model;
                EngineError::Config(format!("the key of `{model}` has characters no key has"))
            })?;
            value.set_sensitive(true);
            self.headers.insert(HeaderName::from_static(name), value);
        }
        Ok(self)
    }

    /// The address as it may be shown: without what may be secret in it.
    fn shown(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        // Cannot fail for urls with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.to_string()
    }

    /// Asks until there is a turn, or no hope for one.
    pub(crate) async fn ask<A: Assembly>(
        &self,
        body: &Value,
        assembly: impl Fn() -> A + Sync,
        listener: &dyn Listener,
        cancel: &CancellationToken,
    ) -> Result<ModelTurn, EngineError> {
        let body = bytes::Bytes::from(body.to_string());
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(EngineError::Cancelled),
            turn = self.ask_patiently(body, assembly, listener) => turn,
        }
    }

    async fn ask_patiently<A: Assembly>(
        &self,
        body: bytes::Bytes,
        assembly: impl Fn() -> A + Sync,
        listener: &dyn Listener,
    ) -> Result<ModelTurn, EngineError> {
        let mut tries = 0;
        loop {
            let fault = match self.ask_once(body.clone(), assembly(), listener).await {
                Ok(turn) => return Ok(turn),
                Err(fault) => fault,
            };
            tries += 1;
            let asked = match &fault {
                Fault::Connection(_) | Fault::Silence(_) => None,
                Fault::Busy { retry_after, .. } => *retry_after,
                _ => return Err(self.error(fault, tries)),
            };
            let Some(pause) = pause(tries, asked, chance()) else {
                return Err(self.error(fault, tries));
            };
            let why = self.error(fault, tries).to_string();
            tracing::debug!(
                engine = self.engine,
                tries,
                ?pause,
                why,
                "a model is asked again"
            );
            listener.hear(ModelNews::StartsOver { why: &why, pause });
            tokio::time::sleep(pause).await;
        }
    }

    async fn ask_once<A: Assembly>(
        &self,
        body: bytes::Bytes,
        assembly: A,
        listener: &dyn Listener,
    ) -> Result<ModelTurn, Fault> {
        let request = self
            .client()?
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let response = tokio::time::timeout(self.patience, request.send()).await;
        let response = match response {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(Fault::Connection(innermost(&error))),
            Err(_) => return Err(Fault::Silence(self.patience)),
        };
        if !response.status().is_success() {
            let refusal = tokio::time::timeout(self.patience, refusal(response)).await;
            return Err(match refusal {
                Ok(refusal) => refusal.judged(),
                Err(_) => Fault::Silence(self.patience),
            });
        }
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|it| it.to_str().ok()).unwrap_or_default();
        if kind.starts_with("application/json") || kind.starts_with("text/html") {
            return Err(Fault::Garbled(format!(
                "it answers with `{kind}`, not with a stream"
            )));
        }
        assemble(bytes_of(response, self.patience), assembly, listener).await
    }

    fn client(&self) -> Result<&Client, Fault> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = Client::builder()
            .user_agent(concat!("ambit/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            // A redirect would carry the key to wherever it leads.
            .redirect(Policy::none())
            .build()
            .map_err(|error| Fault::Connection(innermost(&error)))?;
        Ok(self.client.get_or_init(|| made))
    }

    /// A fault in words, without the key.
    fn error(&self, fault: Fault, tries: u32) -> EngineError {
        let url = self.shown();
        let clean = |text: String| match &self.key {
            Some(key) => key.taken_out_of(&text),
            None => text,
        };
        match fault {
            Fault::Connection(reason) => EngineError::Unreachable {
                url,
                reason: clean(reason),
            },
            Fault::Silence(patience) => EngineError::Silent { url, patience },
            Fault::Busy {
                message,
                retry_after,
            } => EngineError::Overloaded {
                url,
                tries,
                message: clean(message),
                retry_after: retry_after.filter(|it| *it > LONGEST_ASKED),
            },
            Fault::Refusal(mut refusal) => {
                refusal.message = clean(refusal.message);
                refusal.into_error(url, &self.model)
            }
            Fault::Garbled(reason) => EngineError::Garbled {
                url,
                engine: self.engine.to_owned(),
                reason: clean(reason),
            },
            Fault::TooLarge { what, limit } => EngineError::TooLarge {
                what: what.to_owned(),
                limit: limit as u64,
            },
        }
    }
}
