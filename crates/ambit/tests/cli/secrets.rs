//! Secrets: kept encrypted, used without being seen.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::{call, configured, ended, events, fresh, holding, home, text};

const CANARY: &str = "canary-b5f1d7";

#[test]
fn names_are_shown_and_values_are_not() {
    let home = home();
    let names = || home.run(&["secrets", "ls", "--json"]).exits(0).json()["names"].clone();
    assert_eq!(names(), json!([]));
    for (name, value) in [("b.2", CANARY), ("A_1", "other\n"), ("b.2", CANARY)] {
        let run = home.run_with(&["secrets", "set", name], value).exits(0);
        assert!(!format!("{run:?}").contains(CANARY), "{run:?}");
    }
    assert_eq!(names(), json!(["A_1", "b.2"]));
    let get = home.run(&["secrets", "get", "b.2", "--json"]).exits(2);
    assert_eq!(get.json()["error"]["code"], "not_a_terminal");
    home.run(&["secrets", "rm", "A_1"]).exits(0);
    home.run(&["secrets", "rm", "A_1"]).exits(1);
    assert_eq!(names(), json!(["b.2"]));
    assert_eq!(holding(&home.home(), CANARY.as_bytes()), [""; 0]);
    for file in ["secrets.age", "secrets.key"] {
        let mode = home
            .data()
            .join(file)
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn folders_are_private_whoever_makes_them() {
    for arguments in [
        &["ls"][..],
        &["check"],
        &["secrets", "set", "x"],
        &["call", "files__list_dir"],
    ] {
        let home = fresh();
        home.run_with(arguments, "y").exits(0);
        for folder in [home.data(), home.state()] {
            if let Ok(metadata) = folder.metadata() {
                let mode = metadata.permissions().mode() & 0o777;
                assert_eq!(mode, 0o700, "{arguments:?}: {}", folder.display());
            }
        }
    }
}

#[test]
fn what_cannot_be_a_secret_is_refused() {
    let home = home();
    for (name, value, code) in [
        ("x", String::new(), "bad_secret"),
        ("x", "y".repeat((64 << 10) + 1), "bad_secret"),
        ("no/path", "y".to_owned(), "secrets"),
        ("", "y".to_owned(), "secrets"),
    ] {
        let run = home
            .run_with(&["secrets", "set", name, "--json"], &value)
            .exits(2);
        assert_eq!(run.json()["error"]["code"], code, "{name:?}");
    }
    let binary = home
        .run_with(&["secrets", "set", "x", "--json"], [0xff, 0xfe])
        .exits(2);
    assert!(
        binary.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("UTF-8")
    );
}

#[test]
fn a_lost_or_exposed_key_is_told_and_nothing_is_overwritten() {
    let home = home();
    home.run_with(&["secrets", "set", "x"], "y").exits(0);
    let key = home.data().join("secrets.key");
    let kept = std::fs::read(home.data().join("secrets.age")).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = |why: &str| {
        for arguments in [
            &["secrets", "ls", "--json"][..],
            &["secrets", "set", "z", "--json"],
        ] {
            let run = home.run_with(arguments, "v").exits(2);
            let error = run.json()["error"].clone();
            assert_eq!(error["code"], "secrets");
            assert!(error["message"].as_str().unwrap().contains(why), "{error}");
            assert_ne!(error["hints"], json!([]));
        }
    };
    refused("can be read by others");
    std::fs::remove_file(&key).unwrap();
    refused("is missing");
    assert!(!key.exists());
    std::fs::write(&key, "nonsense").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    refused("is not a key");
    assert_eq!(
        std::fs::read(home.data().join("secrets.age")).unwrap(),
        kept
    );
    assert_eq!(home.run(&["doctor", "--json"]).exits(1).json()["ok"], false);
}

#[test]
fn a_secret_reaches_the_command_and_nobody_else() {
    let hook = json!({
        "name": "watch", "when": "before",
        "command": ["sh", "-c", r#"cat > seen.json; echo '{"decision":"pass"}'"#],
    });
    let home = configured(json!({
        "mode": "auto",
        "limits": {"resultBytes": 4000},
        "hooks": [hook],
        "agents": {"a": {"capabilities": {
            "files": {},
            "shell": {"shellString": true, "env": {"TOKEN": "${secret:token}"}},
        }}},
    }));
    home.run_with(&["secrets", "set", "token"], format!("{CANARY}\n"))
        .exits(0);
    let run = |command: Value| {
        let run = call(
            &home,
            "shell__run_command",
            json!({"command": command}),
            &[],
        );
        assert_eq!(ended(&run), "completed", "{run:?}");
        assert!(!format!("{run:?}").contains(CANARY), "{run:?}");
        run
    };
    assert!(text(&run(json!(["printenv", "TOKEN"]))).contains("[redacted]"));
    assert!(text(&run(json!("printenv TOKEN >&2"))).contains("[redacted]"));
    // The command really has it.
    let length = format!("{}\n", CANARY.len());
    assert!(text(&run(json!(r#"printf %s "$TOKEN" | wc -c"#))).contains(&length));
    // In a result that is stored because it is too large to return.
    let large = run(json!("for n in $(seq 2000); do echo $TOKEN; done"));
    assert_eq!(large.json()["truncated"], true);
    let page = json!({"ref": large.json()["resultRef"], "offset": 4000});
    let page = call(&home, "read_result", page, &[]);
    assert!(text(&page).contains("[redacted]") && !text(&page).contains(CANARY));
    // In arguments, where a model put what it should not know.
    run(json!(["echo", format!("x{CANARY}x")]));
    let failed = call(
        &home,
        "files__read_file",
        json!({"path": format!("no-{CANARY}")}),
        &[],
    );
    assert!(ended(&failed).starts_with("failed") && !format!("{failed:?}").contains(CANARY));
    assert_eq!(events(&home, &["--type", "tool.started"]).len(), 7);
    home.run(&["log", "verify"]).exits(0);
    assert!(home.work().join("seen.json").exists());
    assert_eq!(
        holding(home.home().parent().unwrap(), CANARY.as_bytes()),
        [""; 0]
    );
}

#[test]
fn no_cut_goes_through_a_secret() {
    let home = configured(json!({
        "mode": "auto",
        "limits": {"resultBytes": 1000},
        "agents": {"a": {"capabilities": {
            "files": {},
            "shell": {"shellString": true, "env": {"TOKEN": "${secret:token}"}},
        }}},
    }));
    home.run_with(&["secrets", "set", "token"], CANARY).exits(0);
    let check = |id: &str, input: Value| {
        let run = call(&home, id, input, &[]);
        assert!(!format!("{run:?}").contains(&CANARY[..8]), "{run:?}");
    };
    // A message quotes what it was given, up to a limit.
    for before in [0, 150, 185, 192, 198, 285, 290, 295] {
        let long = format!("{}{CANARY}{}", "x".repeat(before), "x".repeat(400));
        check("files__read_file", json!({"path": [long]}));
        check("files__read_file", json!({"path": format!("no/{long}")}));
        check(&long, json!({}));
    }
    // A result is cut at its limit.
    for before in [960, 968, 976] {
        let command = format!("head -c {before} /dev/zero; echo $TOKEN; head -c 2000 /dev/zero");
        check("shell__run_command", json!({"command": command}));
    }
    assert_eq!(holding(&home.state(), &CANARY.as_bytes()[..8]), [""; 0]);
}

#[test]
fn a_question_left_for_later_does_not_hold_a_secret() {
    let home = configured(json!({"agents": {"a": {"capabilities": {
        "shell": {"allow": ["echo"], "env": {"TOKEN": "${secret:token}"}},
    }}}}));
    home.run_with(&["secrets", "set", "token"], CANARY).exits(0);
    let input = json!({"command": ["echo", CANARY]});
    let run = call(&home, "shell__run_command", &input, &[]);
    assert_eq!(ended(&run), "denied approval_pending");
    assert_eq!(holding(&home.home(), CANARY.as_bytes()), [""; 0]);
    home.run(&["approvals", "allow", "1"]).exits(0);
    assert_eq!(
        ended(&call(&home, "shell__run_command", &input, &[])),
        "completed"
    );
}
