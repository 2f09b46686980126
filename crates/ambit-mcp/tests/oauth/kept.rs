//! What becomes of a login: used, renewed once for all, ended, and asked for again.

use std::sync::Arc;

use ambit_core::code::Code;
use ambit_core::observation::Content;
use ambit_mcp::{ClientChoice, LoginReason, McpError, McpServer, TokenStore as _};
use ambit_testkit::Manners;
use futures_util::future::join_all;

use crate::{call, entered, guarded, log_in, spec};

/// More than may run at once, so that some wait as well.
const CALLS: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn fifty_calls_renew_once_when_the_token_is_refused() {
    let (guarded, tokens, server) = entered(Manners::default()).await;
    call(&server, "echo").await.unwrap();
    guarded.expire();
    fifty_calls(&server).await;
    // Somebody else finds what was renewed.
    let another = McpServer::with_tokens(spec(&guarded), tokens as _);
    call(&another, "echo").await.unwrap();
    let counts = guarded.counts();
    assert_eq!((counts.renewed, counts.called), (1, CALLS + 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_calls_renew_once_when_its_time_is_up() {
    let (guarded, tokens, server) = entered(Manners::default()).await;
    let mut login = tokens.all().unwrap().remove(0);
    login.expires_at = Some(1);
    tokens.keep(&login).unwrap();
    let refused = guarded.counts().refused;
    fifty_calls(&server).await;
    let counts = guarded.counts();
    assert_eq!((counts.renewed, counts.called), (1, CALLS));
    assert_eq!(counts.refused, refused, "it was known without asking");
}

async fn fifty_calls(server: &Arc<McpServer>) {
    let calls = (0..CALLS).map(|_| call(server, "echo"));
    for answer in join_all(calls).await {
        assert_eq!(answer.unwrap().content, [Content::text("hello")]);
    }
}

#[tokio::test]
async fn a_call_without_a_login_says_what_to_do() {
    let (guarded, tokens, server) = guarded(Manners::default());
    let failure = call(&server, "echo").await.unwrap_err();
    assert_eq!(failure.code, Code::LoginRequired);
    assert_eq!(
        failure.message,
        "server `web` needs a login; log in with `ambit login web`"
    );
    // As often as one likes: it is not left alone for it.
    for _ in 0..8 {
        let error = server.list().await.unwrap_err();
        assert!(matches!(*error, McpError::LoginNeeded { .. }), "{error}");
    }
    // And then it works at once.
    let login = log_in(&guarded, ClientChoice::Registered, &[])
        .await
        .unwrap();
    tokens.keep(&login).unwrap();
    call(&server, "echo").await.unwrap();
}

#[tokio::test]
async fn a_login_that_ended_is_asked_for_again() {
    let ended = "needs a new login: the last one has ended";
    let refused = "needs a new login: it refuses the last one";
    let (guarded, tokens, server) = entered(Manners::default()).await;
    call(&server, "echo").await.unwrap();
    guarded.revoke();
    let failure = call(&server, "echo").await.unwrap_err();
    assert!(failure.message.contains(ended), "{failure:?}");
    assert!(tokens.all().unwrap().is_empty(), "it is of no use any more");

    // Tokens for somebody else, however often they are renewed: it is tried once.
    let (guarded, _, server) = entered(Manners {
        audience: Some("https://other.example/mcp".to_owned()),
        ..Manners::default()
    })
    .await;
    for _ in 0..3 {
        let failure = call(&server, "echo").await.unwrap_err();
        assert_eq!(failure.code, Code::LoginRequired);
        assert!(failure.message.contains(refused), "{failure:?}");
    }
    assert_eq!(guarded.counts().renewed, 1);
    for secret in guarded.secrets() {
        let said = format!("{:?}", call(&server, "echo").await);
        assert!(!said.contains(&secret), "{said}");
    }
}

#[tokio::test]
async fn an_issuer_that_is_gone_is_not_the_end_of_a_login() {
    let (guarded, tokens, server) = entered(Manners::default()).await;
    let mut login = tokens.all().unwrap().remove(0);
    let issuer = std::mem::replace(&mut login.token_endpoint, "http://127.0.0.1:1/t".to_owned());
    tokens.keep(&login).unwrap();
    guarded.expire();
    let failure = call(&server, "echo").await.unwrap_err();
    assert_eq!(failure.code, Code::ProviderUnreachable);
    assert!(
        failure.message.contains("could not be renewed"),
        "{failure:?}"
    );
    login.token_endpoint = issuer;
    tokens.keep(&login).unwrap();
    server.stop().await;
    call(&server, "echo").await.unwrap();
}

#[tokio::test]
async fn what_a_login_does_not_allow_says_what_would() {
    let (guarded, tokens, server) = entered(Manners::default()).await;
    let failure = call(&server, "administer").await.unwrap_err();
    assert_eq!(failure.code, Code::LoginRequired);
    let remedy = "log in with `ambit login web --scope \"admin\"`";
    assert!(failure.message.ends_with(remedy), "{failure:?}");
    let more = log_in(&guarded, ClientChoice::Registered, &["tools", "admin"]);
    tokens.keep(&more.await.unwrap()).unwrap();
    call(&server, "administer").await.unwrap();
}

#[tokio::test]
async fn a_header_of_ones_own_is_the_login() {
    let (guarded, tokens, _) = entered(Manners::default()).await;
    let mut own = spec(&guarded);
    let ambit_mcp::Transport::Http { headers, .. } = &mut own.transport else {
        panic!("it is remote");
    };
    headers.push(("authorization".to_owned(), "Bearer mine".to_owned()));
    let server = McpServer::with_tokens(own, tokens as _);
    let error = server.list().await.unwrap_err();
    let own = matches!(
        &*error,
        McpError::LoginNeeded {
            reason: LoginReason::OwnHeader,
            ..
        }
    );
    assert!(own, "{error}");
    assert_eq!(guarded.counts().renewed, 0);
}
