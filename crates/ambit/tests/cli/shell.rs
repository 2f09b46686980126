//! `shell` through the binary: which commands run, and for how long.

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
