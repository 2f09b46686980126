//! The other example: an agent that uses five built-in capabilities.

use std::fs;

use crate::support::{assert_replays, copy, events, home};

const GOAL: &str = "We release on the first Tuesday of a month, 10:00 in Berlin. Plan February.";

#[test]
fn five_capabilities_work_together_and_what_they_keep_stays() {
    let home = home();
    copy("assistant", &home.work());
    let run = home.run(&[
        "run",
        "--trust-project",
        "--yes",
        "--script",
        "script.json",
        GOAL,
    ]);
    assert!(
        run.clone().exits(0).stdout.contains("Planned for Tuesday"),
        "{run:?}"
    );
    let started = events(&home, &["--type", "tool.started"]);
    let started: Vec<&str> = started.iter().filter_map(|it| it["id"].as_str()).collect();
    for key in ["memory", "tasks", "notes", "compute", "triggers"] {
        let prefix = format!("local__{key}__");
        assert!(
            started.iter().any(|it| it.starts_with(&prefix)),
            "{started:?}"
        );
    }
    assert_replays(&home);

    // Another run, another process: what was kept is there.
    let again = |arguments: &[&str]| {
        home.run(&[&["--trust-project"], arguments].concat())
            .exits(0)
    };
    assert!(
        again(&["call", "memory__list_memories"])
            .stdout
            .contains("first Tuesday")
    );
    assert!(
        again(&["call", "tasks__list_tasks"])
            .stdout
            .contains("0 of 3 steps")
    );
    let folder = again(&["data", "where"]).stdout;
    let note = format!("{}/notes/assistant/february-release.md", folder.trim());
    assert!(
        fs::read_to_string(note)
            .unwrap()
            .contains("2027-02-01: freeze")
    );
    let triggers = again(&["triggers", "--json"]).json();
    assert_eq!(
        triggers["triggers"].as_array().unwrap().len(),
        1,
        "{triggers}"
    );
}
