//! Hooks of `ambit.json`: they may refuse and annotate, and a broken one refuses.

use ambit_testkit::{Home, Run};
use serde_json::{Value, json};

use crate::support::{call, configured, ended, events, reason};

fn hooked(when: &str, script: &str, more: Value) -> Home {
    let mut hook = json!({"name": "guard", "when": when, "command": ["sh", "-c", script], "timeoutSeconds": 1});
    hook.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    configured(json!({"mode": "auto", "hooks": [hook]}))
}

fn write(home: &Home) -> Run {
    call(
        home,
        "files__write_file",
        json!({"path": "a.txt", "content": "x"}),
        &[],
    )
}

const PASS: &str = r#"echo '{"decision":"pass"}'"#;

#[track_caller]
fn check(when: &str, script: &str, expected: &str, said: &str) {
    let home = hooked(when, script, json!({}));
    let run = write(&home);
    assert_eq!(ended(&run), expected, "{script}: {run:?}");
    if expected == "completed" {
        assert!(
            run.json()["notes"].to_string().contains(said),
            "{script}: {run:?}"
        );
    } else {
        assert!(
            reason(&run).contains("`guard`") && reason(&run).contains(said),
            "{run:?}"
        );
        assert_eq!(events(&home, &["--type", "hook.decided"]).len(), 1);
    }
    // A refusal before the call means that it did not run; after it, that it is not shown.
    let ran = expected == "completed" || when == "after";
    assert_eq!(home.work().join("a.txt").exists(), ran, "{script}");
    home.run(&["replay", "last"]).exits(0);
}

#[test]
fn a_hook_passes_annotates_or_refuses() {
    for when in ["before", "after"] {
        check(when, PASS, "completed", "");
        check(
            when,
            r#"echo '{"decision":"pass","note":"seen by me"}'"#,
            "completed",
            "seen by me",
        );
    }
    let refuse = r#"echo '{"decision":"refuse","reason":"not on Sundays"}'"#;
    check("before", refuse, "denied hook_refused", "not on Sundays");
}

#[test]
fn a_refusal_afterwards_hides_the_result() {
    let home = hooked(
        "after",
        r#"echo '{"decision":"refuse","reason":"private"}'"#,
        json!({}),
    );
    home.write("a.txt", "the content");
    let run = call(&home, "files__read_file", json!({"path": "a.txt"}), &[]);
    assert!(ended(&run).ends_with("hook_refused"), "{run:?}");
    assert!(!run.stdout.contains("the content"), "{run:?}");
}

#[test]
fn a_broken_hook_is_a_closed_door() {
    let failed = "denied hook_failed";
    check(
        "before",
        "echo yes",
        failed,
        "something other than a decision",
    );
    check("before", "true", failed, "something other than a decision");
    check(
        "before",
        r#"echo '{"decision":"allow"}'"#,
        failed,
        "something other than a decision",
    );
    check(
        "before",
        r#"echo '{"decision":"pass","mode":"auto"}'"#,
        failed,
        "other than a decision",
    );
    check(
        "before",
        r"printf '\377'",
        failed,
        "something other than a decision",
    );
    check("before", "yes", failed, "");
    check(
        "before",
        &format!("{PASS}; exit 3"),
        failed,
        "exit status: 3",
    );
    check("before", "kill -9 $$", failed, "signal: 9");
    check("before", "sleep 600", failed, "did not answer within 1s");
    let missing = json!({"command": ["/nonexistent/guard"]});
    let run = write(&hooked("before", "", missing));
    assert_eq!(ended(&run), failed);
    assert!(reason(&run).contains("could not be started"), "{run:?}");
}

#[test]
fn a_hook_sees_the_call_and_only_those_it_wants() {
    let script = format!("cat >> seen.jsonl; echo >> seen.jsonl; {PASS}");
    let home = hooked("before", &script, json!({"only": ["writes"]}));
    assert_eq!(
        ended(&call(&home, "files__list_dir", json!({}), &[])),
        "completed"
    );
    assert!(!home.work().join("seen.jsonl").exists());
    let run = write(&home);
    let seen = std::fs::read_to_string(home.work().join("seen.jsonl")).unwrap();
    let seen: Value = serde_json::from_str(&seen).unwrap();
    let report = run.json();
    assert_eq!(
        seen,
        json!({
            "stage": "before",
            "agent": "default",
            "session": report["session"],
            "call": report["call"],
            "id": "local__files__write_file",
            "arguments": {"path": "a.txt", "content": "x"},
        })
    );
}

#[test]
fn a_hook_does_not_widen() {
    let home = hooked("before", PASS, json!({}));
    let run = call(
        &home,
        "files__write_file",
        json!({"path": "a.txt", "content": "x"}),
        &["--mode", "ask"],
    );
    assert_eq!(ended(&run), "denied approval_pending");
    let run = call(
        &home,
        "files__write_file",
        json!({"path": "a.txt", "content": "x"}),
        &["--mode", "read-only"],
    );
    assert_eq!(ended(&run), "denied not_visible");
}
