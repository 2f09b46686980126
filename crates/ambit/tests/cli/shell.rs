//! `shell` through the binary: which commands run, and for how long.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{call, configured, ended, home, reason, text};

#[test]
fn only_allowed_commands_run_and_no_shell_reads_them() {
    let home = configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {
        "shell": {"allow": ["echo", "git status", "printenv"]},
    }}}}));
    let run = |command: Value| {
        call(
            &home,
            "shell__run_command",
            json!({"command": command}),
            &[],
        )
    };
    let plain = run(json!(["echo", "$HOME", "*", "&&", "touch", "x"]));
    assert_eq!(ended(&plain), "completed");
    assert!(text(&plain).contains("$HOME * && touch x\n"), "{plain:?}");
    assert_eq!(plain.json()["structuredContent"]["exitCode"], 0);
    let failing = run(json!(["printenv", "NOPE"]));
    assert_eq!(ended(&failing), "completed", "an exit code is a result");
    assert_eq!(failing.json()["structuredContent"]["exitCode"], 1);
    for refused in [
        json!(["touch", "x"]),
        json!(["git", "push"]),
        json!(["git"]),
        json!(["./echo", "x"]),
        json!(["/bin/echo", "x"]),
        json!(["sh", "-c", "touch x"]),
        json!("echo x"),
        json!(["echo", "a\0b"]),
    ] {
        assert_eq!(ended(&run(refused.clone())), "failed refused", "{refused}");
    }
    assert!(reason(&run(json!(["touch"]))).contains("`echo`, `git status`, `printenv`"));
    for invalid in [json!([]), json!(""), json!([1]), json!(null)] {
        assert_eq!(
            ended(&run(invalid.clone())),
            "denied input_invalid",
            "{invalid}"
        );
    }
    assert!(!home.work().join("x").exists());
}

#[test]
fn a_command_gets_its_own_environment_only() {
    let mut home = configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {
        "shell": {"allow": ["env"], "env": {"GIVEN": "yes"}},
    }}}}));
    home.set("API_KEY", "of the host");
    let run = call(
        &home,
        "shell__run_command",
        json!({"command": ["env"]}),
        &[],
    );
    let text = text(&run);
    assert!(
        text.contains("GIVEN=yes") && text.contains("PATH="),
        "{text}"
    );
    assert!(!text.contains("API_KEY"), "{text}");
}

#[test]
fn a_shell_string_is_granted_separately() {
    let home = configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {
        "shell": {"shellString": true},
    }}}}));
    let input = json!({"command": "echo a | tr a b > out; cat out"});
    let run = call(&home, "shell__run_command", input, &[]);
    assert!(text(&run).contains("b\n"), "{run:?}");
}

#[test]
fn the_deadline_ends_the_whole_group() {
    let home = configured(json!({
        "mode": "auto",
        "limits": {"callSeconds": 1},
        "agents": {"a": {"capabilities": {"shell": {"shellString": true}}}},
    }));
    // A length nobody else sleeps for, so that it can be looked for.
    let length = format!("600.{}", std::process::id());
    let command = format!("sleep {length} & sleep {length}; touch late");
    let run = call(
        &home,
        "shell__run_command",
        json!({"command": command}),
        &[],
    );
    assert_eq!(ended(&run), "failed deadline_exceeded");
    assert!(reason(&run).contains("1s"), "{run:?}");
    assert!(!home.work().join("late").exists());
    assert_eq!(running(&length), [""; 0]);
    home.run(&["log", "verify"]).exits(0);
}

#[test]
fn whoever_stops_the_call_stops_the_command() {
    let home = configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {
        "shell": {"shellString": true},
    }}}}));
    let begun = home.work().join("begun");
    assert!(
        Command::new("mkfifo")
            .arg(&begun)
            .status()
            .unwrap()
            .success()
    );
    for (n, signal) in [Signal::INT, Signal::TERM, Signal::HUP]
        .into_iter()
        .enumerate()
    {
        let length = format!("70{n}.{}", std::process::id());
        let command = format!("echo x > begun; sleep {length} & sleep {length}");
        let input = json!({"command": command}).to_string();
        let child = home
            .command(&["call", "shell__run_command", "--input", &input, "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Returns when the command has begun.
        std::fs::read(&begun).unwrap();
        let process = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        kill_process(process, signal).unwrap();
        let output = child.wait_with_output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["code"], "cancelled", "{signal:?}");
        assert_eq!(output.status.code(), Some(1), "{signal:?}");
        assert_eq!(running(&length), [""; 0], "{signal:?}");
    }
    let report = home.run(&["log", "verify", "--json"]).exits(0).json();
    assert_eq!(report["unfinished"], json!([]));
}

/// Processes with this among their arguments.
fn running(argument: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes
        .filter_map(|it| std::fs::read_to_string(it.ok()?.path().join("cmdline")).ok())
        .filter(|line| line.split('\0').any(|it| it == argument))
        .collect()
}

#[test]
fn without_a_grant_it_is_not_there() {
    let home = home();
    let run = call(
        &home,
        "shell__run_command",
        json!({"command": ["ls"]}),
        &["--yes"],
    );
    assert_eq!(ended(&run), "denied not_visible");
    let missing = call(&home, "shell__run_commands", json!({}), &["--yes"]);
    // What is hidden and what does not exist look alike to the caller.
    let same = |reason: String| reason.replace("run_commands", "run_command");
    assert_eq!(same(reason(&missing)), same(reason(&run)));
}
