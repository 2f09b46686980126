//! The record: verified, damaged, of another version, and cut short by `kill -9`.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use ambit_testkit::Home;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{call, configured, ended, events, home};

/// Three calls on record.
fn recorded() -> Home {
    let home = configured(json!({"mode": "auto"}));
    for name in ["a", "b", "c"] {
        let input = json!({"path": name, "content": name});
        assert_eq!(
            ended(&call(&home, "files__write_file", input, &[])),
            "completed"
        );
    }
    home
}

fn journal(home: &Home) -> Connection {
    Connection::open(home.state().join("journal.db")).unwrap()
}

#[test]
fn a_whole_journal_verifies() {
    let home = recorded();
    let report = home.run(&["log", "verify", "--json"]).exits(0).json();
    assert_eq!(report["ok"], true);
    assert_eq!(report["sessions"], 3);
    assert_eq!(report["events"], events(&home, &[]).len());
    assert_eq!(report["unfinished"], json!([]));
    let said = home.run(&["log", "verify"]).exits(0).stdout;
    assert!(said.contains("every chain whole"), "{said}");
    assert_eq!(home.run(&["doctor", "--json"]).exits(0).json()["ok"], true);
}

#[test]
fn damage_is_named() {
    for (tampering, seq) in [
        (
            "UPDATE events SET body = replace(body, '\"b\"', '\"x\"') WHERE seq = 12",
            Some(12),
        ),
        ("UPDATE events SET at = at + 1 WHERE seq = 5", Some(5)),
        (
            "UPDATE events SET type = 'tool.started' WHERE seq = 4",
            Some(4),
        ),
        ("DELETE FROM events WHERE seq = 7", Some(7)),
        ("DELETE FROM events WHERE seq > 20", None),
        (
            "UPDATE events SET hash = zeroblob(32) WHERE seq = 9",
            Some(9),
        ),
        ("UPDATE objects SET json = '{}'", None),
    ] {
        let home = recorded();
        assert_ne!(
            journal(&home).execute(tampering, []).unwrap(),
            0,
            "{tampering}"
        );
        let report = home.run(&["log", "verify", "--json"]).exits(1).json();
        assert_eq!(report["ok"], false, "{tampering}");
        if let Some(seq) = seq {
            assert_eq!(report["damage"]["seq"], seq, "{tampering}: {report}");
            let said = home.run(&["log", "verify"]).exits(1).stdout;
            assert!(
                said.contains(&format!("event {seq}")),
                "{tampering}: {said}"
            );
        }
        let doctor = home.run(&["doctor", "--json"]).exits(1).json();
        assert_eq!(doctor["ok"], false, "{tampering}");
    }
}

#[test]
fn a_journal_of_a_newer_version_is_left_alone() {
    let home = recorded();
    let path = home.state().join("journal.db");
    let connection = journal(&home);
    connection.pragma_update(None, "user_version", 99).unwrap();
    connection
        .pragma_update(None, "journal_mode", "delete")
        .unwrap();
    drop(connection);
    let before = std::fs::read(&path).unwrap();
    let write = json!({"path": "d", "content": ""}).to_string();
    for arguments in [
        &["call", "files__write_file", "--input", &write, "--json"][..],
        &["log", "--json"],
        &["log", "verify", "--json"],
        &["replay", "last", "--json"],
    ] {
        let error = home.run(arguments).exits(2).json()["error"].clone();
        assert_eq!(error["code"], "journal");
        assert!(
            error["message"].as_str().unwrap().contains("has format 99"),
            "{error}"
        );
        assert!(
            error["hints"][0].as_str().unwrap().contains("version"),
            "{error}"
        );
    }
    home.run(&["doctor"]).exits(1);
    home.run(&["ls"]).exits(0);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(!home.work().join("d").exists());
}

#[test]
fn what_is_no_journal_is_not_overwritten() {
    let home = home();
    std::fs::create_dir_all(home.state()).unwrap();
    let path = home.state().join("journal.db");
    let text = "a diary, not a database\n".repeat(100);
    std::fs::write(&path, &text).unwrap();
    let run = call(&home, "files__list_dir", json!({}), &[]).exits(2);
    assert_eq!(run.json()["error"]["code"], "journal");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(
        call(&home, "files__list_dir", json!({}), &[])
            .exits(2)
            .json()["error"]["code"],
        "journal"
    );
}

#[test]
fn many_processes_write_one_journal() {
    let home = configured(json!({"mode": "auto"}));
    std::thread::scope(|scope| {
        for n in 0..8 {
            let home = &home;
            scope.spawn(move || {
                let input = json!({"path": format!("{n}.txt"), "content": ""});
                assert_eq!(
                    ended(&call(home, "files__write_file", input, &[])),
                    "completed"
                );
            });
        }
    });
    let report = home.run(&["log", "verify", "--json"]).exits(0).json();
    assert_eq!(
        (&report["sessions"], &report["unfinished"]),
        (&json!(8), &json!([]))
    );
    assert_eq!(events(&home, &["--type", "tool.started"]).len(), 8);
}

#[test]
fn a_killed_process_leaves_the_start_on_record() {
    let home = configured(json!({"mode": "auto", "agents": {"a": {"capabilities": {
        "shell": {"shellString": true},
    }}}}));
    // Pipes instead of time: one says that the command runs, the other never lets it go on. It ends
    // with whoever started it.
    let pipes = ["begun", "gate"].map(|it| home.work().join(it));
    assert!(
        Command::new("mkfifo")
            .args(&pipes)
            .status()
            .unwrap()
            .success()
    );
    let input = json!({"command": "echo x > begun; read line < gate; exec sleep 0"}).to_string();
    let mut child = home
        .command(&["call", "shell__run_command", "--input", &input])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut begun = String::new();
    File::open(&pipes[0])
        .unwrap()
        .read_to_string(&mut begun)
        .unwrap();
    assert_eq!(begun, "x\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let report = home.run(&["log", "verify", "--json"]).exits(0).json();
    assert_eq!(report["ok"], true);
    let started: Vec<Value> = events(&home, &["--type", "tool.started"]);
    assert_eq!(started.len(), 1);
    assert_eq!(
        report["unfinished"],
        json!([{"seq": started[0]["seq"], "session": started[0]["session"], "call": started[0]["call"]}])
    );
    let said = home.run(&["log", "verify"]).exits(0).stdout;
    assert!(
        said.contains(started[0]["call"].as_str().unwrap()),
        "{said}"
    );
    assert!(events(&home, &["--type", "tool.observation"]).is_empty());
    home.run(&["replay", "last"]).exits(0);
    let next = call(&home, "shell__run_command", json!({"command": "true"}), &[]);
    assert_eq!(ended(&next), "completed");
}
