//! The example, and the demo that plays it.

use std::process::Command;

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::support::{GOAL, assert_replays, events, example_home, home};

/// What became visible in a turn, each with what spoke for it.
fn added(home: &Home, turn: u64) -> Vec<(String, Vec<String>)> {
    let diffs = events(home, &["--type", "capability.diff"]);
    let diff = diffs.iter().find(|it| it["turn"] == turn).unwrap();
    let added = diff["added"].as_array().unwrap().iter();
    let signals = |it: &Value| -> Vec<String> {
        let reasons = it["reasons"].as_array().unwrap().iter();
        reasons
            .map(|it| it["signal"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut added: Vec<_> = added
        .map(|it| (it["id"].as_str().unwrap().to_owned(), signals(it)))
        .collect();
    added.sort();
    added
}

#[track_caller]
pub(crate) fn assert_walked(home: &Home) {
    let added = added(home, 4);
    let ids: Vec<&str> = added.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(
        ids,
        [
            "mcp__github__get_pull_request",
            "mcp__github__get_pull_request_files",
            "skill__frontend-component",
        ]
    );
    for (id, signals) in &added {
        let because = match id.starts_with("skill") {
            true => "touched",
            false => "candidate",
        };
        assert!(signals.iter().any(|it| it == because), "{id}: {signals:?}");
    }
    let called: Vec<String> = events(home, &["--type", "tool.started"])
        .iter()
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect();
    let mut sorted = called.clone();
    sorted[2..7].sort();
    assert_eq!(
        sorted,
        [
            "skill__test-fix",
            "local__shell__run_command",
            "local__ambit__tool_search",
            "local__files__read_file",
            "mcp__github__get_pull_request",
            "mcp__github__get_pull_request_files",
            "skill__frontend-component",
            "local__files__edit_file",
            "local__shell__run_command",
            "local__shell__run_command",
        ]
    );
    let mut tests = Command::new("sh");
    tests.arg("tests/run.sh").current_dir(home.work());
    assert!(tests.output().unwrap().status.success());
}

#[test]
fn the_example_walks_the_chain() {
    let home = example_home();
    let arguments = [
        "run",
        "--trust-project",
        "--yes",
        "--script",
        "script.json",
        GOAL,
    ];
    let run = home.run(&arguments).exits(0);
    assert!(run.stdout.starts_with("All 3 tests pass."), "{run:?}");
    for part in [
        "● turn 4",
        "+github__get_pull_request (found by search)",
        "+skill frontend-component (fits the files)",
        "✓ files__edit_file src/components/badge.sh",
        "done: 8 turns, 10 calls",
    ] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert_walked(&home);
    assert_replays(&home);
}

#[test]
fn the_demo_shows_all_of_it() {
    let home = home();
    let run = home.run(&["demo"]).exits(0);
    for part in [
        "All 3 tests pass.",
        "+ mcp__github__get_pull_request  candidate",
        "mcp__github__get_pull_request is visible",
        "8 turns, 10 calls",
    ] {
        assert!(run.stdout.contains(part), "{part}: {run:?}");
    }
    // It leaves nothing behind, here or at home.
    assert_eq!(std::fs::read_dir(home.home()).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(home.work()).unwrap().count(), 0);
    let run = home.run(&["demo", "--json"]).exits(0);
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(lines.last().unwrap()["same"], true);
    assert_eq!(lines.last().unwrap()["unverifiable"], json!([]));
}

#[test]
fn without_a_yes_nothing_is_changed() {
    let home = example_home();
    let arguments = ["run", "--trust-project", "--script", "script.json", GOAL];
    // The very first call needs a person: the skill is the project's, and nobody accepted it.
    let run = home.run(&arguments).exits(1);
    assert!(run.stderr.contains("approval_pending"), "{}", run.stderr);
    assert!(
        run.stderr.contains("expected the loaded skill"),
        "{}",
        run.stderr
    );
    let approvals = home.run(&["approvals", "--json"]).json();
    assert_eq!(approvals["pending"].as_array().unwrap().len(), 1);
}
