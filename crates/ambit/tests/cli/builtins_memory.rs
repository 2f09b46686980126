//! `memory` through the binary, and several processes at once.

use ambit_testkit::Home;
use serde_json::json;

use crate::support::{at_once, call, configured, ended, text};

fn home() -> Home {
    configured(json!({
        "mode": "auto",
        "agents": {
            "a": {"capabilities": {"memory": {"scope": "shared"}}},
            "b": {"capabilities": {"memory": {"scope": "shared"}}},
            "c": {"capabilities": ["memory"]},
        },
    }))
}

#[test]
fn what_one_process_saves_another_finds() {
    let home = home();
    let run = call(
        &home,
        "memory__save_memory",
        json!({"text": "The release branch is cut on Mondays"}),
        &["--agent", "a"],
    );
    assert_eq!(ended(&run), "completed");
    assert_eq!(run.json()["structuredContent"]["savedBy"], "a", "{run:?}");
    let find = json!({"query": "when are release branches cut"});
    for (agent, found) in [("b", "m1: The release branch"), ("c", "nothing that is")] {
        let run = call(&home, "memory__search_memories", &find, &["--agent", agent]);
        assert!(text(&run).starts_with(found), "{agent}: {run:?}");
    }
    let run = call(
        &home,
        "memory__save_memory",
        json!({"text": "x"}),
        &["--agent", "a", "--mode", "read-only"],
    );
    assert_eq!(ended(&run), "denied not_visible");
}

#[test]
fn processes_that_save_at_once_lose_and_repeat_nothing() {
    let home = home();
    let inputs: Vec<_> = (0..12)
        .map(|n| match n % 3 {
            // The same from everybody.
            0 => json!({"text": "Everybody knows this one"}),
            _ => json!({"text": format!("Fact number {n}")}),
        })
        .collect();
    let calls = inputs.iter().enumerate().map(|(n, input)| {
        let agent = if n % 2 == 0 { "a" } else { "b" };
        ("memory__save_memory", input.clone(), agent)
    });
    for run in at_once(&home, calls) {
        assert_eq!(ended(&run), "completed");
    }
    let run = call(&home, "memory__list_memories", json!({}), &["--agent", "a"]);
    assert_eq!(run.json()["structuredContent"]["total"], 9, "{run:?}");
}
