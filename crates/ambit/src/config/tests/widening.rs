//! What an agent may hand on: decision tables, and that nothing slips through.

use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value, json};

use crate::config::merged::merge;
use crate::config::{Config, ConfigFile, Guard, widened_by};

fn config(agents: &Value) -> Config {
    let file = json!({"agents": agents, "permissions": {"ask": ["destructive"]}});
    let file: ConfigFile = serde_json::from_value(file).unwrap();
    merge(file, ConfigFile::default())
}

fn caller() -> Value {
    json!({
        "capabilities": {"files": {"tools": ["read_file", "grep"]}, "notes": {}, "shell": {"allow": ["ls"]}},
        "permissions": {"allow": ["fs:read"], "deny": ["egress"]},
    })
}

fn open(_: &str) -> Guard {
    Guard::Open
}

/// What becomes of an edit from one entry of `b` to another, by `a`.
#[track_caller]
fn check(old: Value, new: Value, expected: &[&str]) {
    let agents = |b: Value| {
        let mut agents = json!({"a": caller(), "c": {"capabilities": ["secrets"]}});
        if !b.is_null() {
            agents["b"] = b;
        }
        config(&agents)
    };
    let found = widened_by("a", &agents(old), &agents(new), &open);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

/// An entry that hands on all the caller has, with one thing else.
fn with(pointer: &str, value: Value) -> Value {
    let mut entry = caller();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = entry.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Value::Null => parent.remove(key),
        value => parent.insert(key.to_owned(), value),
    };
    entry
}

#[test]
fn what_the_caller_has_may_be_handed_on() {
    let none = json!({"capabilities": {}, "permissions": {"allow": [], "deny": ["egress"]}});
    for new in [
        caller(),
        none.clone(),
        with("/description", json!("d")),
        with("/mode", json!("read-only")),
        with("/capabilities/shell", Value::Null),
        with("/capabilities/files/tools", json!(["grep"])),
        with("/capabilities/notes/tools", json!([])),
        with("/permissions/allow", json!([])),
        with("/permissions/deny", json!(["egress", "writes"])),
    ] {
        check(Value::Null, new.clone(), &[]);
        check(caller(), new, &[]);
    }
    check(caller(), Value::Null, &[]);
    check(none, caller(), &[]);
}

#[test]
fn what_is_more_waits() {
    for (pointer, value, reason) in [
        (
            "/capabilities/web",
            json!({}),
            "`web` is a capability the caller has not",
        ),
        (
            "/capabilities/files",
            json!({}),
            "`files` comes with all its tools, of which the caller has some",
        ),
        (
            "/capabilities/files/tools",
            json!(["grep", "write_file"]),
            "`files` comes with the tool `write_file`, which the caller has not",
        ),
        (
            "/capabilities/shell/allow",
            json!(["rm"]),
            "`shell` is configured otherwise than the caller's",
        ),
        (
            "/capabilities/notes/scope",
            json!("shared"),
            "`notes` is configured otherwise than the caller's",
        ),
        (
            "/mode",
            json!("auto"),
            "mode `auto` is freer than the caller's `ask`",
        ),
        (
            "/permissions/allow",
            json!(["fs:read", "writes"]),
            "`writes` is allowed without asking, which it is not for the caller",
        ),
        (
            "/permissions/ask",
            json!(["net:egress"]),
            "a rule to ask about `net:egress` may outweigh one that forbids",
        ),
        (
            "/permissions/deny",
            json!([]),
            "`egress` is not forbidden, which it is for the caller",
        ),
    ] {
        let after = format!("agent `b`: {reason}");
        check(Value::Null, with(pointer, value.clone()), &[&after]);
        check(caller(), with(pointer, value.clone()), &[&after]);
        // What has more is not the caller's to change or to take away.
        let before = format!("agent `b` as it is: {reason}");
        check(with(pointer, value.clone()), caller(), &[&before]);
        check(with(pointer, value), Value::Null, &[&before]);
    }
}

#[test]
fn an_agents_own_entry_is_one_like_any_other() {
    let config = |entry: Value| config(&json!({"a": entry}));
    let judge = |new: Value| widened_by("a", &config(caller()), &config(new), &open).len();
    assert_eq!(judge(with("/capabilities/shell", Value::Null)), 0);
    assert_eq!(judge(with("/mode", json!("auto"))), 1);
}

#[test]
fn whoever_is_guarded_hands_on_nothing_unguarded() {
    let before = config(&json!({"a": caller()}));
    let after = config(&json!({"a": caller(), "b": caller()}));
    for (guarded, waits) in [("a", 1), ("b", 0), ("", 0)] {
        let guard = |name: &str| match name == guarded {
            true => Guard::Token,
            false => Guard::Open,
        };
        assert_eq!(
            widened_by("a", &before, &after, &guard).len(),
            waits,
            "{guarded}"
        );
    }
}

#[test]
fn the_last_agent_that_goes_leaves_the_implied_one() {
    let before = config(&json!({"a": {"capabilities": ["notes"]}}));
    let found = widened_by("a", &before, &config(&json!({})), &open);
    assert!(found.iter().any(|it| it.agent == "default"), "{found:?}");
    let stranger = widened_by("nobody", &before, &config(&json!({})), &open);
    assert!(!stranger.is_empty());
}

/// Entries over a small world, in which what each may do can be counted out.
fn entry() -> impl Strategy<Value = Value> {
    let tools = subsequence(vec!["x", "y"], 0..=2);
    let capability = prop_oneof![Just(json!({})), tools.prop_map(|it| json!({"tools": it}))];
    let capabilities = prop::collection::btree_map("[pq]", capability, 0..=2);
    let subjects = || subsequence(vec!["reads", "writes", "fs:read"], 0..=2);
    let mode = prop_oneof![Just("read-only"), Just("ask"), Just("auto")];
    (capabilities, mode, subjects(), subjects(), subjects()).prop_map(
        |(capabilities, mode, allow, ask, deny)| {
            json!({"capabilities": capabilities, "mode": mode,
                "permissions": {"allow": allow, "ask": ask, "deny": deny}})
        },
    )
}

/// Every tool an entry has.
fn tools(entry: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for (key, config) in entry["capabilities"].as_object().unwrap() {
        let listed = config.get("tools").and_then(Value::as_array);
        for tool in ["x", "y"] {
            if listed.is_none_or(|it| it.contains(&json!(tool))) {
                all.push(format!("{key}/{tool}"));
            }
        }
    }
    all
}

/// How freely one may call a thing: 0 never, 1 asked, 2 unasked; by the gate itself.
fn freedom(config: &Config, name: &str, line: &str) -> u8 {
    use ambit_core::permission::{PermissionDecision, PermissionInput, Rules, decide};
    let agent = &config.agents[name];
    let rules = config.permissions.and(&agent.permissions);
    let input = PermissionInput {
        mode: config.mode_of(agent),
        rules: Rules::new(rules.rules()),
        ..PermissionInput::default()
    };
    let effects: Vec<&str> = line.split(' ').collect();
    let (effects, permissions): (Vec<&str>, Vec<&str>) =
        effects.into_iter().partition(|it| !it.contains(':'));
    let effects = effects
        .iter()
        .filter_map(|it| ambit_core::effects::Effect::parse(it));
    let id = "local__p__x".parse().unwrap();
    let mut manifest = ambit_core::manifest::CapabilityManifest::new(id, "", effects.collect());
    manifest.permissions = permissions.iter().map(|it| it.parse().unwrap()).collect();
    let descriptor =
        ambit_core::descriptor::CapabilityDescriptor::new(&manifest, "local:p", Default::default());
    if !input.mode.shows(&descriptor) {
        return 0;
    }
    match decide(&descriptor, &input) {
        PermissionDecision::Deny { .. } => 0,
        PermissionDecision::Ask { .. } => 1,
        PermissionDecision::Allow { .. } => 2,
    }
}

proptest! {
    #[test]
    fn nothing_is_ever_widened_silently(caller in entry(), old in entry(), new in entry()) {
        let before = config(&json!({"a": caller, "b": old}));
        let after = config(&json!({"a": caller, "b": new}));
        if widened_by("a", &before, &after, &open).is_empty() && old != new {
            for (entry, config) in [(&old, &before), (&new, &after)] {
                let held = tools(&caller);
                prop_assert!(tools(entry).iter().all(|it| held.contains(it)));
                for line in ["reads", "reads writes", "reads fs:read", "reads writes fs:read", "writes destructive"] {
                    prop_assert!(freedom(config, "b", line) <= freedom(config, "a", line), "{line}");
                }
            }
        }
    }
}
