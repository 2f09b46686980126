//! Triggers that really start agents: `triggers run` with a model that plays a script.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::support::{call, configured, ended, home as home_without_config};

/// What takes longer does not come.
const COMES: Duration = Duration::from_secs(60);

fn home(script: Value) -> Home {
    let home = home_without_config();
    let script = home.write("script.json", script.to_string());
    home.user_config(
        &json!({
            "mode": "auto",
            "models": {"main": {"provider": "scripted", "script": script}},
            "agents": {"a": {"capabilities": {
                "triggers": {},
                "shell": {"shellString": true},
            }}},
        })
        .to_string(),
    );
    home
}

/// A process on duty, or waiting to be.
struct Duty(Child);

impl Duty {
    fn begin(home: &Home, lines: &Sender<Value>) -> Self {
        let mut child = home
            .command(&["triggers", "run", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let lines = lines.clone();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = lines.send(serde_json::from_str(&line).unwrap());
            }
        });
        Duty(child)
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn done(home: &Home, tool: &str, input: Value) -> Value {
    let run = call(home, &format!("triggers__{tool}"), input, &[]);
    assert_eq!(ended(&run), "completed", "{run:?}");
    run.json()["structuredContent"].clone()
}

fn next(lines: &Receiver<Value>) -> Value {
    lines.recv_timeout(COMES).expect("a run ends")
}

fn states(home: &Home) -> Vec<String> {
    let history = home.run(&["triggers", "history", "--json"]).exits(0).json();
    let runs = history["runs"].as_array().unwrap().iter();
    runs.map(|it| it["state"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_run_works_tells_the_user_and_is_started_once_whoever_is_there() {
    let home = home(json!({"turns": [
        {"calls": [{"tool": "notify_user", "input": {"message": "the disk is full", "urgency": "high"}}]},
        {"say": "I have told them."},
    ]}));
    let trigger = done(
        &home,
        "create_trigger",
        json!({"every": "24h", "prompt": "Look at the disk."}),
    );
    let (send, lines) = channel();
    let _both = [Duty::begin(&home, &send), Duty::begin(&home, &send)];
    for _ in 0..2 {
        done(&home, "run_trigger_now", json!({"trigger": trigger["id"]}));
        let run = next(&lines);
        assert_eq!(
            (&run["state"], &run["agent"]),
            (&json!("done"), &json!("a")),
            "{run}"
        );
        assert!(
            run["said"]
                .as_str()
                .unwrap()
                .starts_with("I have told them."),
            "{run}"
        );
    }
    assert!(lines.try_recv().is_err());
    assert_eq!(states(&home), ["done", "done"]);
    let listed = home.run(&["triggers", "--json"]).exits(0).json();
    assert_eq!(listed["onDuty"], true);
    let notices = home.run(&["notices", "--json"]).exits(0).json();
    let notices = notices["notices"].as_array().unwrap();
    assert_eq!(notices.len(), 2);
    assert_eq!(notices[0]["message"], "the disk is full");
    home.run(&["log", "verify"]).exits(0);
}

#[test]
fn a_run_that_was_killed_is_reported_and_not_started_again() {
    let home = home(json!({"turns": [
        {"calls": [{"tool": "shell__run_command", "input": {"command": "echo x > begun; sleep 600"}}]},
        {"say": "never"},
    ]}));
    let begun = home.work().join("begun");
    let made = Command::new("mkfifo").arg(&begun).status().unwrap();
    assert!(made.success());
    let trigger = done(
        &home,
        "create_trigger",
        json!({"every": "24h", "prompt": "x"}),
    );
    done(&home, "run_trigger_now", json!({"trigger": trigger["id"]}));
    let (send, lines) = channel();
    let duty = Duty::begin(&home, &send);
    // Returns when the run has begun its work; one that ends instead says why.
    let (began, has_begun) = channel();
    std::thread::spawn(move || began.send(std::fs::read(&begun).is_ok()));
    let begun = has_begun.recv_timeout(COMES);
    assert_eq!(begun, Ok(true), "{:?}", lines.try_recv());
    assert_eq!(states(&home), ["running"]);
    drop(duty);
    let _next = Duty::begin(&home, &send);
    let until = Instant::now() + COMES;
    while states(&home) != ["interrupted"] {
        assert!(Instant::now() < until, "{:?}", states(&home));
    }
    assert!(lines.try_recv().is_err());
    let listed = home.run(&["triggers", "--json"]).exits(0).json();
    assert_eq!(listed["triggers"][0]["lastRun"]["state"], "interrupted");
}

#[test]
fn without_a_model_it_says_what_is_missing() {
    let home = configured(json!({"agents": {"a": {"capabilities": {"triggers": {}}}}}));
    let run = home.run(&["triggers", "run", "--json"]).exits(2);
    assert_eq!(run.json()["error"]["code"], "no_model");
}
