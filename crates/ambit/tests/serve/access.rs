//! Who is let in, through a real socket; the whole table is tested where it is decided.

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::http::Request;
use crate::server::{Server, configured, hello, home, read_file, stateless_read, token};

/// Two agents that may read files.
fn two() -> Value {
    json!({
        "agents": {
            "coder": {"capabilities": {"files": {}}},
            "reader": {"capabilities": {"files": {"tools": ["read_file"]}}},
        },
        "serve": {"hosts": ["gate.example"], "origins": ["https://app.example"]},
    })
}

fn bearer(request: Request, token: &str) -> Request {
    request.with("Authorization", &format!("Bearer {token}"))
}

#[test]
fn hosts_origins_paths_and_tokens() {
    let home = configured(&two());
    let coder = token(&home, "coder");
    let server = Server::start(home, &[]);
    let call = |path| stateless_read(path);
    let as_coder = |path| bearer(call(path), &coder);
    for (request, status) in [
        (call("/mcp/reader"), 200),
        (call("/mcp/coder"), 401),
        (call("/mcp/nobody"), 401),
        (call("/mcp"), 401),
        (as_coder("/mcp/coder"), 200),
        (as_coder("/mcp/nobody"), 401),
        (as_coder("/mcp/coder/x"), 404),
        (as_coder("/elsewhere"), 404),
        (bearer(call("/mcp/coder"), "ambit_wrong"), 401),
        (call("/mcp/coder").with("Mcp-Session-Id", "x"), 401),
        (as_coder("/mcp/coder").with("Host", "gate.example"), 200),
        (as_coder("/mcp/coder").with("Host", "evil.example"), 403),
        (
            as_coder("/mcp/coder").with("Origin", "https://app.example"),
            200,
        ),
        (
            as_coder("/mcp/coder").with("Origin", "http://localhost:1"),
            200,
        ),
        (
            as_coder("/mcp/coder").with("Origin", "https://evil.example"),
            403,
        ),
        (as_coder("/mcp/coder").with("Origin", "null"), 403),
        (Request::get("/healthz"), 200),
        (Request::get("/healthz").with("Host", "evil.example"), 403),
        (Request::get("/metrics"), 401),
        (bearer(Request::get("/metrics"), &coder), 200),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.status, status, "{answer:?}");
        let challenge = answer.header("www-authenticate").is_some();
        assert_eq!(challenge, status == 401, "{answer:?}");
    }
    let (there, not_there) = (call("/mcp/coder"), call("/mcp/nobody"));
    assert_eq!(server.send(&there).body, server.send(&not_there).body);
}

#[test]
fn pages_that_were_named_may_read() {
    let home = configured(&two());
    token(&home, "coder");
    let server = Server::start(home, &[]);
    let ask = |origin| {
        let request = Request::options("/mcp/coder").with("Origin", origin);
        server.send(&request.with("Access-Control-Request-Method", "POST"))
    };
    let named = ask("https://app.example");
    let allowed = named.header("access-control-allow-origin");
    assert_eq!((named.status, allowed), (200, Some("https://app.example")));
    assert!(
        named
            .header("access-control-allow-headers")
            .unwrap()
            .contains("Authorization")
    );
    for (origin, status) in [("http://localhost:1", 401), ("https://evil.example", 403)] {
        let other = ask(origin);
        let allowed = other.header("access-control-allow-origin");
        assert_eq!((other.status, allowed), (status, None), "{other:?}");
    }
}

#[test]
fn a_session_is_nobody_elses() {
    let home = configured(&two());
    let (one, other) = (token(&home, "coder"), token(&home, "coder"));
    let server = Server::start(home, &[]);
    let session = server.open(&bearer(hello("/mcp/coder", "raw"), &one));
    let open = server.open(&hello("/mcp/reader", "raw"));
    for (request, status) in [
        (bearer(read_file("/mcp/coder", &session), &one), 200),
        (bearer(read_file("/mcp/coder", &session), &other), 404),
        (read_file("/mcp/coder", &session), 401),
        (read_file("/mcp/reader", &session), 404),
        (bearer(read_file("/mcp/reader", &session), &one), 404),
        (bearer(read_file("/mcp/coder", &open), &one), 404),
        (
            bearer(
                Request::delete("/mcp/coder").with("Mcp-Session-Id", &session),
                &other,
            ),
            404,
        ),
        (
            Request::delete("/mcp/reader").with("Mcp-Session-Id", &session),
            404,
        ),
        (
            bearer(
                Request::get("/mcp/coder").with("Mcp-Session-Id", &session),
                &other,
            )
            .with("Accept", "text/event-stream"),
            404,
        ),
        (read_file("/mcp/reader", &open), 200),
        // Still there, whatever others tried.
        (bearer(read_file("/mcp/coder", &session), &one), 200),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.status, status, "{answer:?}");
    }
}

#[test]
fn tokens_issued_and_revoked_while_serving_count() {
    let server = Server::start(home(), &[]);
    let call = stateless_read("/mcp");
    let session = server.open(&hello("/mcp", "raw"));
    assert_eq!(server.send(&call).status, 200);
    let issued = token(&server.home, "default");
    server.becomes(&call, 401);
    assert_eq!(server.send(&read_file("/mcp", &session)).status, 401);
    let as_default = bearer(call.clone(), &issued);
    assert_eq!(server.send(&as_default).status, 200);
    let session = bearer(read_file("/mcp", &session), &issued);
    assert_eq!(
        server.send(&session).status,
        404,
        "it was nobody's in particular"
    );
    server
        .home
        .run(&["agents", "token", "default", "--revoke"])
        .exits(0);
    server.becomes(&as_default, 401);
    assert_eq!(server.send(&call).status, 401, "it still needs one");
    server
        .home
        .run(&["agents", "token", "default", "--forget"])
        .exits(0);
    server.becomes(&call, 200);
}

/// Why it does not listen there.
fn refused(home: &Home, arguments: &[&str]) -> String {
    let run = home
        .run(&[&["serve", "--json"], arguments].concat())
        .exits(2);
    run.json()["error"]["code"].as_str().unwrap().to_owned()
}

#[test]
fn nothing_is_open_to_others_by_accident() {
    let home = configured(&two());
    let beyond = ["--listen", "0.0.0.0:0"];
    assert_eq!(refused(&home, &beyond), "token_missing");
    token(&home, "coder");
    assert_eq!(refused(&home, &beyond), "token_missing", "reader has none");
    let coder = [&beyond[..], &["--agent", "coder"]].concat();
    assert_eq!(refused(&home, &coder), "tls_missing");
    assert_eq!(
        refused(&home, &["--behind-proxy"]),
        "token_missing",
        "on loopback too"
    );
    let with_tls = [&coder[..], &["--tls-cert", "no.pem", "--tls-key", "no.key"]].concat();
    assert_eq!(refused(&home, &with_tls), "tls");
    assert_eq!(refused(&home, &["--agent", "nobody"]), "unknown_agent");
    home.run(&["agents", "token", "coder", "--revoke"]).exits(0);
    assert_eq!(refused(&home, &coder), "token_missing", "none is left");
}

#[test]
fn a_token_is_shown_once_and_kept_as_a_digest() {
    let home = configured(&two());
    let issued = home.run(&["agents", "token", "coder"]).exits(0);
    let token = issued.stdout.trim();
    assert!(token.starts_with("ambit_") && token.len() == 70, "{token}");
    let kept = std::fs::read(home.state().join("trust.db")).unwrap();
    assert!(!kept.windows(token.len()).any(|it| it == token.as_bytes()));
    let listed = home.run(&["agents", "--json"]).exits(0);
    assert!(!listed.stdout.contains(token));
    let agents = listed.json()["agents"].clone();
    assert_eq!(agents[0]["name"], "coder");
    assert_eq!(
        (&agents[0]["needsToken"], &agents[1]["needsToken"]),
        (&json!(true), &json!(false))
    );
    home.run(&["agents"]).exits(0);
    home.run(&["agents", "token", "nobody"]).exits(2);
    home.run(&["agents", "token", "reader", "--revoke"])
        .exits(1);
}
