//! Ctrl-C: what was started ends, and the session goes on.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use ambit_testkit::Home;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{assert_replays, home, play};

fn shell_home() -> Home {
    let home = home();
    home.user_config(
        &json!({"mode": "auto", "agents": {"a": {"capabilities": {
            "shell": {"allow": ["sh"]}, "files": {},
        }}}})
        .to_string(),
    );
    home
}

#[test]
fn what_runs_is_ended_and_the_model_is_told() {
    let home = shell_home();
    let alive = home.work().join("alive");
    assert!(
        Command::new("mkfifo")
            .arg(&alive)
            .status()
            .unwrap()
            .success()
    );
    // Each holds the pipe open for as long as it lives.
    let script =
        "exec 3>alive; (echo child >&3; exec sleep 1000) & echo parent >&3; exec sleep 1000";
    let call = json!({"tool": "shell__run_command", "input": {"command": ["sh", "-c", script]}});
    home.write(
        "script.json",
        json!({"turns": [{"calls": [call]}]}).to_string(),
    );
    let mut ambit = home
        .command(&["run", "--script", "script.json", "wait for it"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(File::open(&alive).unwrap()).lines();
    assert_eq!(lines.by_ref().take(2).count(), 2);
    kill_process(Pid::from_child(&ambit), Signal::INT).unwrap();
    assert_eq!(ambit.wait().unwrap().code(), Some(1));
    // Ends when the last of them does.
    assert_eq!(lines.count(), 0);
    let told = json!({"expect": {"observed": ["outcome unknown"]}, "say": "I look first."});
    let run = play(&home, json!([told]), &["--resume"]).exits(0);
    assert_eq!(run.stdout, "I look first.\n");
    assert_replays(&home);
}

/// Stopped after so many lines on its screen.
#[test]
fn at_any_moment_it_can_go_on() {
    let call =
        json!({"tool": "shell__run_command", "input": {"command": ["sh", "-c", "sleep 0.05"]}});
    let look = json!({"tool": "files__list_dir", "input": {}});
    let turns = json!([
        {"say": "I begin.", "calls": [look, look]},
        {"calls": [call, look]},
        {"calls": [call]},
        {"say": "All done."},
    ]);
    for moment in 1..=10 {
        let home = shell_home();
        home.write("script.json", json!({"turns": turns}).to_string());
        let mut ambit = home
            .command(&["run", "--script", "script.json", "do it"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut screen = BufReader::new(ambit.stderr.take().unwrap()).lines();
        screen.by_ref().take(moment).for_each(drop);
        let _ = kill_process(Pid::from_child(&ambit), Signal::INT);
        screen.for_each(drop);
        let code = ambit.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 1)), "{moment}: {code:?}");
        if code == Some(1) {
            let run = play(&home, json!([{"say": "Then that."}]), &["--resume"]).exits(0);
            assert_eq!(run.stdout, "Then that.\n", "{moment}");
        }
        assert_replays(&home);
    }
}
