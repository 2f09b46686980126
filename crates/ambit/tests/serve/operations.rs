//! Running it: pages, what it says at start, and its end.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::http::{Request, read};
use crate::server::{Server, configured, hello, home, read_file, stateless_read, within};

#[test]
fn it_says_where_it_is_and_how_it_is() {
    let mut server = Server::start(home(), &[]);
    let url = server.welcome["url"].as_str().unwrap();
    assert_eq!(url, format!("http://{}/mcp", server.address));
    let entry = &server.welcome["agents"][0]["entry"]["mcpServers"]["ambit"];
    assert_eq!(entry, &json!({"type": "http", "url": url}));
    for page in ["/healthz", "/readyz"] {
        assert_eq!(server.send(&Request::get(page)).body, "ok\n");
        assert_eq!(server.send(&Request::delete(page)).status, 405);
    }
    assert_eq!(server.send(&stateless_read("/mcp")).status, 200);
    server.send(&stateless_read("/mcp").with("Host", "evil"));
    server.open(&hello("/mcp", "raw"));
    let page = server.send(&Request::get("/metrics"));
    for line in [
        "ambit_calls_total{outcome=\"completed\"} 1",
        "ambit_call_duration_seconds_count 1",
        "ambit_http_requests_total{answer=\"refused\"} 1",
        "ambit_sessions 1",
        "ambit_config_generation 1",
    ] {
        assert!(
            page.body.lines().any(|it| it == line),
            "{line}\n{}",
            page.body
        );
    }
    assert_eq!(server.stop(), 0);
}

#[test]
fn a_person_is_told_what_to_paste() {
    let home = home();
    let mut child = home
        .command(&["serve", "--listen", "127.0.0.1:0"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut said).unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !said.contains("claude mcp add") {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "{said}");
    }
    let process = child.id().to_string();
    let told = std::process::Command::new("kill").arg(process).status();
    assert!(told.unwrap().success());
    assert!(child.wait().unwrap().success());
    for part in [
        "default at http://127.0.0.1:",
        "\"mcpServers\"",
        "claude mcp add --transport http ambit http",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// An agent that may wait.
fn sleeper() -> Value {
    json!({
        "agents": {"a": {"capabilities": {"shell": {"allow": ["sleep"]}}, "mode": "auto"}},
        "permissions": {"allow": ["proc:exec"]},
    })
}

fn sleep(session: &str, seconds: &str) -> Request {
    let arguments = json!({"command": ["sleep", seconds]});
    let params = json!({"name": "shell__run_command", "arguments": arguments});
    within("/mcp", session, "tools/call", params)
}

#[test]
fn what_runs_is_let_to_its_end() {
    let mut server = Server::start(configured(&sleeper()), &["--style", "full"]);
    let session = server.open(&hello("/mcp", "raw"));
    let call = sleep(&session, "2")
        .with("Connection", "close")
        .begin(server.address);
    let listening = Request::get("/mcp")
        .with("Mcp-Session-Id", &session)
        .with("Accept", "text/event-stream")
        .begin(server.address);
    server.counts("ambit_requests_running 1");
    server.tell_to_stop();
    server.says("stopping");
    let answer = read(call).message();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(server.ended(), 0);
    drop(listening);
    let ended = server.home.run(&["log", "verify"]).exits(0);
    assert!(ended.stdout.starts_with("ok"), "{ended:?}");
}

#[test]
fn what_does_not_end_is_called_off() {
    let mut config = sleeper();
    config["serve"] = json!({"drainSeconds": 1});
    let mut server = Server::start(configured(&config), &["--style", "full"]);
    let session = server.open(&hello("/mcp", "raw"));
    let call = sleep(&session, "60").begin(server.address);
    server.counts("ambit_requests_running 1");
    server.tell_to_stop();
    server.says("called off");
    assert_eq!(server.ended(), 0);
    drop(call);
}

#[test]
fn what_is_configured_holds() {
    let config = json!({"serve": {"maxSessions": 2, "maxBodyBytes": 2048, "maxHeaders": 16}});
    let server = Server::start(configured(&config), &[]);
    let sessions: Vec<String> = (0..3).map(|_| server.open(&hello("/mcp", "raw"))).collect();
    let statuses = sessions
        .iter()
        .map(|it| server.send(&read_file("/mcp", it)).status);
    assert_eq!(
        statuses.collect::<Vec<_>>(),
        [404, 200, 200],
        "the first made room"
    );
    let large = Request::post("/mcp", vec![b' '; 2049]);
    assert_eq!(server.send(&large).status, 413);
    let many = (0..20).fold(Request::get("/healthz"), |it, n| {
        it.with(&format!("X-{n}"), "1")
    });
    assert_eq!(server.send(&many).status, 431);
}

#[test]
fn one_call_too_many_is_turned_away() {
    let mut config = sleeper();
    config["serve"] = json!({"maxCalls": 1, "drainSeconds": 0});
    let server = Server::start(configured(&config), &["--style", "full"]);
    let session = server.open(&hello("/mcp", "raw"));
    let call = sleep(&session, "60").begin(server.address);
    server.counts("ambit_requests_running 1");
    let other = server.send(&within("/mcp", &session, "tools/list", json!({})));
    assert_eq!(
        (other.status, other.header("retry-after")),
        (503, Some("1"))
    );
    // Who goes away gives up his place.
    drop(call);
    let ended = Request::delete("/mcp").with("Mcp-Session-Id", &session);
    server.becomes(&ended, 202);
}

#[test]
fn a_session_nobody_uses_ends() {
    let config = json!({"serve": {"sessionIdleSeconds": 1}});
    let server = Server::start(configured(&config), &[]);
    let session = server.open(&hello("/mcp", "raw"));
    server.counts("ambit_sessions 0");
    assert_eq!(server.send(&read_file("/mcp", &session)).status, 404);
    let listened = server.open(&hello("/mcp", "raw"));
    let stream = Request::get("/mcp")
        .with("Mcp-Session-Id", &listened)
        .with("Accept", "text/event-stream")
        .begin(server.address);
    let unused = server.open(&hello("/mcp", "raw"));
    server.counts("ambit_sessions 1");
    assert_eq!(server.send(&read_file("/mcp", &unused)).status, 404);
    assert_eq!(server.send(&read_file("/mcp", &listened)).status, 200);
    drop(stream);
}
