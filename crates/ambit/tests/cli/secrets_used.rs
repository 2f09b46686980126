//! Secrets an agent uses and never sees: a value is looked for everywhere it could have gone.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::Command;

use serde_json::json;

use crate::client::Client;
use crate::support::{call, configured, ended, holding, reason, text};

const CANARY: &str = "canary-used-9c41e2";

/// The processes in which a value can be read, by the file of theirs that holds it.
fn processes_with(file: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.bytes().all(|it| it.is_ascii_digit()) {
            continue;
        }
        // It may be gone by now, or not ours to read.
        let bytes = fs::read(entry.path().join(file)).unwrap_or_default();
        if bytes
            .windows(CANARY.len())
            .any(|it| it == CANARY.as_bytes())
        {
            found.push(name);
        }
    }
    found
}

#[test]
fn a_used_secret_is_found_nowhere_but_in_the_child_it_was_given_to() {
    let home = configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {
        "shell": {"allow": ["sh"]},
        "secrets": {"bind": {"TOKEN": {"for": ["local__shell__run_command"]}}},
    }}}}));
    home.run_with(&["secrets", "set", "TOKEN"], CANARY).exits(0);
    for pipe in ["alive", "go"] {
        let made = Command::new("mkfifo").arg(home.work().join(pipe)).status();
        assert!(made.unwrap().success());
    }
    let mut client = Client::connect(&home, &["--style", "full"]);
    let placeholder = client.call("secrets__use_secret", json!({"name": "TOKEN"}));
    let placeholder = placeholder.strip_prefix("ok ").unwrap();

    let script = "exec 3>alive; sleep 1000 & echo $$ >&3; read go <go; kill $!; echo got $TOKEN; printf %s \"$TOKEN\" | wc -c";
    client.send(
        "tools/call",
        json!({"name": "shell__run_command", "arguments": {
            "command": ["sh", "-c", script],
            "env": {"TOKEN": placeholder},
        }}),
    );
    let mut alive = BufReader::new(File::open(home.work().join("alive")).unwrap());
    let mut child = String::new();
    alive.read_line(&mut child).unwrap();
    assert_eq!(processes_with("cmdline"), [""; 0]);
    let holders = processes_with("environ");
    assert!(holders.contains(&child.trim().to_owned()), "{holders:?}");
    for holder in &holders {
        let status = fs::read_to_string(format!("/proc/{holder}/stat")).unwrap();
        let group = status.rsplit(')').next().unwrap().split_whitespace().nth(2);
        // The granted child and what that started, and nothing else.
        assert_eq!(group, Some(child.trim()), "{status}");
    }
    writeln!(File::create(home.work().join("go")).unwrap(), "on").unwrap();
    let answer = client.next_message().to_string();
    assert!(
        answer.contains("got [redacted]") && answer.contains("18"),
        "{answer}"
    );
    assert!(!answer.contains(CANARY));

    // A tool that is not declared for it gets the placeholder, and says it.
    let echoed = client.call(
        "shell__run_command",
        json!({"command": ["sh", "-c", format!("echo {placeholder}")]}),
    );
    assert!(echoed.contains(placeholder), "{echoed}");
    assert_eq!(client.end(), 0);
    let everywhere = home.home().parent().unwrap().to_owned();
    fs::remove_file(home.work().join("alive")).unwrap();
    fs::remove_file(home.work().join("go")).unwrap();
    assert_eq!(holding(&everywhere, CANARY.as_bytes()), [""; 0]);
}

#[test]
fn a_person_sees_what_is_asked_for_until_it_is_set() {
    let home = configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {
        "secrets": {"bind": {"TOKEN": {"for": ["local__shell__run_command"]}}},
    }}}}));
    let requests =
        || home.run(&["secrets", "requests", "--json"]).exits(0).json()["requests"].clone();
    assert_eq!(requests(), json!([]));
    let asked = json!({"name": "TOKEN", "reason": "to post the report"});
    let run = call(&home, "secrets__request_secret", &asked, &[]);
    assert!(text(&run).contains("ambit secrets set TOKEN"), "{run:?}");
    let listed = requests();
    assert_eq!(listed[0]["name"], "TOKEN");
    assert_eq!(listed[0]["reason"], "to post the report");
    home.run_with(&["secrets", "set", "TOKEN"], CANARY).exits(0);
    assert_eq!(requests(), json!([]));
}

#[test]
fn a_missing_key_is_said_with_what_to_do() {
    let home = configured(json!({"agents": {"a": {"capabilities": {
        "secrets": {"bind": {"TOKEN": {"for": ["local__shell__run_command"]}}},
    }}}}));
    home.run_with(&["secrets", "set", "TOKEN"], CANARY).exits(0);
    fs::remove_file(home.data().join("secrets.key")).unwrap();
    let run = call(&home, "secrets__use_secret", json!({"name": "TOKEN"}), &[]);
    assert_eq!(ended(&run), "failed provider_failed");
    assert!(
        reason(&run).contains("bring the key back from a backup"),
        "{run:?}"
    );
}
