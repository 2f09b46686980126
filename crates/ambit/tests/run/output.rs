//! What a program and a person get of a run, and how one goes on.

use serde_json::{Value, json};

use crate::support::{assert_replays, events, home, play, results};

fn look() -> Value {
    json!({"calls": [{"tool": "files__read_file", "input": {"path": "a.txt"}}]})
}

#[test]
fn events_stream_as_lines() {
    let home = home();
    home.write("a.txt", "apples");
    let run = play(
        &home,
        json!([look(), {"say": "Apples."}]),
        &["--json", "what is in a.txt?"],
    );
    let run = run.exits(0);
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let types: Vec<&str> = lines.iter().filter_map(|it| it["type"].as_str()).collect();
    assert_eq!(types.first(), Some(&"session.started"));
    assert_eq!(types[types.len() - 2..], ["run.finished", "run.summary"]);
    let recorded = events(&home, &[]);
    assert_eq!(&lines[..lines.len() - 1], &recorded[..]);
    let summary = lines.last().unwrap();
    assert_eq!(summary["answer"], "Apples.");
    assert_eq!(summary["ended"], "answered");
    assert_eq!(summary["schemaVersion"], 1);
}

#[test]
fn a_run_goes_on_where_it_stopped() {
    let home = home();
    home.write("a.txt", "apples");
    let run = play(
        &home,
        json!([look(), look()]),
        &["--max-turns", "1", "look"],
    )
    .exits(1);
    assert!(run.stderr.contains("ambit run --resume"), "{}", run.stderr);
    let observed = json!({"expect": {"observed": ["apples"]}, "say": "Apples."});
    let run = play(&home, json!([observed]), &["--resume"]).exits(0);
    assert_eq!(run.stdout, "Apples.\n");
    assert!(
        run.stderr.contains("done: 1 turn, 0 calls"),
        "{}",
        run.stderr
    );
    let run = play(&home, json!([{"say": "x"}]), &["--resume"]).exits(1);
    assert!(run.stderr.contains("say what to do next"), "{}", run.stderr);
    let run = play(
        &home,
        json!([{"say": "Red ones."}]),
        &["--resume", "last", "which?"],
    )
    .exits(0);
    assert_eq!(run.stdout, "Red ones.\n");
    let sessions = home.run(&["log", "sessions", "--json"]).json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
    assert_replays(&home);
}

#[test]
fn only_runs_go_on() {
    let home = home();
    let run = play(&home, json!([{"say": "x"}]), &["--resume"]).exits(1);
    assert!(
        run.stderr.contains("there is no run to go on with"),
        "{}",
        run.stderr
    );
    home.run(&["call", "files__list_dir"]).exits(0);
    let session = events(&home, &[])[0]["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let run = play(&home, json!([{"say": "x"}]), &["--resume", &session]).exits(1);
    assert!(
        run.stderr.contains("was not begun by `ambit run`"),
        "{}",
        run.stderr
    );
}

#[test]
fn budgets_are_read_as_they_are_written() {
    for (budget, code) in [
        ("200k", 0),
        ("$0.50", 0),
        ("1", 1),
        ("much", 2),
        ("$", 2),
        ("0", 2),
    ] {
        let home = home();
        home.write("a.txt", "apples");
        let turns = json!([look(), {"say": "Apples."}]);
        let run = play(&home, turns, &["--budget", budget, "look"]);
        assert_eq!(run.code, code, "{budget}: {run:?}");
    }
}

#[test]
fn a_script_that_does_not_fit_says_where() {
    let home = home();
    let expects = json!([{"expect": {"tools": ["files__fly"]}, "say": "x"}]);
    let run = play(&home, expects, &["look"]).exits(1);
    assert!(
        run.stderr
            .contains("turn 1 of the script expected the tool `files__fly`"),
        "{}",
        run.stderr
    );
    home.write("script.json", "{\"turns\": [}");
    let run = home
        .run(&["run", "--script", "script.json", "look"])
        .exits(2);
    assert!(run.stderr.contains("script.json"), "{}", run.stderr);
    assert!(results(&home).is_empty());
}

#[test]
fn a_file_is_handed_over_by_saying_where_it_is() {
    let home = home();
    home.write(
        "ambit.json",
        r#"{"agents": {"a": {"capabilities": ["media"]}}}"#,
    );
    home.write("report.md", "# all is well");
    let send = json!({"tool": "media__send_file", "input": {"path": "report.md", "caption": "this week's"}});
    let turns =
        json!([{"expect": {"tools": ["media__send_file"]}, "calls": [send]}, {"say": "Sent."}]);
    let run = play(
        &home,
        turns,
        &["--trust-project", "--yes", "send the report"],
    )
    .exits(0);
    let path = home.work().canonicalize().unwrap().join("report.md");
    let line = format!("file {}: this week's", path.display());
    assert!(run.stderr.contains(&line), "{}", run.stderr);
}
