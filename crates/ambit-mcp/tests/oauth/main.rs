//! Logins against a local authorization server and the MCP server it guards.

// Checks and fixtures outside `#[test]` functions are test code, too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod begun;
mod kept;

use std::sync::Arc;

use ambit_core::observation::{Failure, Output};
use ambit_mcp::{
    ClientChoice, Login, LoginError, LoginRequest, McpServer, MemoryTokens, PendingLogin,
    ServerSpec, TokenStore, Transport,
};
use ambit_testkit::{Guarded, Manners};
use serde_json::json;

const REDIRECT: &str = "http://127.0.0.1:1/callback";

fn spec(guarded: &Guarded) -> ServerSpec {
    ServerSpec::new(
        "web",
        Transport::Http {
            url: guarded.url.clone(),
            headers: Vec::new(),
        },
    )
}

/// A server with nobody logged in to it.
fn guarded(manners: Manners) -> (Guarded, Arc<MemoryTokens>, Arc<McpServer>) {
    let guarded = Guarded::start(manners);
    let tokens = Arc::new(MemoryTokens::default());
    let server = McpServer::with_tokens(spec(&guarded), Arc::clone(&tokens) as _);
    (guarded, tokens, server)
}

/// The same, with somebody logged in.
async fn entered(manners: Manners) -> (Guarded, Arc<MemoryTokens>, Arc<McpServer>) {
    let (guarded, tokens, server) = guarded(manners);
    let login = log_in(&guarded, ClientChoice::Registered, &[]).await;
    tokens.keep(&login.unwrap()).unwrap();
    (guarded, tokens, server)
}

/// A person who logs in and agrees to everything.
async fn log_in(
    guarded: &Guarded,
    client: ClientChoice,
    scopes: &[&str],
) -> Result<Login, LoginError> {
    let request = LoginRequest {
        client,
        scopes: scopes.iter().map(|it| (*it).to_owned()).collect(),
        redirect: REDIRECT.to_owned(),
    };
    let pending = PendingLogin::begin(&spec(guarded), request).await?;
    let back = guarded.agree(pending.url());
    assert!(pending.is_answer(&back) && !pending.is_answer(REDIRECT));
    pending.finish(&back).await
}

async fn call(server: &Arc<McpServer>, tool: &str) -> Result<Output, Failure> {
    let id = format!("mcp__web__{tool}").parse().unwrap();
    server.call(&id, json!({"text": "hello"})).await
}
