//! The JSON that programs rely on: every field and its type.

use serde_json::{Value, json};

use crate::support::{call, configured, ended, events, home};

/// Every promised field is there with its type, as `path:type`. More may come later.
#[track_caller]
pub(crate) fn promised(value: &Value, fields: &str) {
    let found = fields_of(value);
    for field in fields.split_whitespace() {
        assert!(found.iter().any(|it| it == field), "{field}: {value:#}");
    }
}

/// These fields and no others.
#[track_caller]
fn exactly(value: &Value, fields: &str) {
    let expected: Vec<_> = fields.split_whitespace().collect();
    assert_eq!(fields_of(value), expected, "{value:#}");
}

fn fields_of(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    shape("", value, &mut found);
    found
}

fn shape(path: &str, value: &Value, into: &mut Vec<String>) {
    for (key, value) in value.as_object().unwrap() {
        let path = format!("{path}{key}");
        match value {
            Value::Object(map) if !map.is_empty() => shape(&format!("{path}."), value, into),
            _ => into.push(format!("{path}:{}", kind(value))),
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(it) if it.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

const LISTED: &str = "available:bool digest:string effects:array id:string kind:string \
    risk:string source:string summary:string tags:array title:string \
    tokens.full:int tokens.index:int version:string";

#[test]
fn ls_lists_what_is_declared_or_what_is_granted() {
    let home = configured(json!({"agents": {"a": {"capabilities": {
        "files": {"tools": ["read_file", "write_file"]},
        "shell": {},
    }}}}));
    let ids = |arguments: &[&str]| {
        let listed = home
            .run(&[&["ls", "--json"], arguments].concat())
            .exits(0)
            .json();
        promised(
            &json!({"schemaVersion": listed["schemaVersion"], "revision": listed["revision"], "capabilities": []}),
            "capabilities:array revision:int schemaVersion:int",
        );
        assert_eq!(listed["schemaVersion"], 1);
        assert_eq!(listed["unavailable"], json!([]));
        assert_eq!(listed.as_object().unwrap().len(), 4);
        let rows = listed["capabilities"].as_array().unwrap().clone();
        let row = |it: &Value| match it["reason"].as_str() {
            None => {
                assert_eq!(
                    (&it["available"], &it["reason"]),
                    (&json!(true), &Value::Null)
                );
                it["id"].as_str().unwrap().to_owned()
            }
            Some(reason) => {
                assert_eq!(it["available"], false);
                format!("{} ({reason})", it["id"].as_str().unwrap())
            }
        };
        (rows.iter().map(row).collect::<Vec<_>>(), rows)
    };
    let (declared, rows) = ids(&[]);
    rows.iter().for_each(|it| promised(it, LISTED));
    let granted = |it: &&String| ["files", "shell"].contains(&it.split("__").nth(1).unwrap());
    assert_eq!(
        declared.iter().filter(granted).collect::<Vec<_>>(),
        [
            "local__files__edit_file",
            "local__files__glob",
            "local__files__grep",
            "local__files__list_dir",
            "local__files__read_file",
            "local__files__write_file",
            "local__shell__run_command (no commands allowed: list them in `allow`)",
        ]
    );
    let read = rows
        .iter()
        .find(|it| it["id"] == "local__files__read_file")
        .unwrap();
    assert_eq!(
        (
            &read["kind"],
            &read["source"],
            &read["risk"],
            &read["effects"],
            &read["version"]
        ),
        (
            &json!("tool"),
            &json!("local:files"),
            &json!("low"),
            &json!(["reads"]),
            &json!("1.0.0")
        )
    );
    assert!(read["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(
        ids(&["--agent", "a"]).0,
        [
            "local__files__read_file",
            "local__files__write_file",
            "local__shell__run_command (no commands allowed: list them in `allow`)",
        ]
    );
    assert_eq!(
        ids(&["--agent", "a", "--mode", "read-only"]).0[..2],
        [
            "local__files__read_file",
            "local__files__write_file (the mode `read-only` hides it)",
        ]
    );
}

#[test]
fn show_adds_the_schemas() {
    let home = home();
    for name in ["local__shell__run_command", "shell__run_command"] {
        let mut shown = home.run(&["show", name, "--json"]).exits(0).json();
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(shown[schema]["type"], "object", "{schema}");
            shown[schema] = json!({});
        }
        promised(
            &shown,
            "available:bool description:string digest:string effects:array id:string \
             inputSchema:object kind:string needs:array outputSchema:object permissions:array \
             reason:null risk:string schemaVersion:int source:string summary:string tags:array \
             title:string tokens.full:int tokens.index:int version:string wireName:string",
        );
        assert_eq!(shown["id"], "local__shell__run_command");
    }
    let unknown = home
        .run(&["show", "mcp__x__read_file", "--json"])
        .exits(2)
        .json();
    assert_eq!(unknown["error"]["code"], "unknown_capability");
    assert_eq!(
        unknown["error"]["hints"],
        json!(["did you mean `local__files__read_file`?"])
    );
}

#[test]
fn a_call_reports_how_it_ended() {
    let home = configured(json!({"mode": "auto"}));
    home.write("a.txt", "one\n");
    let report = |input: Value| {
        let run = call(&home, "files__read_file", input, &[]);
        let ended = ended(&run);
        (ended, run.json())
    };
    let common = "durationMs:float events.first:int events.last:int notes:array";
    let rest = "schemaVersion:int session:string status:string structuredContent:null \
        truncated:bool untrusted:bool";
    let (status, completed) = report(json!({"path": "a.txt"}));
    assert_eq!(status, "completed");
    assert_eq!(
        completed["content"],
        json!([{"type": "text", "text": "one\n"}])
    );
    promised(
        &completed,
        &format!("call:string code:null content:array {common} reason:null resultRef:null {rest}"),
    );
    for (input, expected) in [
        (json!({"path": 7}), "denied input_invalid"),
        (json!({"path": "nope"}), "failed provider_failed"),
        (json!({"path": "/etc/passwd"}), "failed refused"),
    ] {
        let (status, report) = report(input);
        assert_eq!(status, expected);
        assert_eq!(report["content"], json!([]));
        promised(
            &report,
            &format!(
                "call:string code:string content:array {common} reason:string resultRef:null {rest}"
            ),
        );
        let range = (&report["events"]["first"], &report["events"]["last"]);
        let last = events(&home, &[]).pop().unwrap();
        assert_eq!(&last["seq"], range.1);
        assert!(range.0.as_u64() < range.1.as_u64());
        assert_eq!(last["session"], report["session"]);
    }
}

#[test]
fn resolve_tells_grants_from_what_was_skipped() {
    let home = configured(json!({"agents": {"a": {
        "capabilities": {
            "files": {"tools": ["glob", "read_file"]},
            "shell": {},
            "telepathy": {},
        },
        "unknownCapabilities": "skip",
    }}}));
    for arguments in [&["resolve", "a", "--json"][..], &["resolve", "--json"]] {
        let resolved = home.run(arguments).exits(0).json();
        assert_eq!(resolved["schemaVersion"], 1);
        assert_eq!(resolved["agent"], "a");
        let granted = json!([{
            "key": "files",
            "tools": ["glob", "read_file"],
            "ids": ["local__files__glob", "local__files__read_file"],
        }]);
        assert_eq!(resolved["granted"], granted);
        let skipped = resolved["skipped"].as_array().unwrap();
        let keys: Vec<_> = skipped
            .iter()
            .map(|it| it["key"].as_str().unwrap())
            .collect();
        assert_eq!(keys.len(), 2, "{skipped:?}");
        assert!(keys.contains(&"shell") && keys.contains(&"telepathy"));
        assert!(skipped.iter().all(|it| it["reason"].is_string()));
    }
}

#[test]
fn log_is_one_event_per_line() {
    let home = configured(json!({"mode": "auto"}));
    home.write("a.txt", "one\n");
    for path in ["a.txt", "nope"] {
        call(&home, "files__read_file", json!({"path": path}), &[]);
    }
    let all = events(&home, &[]);
    for (n, event) in all.iter().enumerate() {
        assert_eq!(event["seq"], n + 1);
        for field in ["session", "type", "at", "hash"] {
            assert!(event[field].is_string(), "{field}: {event}");
        }
    }
    let types = |session: &Value| -> Vec<_> {
        let of_session = all.iter().filter(|it| it["session"] == *session);
        of_session.map(|it| it["type"].as_str().unwrap()).collect()
    };
    let first = &all[0]["session"];
    assert_eq!(
        types(first),
        [
            "session.started",
            "turn.started",
            "capability.diff",
            "tool.intent",
            "tool.validation",
            "tool.permission",
            "tool.started",
            "tool.observation",
        ]
    );
    let session = first.as_str().unwrap();
    assert_eq!(events(&home, &["--session", session]).len(), 8);
    assert_eq!(
        events(&home, &["--session", "last", "--type", "tool.started"]).len(),
        1
    );
    let newest = events(&home, &["--limit", "2"]);
    assert_eq!(newest.last().unwrap()["seq"], all.len());
    assert_eq!(newest.len(), 2);
}

#[test]
fn replay_reproduces_what_was_decided() {
    let home = configured(json!({"mode": "auto", "permissions": {"deny": ["local__files__glob"]}}));
    home.write("a.txt", "one\n");
    for (id, input) in [
        ("files__read_file", json!({"path": "a.txt"})),
        (
            "files__write_file",
            json!({"path": "b.txt", "content": "two"}),
        ),
        ("files__glob", json!({"pattern": "*"})),
        ("files__read_file", json!({"wrong": true})),
    ] {
        call(&home, id, input, &[]);
        let replayed = home.run(&["replay", "last", "--json"]).exits(0).json();
        assert_eq!(replayed["same"], true);
        assert_eq!(replayed["differences"], json!([]));
        assert_eq!(replayed["calls"], 1);
    }
    assert!(home.work().join("b.txt").exists());
    std::fs::remove_file(home.work().join("b.txt")).unwrap();
    for session in home.run(&["log", "sessions", "--json"]).exits(0).json()["sessions"]
        .as_array()
        .unwrap()
    {
        home.run(&["replay", session["id"].as_str().unwrap()])
            .exits(0);
    }
    assert!(!home.work().join("b.txt").exists(), "replay runs nothing");
    let unknown = home.run(&["replay", "nope", "--json"]).exits(1).json();
    assert_eq!(unknown["error"]["code"], "unknown_session");
}

#[test]
fn replay_names_the_first_difference() {
    let home = configured(json!({"mode": "auto"}));
    home.write("a.txt", "one\n");
    call(&home, "files__read_file", json!({"path": "a.txt"}), &[]);
    // What a turn depended on, changed after the fact: the recorded answer no longer follows.
    let journal = rusqlite::Connection::open(home.state().join("journal.db")).unwrap();
    let changed = journal
        .execute(
            r#"UPDATE events SET body = replace(body, '"mode":"auto"', '"mode":"read-only"')
             WHERE type = 'turn.started'"#,
            [],
        )
        .unwrap();
    assert_eq!(changed, 1);
    drop(journal);
    let replayed = home.run(&["replay", "last", "--json"]).exits(1).json();
    assert_eq!(replayed["same"], false);
    assert!(replayed["differences"][0]["seq"].is_u64(), "{replayed}");
    let said = home.run(&["replay", "last"]).exits(1).stdout;
    assert!(
        said.contains("different") && said.contains("event "),
        "{said}"
    );
}

#[test]
fn errors_have_one_shape() {
    let broken = home();
    broken.user_config("{\n  \"mood\": \"ask\"\n}");
    let error = broken.run(&["ls", "--json"]).exits(2).json();
    exactly(
        &error,
        "error.at.column:int error.at.file:string error.at.line:int error.code:string \
         error.hints:array error.message:string schemaVersion:int",
    );
    assert_eq!(error["error"]["at"]["line"], 2);
    assert_eq!(error["error"]["at"]["column"], 3);
    let home = home();
    for (arguments, exit, code) in [
        (&["--json"][..], 2, "usage"),
        (&["lss", "--json"], 2, "usage"),
        (&["call", "--json"], 2, "usage"),
        (&["call", "x", "--mode", "wild", "--json"], 2, "usage"),
        (&["ls", "--agent", "nobody", "--json"], 2, "unknown_agent"),
        (&["resolve", "nobody", "--json"], 2, "unknown_agent"),
        (
            &["serve", "--listen", "0.0.0.0:0", "--json"],
            2,
            "token_missing",
        ),
        (&["log", "--json"], 1, "no_journal"),
        (&["replay", "last", "--json"], 1, "no_journal"),
        (&["trust", "--json"], 2, "no_project"),
        (&["secrets", "rm", "x", "--json"], 1, "unknown_secret"),
        (&["approvals", "allow", "7", "--json"], 1, "no_such_request"),
    ] {
        let run = home.run(arguments).exits(exit);
        let error = run.json();
        exactly(
            &error,
            "error.code:string error.hints:array error.message:string schemaVersion:int",
        );
        assert_eq!(error["error"]["code"], code, "{arguments:?}");
        assert_ne!(error["error"]["hints"], json!([]), "{arguments:?}");
        assert_eq!(run.stderr, "", "{arguments:?}");
    }
    let missing = home.run(&["call", "--json"]).json();
    let message = missing["error"]["message"].as_str().unwrap();
    assert!(message.contains("<ID>"), "{message}");
}
