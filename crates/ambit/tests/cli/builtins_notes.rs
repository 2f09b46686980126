//! `notes` through the binary, and several processes at once.

use std::path::{Path, PathBuf};

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::support::{at_once, call, configured, ended, reason, text};

fn home() -> Home {
    configured(json!({
        "mode": "auto",
        "agents": {
            "a": {"capabilities": {"notes": {"dir": "docs/notes"}}},
            "b": {"capabilities": ["notes"]},
        },
    }))
}

fn as_agent(home: &Home, tool: &str, input: Value, agent: &str) -> Value {
    let run = call(home, &format!("notes__{tool}"), input, &["--agent", agent]);
    assert_eq!(ended(&run), "completed", "{run:?}");
    run.json()
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_note_is_a_file_and_shared_ones_reach_others() {
    let home = home();
    let input = json!({"title": "Release plan", "content": "Cut the branch on Monday."});
    let saved = as_agent(&home, "save_note", input, "a");
    let path = home.work().join("docs/notes/a/release-plan.md");
    let said = PathBuf::from(saved["structuredContent"]["path"].as_str().unwrap());
    assert_eq!(said.canonicalize().unwrap(), path.canonicalize().unwrap());
    let find = json!({"query": "branches"});
    let found = |agent| as_agent(&home, "search_notes", find.clone(), agent);
    assert_eq!(found("b")["structuredContent"]["notes"], json!([]));
    as_agent(&home, "share_note", json!({"note": "release-plan"}), "a");
    let note = &found("b")["structuredContent"]["notes"][0];
    assert_eq!(note["note"], "a/release-plan");
    // A person changes the file; that is what counts.
    let content = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, content.replace("Monday", "Friday")).unwrap();
    let input = json!({"note": "a/release-plan"});
    let run = call(&home, "notes__read_note", input, &["--agent", "b"]);
    assert!(text(&run).contains("Friday"), "{run:?}");
    let late = json!({
        "note": "release-plan",
        "version": saved["structuredContent"]["version"],
        "content": "Cut it on Tuesday.",
    });
    let run = call(&home, "notes__update_note", late, &["--agent", "a"]);
    assert_eq!(ended(&run), "failed refused");
    assert!(
        reason(&run).contains("-Cut the branch on Friday."),
        "{run:?}"
    );
}

#[test]
fn processes_that_write_at_once_lose_nothing() {
    let home = home();
    let save = |title: String| json!({"title": title, "content": "x"});
    let calls = (0..10).map(|n| {
        // Half of them the same title, the others such that need the same file.
        let title = if n % 2 == 0 {
            "Plan".to_owned()
        } else {
            format!("Plan{}", "!".repeat(n))
        };
        ("notes__save_note", save(title), "a")
    });
    let runs = at_once(&home, calls);
    let saved = runs.iter().filter(|it| ended(it) == "completed").count();
    assert_eq!(saved, 6);
    let names = [
        "plan-2.md",
        "plan-3.md",
        "plan-4.md",
        "plan-5.md",
        "plan-6.md",
        "plan.md",
    ];
    assert_eq!(files(&home.work().join("docs/notes/a")), names);

    let note = json!({"note": "plan"});
    let version = as_agent(&home, "pin_note", note, "a")["structuredContent"]["version"].clone();
    let updates = (0..6).map(|n| {
        let input = json!({"note": "plan", "version": version, "content": format!("by {n}")});
        ("notes__update_note", input, "a")
    });
    let runs = at_once(&home, updates);
    let ends: Vec<_> = runs.iter().map(ended).collect();
    let won = ends.iter().filter(|it| *it == "completed").count();
    assert_eq!((won, ends.len()), (1, 6), "{ends:?}");
}
