//! Homes with the example in them, and what a run left behind.

use std::path::{Path, PathBuf};

use ambit_testkit::{Home, Run};
use serde_json::{Value, json};

pub(crate) const GOAL: &str = "The tests fail. Make them pass.";

pub(crate) fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_ambit"))
}

pub(crate) fn example(name: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    examples.join(name)
}

/// A home with the example in its workspace, and `ambit` on its path.
pub(crate) fn example_home() -> Home {
    let mut home = home();
    copy("test-fix", &home.work());
    let binary = Path::new(env!("CARGO_BIN_EXE_ambit")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    home.set("PATH", format!("{}:{path}", binary.display()));
    home
}

/// Copies an example, or a folder of one.
pub(crate) fn copy(from: &str, to: &Path) {
    copy_folder(&example(from), to);
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &to),
            false => std::fs::copy(entry.path(), &to).map(drop).unwrap(),
        }
    }
}

/// Plays a script in a home.
pub(crate) fn play(home: &Home, turns: Value, more: &[&str]) -> Run {
    home.write("script.json", json!({"turns": turns}).to_string());
    let mut arguments = vec!["run", "--script", "script.json"];
    arguments.extend(more);
    home.run(&arguments)
}

/// The events of the journal, as `ambit log --json` prints them.
#[track_caller]
pub(crate) fn events(home: &Home, filter: &[&str]) -> Vec<Value> {
    let run = home.run(&[&["log", "--json"], filter].concat()).exits(0);
    let lines = run.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Every decision of every session comes out the same again, from what was recorded.
#[track_caller]
pub(crate) fn assert_replays(home: &Home) {
    let sessions = home.run(&["log", "sessions", "--json"]).exits(0).json();
    for session in sessions["sessions"].as_array().unwrap() {
        let id = session["id"].as_str().unwrap();
        let report = home.run(&["replay", id, "--json"]).exits(0).json();
        assert_eq!(report["same"], true, "{report}");
        assert_eq!(report["unverifiable"], json!([]), "{report}");
    }
    home.run(&["log", "verify"]).exits(0);
}

/// The last results a model was given, by what the journal keeps of them.
pub(crate) fn results(home: &Home) -> Vec<String> {
    let last = events(home, &["--type", "tool.observation"]);
    last.iter()
        .map(|it| match it["reason"].as_str() {
            Some(reason) => format!(
                "{} ({}): {reason}",
                it["status"].as_str().unwrap(),
                it["code"].as_str().unwrap()
            ),
            None => it["excerpt"].as_str().unwrap_or_default().to_owned(),
        })
        .collect()
}
