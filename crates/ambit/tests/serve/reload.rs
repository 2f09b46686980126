//! Edits of the configuration while serving.

use serde_json::{Value, json};

use crate::http::Request;
use crate::server::{Server, configured, hello, read_file, stateless, text};

fn agent(tools: Value, mode: &str) -> Value {
    json!({"agents": {"a": {"capabilities": {"files": {"tools": tools}}}}, "mode": mode})
}

fn listed(server: &Server) -> Vec<String> {
    let answer = server.send(&stateless("/mcp", "tools/list", json!({})));
    let message = answer.message();
    let tools = message["result"]["tools"].as_array().unwrap().iter();
    let names = tools.map(|it| it["name"].as_str().unwrap().to_owned());
    names.filter(|it| it.starts_with("files__")).collect()
}

fn start(config: &Value) -> Server {
    Server::start(configured(config), &["--style", "full"])
}

#[test]
fn what_narrows_holds_at_once() {
    let mut server = start(&agent(json!(["read_file", "grep"]), "ask"));
    assert_eq!(listed(&server), ["files__grep", "files__read_file"]);
    let session = server.open(&hello("/mcp", "raw"));
    server
        .home
        .user_config(&agent(json!(["read_file"]), "ask").to_string());
    server.says("holds from now on");
    assert_eq!(listed(&server), ["files__read_file"]);
    server.becomes(&read_file("/mcp", &session), 404);
    let session = server.open(&hello("/mcp", "raw"));
    assert_eq!(text(&server.send(&read_file("/mcp", &session))), "hello");
}

#[test]
fn what_is_not_valid_changes_nothing() {
    let config = agent(json!(["read_file"]), "ask");
    let mut server = start(&config);
    let session = server.open(&hello("/mcp", "raw"));
    for wrong in ["{", r#"{"agnets": {}}"#, r#"{"mode": "free"}"#] {
        server.home.user_config(wrong);
        server.says("changes nothing");
    }
    assert_eq!(text(&server.send(&read_file("/mcp", &session))), "hello");
    server.home.user_config(&config.to_string());
    assert_eq!(text(&server.send(&read_file("/mcp", &session))), "hello");
}

#[test]
fn what_widens_waits_for_a_person() {
    let mut server = start(&agent(json!(["read_file"]), "ask"));
    let session = server.open(&hello("/mcp", "raw"));
    server
        .home
        .user_config(&agent(json!(["read_file", "grep"]), "ask").to_string());
    server.says("accept it with `ambit trust reload`");
    assert_eq!(listed(&server), ["files__read_file"]);
    assert_eq!(text(&server.send(&read_file("/mcp", &session))), "hello");
    let waiting = server.home.run(&["trust", "ls", "--json"]).exits(0).json();
    assert_eq!(
        waiting["held"][0]["what"][0],
        "agent `a`: `files`: tool \"grep\" is new"
    );
    let accepted = server.home.run(&["trust", "reload"]).exits(0);
    assert!(accepted.stdout.contains("grep"), "{accepted:?}");
    server.says("holds from now on");
    assert_eq!(listed(&server), ["files__grep", "files__read_file"]);
    server.home.run(&["trust", "reload"]).exits(1);
}

#[test]
fn what_was_taken_back_waits_no_more() {
    let config = agent(json!(["read_file"]), "ask");
    let mut server = start(&config);
    server
        .home
        .user_config(&agent(json!(["read_file"]), "auto").to_string());
    server.says("waits");
    server.home.user_config(&config.to_string());
    let held = || server.home.run(&["trust", "ls", "--json"]).exits(0).json()["held"].clone();
    while held() != json!([]) {
        std::thread::yield_now();
    }
    assert_eq!(server.send(&Request::get("/healthz")).status, 200);
}

#[test]
fn a_projects_file_is_taken_in_once_accepted() {
    let home = crate::server::home();
    home.write("ambit.json", agent(json!(["read_file"]), "ask").to_string());
    home.run(&["trust"]).exits(0);
    let mut server = Server::start(home, &["--style", "full"]);
    assert_eq!(listed(&server), ["files__read_file"]);
    server.home.write(
        "ambit.json",
        agent(json!(["read_file", "glob"]), "ask").to_string(),
    );
    server.says("waits");
    assert_eq!(listed(&server), ["files__read_file"]);
    server.home.run(&["trust"]).exits(0);
    server.says("holds from now on");
    assert_eq!(listed(&server), ["files__glob", "files__read_file"]);
    server
        .home
        .write("ambit.json", agent(json!(["glob"]), "ask").to_string());
    server.says("holds from now on");
    assert_eq!(listed(&server), ["files__glob"]);
}
