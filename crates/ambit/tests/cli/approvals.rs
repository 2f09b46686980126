//! Who says yes when nobody sits at the terminal.

use ambit_testkit::{Home, Run};
use serde_json::{Value, json};

use crate::support::{call, ended, events, home, reason};

fn write(home: &Home, content: &str, more: &[&str]) -> Run {
    let input = json!({"path": "a.txt", "content": content});
    call(home, "files__write_file", input, more)
}

fn listed(home: &Home) -> Value {
    home.run(&["approvals", "--json"]).exits(0).json()
}

/// The number of the only pending request.
fn pending(home: &Home) -> String {
    let listed = listed(home);
    assert_eq!(listed["pending"].as_array().unwrap().len(), 1, "{listed}");
    listed["pending"][0]["number"].to_string()
}

#[test]
fn nobody_to_ask_is_a_refusal_that_says_what_to_do() {
    let home = home();
    let run = write(&home, "x", &[]);
    assert_eq!(ended(&run), "denied approval_pending");
    let number = pending(&home);
    assert!(
        reason(&run).contains(&format!("`ambit approvals allow {number}`")),
        "{run:?}"
    );
    assert!(!home.work().join("a.txt").exists());
    let request = &listed(&home)["pending"][0];
    assert_eq!(request["id"], "local__files__write_file");
    assert_eq!(request["agent"], "default");
    assert_eq!(
        request["arguments"],
        json!({"path": "a.txt", "content": "x"})
    );
    for field in ["at", "call", "session", "why"] {
        assert!(request[field].is_string(), "{field}");
    }
    write(&home, "x", &[]);
    assert_eq!(pending(&home), number, "the same call asks once");
    let shown = home.run(&["approvals"]).exits(0).stdout;
    assert!(
        shown.contains("default wants local__files__write_file"),
        "{shown}"
    );
}

#[test]
fn once_is_for_exactly_this_call_and_once() {
    let home = home();
    write(&home, "x", &[]);
    let number = pending(&home);
    home.run(&["approvals", "allow", &number]).exits(0);
    assert_eq!(
        ended(&write(&home, "other", &[])),
        "denied approval_pending"
    );
    assert_eq!(ended(&write(&home, "x", &[])), "completed");
    assert_eq!(ended(&write(&home, "x", &[])), "denied approval_pending");
    home.run(&["approvals", "allow", &number]).exits(1);
    let asked = events(&home, &["--type", "approval.decided"]);
    let outcomes: Vec<_> = asked.iter().map(|it| it["outcome"].clone()).collect();
    let nobody = json!("nobodyToAsk");
    assert_eq!(
        outcomes,
        [
            nobody.clone(),
            nobody.clone(),
            json!({"answered": "once"}),
            nobody
        ]
    );
}

#[test]
fn always_stands_until_it_is_taken_back() {
    let home = home();
    write(&home, "x", &[]);
    home.run(&["approvals", "allow", &pending(&home), "--for", "always"])
        .exits(0);
    for content in ["x", "other"] {
        assert_eq!(ended(&write(&home, content, &[])), "completed");
    }
    let standing = listed(&home)["standing"].clone();
    assert_eq!(standing[0]["id"], "local__files__write_file");
    assert_eq!(standing[0]["scope"], "always");
    let edit = json!({"path": "a.txt", "old_text": "other", "new_text": "x"});
    let other = call(&home, "files__edit_file", edit, &[]);
    assert_eq!(
        ended(&other),
        "denied approval_pending",
        "for this capability only"
    );
    let number = standing[0]["number"].to_string();
    home.run(&["approvals", "revoke", &number]).exits(0);
    assert_eq!(ended(&write(&home, "x", &[])), "denied approval_pending");
    home.run(&["approvals", "revoke", &number]).exits(1);
}

#[test]
fn no_is_an_answer_too() {
    let home = home();
    write(&home, "x", &[]);
    home.run(&["approvals", "deny", &pending(&home)]).exits(0);
    assert_eq!(ended(&write(&home, "x", &[])), "denied approval_denied");
    assert_eq!(
        ended(&write(&home, "x", &[])),
        "denied approval_pending",
        "asked anew"
    );
    assert!(!home.work().join("a.txt").exists());
}

#[test]
fn yes_answers_what_would_be_asked_and_nothing_else() {
    let home = home();
    assert_eq!(ended(&write(&home, "x", &["--yes"])), "completed");
    assert_eq!(listed(&home)["pending"], json!([]));
    assert_eq!(
        ended(&write(&home, "x", &[])),
        "denied approval_pending",
        "for that run"
    );
    let hidden = write(&home, "y", &["--yes", "--mode", "read-only"]);
    assert_eq!(ended(&hidden), "denied not_visible");
    let ungranted = call(
        &home,
        "shell__run_command",
        json!({"command": ["ls"]}),
        &["--yes"],
    );
    assert_eq!(ended(&ungranted), "denied not_visible");
    let invalid = call(&home, "files__write_file", json!({"path": "a"}), &["--yes"]);
    assert_eq!(ended(&invalid), "denied input_invalid");
}
