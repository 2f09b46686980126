//! Triggers start runs while `ambit serve` is there, with nobody to ask.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{assert_replays, events, home};

#[test]
fn what_is_due_runs_in_the_background() {
    let home = home();
    home.write("a.txt", "apples");
    let turns = json!([
        {"expect": {"tools": ["notify_user"]}, "calls": [
            {"tool": "files__read_file", "input": {"path": "a.txt"}},
            {"tool": "files__write_file", "input": {"path": "b.txt", "content": "pears"}},
        ]},
        {"expect": {"observed": ["apples", "approval_pending"]}, "say": "There are apples."},
    ]);
    let script = home.write("script.json", json!({"turns": turns}).to_string());
    home.user_config(
        &json!({
            "models": {"main": {"provider": "scripted", "script": script}},
            "agents": {"a": {"capabilities": {"triggers": {}, "files": {}}}},
        })
        .to_string(),
    );
    let call = |id: &str, input: Value| {
        let input = input.to_string();
        let call = ["call", id, "--input", &input, "--json", "--yes"];
        home.run(&call).exits(0).json()["structuredContent"].clone()
    };
    let daily = json!({"cron": "0 9 * * *", "prompt": "Look what is in a.txt."});
    let made = call("triggers__create_trigger", daily);
    call("triggers__run_trigger_now", json!({"trigger": made["id"]}));
    let mut serve = home
        .command(&["serve", "--listen", "127.0.0.1:0", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut welcome = String::new();
    let mut stdout = BufReader::new(serve.stdout.take().unwrap());
    stdout.read_line(&mut welcome).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let run = loop {
        let runs = home.run(&["triggers", "history", "--json"]).exits(0).json();
        let run = runs["runs"][0].clone();
        if run["ended"].is_string() || Instant::now() > until {
            break run;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    kill_process(Pid::from_child(&serve), Signal::INT).unwrap();
    assert_eq!(serve.wait().unwrap().code(), Some(0));
    assert!(run.to_string().contains("There are apples."), "{run}");
    assert!(!home.work().join("b.txt").exists());
    let said = events(&home, &["--type", "message.user"]);
    let said = said[0]["text"].as_str().unwrap();
    assert!(
        said.starts_with("Look what is in a.txt.\n\n[Started by your trigger"),
        "{said}"
    );
    assert_replays(&home);
}
