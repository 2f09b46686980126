//! The turn API: sessions, turns and calls, and what is said of requests that make no sense. Every
//! answer is held against the OpenAPI document.

use serde_json::{Value, json};

use crate::harness::{Api, EXERCISED, free};
use crate::http::Request;
use crate::server::{Server, configured, home};

#[test]
fn a_session_its_turns_and_its_calls() {
    let server = Server::start(home(), &[]);
    let api = Api::of(&server);
    let id = api.open(json!({}));
    let at = format!("/v1/sessions/{id}");
    let session = api.expect("readSession", Request::get(&at), 200);
    assert_eq!(
        session,
        json!({"schemaVersion": 1, "id": id, "agent": "default", "mode": "ask", "turn": 0})
    );
    // Nothing is visible before a turn.
    let denied = api.call(&id, "files__read_file", json!({"path": "a.txt"}));
    assert_eq!(denied["code"], "not_visible");
    let turn = api.turn(&id, json!({"goal": "read a file"}));
    assert_eq!((&turn["turn"], &turn["mode"]), (&json!(1), &json!("ask")));
    let visible = turn["visible"].as_array().unwrap();
    let read = visible.iter().find(|it| it["name"] == "files__read_file");
    let read = read.unwrap();
    assert_eq!(read["id"], "local__files__read_file");
    assert_eq!(read["reasons"][0]["signal"], "goal");
    let added = turn["diff"]["added"].as_array().unwrap().len();
    assert_eq!(added, visible.len());
    let tokens = |it: &str| turn["tokens"][it].as_u64().unwrap();
    assert!(
        tokens("exposed") > 0 && tokens("catalog") >= tokens("exposed"),
        "{turn}"
    );
    for (format, name) in [
        ("openai", "/function/name"),
        ("anthropic", "/name"),
        ("mcp", "/name"),
    ] {
        let turn = api.turn(&id, json!({"goal": "read a file", "format": format}));
        let tools = turn["tools"].as_array().unwrap();
        let named = |it: &Value| it.pointer(name) == Some(&json!("files__read_file"));
        assert!(tools.iter().any(named), "{format}: {tools:?}");
        assert_eq!(turn["diff"]["added"], json!([]), "{format}");
    }
    // By name and by id, as `ambit call --json` prints it.
    for target in ["files__read_file", "local__files__read_file"] {
        let observed = api.call(&id, target, json!({"path": "a.txt"}));
        assert_eq!(observed["content"][0]["text"], "hello");
    }
    let observed = api.call(&id, "files__read_file", json!({"path": "a.txt"}));
    let printed = server.home.run(&[
        "call",
        "files__read_file",
        "--json",
        "--input",
        r#"{"path":"a.txt"}"#,
    ]);
    let fields = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&observed), fields(&printed.exits(0).json()));
    let session = api.expect("readSession", Request::get(&at), 200);
    assert_eq!(session["turn"], 4);
    api.expect("endSession", Request::delete(&at), 204);
    for request in [Request::get(&at), Request::delete(&at)] {
        let gone = api.expect("readSession", request, 410);
        assert_eq!(gone["error"]["code"], "session_ended");
    }
    server.counts("ambit_turn_sessions 0");
}

#[test]
fn modes_narrow() {
    let server = Server::start(configured(&free()), &[]);
    let api = Api::of(&server);
    let session = api.open(json!({"mode": "ask"}));
    for (mode, status, code) in [
        (json!("auto"), 422, "mode_too_loose"),
        (json!("free"), 400, "body_invalid"),
        (json!(7), 400, "body_invalid"),
    ] {
        let body = json!({"mode": mode}).to_string();
        let path = format!("/v1/sessions/{session}/turns");
        let refused = api.expect("beginTurn", Request::post(&path, body), status);
        assert_eq!(refused["error"]["code"], code);
    }
    let write = |mode: Value| {
        let turn = api.turn(&session, json!({"mode": mode}));
        let call = api.call(
            &session,
            "files__write_file",
            json!({"path": "b.txt", "content": ""}),
        );
        (turn["mode"].clone(), call["code"].clone())
    };
    assert_eq!(
        write(json!("read-only")),
        (json!("read-only"), json!("not_visible"))
    );
    assert_eq!(
        write(Value::Null),
        (json!("ask"), json!("approval_pending"))
    );
    let looser = Server::start(home(), &[]);
    let refused = Request::post("/v1/sessions", r#"{"mode": "auto"}"#);
    let refused = Api::of(&looser).expect("openSession", refused, 422);
    assert_eq!(refused["error"]["code"], "mode_too_loose");
}

#[test]
fn requests_that_make_no_sense() {
    let server = Server::start(home(), &[]);
    let api = Api::of(&server);
    let id = api.open(json!({}));
    let turns = format!("/v1/sessions/{id}/turns");
    let calls = format!("/v1/sessions/{id}/calls");
    let events = format!("/v1/sessions/{id}/events");
    for (operation, path, body, status, code, says) in [
        (
            "openSession",
            "/v1/sessions",
            "{",
            400,
            "body_not_json",
            "not usable JSON",
        ),
        (
            "openSession",
            "/v1/sessions",
            "[]",
            400,
            "body_not_object",
            "a JSON object",
        ),
        (
            "openSession",
            "/v1/sessions",
            r#"{"agnet": "a"}"#,
            400,
            "unknown_field",
            "did you mean `agent`?",
        ),
        (
            "openSession",
            "/v1/sessions",
            r#"{"agent": "b"}"#,
            404,
            "no_such_agent",
            "`b`",
        ),
        (
            "openSession",
            "/v1/sessions",
            r#"{"agent": 1}"#,
            400,
            "body_invalid",
            "expected a string",
        ),
        (
            "openSession",
            "/v1/sessions",
            r#"{"mode": "ask", "mode": "auto"}"#,
            400,
            "body_not_json",
            "mode",
        ),
        (
            "openSession",
            "/v1/sessions?x=1",
            "{}",
            400,
            "unknown_parameter",
            "`x`",
        ),
        (
            "beginTurn",
            &turns,
            r#"{"gaol": ""}"#,
            400,
            "unknown_field",
            "did you mean `goal`?",
        ),
        (
            "beginTurn",
            &turns,
            r#"{"format": "xml"}"#,
            400,
            "body_invalid",
            "`anthropic`",
        ),
        (
            "beginTurn",
            &turns,
            r#"{"budget": -1}"#,
            400,
            "body_invalid",
            "-1",
        ),
        (
            "beginTurn",
            "/v1/sessions/nobody/turns",
            "{}",
            404,
            "no_such_session",
            "POST /v1/sessions",
        ),
        (
            "beginTurn",
            "/v1/sessions/%2e%2e/turns",
            "{}",
            404,
            "no_such_session",
            "no such session",
        ),
        ("call", &calls, "{}", 400, "body_invalid", "`id`"),
        (
            "call",
            &calls,
            r#"{"id": "x", "input": 1}"#,
            400,
            "body_invalid",
            "map",
        ),
        (
            "call",
            &calls,
            r#"{"id": "x", "wait": 601}"#,
            400,
            "body_invalid",
            "600",
        ),
        (
            "call",
            &calls,
            r#"{"id": "x", "arguments": {}}"#,
            400,
            "unknown_field",
            "`input`",
        ),
        (
            "answerApproval",
            "/v1/approvals/1",
            r#"{"answer": "yes"}"#,
            400,
            "body_invalid",
            "`once`",
        ),
        (
            "answerApproval",
            "/v1/approvals/1",
            r#"{"answer": "once"}"#,
            403,
            "operator_needed",
            "--operator",
        ),
    ] {
        let refused = api.expect(operation, Request::post(path, body), status);
        assert_eq!(refused["error"]["code"], code, "{path} {body}");
        let all = refused["error"].to_string();
        assert!(all.contains(says), "{path} {body}: {all}");
    }
    for (request, status) in [
        (Request::get("/v1/sessions"), 405),
        (Request::delete(&turns), 405),
        (Request::get("/v1/else"), 404),
        (Request::get("/v1"), 404),
        (Request::post("/v1/approvals/x", "{}"), 404),
        (Request::get(&format!("{events}?after=x")), 400),
        (Request::get(&events).with("Last-Event-ID", "-"), 400),
        (Request::get(&format!("{events}?from=1")), 400),
        (Request::delete("/v1/openapi.json"), 405),
    ] {
        assert_eq!(api.send(request).status, status);
    }
    let deep = format!("{{\"id\":\"x\",\"input\":{}}}", "[".repeat(100_000));
    assert_eq!(api.send(Request::post(&calls, deep)).status, 400);
    let large = Request::post(&turns, vec![b' '; (4 << 20) + 1]);
    api.expect("beginTurn", large, 413);
}

#[test]
fn a_session_outlives_an_edit_and_its_place_in_memory() {
    let config = |tools: Value| {
        json!({
            "agents": {"a": {"capabilities": {"files": {"tools": tools}}}},
            "serve": {"maxSessions": 2},
        })
    };
    let home = configured(&config(json!(["read_file", "grep"])));
    let mut server = Server::start(home, &[]);
    let first = {
        let api = Api::of(&server);
        let first = api.open(json!({}));
        api.turn(&first, json!({}));
        // Two more, and it has to make room.
        let others = [api.open(json!({})), api.open(json!({}))];
        server.counts("ambit_turn_sessions 2");
        let call = |it: &str| api.call(it, "files__read_file", json!({"path": "a.txt"}));
        assert_eq!(call(&first)["status"], "completed");
        assert_eq!(call(&others[0])["code"], "not_visible");
        first
    };
    server
        .home
        .user_config(&config(json!(["read_file"])).to_string());
    server.says("holds from now on");
    let api = Api::of(&server);
    for (tool, input, status) in [
        ("files__read_file", json!({"path": "a.txt"}), "completed"),
        ("files__grep", json!({"pattern": "h"}), "denied"),
    ] {
        assert_eq!(api.call(&first, tool, input)["status"], status, "{tool}");
    }
}

#[test]
fn what_is_documented_is_what_there_is() {
    // Each in its own way, so that this test stands for itself.
    let mut home = home();
    home.set("TERM", "dumb");
    let operator = home
        .run(&["agents", "token", "--operator", "--json"])
        .exits(0)
        .json();
    assert_eq!(operator["agent"], "@operator");
    let server = Server::start(home, &[]);
    let api = Api::of(&server);
    let id = api.open(json!({}));
    api.turn(&id, json!({}));
    let pending = api.call(
        &id,
        "files__write_file",
        json!({"path": "b.txt", "content": ""}),
    );
    let number = pending["approval"].as_i64().unwrap();
    let listed = api.expect("listApprovals", Request::get("/v1/approvals"), 200);
    assert_eq!(listed["pending"][0]["number"], number);
    let by = Api::by(&server, operator["token"].as_str().unwrap());
    let answer = Request::post(&format!("/v1/approvals/{number}"), r#"{"answer":"deny"}"#);
    by.expect("answerApproval", answer, 200);
    let path = format!("/v1/sessions/{id}");
    api.expect("readSession", Request::get(&path), 200);
    api.expect("endSession", Request::delete(&path), 204);
    let exercised = EXERCISED.lock().unwrap().clone();
    let paths = api.document["paths"].as_object().unwrap();
    let documented = paths
        .values()
        .flat_map(|it| it.as_object().unwrap().values());
    let documented = documented.map(|it| it["operationId"].as_str().unwrap());
    let left: Vec<&str> = documented.filter(|it| !exercised.contains(*it)).collect();
    // These two are no JSON documents of the API; other tests read them.
    assert_eq!(left, ["readOpenApi", "readEvents"]);
    // Public validators have their say in `openapi.rs`.
    let committed = include_str!("../../../../docs/openapi.json");
    let committed: Value = serde_json::from_str(committed).unwrap();
    assert_eq!(committed, api.document);
}
