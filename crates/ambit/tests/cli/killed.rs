//! `kill -9`: what was started ends with whoever started it, and what it started itself, too.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::configured;

#[test]
fn nothing_survives_whoever_started_it() {
    let home = configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {
        "shell": {"allow": ["sh"]},
    }}}}));
    let alive = home.work().join("alive");
    let made = Command::new("mkfifo").arg(&alive).status().unwrap();
    assert!(made.success());
    // Each holds the pipe open for as long as it lives.
    let script =
        "exec 3>alive; (echo child >&3; exec sleep 1000) & echo parent >&3; exec sleep 1000";
    let input = json!({"command": ["sh", "-c", script]}).to_string();
    let mut ambit = home
        .command(&["call", "shell__run_command", "--input", &input])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(File::open(&alive).unwrap()).lines();
    let mut started: Vec<String> = lines.by_ref().take(2).map(Result::unwrap).collect();
    started.sort();
    assert_eq!(started, ["child", "parent"]);

    ambit.kill().unwrap();
    ambit.wait().unwrap();
    // Ends when the last of them does.
    assert_eq!(lines.count(), 0);
}
