//! How a login comes about, and how it does not.

use ambit_mcp::{ClientChoice, LoginError, LoginRequest, PendingLogin};
use ambit_testkit::{Guarded, Manners};

use crate::{REDIRECT, call, guarded, log_in, spec};

#[tokio::test]
async fn whoever_logs_in_is_let_in() {
    let document = "https://ambit.example/client.json";
    let known = |secret: Option<&str>| ClientChoice::Known {
        id: "by-hand".to_owned(),
        secret: secret.map(str::to_owned),
    };
    for (client, manners, registered) in [
        (ClientChoice::Registered, Manners::default(), 1),
        (
            ClientChoice::Registered,
            Manners {
                gives_secret: true,
                ..Manners::default()
            },
            1,
        ),
        (
            ClientChoice::Document(document.to_owned()),
            Manners {
                reads_documents: true,
                ..Manners::default()
            },
            0,
        ),
        // Where documents are not read, it registers.
        (
            ClientChoice::Document(document.to_owned()),
            Manners::default(),
            1,
        ),
        (
            known(None),
            Manners {
                registers: false,
                ..Manners::default()
            },
            0,
        ),
        (known(Some("s3cret")), Manners::default(), 0),
    ] {
        use ambit_mcp::TokenStore as _;
        let (guarded, tokens, server) = guarded(manners.clone());
        if let ClientChoice::Known { id, secret } = &client {
            guarded.know(id, secret.as_deref());
        }
        let login = log_in(&guarded, client.clone(), &[]).await.unwrap();
        assert_eq!(login.issuer, guarded.issuer);
        assert_eq!(login.resource, guarded.url);
        assert_eq!(login.scopes, ["tools"]);
        tokens.keep(&login).unwrap();
        call(&server, "echo").await.unwrap();
        // Whoever it is known as, it is known as the same later on.
        guarded.expire();
        call(&server, "echo").await.unwrap();
        let counts = guarded.counts();
        let seen = (counts.registered, counts.traded, counts.renewed);
        assert_eq!(seen, (registered, 1, 1), "{client:?} {manners:?}");
    }
}

#[tokio::test]
async fn what_is_not_as_it_should_be_is_no_login() {
    type Change = fn(&mut Manners);
    let cases: [(&str, Change, &str); 9] = [
        (
            "another issuer's metadata",
            |it| it.issuer = Some("https://evil.example".to_owned()),
            "issuer mismatch",
        ),
        (
            "another issuer's answer",
            |it| it.callback_issuer = Some("https://evil.example".to_owned()),
            "issuer mismatch",
        ),
        (
            "another resource's metadata",
            |it| it.resource = Some("https://other.example/mcp".to_owned()),
            "resource mismatch",
        ),
        (
            "an authorization server in a private network",
            |it| it.authorization_server = Some("http://10.0.0.1".to_owned()),
            "none published usable metadata",
        ),
        (
            "tokens issued in a private network",
            |it| it.token_endpoint = Some("http://10.0.0.1/token".to_owned()),
            "`10.0.0.1` is a private address",
        ),
        (
            "tokens issued by the machine's cloud",
            |it| it.token_endpoint = Some("http://169.254.169.254/latest".to_owned()),
            "`169.254.169.254` is a special-purpose address",
        ),
        (
            "metadata moved into a private network",
            |it| {
                let path = "/.well-known/oauth-authorization-server".to_owned();
                it.redirects.insert(path, "http://10.0.0.1/".to_owned());
            },
            "http://10.0.0.1/",
        ),
        (
            "tokens issued by a file",
            |it| it.token_endpoint = Some("file:///etc/passwd".to_owned()),
            "not safe to send a login to",
        ),
        (
            "nobody may register",
            |it| it.registers = false,
            "does not register Ambit",
        ),
    ];
    for (name, change, expected) in cases {
        let (guarded, _, _) = guarded(Manners::default());
        guarded.behave(change);
        let error = log_in(&guarded, ClientChoice::Registered, &[])
            .await
            .unwrap_err();
        let said = error.to_string();
        assert!(said.contains(expected), "{name}: {said}");
        assert_eq!(guarded.counts().traded, 0, "{name}");
        for secret in guarded.secrets() {
            assert!(
                !format!("{said} {error:?}").contains(&secret),
                "{name}: {said}"
            );
        }
    }
}

async fn pending(guarded: &Guarded) -> PendingLogin {
    let request = LoginRequest {
        redirect: REDIRECT.to_owned(),
        ..LoginRequest::default()
    };
    PendingLogin::begin(&spec(guarded), request).await.unwrap()
}

#[tokio::test]
async fn an_answer_to_something_else_is_none() {
    let guarded = Guarded::start(Manners::default());
    let first = pending(&guarded).await;
    let back = guarded.agree(first.url());
    for (answer, expected) in [
        (
            format!("{REDIRECT}?error=access_denied&state=x"),
            "access_denied",
        ),
        (back.clone(), "not an answer"),
        (back.replace("code=", "kode="), "missing code"),
        ("nonsense".to_owned(), "not an answer"),
    ] {
        let error = pending(&guarded).await.finish(&answer).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{answer}: {error}");
    }
    assert!(first.finish(&back).await.is_ok());
    let again = pending(&guarded).await;
    let stale = guarded.agree(again.url()).replace("code=", "code=stale-");
    let error = again.finish(&stale).await.unwrap_err();
    assert!(matches!(error, LoginError::NoToken { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_moves_elsewhere_is_not_followed() {
    let (guarded, _, server) = guarded(Manners::default());
    for to in ["http://10.0.0.1/mcp", "http://localhost:1/mcp"] {
        guarded.behave(|it| {
            it.redirects.insert("/mcp".to_owned(), to.to_owned());
        });
        let error = server.list().await.unwrap_err();
        assert!(error.to_string().contains("307"), "{error}");
    }
}
