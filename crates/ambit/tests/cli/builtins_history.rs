//! `history` through the binary: what earlier processes did, and what was imported.

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::support::{at_once, call, configured, ended, holding, text};

fn home() -> Home {
    let both = json!({"capabilities": ["files", "history"]});
    configured(json!({"mode": "auto", "agents": {"a": both, "b": both}}))
}

fn search(home: &Home, query: &str, agent: &str) -> Value {
    let input = json!({"query": query});
    let run = call(home, "history__search_threads", input, &["--agent", agent]);
    assert_eq!(ended(&run), "completed", "{run:?}");
    run.json()
}

#[test]
fn what_one_process_did_a_later_one_finds() {
    let home = home();
    home.write("plan.txt", "the narwhal release is due\n");
    let read = json!({"path": "plan.txt"});
    let run = call(&home, "files__read_file", read, &["--agent", "a"]);
    let session = run.json()["session"].clone();
    let found = search(&home, "narwhals", "a");
    let thread = &found["structuredContent"]["threads"][0];
    assert_eq!(thread["thread"], session, "{found}");
    assert_eq!(thread["messages"][0]["role"], "call");
    assert_eq!(found["untrusted"], false);
    assert_eq!(
        search(&home, "narwhals", "b")["structuredContent"]["threads"],
        json!([])
    );
    let input = json!({"thread": session});
    let run = call(&home, "history__read_thread", &input, &["--agent", "a"]);
    assert!(text(&run).contains("narwhal release"), "{run:?}");
    let run = call(&home, "history__read_thread", &input, &["--agent", "b"]);
    assert_eq!(ended(&run), "failed refused");
}

#[test]
fn processes_that_search_at_once_agree() {
    let home = home();
    home.write("plan.txt", "the narwhal release is due\n");
    for _ in 0..4 {
        call(
            &home,
            "files__read_file",
            json!({"path": "plan.txt"}),
            &["--agent", "a"],
        );
    }
    let query = json!({"query": "narwhal", "limit": 20});
    let searches = (0..6).map(|_| ("history__search_threads", query.clone(), "a"));
    for run in at_once(&home, searches) {
        assert_eq!(ended(&run), "completed", "{run:?}");
        let found = run.json();
        let threads = found["structuredContent"]["threads"]
            .as_array()
            .unwrap()
            .clone();
        assert_eq!(threads.len(), 4, "{found}");
    }
}

#[test]
fn transcripts_are_imported_once_and_without_secrets() {
    let home = home();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let lines = [
        json!({"type": "summary", "summary": "x"}).to_string(),
        json!({"type": "user", "sessionId": "s", "message": {"role": "user", "content": format!("narwhal {token}")}}).to_string(),
        "broken".to_owned(),
    ];
    home.write("one.jsonl", lines.join("\n"));
    home.write("none.txt", "no transcript");
    let import = |files: &[&str]| {
        home.run(&[&["history", "import", "--agent", "a", "--json"], files].concat())
    };
    let run = import(&["one.jsonl", "none.txt", "missing.jsonl"])
        .exits(1)
        .json();
    assert_eq!(run["imported"][0]["status"], "new", "{run}");
    assert_eq!(run["imported"][0]["messages"], 1);
    assert_eq!(run["imported"][0]["skipped"][0]["line"], 3);
    assert_eq!(run["failed"].as_array().unwrap().len(), 2);
    let again = import(&["one.jsonl"]).exits(0).json();
    assert_eq!(again["imported"][0]["status"], "known");
    let found = search(&home, "narwhal", "a");
    assert_eq!(found["untrusted"], true, "{found}");
    let thread = found["structuredContent"]["threads"][0]["thread"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(run["imported"][0]["thread"], thread.as_str());
    assert_eq!(
        holding(&home.home(), token.as_bytes()),
        Vec::<String>::new()
    );
    let listed = home.run(&["history", "ls", "--json"]).exits(0).json();
    assert_eq!(listed["transcripts"][0]["thread"], thread.as_str());
    home.run(&["history", "rm", &thread]).exits(0);
    home.run(&["history", "rm", &thread]).exits(1);
    assert_eq!(
        search(&home, "narwhal", "a")["structuredContent"]["threads"],
        json!([])
    );
    home.run(&["history", "import", "one.jsonl"]).exits(2);
}
