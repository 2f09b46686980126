//! Modes and rules: what runs, what is asked about, what is not there.

use serde_json::{Value, json};

use crate::support::{call, configured, ended, events};

const RUN: &str = "completed";
const ASK: &str = "denied approval_pending";
const GONE: &str = "denied not_visible";

/// How reading, writing and running end under a mode and rules.
#[track_caller]
fn check(mode: &str, rules: Value, [read, write, run]: [&str; 3]) {
    let home = configured(json!({
        "mode": mode,
        "permissions": rules,
        "agents": {"a": {"capabilities": {"files": {}, "shell": {"allow": ["true"]}}}},
    }));
    let calls = [
        ("files__list_dir", json!({})),
        ("files__write_file", json!({"path": "a", "content": ""})),
        ("shell__run_command", json!({"command": ["true"]})),
    ];
    let found = calls.map(|(id, input)| ended(&call(&home, id, input, &[])));
    assert_eq!(found, [read, write, run], "{mode} {rules}");
}

#[test]
fn modes_decide_where_no_rule_does() {
    check("ask", json!({}), [RUN, ASK, ASK]);
    check("auto", json!({}), [RUN, RUN, RUN]);
    check("read-only", json!({}), [RUN, GONE, GONE]);
}

#[test]
fn rules_refine_by_effect_permission_and_id() {
    check("ask", json!({"allow": ["writes"]}), [RUN, RUN, RUN]);
    check("ask", json!({"allow": ["fs:write"]}), [RUN, RUN, ASK]);
    check(
        "ask",
        json!({"allow": ["local__shell__run_command"]}),
        [RUN, ASK, RUN],
    );
    check("auto", json!({"ask": ["reads"]}), [ASK, ASK, ASK]);
    check("auto", json!({"ask": ["proc:exec"]}), [RUN, RUN, ASK]);
    check("auto", json!({"deny": ["destructive"]}), [RUN, RUN, GONE]);
    check("auto", json!({"deny": ["fs:write"]}), [RUN, GONE, RUN]);
    check(
        "auto",
        json!({"deny": ["local__files__list_dir"]}),
        [GONE, RUN, RUN],
    );
}

#[test]
fn the_most_specific_wins_and_deny_wins_ties() {
    check(
        "ask",
        json!({"deny": ["writes"], "allow": ["fs:write"]}),
        [RUN, RUN, GONE],
    );
    let id = "local__files__write_file";
    check(
        "ask",
        json!({"deny": ["fs:write"], "allow": [id]}),
        [RUN, RUN, ASK],
    );
    check(
        "auto",
        json!({"allow": ["fs:write"], "ask": [id]}),
        [RUN, ASK, RUN],
    );
    check(
        "auto",
        json!({"allow": [id], "ask": [id], "deny": [id]}),
        [RUN, GONE, RUN],
    );
    check(
        "auto",
        json!({"allow": ["writes"], "ask": ["writes"]}),
        [RUN, ASK, ASK],
    );
    check(
        "auto",
        json!({"allow": ["reads"], "deny": ["egress"]}),
        [RUN, RUN, GONE],
    );
}

#[test]
fn no_rule_reaches_outside_the_grant_or_the_mode() {
    let everything = json!({"allow": ["reads", "writes", "local__shell__run_command"]});
    check("read-only", everything.clone(), [RUN, GONE, GONE]);
    let home = configured(json!({"permissions": everything}));
    let run = call(
        &home,
        "shell__run_command",
        json!({"command": ["true"]}),
        &["--yes"],
    );
    assert_eq!(ended(&run), GONE);
}

#[test]
fn an_agent_has_rules_of_its_own() {
    let home = configured(json!({
        "mode": "auto",
        "agents": {
            "a": {"capabilities": ["files"], "permissions": {"deny": ["fs:write"]}},
            "b": {"capabilities": ["files"], "mode": "ask"},
        },
    }));
    let write = |more: &[&str]| {
        ended(&call(
            &home,
            "files__write_file",
            json!({"path": "a", "content": ""}),
            more,
        ))
    };
    assert_eq!(write(&["--agent", "a"]), GONE);
    assert_eq!(write(&["--agent", "b"]), ASK);
    assert_eq!(write(&["--agent", "b", "--mode", "auto"]), RUN);
}

#[test]
fn the_record_names_the_rule() {
    let home = configured(json!({"mode": "auto", "permissions": {
        "deny": ["fs:write"], "ask": ["local__files__glob"],
    }}));
    call(
        &home,
        "files__write_file",
        json!({"path": "a", "content": ""}),
        &[],
    );
    let refused = events(&home, &["--type", "capability.refused"]);
    assert!(
        refused[0]["why"].to_string().contains("deny fs:write"),
        "{refused:?}"
    );
    call(&home, "files__glob", json!({"pattern": "*"}), &[]);
    let asked = events(&home, &["--type", "approval.requested"]);
    assert!(
        asked[0].to_string().contains("ask local__files__glob"),
        "{asked:?}"
    );
}
