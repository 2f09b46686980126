//! Trying again with the same `Idempotency-Key`: an effect happens once, whatever comes between.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Api, call};
use crate::http::{Request, read};
use crate::server::{Server, configured, home};

/// An agent that may run scripts.
fn scripts() -> Value {
    json!({
        "agents": {"a": {"capabilities": {"shell": {"allow": ["sh"]}, "files": {}}, "mode": "auto"}},
        "permissions": {"allow": ["proc:exec"]},
    })
}

/// A call that leaves a line in `ran.txt` before it does the rest.
fn script(session: &str, rest: &str) -> Request {
    let command = json!(["sh", "-c", format!("echo ran >> ran.txt; {rest}")]);
    let body = json!({"id": "shell__run_command", "input": {"command": command}});
    call(session, body)
}

fn ran(work: &Path) -> usize {
    let text = std::fs::read_to_string(work.join("ran.txt"));
    text.unwrap_or_default().lines().count()
}

fn begun(api: &Api<'_>) -> String {
    let id = api.open(json!({}));
    api.turn(&id, json!({"goal": "run a command"}));
    id
}

#[test]
fn the_same_key_is_the_same_call() {
    let server = Server::start(configured(&scripts()), &[]);
    let api = Api::of(&server);
    let (id, other) = (begun(&api), begun(&api));
    let keyed =
        |session: &str, key: &str, rest: &str| script(session, rest).with("Idempotency-Key", key);
    let first = api.expect("call", keyed(&id, "a", "echo one"), 200);
    assert_eq!(first["status"], "completed", "{first}");
    for _ in 0..3 {
        let again = api.expect("call", keyed(&id, "a", "echo one"), 200);
        assert_eq!(again, first);
    }
    assert_eq!(ran(&server.home.work()), 1);
    let refused = api.expect("call", keyed(&id, "a", "echo two"), 422);
    assert_eq!(refused["error"]["code"], "key_reused");
    // Another key, another session or no key is another call.
    for request in [
        keyed(&id, "b", "echo one"),
        keyed(&other, "a", "echo one"),
        script(&id, "echo one"),
    ] {
        assert_eq!(api.expect("call", request, 200)["status"], "completed");
    }
    assert_eq!(ran(&server.home.work()), 4);
    for key in ["", " ", &"k".repeat(256)] {
        let refused = api.expect("call", keyed(&id, key, ""), 400);
        assert_eq!(refused["error"]["code"], "key_invalid", "{key}");
    }
    let twice = keyed(&id, "x", "").with("Idempotency-Key", "y");
    api.expect("call", twice, 400);
    // A failure is an outcome like any other.
    let failed = api.expect("call", keyed(&id, "f", "exit 3"), 200);
    assert_eq!(api.expect("call", keyed(&id, "f", "exit 3"), 200), failed);
    assert_eq!(ran(&server.home.work()), 5);
}

#[test]
fn many_at_once_are_one() {
    let server = Server::start(configured(&scripts()), &[]);
    let api = Api::of(&server);
    let id = begun(&api);
    let request = script(&id, "sleep 1; echo done")
        .with("Idempotency-Key", "k")
        .with("Connection", "close");
    // The first does not wait for its answer.
    drop(request.begin(server.address));
    let asked: Vec<_> = (0..16).map(|_| request.begin(server.address)).collect();
    let answers: Vec<Value> = asked
        .into_iter()
        .map(|it| api.documented("call", &read(it)))
        .collect();
    assert!(answers.iter().all(|it| *it == answers[0]), "{answers:#?}");
    assert_eq!(answers[0]["status"], "completed", "{}", answers[0]);
    assert_eq!(ran(&server.home.work()), 1);
}

#[test]
fn a_refusal_is_asked_about_anew() {
    let server = Server::start(home(), &[]);
    let api = Api::of(&server);
    let id = begun(&api);
    let write = json!({"id": "files__write_file", "input": {"path": "b.txt", "content": "x"}});
    let request = call(&id, write).with("Idempotency-Key", "k");
    let waits = api.expect("call", request.clone(), 200);
    assert_eq!(waits["code"], "approval_pending");
    let number = waits["approval"].as_i64().unwrap().to_string();
    server.home.run(&["approvals", "allow", &number]).exits(0);
    let done = api.expect("call", request.clone(), 200);
    assert_eq!(done["status"], "completed");
    // And then it is done: a person is not asked again.
    assert_eq!(api.expect("call", request, 200), done);
}

#[test]
fn a_crash_runs_nothing_twice() {
    let server = Server::start(configured(&scripts()), &[]);
    let (id, ended) = {
        let api = Api::of(&server);
        let id = begun(&api);
        let request = script(&id, "echo done").with("Idempotency-Key", "ended");
        (id.clone(), api.expect("call", request, 200))
    };
    let running = script(&id, "sleep 60").with("Idempotency-Key", "running");
    let cut_off = running.begin(server.address);
    while ran(&server.home.work()) < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let home = server.killed();
    drop(cut_off);
    let server = Server::start(home, &[]);
    let api = Api::of(&server);
    for _ in 0..2 {
        let unknown = api.expect("call", running.clone(), 200);
        assert_eq!(unknown["code"], "outcome_unknown", "{unknown}");
        let reason = unknown["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("outcome unknown: it may have run"),
            "{reason}"
        );
    }
    let request = || script(&id, "echo done").with("Idempotency-Key", "ended");
    assert_eq!(api.expect("call", request(), 200), ended);
    assert_eq!(ran(&server.home.work()), 2);
    // What was kept may be gone; what is on record is not.
    std::fs::remove_dir_all(server.home.state().join("results")).unwrap();
    let recalled = api.expect("call", request(), 200);
    assert_eq!(recalled["status"], "completed");
    assert_eq!(recalled["call"], ended["call"]);
    assert_eq!(ran(&server.home.work()), 2);
    // The session goes on: another key is another call.
    let fresh = script(&id, "echo again").with("Idempotency-Key", "fresh");
    assert_eq!(api.expect("call", fresh, 200)["status"], "completed");
    let verified = server.home.run(&["log", "verify"]).exits(0);
    assert!(verified.stdout.starts_with("ok"), "{verified:?}");
    server.home.run(&["replay", &id]).exits(0);
}
