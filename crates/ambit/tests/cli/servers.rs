//! Servers that start and servers that do not, as commands show them.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::Client;
use crate::server::{server, tools};
use crate::support::configured;

/// One that notes each start in a file, complains and ends.
fn broken() -> Value {
    json!({"command": "sh", "args": ["-c", "echo x >> starts; echo no token >&2; exit 7"], "env": {"T": "${TOKEN}"}})
}

#[test]
fn doctor_starts_every_server_and_says_what_it_costs() {
    let mut home = configured(json!({"mcpServers": {
        "fine": server(json!({})),
        "none": {"command": "/does/not/exist"},
        "bad": broken(),
        "off": {"command": "x", "disabled": true},
    }}));
    home.set("TOKEN", "t0k3n-t0k3n");
    tools(&home, &["add=Adds.", "sub=Subtracts."]);
    let report = home.run(&["doctor", "--json"]).exits(1).json();
    let servers = report["servers"].as_array().unwrap();
    let of = |name: &str| servers.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(servers.len(), 3);
    assert_eq!(
        (&of("fine")["ok"], &of("fine")["tools"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(of("fine")["protocol"], "2025-11-25");
    let tokens = of("fine")["tokens"].as_u64().unwrap();
    assert!(tokens > 40 && of("fine")["tookMs"].is_u64(), "{report}");
    assert_eq!(report["tokens"]["everything"], tokens);
    assert!(report["tokens"]["shown"]["default"].as_u64().unwrap() > tokens);
    assert_eq!(of("bad")["ok"], false);
    assert_eq!(of("bad")["stderr"][0], "no token");
    let error = of("none")["error"].as_str().unwrap();
    assert!(error.contains("cannot be started"), "{error}");

    let text = home.run(&["doctor"]).exits(1).stdout;
    for part in [
        "ok      server    fine",
        "broken  server    bad",
        "| no token",
        "installed and on PATH",
        "for the tools of all servers in full; default is shown",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn doctor_is_fine_without_servers() {
    let home = configured(json!({}));
    let report = home.run(&["doctor", "--json"]).exits(0).json();
    assert_eq!(
        (&report["servers"], &report["tokens"]["everything"]),
        (&json!([]), &json!(0))
    );
}

#[test]
fn a_server_that_fails_its_first_look_is_shown_and_left_alone() {
    let mut home = configured(json!({"mcpServers": {"bad": broken()}}));
    home.set("TOKEN", "x");
    let starts =
        || std::fs::read_to_string(home.work().join("starts")).map_or(0, |it| it.lines().count());
    let first = home.run(&["ls"]).exits(0);
    let tried = starts();
    assert!(tried > 0 && first.stdout.contains("mcp:bad"), "{first:?}");
    for _ in 0..2 {
        let again = home.run(&["ls"]).exits(0);
        assert!(
            again.stdout.contains("`ambit ls --refresh` tries again"),
            "{again:?}"
        );
        assert!(!again.stderr.contains("looking at"), "{again:?}");
    }
    let listed = home.run(&["ls", "--json"]).json();
    assert_eq!(listed["unavailable"][0]["source"], "mcp:bad");
    home.run(&["visible"]).exits(0);
    assert_eq!(starts(), tried);
    home.run(&["ls", "--refresh"]).exits(0);
    assert!(starts() > tried);
}

#[test]
fn another_engine_gets_each_server_with_what_is_allowed() {
    let mut one = server(json!({}));
    one["env"] = json!({"T": "${TOKEN}"});
    let mut home = configured(json!({
        "mcpServers": {"one": one, "two": server(json!({})), "three": server(json!({}))},
        "agents": {"a": {"capabilities": {
            "files": {}, "one": {"tools": ["add"]}, "two": {},
        }}, "b": {"capabilities": ["three"]}},
    }));
    home.set("TOKEN", "t0k3n-t0k3n");
    tools(&home, &["add=Adds.", "sub=Subtracts."]);
    let resolved = home
        .run(&["resolve", "a", "--format", "mcp-servers"])
        .exits(0);
    assert!(!resolved.stdout.contains("t0k3n"), "{resolved:?}");
    let entries = resolved.json()["mcpServers"].clone();
    let names: Vec<&String> = entries.as_object().unwrap().keys().collect();
    assert_eq!(names, ["one", "two"]);
    for (name, expected) in [
        ("one", vec!["one__add", "read_result"]),
        ("two", vec!["read_result", "two__add", "two__sub"]),
    ] {
        let entry = &entries[name];
        assert!(Path::new(entry["command"].as_str().unwrap()).is_absolute());
        let args = entry["args"].as_array().unwrap();
        let args: Vec<&str> = args.iter().filter_map(Value::as_str).collect();
        let mut client = Client::connect(&home, &args[1..]);
        let mut tools = client.tools();
        tools.sort();
        assert_eq!(tools, expected, "{name}");
        assert_eq!(client.end(), 0);
    }
    for server in ["three", "files", "on"] {
        let refused = home
            .run(&["mcp", "--agent", "a", "--server", server])
            .exits(2);
        assert!(
            refused.stderr.contains("is granted no server"),
            "{refused:?}"
        );
    }
}

#[test]
fn a_server_nobody_could_see_takes_nothing_else_away() {
    let mut home = configured(json!({
        "mcpServers": {"bad": broken()},
        "agents": {"a": {"capabilities": {"files": {}, "bad": {"tools": ["x"]}}}},
    }));
    home.set("TOKEN", "x");
    let checked = home.run(&["check"]).exits(0);
    assert!(checked.stderr.contains("`bad` is skipped"), "{checked:?}");
    let listed = home.run(&["call", "files__list_dir", "--json"]).exits(0);
    assert_eq!(listed.json()["status"], "completed");
    let resolved = home.run(&["resolve", "--json"]).exits(0).json();
    assert_eq!(resolved["skipped"][0]["key"], "bad");
    let mut client = Client::connect(&home, &[]);
    assert!(client.tools().contains(&"files__list_dir".to_owned()));
    assert_eq!(client.end(), 0);
}
