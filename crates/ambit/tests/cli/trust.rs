//! A project's file is somebody else's code until a person accepts it.

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::support::{call, configured, ended, home, reason};

/// A project that asks for everything: writing, running, hooks, variables and secrets.
fn greedy(home: &Home) {
    let file = json!({
        "mode": "auto",
        "agents": {"a": {
            "mode": "auto",
            "capabilities": {
                "files": {"dirs": ["/", "."]},
                "shell": {"allow": ["touch"], "env": {"X": "${UNSET}${secret:unset}"}},
            },
        }},
        "hooks": [{"name": "spy", "when": "before", "command": ["touch", "hooked"]}],
        "permissions": {"allow": ["writes", "destructive"]},
    });
    home.write("ambit.json", file.to_string());
}

/// How each of an agent's possible calls ends, in one line.
fn powers(home: &Home, more: &[&str]) -> Vec<String> {
    let calls = [
        ("files__read_file", json!({"path": "a.txt"})),
        ("files__read_file", json!({"path": "/etc/passwd"})),
        ("files__write_file", json!({"path": "b.txt", "content": ""})),
        ("shell__run_command", json!({"command": ["touch", "c.txt"]})),
    ];
    calls
        .into_iter()
        .map(|(id, input)| ended(&call(home, id, input, more)))
        .collect()
}

const READING: [&str; 4] = [
    "completed",
    "failed refused",
    "denied not_visible",
    "denied not_visible",
];
const EVERYTHING: [&str; 4] = ["completed", "failed refused", "completed", "completed"];

#[test]
fn an_unknown_project_grants_reading_and_starts_nothing() {
    let home = home();
    home.write("a.txt", "");
    greedy(&home);
    assert_eq!(powers(&home, &["--yes", "--mode", "auto"]), READING);
    for made in ["b.txt", "c.txt", "hooked"] {
        assert!(!home.work().join(made).exists(), "{made}");
    }
    let run = home.run(&["ls"]).exits(0);
    assert!(run.stderr.contains("is not trusted"), "{}", run.stderr);
    assert!(run.stderr.contains("1 hook"), "{}", run.stderr);
    let said = run.stderr;
    assert!(said.contains("run `ambit trust`"), "{said}");
    // Accepting what cannot be filled in is refused, and nothing is accepted.
    home.run(&["trust"]).exits(2);
    assert_eq!(
        home.run(&["trust", "ls", "--json"]).json()["projects"],
        json!([])
    );
}

fn modest(home: &Home) {
    let file = json!({"mode": "auto", "agents": {"a": {"capabilities": {
        "files": {},
        "shell": {"allow": ["touch"]},
    }}}});
    home.write("ambit.json", file.to_string());
}

#[test]
fn trust_holds_until_the_file_changes() {
    let home = home();
    home.write("a.txt", "");
    modest(&home);
    assert_eq!(powers(&home, &[]), READING);
    let list = || home.run(&["trust", "ls", "--json"]).exits(0).json();
    assert_eq!(list()["waiting"][0]["was"], "unknown");
    let accepted = home.run(&["trust", "--json"]).exits(0).json();
    assert_eq!(accepted["was"], "unknown");
    assert_eq!(powers(&home, &[]), EVERYTHING);
    let listed = list();
    assert_eq!(listed["projects"][0]["digest"], accepted["digest"]);
    assert_eq!(listed["waiting"], json!([]));
    assert_eq!(home.run(&["trust", "--json"]).json()["was"], "trusted");

    let path = home.work().join("ambit.json");
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{before} ")).unwrap();
    assert_eq!(powers(&home, &[]), READING);
    assert_eq!(list()["waiting"][0]["was"], "changed");
    assert_eq!(powers(&home, &["--trust-project"]), EVERYTHING);
    assert_eq!(powers(&home, &[]), READING, "for one run only");
    std::fs::write(&path, before).unwrap();
    assert_eq!(
        powers(&home, &[]),
        EVERYTHING,
        "what was accepted stays accepted"
    );

    home.run(&["trust", "revoke"]).exits(0);
    assert_eq!(powers(&home, &[]), READING);
    let again = home.run(&["trust", "revoke", "--json"]).exits(1).json();
    assert_eq!(again["revoked"], false);
}

#[test]
fn trust_is_for_a_place_and_not_for_a_text() {
    let home = home();
    modest(&home);
    home.run(&["trust"]).exits(0);
    let file = std::fs::read(home.work().join("ambit.json")).unwrap();
    home.write("inner/ambit.json", file);
    home.write("inner/a.txt", "");
    let output = home
        .command(&[
            "call",
            "files__write_file",
            "--input",
            r#"{"path":"b","content":""}"#,
        ])
        .current_dir(home.work().join("inner"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!home.work().join("inner/b").exists());
}

#[test]
fn an_unknown_project_can_narrow_but_not_widen() {
    let home = configured(json!({
        "mode": "auto",
        "agents": {"mine": {"capabilities": ["files"]}},
    }));
    let write = |agent| {
        call(
            &home,
            "files__write_file",
            json!({"path": "b", "content": ""}),
            &["--agent", agent],
        )
    };
    home.write(
        "ambit.json",
        json!({"agents": {"theirs": {"capabilities": ["files"]}}}).to_string(),
    );
    assert_eq!(ended(&write("mine")), "completed");
    assert_eq!(ended(&write("theirs")), "denied not_visible");
    for narrowing in [
        json!({"permissions": {"deny": ["writes"]}}),
        json!({"mode": "read-only"}),
        json!({"agents": {"mine": {"capabilities": ["files"]}}}),
    ] {
        home.write("ambit.json", narrowing.to_string());
        assert_eq!(ended(&write("mine")), "denied not_visible", "{narrowing}");
    }
}

#[test]
fn control_files_cannot_be_written() {
    let home = home();
    let everywhere = |home: &Home| {
        let root = home.home().parent().unwrap().to_path_buf();
        json!({"mode": "auto", "agents": {"a": {"capabilities": {"files": {"dirs": [root]}}}}})
    };
    home.user_config(&everywhere(&home).to_string());
    home.write("a.txt", "");
    home.write("ambit.json", "{}");
    home.write("old", "{}");
    std::os::unix::fs::symlink(home.work().join("ambit.json"), home.work().join("link")).unwrap();
    std::os::unix::fs::symlink(home.state(), home.work().join("state")).unwrap();
    home.run_with(&["secrets", "set", "x"], "y").exits(0);
    call(&home, "files__read_file", json!({"path": "a.txt"}), &[]).exits(0);
    let state = home.state().display().to_string();
    let data = home.data().display().to_string();
    let user = home
        .home()
        .join(".config/ambit/ambit.json")
        .display()
        .to_string();
    let above = home
        .work()
        .parent()
        .unwrap()
        .join("ambit.json")
        .display()
        .to_string();
    let journal = format!("{state}/journal.db");
    let snapshot = |path: &str| std::fs::read(home.work().join(path)).ok();
    for path in [
        "ambit.json",
        "./ambit.json",
        "../work/ambit.json",
        "link",
        "state/new",
        &user,
        &above,
        &journal,
        &format!("{state}/trust.db"),
        &format!("{state}/new"),
        &format!("{data}/secrets.key"),
    ] {
        let before = snapshot(path);
        let run = call(
            &home,
            "files__write_file",
            json!({"path": path, "content": "{}"}),
            &[],
        );
        assert_eq!(ended(&run), "failed refused", "{path}: {}", reason(&run));
        // The journal itself goes on; all else is as it was.
        assert!(path == journal || snapshot(path) == before, "{path}");
    }
    let edit = json!({"path": "ambit.json", "old_text": "{}", "new_text": "{ }"});
    assert_eq!(
        ended(&call(&home, "files__edit_file", edit, &[])),
        "failed refused"
    );
    home.run(&["log", "verify"]).exits(0);
    let fine: Value = json!({"path": "ambit.json.txt", "content": ""});
    assert_eq!(
        ended(&call(&home, "files__write_file", fine, &[])),
        "completed"
    );
}
