//! Requests from outside that start a trigger.

use serde_json::{Value, json};

use crate::http::Request;
use crate::server::{Server, configured};

#[test]
fn a_hook_is_opened_by_its_own_token_and_kept_until_it_is_started() {
    let home = configured(&json!({
        "mode": "auto",
        "serve": {"maxBodyBytes": 100_000},
        "agents": {"a": {"capabilities": {"triggers": {}}}},
    }));
    let input = json!({"webhook": true, "prompt": "look at it"}).to_string();
    let call = [
        "call",
        "triggers__create_trigger",
        "--input",
        &input,
        "--json",
    ];
    let made = home.run(&call).exits(0).json()["structuredContent"].clone();
    let (path, token) = (
        made["path"].as_str().unwrap(),
        made["token"].as_str().unwrap(),
    );
    let server = Server::start(home, &[]);
    let post = |path: &str, body: &str, token: &str| {
        Request::post(path, body.to_owned()).with("Authorization", &format!("Bearer {token}"))
    };
    for (request, status) in [
        (post(path, "it happened", token), 202),
        (post(path, "", token), 202),
        (post(path, "", "wrong"), 401),
        (post("/hooks/g-nothere", "", token), 401),
        (Request::post(path, String::new()), 401),
        (
            Request::get(path).with("Authorization", &format!("Bearer {token}")),
            405,
        ),
        (post(path, &"x".repeat(70_000), token), 422),
        (post(path, &"x".repeat(110_000), token), 413),
        (post(path, "", token).with("Host", "evil.example"), 403),
        (post("/hooks/", "", token), 404),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.status, status, "{answer:?}");
    }
    let wrong = server.send(&post(path, "", "wrong"));
    let missing = server.send(&post("/hooks/g-nothere", "", token));
    assert_eq!(wrong.body, missing.body, "nothing tells them apart");
    let runs = server
        .home
        .run(&["triggers", "history", "--json"])
        .exits(0)
        .json();
    let runs: Vec<Value> = runs["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|it| it["reason"] == "webhook"), "{runs:?}");
}
