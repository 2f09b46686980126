//! A call that needs a person, over HTTP: who may answer, and what the answer does.

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::harness::{Api, call};
use crate::http::{Request, read};
use crate::server::{Server, configured, home, token};

fn operator(home: &Home) -> String {
    let issued = home
        .run(&["agents", "token", "--operator", "--json"])
        .exits(0);
    issued.json()["token"].as_str().unwrap().to_owned()
}

fn write(path: &str) -> Value {
    json!({"id": "files__write_file", "input": {"path": path, "content": "x"}})
}

fn answer(number: i64, answer: &str) -> Request {
    let body = json!({"answer": answer}).to_string();
    Request::post(&format!("/v1/approvals/{number}"), body)
}

#[test]
fn an_operator_answers_and_an_agent_does_not() {
    let home = home();
    let (agent, person) = (token(&home, "default"), operator(&home));
    let server = Server::start(home, &[]);
    let (api, person) = (Api::by(&server, &agent), Api::by(&server, &person));
    let id = api.open(json!({}));
    api.turn(&id, json!({}));
    let ask = |path: &str| api.expect("call", call(&id, write(path)), 200);
    for (word, path, code) in [
        ("once", "once.txt", None),
        ("deny", "deny.txt", Some("approval_denied")),
        ("session", "session.txt", None),
    ] {
        let waits = ask(path);
        assert_eq!(waits["code"], "approval_pending");
        let number = waits["approval"].as_i64().unwrap();
        // The command line sees the same.
        let listed = server.home.run(&["approvals", "--json"]).exits(0).json();
        assert_eq!(listed["pending"][0]["number"], number);
        let refused = api.expect("answerApproval", answer(number, word), 403);
        assert_eq!(refused["error"]["code"], "operator_needed");
        let seen = api.expect("listApprovals", Request::get("/v1/approvals"), 200);
        assert_eq!(seen["pending"][0]["arguments"]["path"], path);
        person.expect("answerApproval", answer(number, word), 200);
        person.expect("answerApproval", answer(number, word), 404);
        let after = ask(path);
        assert_eq!(after["code"].as_str(), code, "{word}: {after}");
        assert_eq!(server.home.work().join(path).exists(), code.is_none());
    }
    // For the session means all of it, and no other.
    assert_eq!(ask("more.txt")["status"], "completed");
    let other = api.open(json!({}));
    api.turn(&other, json!({}));
    let waits = api.expect("call", call(&other, write("other.txt")), 200);
    let number = waits["approval"].as_i64().unwrap();
    let allow = ["approvals", "allow", &number.to_string(), "--for", "always"];
    server.home.run(&allow).exits(0);
    let after = api.expect("call", call(&other, write("other.txt")), 200);
    assert_eq!(after["status"], "completed");
    // An operator is no agent.
    for request in [
        Request::post("/v1/sessions", "{}"),
        Request::get(&format!("/v1/sessions/{id}")),
    ] {
        assert!(matches!(person.send(request).status, 401 | 404));
    }
}

#[test]
fn a_call_can_wait_for_its_person() {
    let home = home();
    let person = operator(&home);
    let server = Server::start(home, &[]);
    let (api, person) = (Api::of(&server), Api::by(&server, &person));
    let id = api.open(json!({}));
    api.turn(&id, json!({}));
    for (word, path, status) in [("once", "a", "completed"), ("deny", "b", "denied")] {
        let mut body = write(path);
        body["wait"] = json!(60);
        let request = call(&id, body).with("Connection", "close");
        let waiting = request.begin(server.address);
        let number = loop {
            let listed = api.expect("listApprovals", Request::get("/v1/approvals"), 200);
            if let Some(number) = listed["pending"][0]["number"].as_i64() {
                break number;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        person.expect("answerApproval", answer(number, word), 200);
        let observed = api.documented("call", &read(waiting));
        assert_eq!(observed["status"], status, "{word}");
    }
    // Who waits in vain is told as who did not wait.
    let mut body = write("c");
    body["wait"] = json!(1);
    let observed = api.expect("call", call(&id, body), 200);
    assert_eq!(observed["code"], "approval_pending");
    assert!(observed["approval"].is_i64(), "{observed}");
}

#[test]
fn an_agent_sees_what_waits_for_itself() {
    let files = json!({"capabilities": {"files": {}}});
    let home = configured(&json!({"agents": {"one": files, "two": files}}));
    let tokens = [token(&home, "one"), token(&home, "two")];
    let person = operator(&home);
    let server = Server::start(home, &[]);
    for token in &tokens {
        let api = Api::by(&server, token);
        let id = api.open(json!({}));
        api.turn(&id, json!({}));
        api.expect("call", call(&id, write("x")), 200);
    }
    let agents = |token: &str| {
        let api = Api::by(&server, token);
        let listed = api.expect("listApprovals", Request::get("/v1/approvals"), 200);
        let pending = listed["pending"].as_array().unwrap().iter();
        pending
            .map(|it| it["agent"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(agents(&tokens[0]), ["one"]);
    assert_eq!(agents(&tokens[1]), ["two"]);
    assert_eq!(agents(&person), ["one", "two"]);
}
