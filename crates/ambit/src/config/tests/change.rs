//! Edits, and what they do.

use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value, json};

use crate::config::merged::merge;
use crate::config::{Config, ConfigChange, ConfigFile, compare};

fn config(file: &Value) -> Config {
    let file: ConfigFile = serde_json::from_value(file.clone()).unwrap();
    merge(file, ConfigFile::default())
}

fn base() -> Value {
    json!({
        "mode": "ask",
        "mcpServers": {"gh": {"command": "gh", "env": {"A": "1"}}},
        "agents": {"a": {"capabilities": {"files": {"tools": ["read"], "dirs": ["x"]}, "gh": {}}}},
        "permissions": {"allow": ["reads"], "ask": ["egress"], "deny": ["destructive"]},
        "hooks": [{"name": "h", "when": "before", "command": ["x"]}],
        "limits": {"callSeconds": 60},
    })
}

/// What setting one entry of the base does.
#[track_caller]
fn check(pointer: &str, value: Value, expected: &str) {
    let before = base();
    let mut after = before.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = after.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Value::Null => parent.remove(key),
        value => parent.insert(key.to_owned(), value),
    };
    let shown = match compare(&config(&before), &config(&after)) {
        ConfigChange::Unchanged => "unchanged".to_owned(),
        ConfigChange::Changed { what } => format!("changes: {}", what.join("; ")),
        ConfigChange::Widens { what } => format!("widens: {}", what.join("; ")),
    };
    assert_eq!(shown, expected, "{pointer}");
}

#[test]
fn edits_are_told_apart() {
    let files = "/agents/a/capabilities/files";
    check("/mode", json!("ask"), "unchanged");
    check(
        "/mode",
        json!("auto"),
        "widens: agent `a`: mode is looser; mode is looser",
    );
    check(
        "/mode",
        json!("read-only"),
        "changes: agent `a`: mode is stricter; mode is stricter",
    );
    check(
        "/agents/a/mode",
        json!("auto"),
        "widens: agent `a`: mode is looser",
    );
    check("/agents/a/mode", json!("ask"), "unchanged");
    check(
        "/agents/a/description",
        json!("x"),
        "changes: agent `a`: description is another",
    );
    check(
        "/agents/b",
        json!({"capabilities": {}}),
        "widens: agent `b` is new",
    );
    check(
        "/agents/a/capabilities/gh",
        Value::Null,
        "changes: agent `a`: `gh` is gone",
    );
    check(
        "/agents/a/capabilities/shell",
        json!({}),
        "widens: agent `a`: `shell` is new",
    );
    check(
        files,
        json!({"dirs": ["x"]}),
        "widens: agent `a`: `files`: `tools` is gone, so it has all",
    );
    check(
        files,
        json!({"tools": [], "dirs": ["x"]}),
        "changes: agent `a`: `files`: fewer `tools`",
    );
    check(
        files,
        json!({"tools": ["read", "write"], "dirs": ["x"]}),
        "widens: agent `a`: `files`: tool \"write\" is new",
    );
    check(
        files,
        json!({"tools": ["read"], "dirs": []}),
        "widens: agent `a`: `files`: its config is another",
    );
    check(
        "/agents/a/capabilities/gh",
        json!({"tools": ["x"]}),
        "changes: agent `a`: `gh`: only some `tools` are left",
    );
    check(
        "/serve",
        json!({"hosts": ["gate.example"]}),
        "widens: `serve.hosts` has `gate.example`",
    );
    check(
        "/serve",
        json!({"origins": ["https://app.example"]}),
        "widens: `serve.origins` has `https://app.example`",
    );
    check(
        "/serve",
        json!({"maxCalls": 1}),
        "changes: `serve` is another, from the next start on",
    );
    check(
        "/mcpServers/gh",
        Value::Null,
        "changes: server `gh` is gone",
    );
    check(
        "/mcpServers/x",
        json!({"url": "u"}),
        "widens: server `x` is new",
    );
    check(
        "/mcpServers/gh/disabled",
        json!(true),
        "changes: server `gh` is disabled",
    );
    check(
        "/mcpServers/gh/names",
        json!("bare"),
        "changes: server `gh`: its tools are named otherwise",
    );
    for (key, value, expected) in [
        (
            "newTools",
            json!("ask"),
            "changes: server `gh` may not add tools",
        ),
        ("newTools", json!("allow"), "unchanged"),
        (
            "effects",
            json!({"*": ["reads"]}),
            "widens: server `gh`: its tools count as something else",
        ),
        (
            "idleSeconds",
            json!(false),
            "changes: server `gh` is waited for or kept otherwise",
        ),
        (
            "perSession",
            json!(true),
            "changes: server `gh` is waited for or kept otherwise",
        ),
    ] {
        check(&format!("/mcpServers/gh/{key}"), value, expected);
    }
    for (key, value) in [
        ("command", json!("evil")),
        ("env", json!({})),
        ("cwd", json!("/")),
    ] {
        check(
            &format!("/mcpServers/gh/{key}"),
            value,
            "widens: server `gh` is started or reached otherwise",
        );
    }
    check(
        "/clients",
        json!({"x": {"style": "full"}}),
        "changes: `clients` is another",
    );
    check(
        "/clients",
        json!({"x": {"asks": true}}),
        "widens: client `x` is taken at its word",
    );
    check(
        "/limits/callSeconds",
        json!(61),
        "widens: limit `callSeconds` is looser",
    );
    check(
        "/limits/callSeconds",
        json!(59),
        "changes: limit `callSeconds` is stricter",
    );
    check(
        "/unknownCapabilities",
        json!("skip"),
        "changes: `unknownCapabilities` is another",
    );
    check("/hooks", json!([]), "widens: hook `h` is gone");
    check(
        "/hooks",
        json!([{"name": "h", "when": "after", "command": ["x"]}]),
        "widens: hook `h` is another",
    );
    check(
        "/hooks",
        json!([
            {"name": "h", "when": "before", "command": ["x"]},
            {"name": "i", "when": "after", "command": ["x"]},
        ]),
        "changes: there are other hooks, or in another order",
    );
}

#[test]
fn rules_narrow_or_widen() {
    let both = |line: &str| format!("{line}; your {}", line.split_once(": ").unwrap().1);
    for (list, subjects, expected) in [
        (
            "allow",
            json!(["reads", "writes"]),
            "widens: `allow` has `writes`",
        ),
        ("allow", json!([]), "changes: `allow` has `reads` no more"),
        (
            "ask",
            json!(["egress", "reads"]),
            "changes: `ask` has `reads`",
        ),
        (
            "ask",
            json!(["egress", "fs:write"]),
            "widens: `ask` has `fs:write`",
        ),
        ("ask", json!([]), "widens: `ask` has `egress` no more"),
        (
            "deny",
            json!(["destructive", "writes"]),
            "changes: `deny` has `writes`",
        ),
        (
            "deny",
            json!([]),
            "widens: `deny` has `destructive` no more",
        ),
    ] {
        check(&format!("/permissions/{list}"), subjects, &both(expected));
    }
}

fn some_config() -> impl Strategy<Value = Value> {
    let words = |all: &'static [&'static str]| subsequence(all, 0..=all.len());
    let tools = prop::option::of(words(&["read", "write", "grep"]));
    let keys = prop::collection::btree_map("files|shell|gh", tools, 0..3);
    let rules = (
        words(&["reads", "fs:write"]),
        words(&["egress"]),
        words(&["writes"]),
    );
    let mode = prop::sample::select(&["read-only", "ask", "auto"][..]);
    (keys, rules, mode, 1..100u64).prop_map(|(keys, (allow, ask, deny), mode, seconds)| {
        let capabilities: Map<String, Value> = keys
            .into_iter()
            .map(|(key, tools)| {
                (
                    key,
                    tools.map_or(json!({}), |tools| json!({"tools": tools})),
                )
            })
            .collect();
        json!({
            "agents": {"a": {"capabilities": capabilities}},
            "permissions": {"allow": allow, "ask": ask, "deny": deny},
            "mode": mode,
            "limits": {"callSeconds": seconds},
        })
    })
}

proptest! {
    #[test]
    fn only_the_same_is_unchanged(a in some_config(), b in some_config()) {
        let (one, two) = (config(&a), config(&b));
        prop_assert_eq!(compare(&one, &one), ConfigChange::Unchanged);
        prop_assert_eq!(compare(&one, &two) == ConfigChange::Unchanged, one == two);
    }

    #[test]
    fn what_widens_one_way_does_not_only_narrow_back(a in some_config(), b in some_config()) {
        let (one, two) = (config(&a), config(&b));
        // Two that differ cannot both be the narrower one, except by asking instead of
        // allowing, which is judged by what was there before.
        if one.permissions == two.permissions && one != two {
            let narrows = |from, to| matches!(compare(from, to), ConfigChange::Changed { .. });
            prop_assert!(!(narrows(&one, &two) && narrows(&two, &one)));
        }
    }
}
