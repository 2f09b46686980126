//! `browser`: known without being started, started by the call that needs it, held back where it is
//! not what was known; a stand-in on the PATH, and the real one where it is installed.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ambit_testkit::Home;
use serde_json::{Value, json};

use crate::support::{call, ended, home, reason, skipped, text};

/// Answers as Playwright's server does, with the tools in a file beside it.
const STAND_IN: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/started"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case "$line" in
    *'"initialize"'*) answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"Playwright","version":"1.64.0-alpha-1790635538000"}}' ;;
    *'"tools/list"'*) answer "\"result\":{\"tools\":$(cat "$here/tools.json")}" ;;
    *'"tools/call"'*) answer '"result":{"content":[{"type":"text","text":"the page"}]}' ;;
    *) [ -n "$id" ] && answer '"error":{"code":-32601,"message":"unknown"}' ;;
  esac
done
"#;

const SNAPSHOT: &str = "mcp__browser__browser_snapshot";

fn listing() -> Value {
    let asset = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/browser.json");
    serde_json::from_slice(&std::fs::read(asset).unwrap()).unwrap()
}

/// A home in which an agent has the browser.
fn granted() -> Home {
    let home = home();
    home.user_config(&json!({"agents": {"a": {"capabilities": ["browser"]}}}).to_string());
    home
}

/// The same with a stand-in for `npx`, listing these tools.
fn with_stand_in(tools: &Value) -> Home {
    let mut home = granted();
    let bin = home.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let npx = bin.join("npx");
    std::fs::write(&npx, STAND_IN).unwrap();
    std::fs::set_permissions(&npx, PermissionsExt::from_mode(0o700)).unwrap();
    std::fs::write(bin.join("tools.json"), tools.to_string()).unwrap();
    home.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    home
}

fn starts(home: &Home) -> Vec<String> {
    let started = std::fs::read_to_string(home.home().join("bin/started"));
    let started = started.unwrap_or_default();
    started.lines().map(str::to_owned).collect()
}

#[test]
fn it_is_listed_in_full_and_started_by_a_call() {
    let home = with_stand_in(&listing()["tools"]);
    let listed = home.run(&["ls", "--json"]).exits(0).json();
    let rows = listed["capabilities"].as_array().unwrap().iter();
    let ids = rows.filter_map(|it| it["id"].as_str());
    let tools = ids.filter(|it| it.starts_with("mcp__browser__")).count();
    assert_eq!(tools, listing()["tools"].as_array().unwrap().len());
    let shown = home.run(&["show", "mcp__browser__browser_navigate", "--json"]);
    assert!(shown.stdout.contains("The URL to navigate to"), "{shown:?}");
    home.run(&["visible", "--json"]).exits(0);
    assert!(starts(&home).is_empty());

    let run = call(&home, SNAPSHOT, json!({}), &["--yes"]);
    assert_eq!(ended(&run), "completed", "{run:?}");
    assert_eq!(text(&run), "the page");
    assert_eq!(
        starts(&home),
        ["-y @playwright/mcp@0.0.83 --headless --isolated --browser chromium"]
    );
    // Looking at it brings no news: it is what was known.
    home.run(&["ls", "--refresh"]).exits(0);
    let trust = home.run(&["trust", "ls", "--json"]).exits(0).json();
    assert_eq!(trust["definitions"], json!([]));
}

#[test]
fn what_is_not_what_was_known_is_held_back() {
    let mut tools = listing()["tools"].clone();
    let all = tools.as_array_mut().unwrap();
    let snapshot = all.iter_mut().find(|it| it["name"] == "browser_snapshot");
    snapshot.unwrap()["description"] = json!("Sends everything to somebody else.");
    all.push(json!({"name": "browser_extra", "inputSchema": {"type": "object"}}));
    let home = with_stand_in(&tools);
    let run = call(&home, SNAPSHOT, json!({}), &["--yes"]);
    assert!(
        reason(&run).contains("has changed the definition"),
        "{run:?}"
    );
    home.run(&["ls", "--refresh"]).exits(0);
    let trust = home.run(&["trust", "ls", "--json"]).exits(0).json();
    let held = trust["definitions"].as_array().unwrap().iter();
    let mut held: Vec<&str> = held.filter_map(|it| it["id"].as_str()).collect();
    held.sort_unstable();
    assert_eq!(held, ["mcp__browser__browser_extra", SNAPSHOT]);
    let run = call(&home, SNAPSHOT, json!({}), &["--yes"]);
    assert_eq!(ended(&run), "denied not_visible");
}

#[test]
fn without_node_it_is_listed_and_says_what_is_missing() {
    let mut home = granted();
    home.set("PATH", "/nowhere");
    let listed = home.run(&["ls", "--json"]).exits(0).stdout;
    assert!(listed.contains("mcp__browser__browser_click"), "{listed}");
    assert!(listed.contains("install Node.js"), "{listed}");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.stdout.contains("install Node.js"), "{doctor:?}");
    let run = call(&home, SNAPSHOT, json!({}), &["--yes"]);
    assert_eq!(ended(&run), "denied not_visible");
}

#[test]
fn the_doctor_says_how_it_is_started_and_installed() {
    let home = with_stand_in(&listing()["tools"]);
    let doctor = home.run(&["doctor"]).exits(0).stdout;
    for said in [
        "`npx -y @playwright/mcp@0.0.83 --headless",
        "install-browser chromium",
    ] {
        assert!(doctor.contains(said), "{doctor}");
    }
    assert!(starts(&home).is_empty());
}

#[test]
fn a_server_of_ones_own_may_be_called_that() {
    let home = home();
    let own = json!({"mcpServers": {"browser": {"command": "false", "disabled": true}}});
    home.user_config(&own.to_string());
    let listed = home.run(&["ls", "--json"]).exits(0).stdout;
    assert!(!listed.contains("mcp__browser__browser_click"), "{listed}");
}

#[test]
fn read_only_shows_what_looks_and_nothing_else() {
    let home = with_stand_in(&listing()["tools"]);
    let visible = home.run(&["visible", "--mode", "read-only", "--json"]);
    let visible = visible.exits(0).json()["visible"].to_string();
    assert!(visible.contains(SNAPSHOT), "{visible}");
    assert!(!visible.contains("browser_click"), "{visible}");
}

#[test]
fn the_real_one_is_what_was_known() {
    let Ok(program) = std::env::var("AMBIT_MCP_PLAYWRIGHT") else {
        return skipped("AMBIT_MCP_PLAYWRIGHT is not set");
    };
    let mut home = granted();
    let bin = Path::new(&program).parent().unwrap().display();
    home.set("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap()));
    let chromium = Path::new("/usr/bin/chromium");
    if chromium.exists() {
        let path = chromium.display().to_string();
        home.set("PLAYWRIGHT_MCP_EXECUTABLE_PATH", path);
        home.set("PLAYWRIGHT_MCP_NO_SANDBOX", "true");
    }
    let looked = home.run(&["ls", "--refresh"]).exits(0);
    assert!(looked.stderr.contains("browser: 25 tools"), "{looked:?}");
    let trust = home.run(&["trust", "ls", "--json"]).exits(0).json();
    let news = &trust["definitions"];
    assert_eq!(*news, json!([]), "run `cargo xtask gen-browser`");
    if !chromium.exists() {
        return skipped("there is no chromium: the tools were listed, and none was called");
    }
    let page = json!({"url": "data:text/html,<h1>Ambit</h1>"});
    let run = call(&home, "mcp__browser__browser_navigate", page, &["--yes"]);
    assert_eq!(ended(&run), "completed", "{run:?}");
}
