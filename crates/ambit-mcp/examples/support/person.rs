//! A person at a browser who does what Ambit says: logs in when told to, agrees to everything,
//! and loses patience after a while.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ambit_mcp::{
    ClientChoice, LoginRequest, MemoryTokens, PendingLogin, ServerSpec, TokenStore, Transport,
};
use serde_json::Value;

const REDIRECT: &str = "http://127.0.0.1:3000/callback";
/// The document by which the suite knows its clients.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
const PATIENCE: usize = 3;

pub(crate) struct Person {
    spec: ServerSpec,
    tokens: Arc<MemoryTokens>,
    logins: AtomicUsize,
}

impl Person {
    pub(crate) fn new(spec: &ServerSpec) -> Person {
        Person {
            spec: spec.clone(),
            tokens: Arc::default(),
            logins: AtomicUsize::new(0),
        }
    }

    /// Where their logins are.
    pub(crate) fn tokens(&self) -> Arc<dyn TokenStore> {
        Arc::clone(&self.tokens) as _
    }

    /// Does what a message says: ``… `ambit login NAME [--scope "…"]` ``.
    pub(crate) async fn follow(&self, message: &str) -> Result<(), Box<dyn Error>> {
        if self.logins.fetch_add(1, Ordering::Relaxed) >= PATIENCE {
            return Err(format!("logged in {PATIENCE} times, and still: {message}").into());
        }
        let Transport::Http { url, .. } = &self.spec.transport else {
            return Err("it is not remote".into());
        };
        let asked = message.split_once("--scope \"").map(|(_, it)| it);
        let asked = asked
            .and_then(|it| it.split('"').next())
            .unwrap_or_default();
        let mut scopes = Vec::new();
        if !asked.is_empty() {
            let last = self.tokens.find(url)?.map(|it| it.scopes);
            scopes.extend(last.into_iter().flatten());
            scopes.extend(asked.split(' ').map(str::to_owned));
        }
        let request = LoginRequest {
            client: client(),
            scopes,
            redirect: REDIRECT.to_owned(),
        };
        let pending = PendingLogin::begin(&self.spec, request).await?;
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let shown = browser.build()?.get(pending.url()).send().await?;
        let back = shown
            .headers()
            .get("location")
            .ok_or("nobody is sent back")?;
        let login = pending.finish(back.to_str()?).await?;
        self.tokens.keep(&login)?;
        Ok(())
    }
}

/// As whom the suite knows Ambit, in this scenario.
fn client() -> ClientChoice {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let text = |key: &str| context.get(key).and_then(Value::as_str).map(str::to_owned);
    match text("client_id") {
        Some(id) => ClientChoice::Known {
            id,
            secret: text("client_secret"),
        },
        None => ClientChoice::Document(DOCUMENT.to_owned()),
    }
}
