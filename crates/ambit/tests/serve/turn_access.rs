//! Who may use which session of the turn API, through a real socket.

use serde_json::{Value, json};

use crate::harness::Api;
use crate::http::Request;
use crate::server::{Server, configured, token};

fn three() -> Value {
    let files = json!({"capabilities": {"files": {}}});
    json!({
        "agents": {"coder": files, "reader": files, "open": files},
        "serve": {"hosts": ["gate.example"], "origins": ["https://app.example"]},
    })
}

#[test]
fn a_session_belongs_to_its_agent() {
    let home = configured(&three());
    let (coder, other) = (token(&home, "coder"), token(&home, "coder"));
    let reader = token(&home, "reader");
    let server = Server::start(home, &[]);
    let (by_coder, by_reader) = (Api::by(&server, &coder), Api::by(&server, &reader));
    let (by_other, by_nobody) = (Api::by(&server, &other), Api::of(&server));
    // The token says which agent it is; an open one has to be named.
    let coders = by_coder.open(json!({}));
    let open = by_nobody.open(json!({"agent": "open"}));
    let session =
        |api: &Api<'_>, id: &str| api.send(Request::get(&format!("/v1/sessions/{id}"))).status;
    for (api, id, status) in [
        (&by_coder, &coders, 200),
        (&by_other, &coders, 200),
        (&by_reader, &coders, 404),
        (&by_nobody, &coders, 404),
        (&by_nobody, &open, 200),
        (&by_coder, &open, 200),
    ] {
        assert_eq!(session(api, id), status);
    }
    let begin = |api: &Api<'_>, agent: &str| {
        let body = json!({"agent": agent}).to_string();
        api.send(Request::post("/v1/sessions", body)).status
    };
    for (api, agent, status) in [
        (&by_coder, "coder", 201),
        (&by_coder, "reader", 401),
        (&by_coder, "nobody", 401),
        (&by_reader, "reader", 201),
        (&by_nobody, "coder", 401),
        (&by_nobody, "open", 201),
    ] {
        assert_eq!(begin(api, agent), status, "{agent}");
    }
    let post = || by_coder.signed(Request::post("/v1/sessions", "{}"));
    for (request, status) in [
        (post().with("Host", "gate.example"), 201),
        (post().with("Host", "evil.example"), 403),
        (post().with("Origin", "https://app.example"), 201),
        (post().with("Origin", "https://evil.example"), 403),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.status, status);
        assert!(answer.message()["schemaVersion"] == 1, "{answer:?}");
    }
    // What is asked of a locked server without a token says nothing, and how to get one.
    server.home.run(&["agents", "token", "open"]).exits(0);
    let asked = Request::get(&format!("/v1/sessions/{coders}"));
    server.becomes(&asked, 401);
    let refused = server.send(&asked);
    assert_eq!(refused.message()["error"]["code"], "token_needed");
    assert!(refused.header("www-authenticate").is_some());
    // A token that is taken back opens nothing, and what it began is there for the other.
    server
        .home
        .run(&["agents", "token", "coder", "--revoke", "1"])
        .exits(0);
    server.becomes(&by_coder.signed(asked.clone()), 401);
    assert_eq!(session(&by_other, &coders), 200);
}

#[test]
fn sessions_that_came_in_elsewhere_stay_there() {
    let server = Server::start(configured(&json!({})), &[]);
    let called = server
        .home
        .run(&[
            "call",
            "files__read_file",
            "--json",
            "--input",
            r#"{"path":"a.txt"}"#,
        ])
        .exits(0)
        .json();
    let path = format!("/v1/sessions/{}", called["session"].as_str().unwrap());
    let api = Api::of(&server);
    api.expect("readSession", Request::get(&path), 404);
}
