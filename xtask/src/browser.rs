//! What the browser's server lists, asked of the real one and kept beside the code that starts it:
//! so that Ambit knows its tools before anybody has started it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::run::{Failure, Result};

const PACKAGE: &str = "@playwright/mcp";
const ARGS: [&str; 4] = ["--headless", "--isolated", "--browser", "chromium"];
const FILE: &str = "crates/ambit/assets/browser.json";

/// Starts this version, lists its tools, and writes them down.
pub(crate) fn run(root: &Path, version: &str) -> Result {
    let mut server = Command::new("npx")
        .args(["-y", &format!("{PACKAGE}@{version}")])
        .args(ARGS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("`npx` cannot be started: {error}")))?;
    let listed = listed(&mut server);
    let _ = server.kill();
    let _ = server.wait();
    let (about, tools) = listed?;
    let shipped = json!({
        "package": PACKAGE,
        "version": version,
        "args": ARGS,
        "about": {
            "version": about.pointer("/serverInfo/version"),
            "instructions": about.get("instructions").unwrap_or(&json!("")),
        },
        "tools": tools,
    });
    let text = serde_json::to_string_pretty(&shipped).map_err(|it| failed(it.to_string()))?;
    std::fs::write(root.join(FILE), text + "\n").map_err(|it| failed(it.to_string()))?;
    println!("wrote {FILE}; `VERSION` in crates/ambit/src/browser.rs has to say {version}");
    Ok(())
}

fn listed(server: &mut Child) -> Result<(Value, Value)> {
    let gone = || failed("the server has no standard streams".to_owned());
    let mut input = server.stdin.take().ok_or_else(gone)?;
    let mut lines = BufReader::new(server.stdout.take().ok_or_else(gone)?).lines();
    let mut ask = |id: u32, method: &str, params: Value| -> Result<Value> {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").map_err(|it| failed(it.to_string()))?;
        for line in lines.by_ref() {
            let line = line.map_err(|it| failed(it.to_string()))?;
            let answer: Value = serde_json::from_str(&line).unwrap_or_default();
            if answer.get("id") == Some(&json!(id)) {
                return Ok(answer.get("result").cloned().unwrap_or_default());
            }
        }
        Err(failed(format!("the server went away at `{method}`")))
    };
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "ambit", "version": "0"},
    });
    let about = ask(1, "initialize", hello)?;
    let mut tools = Vec::new();
    let mut cursor = Value::Null;
    for id in 2.. {
        let params = match &cursor {
            Value::Null => json!({}),
            cursor => json!({"cursor": cursor}),
        };
        let page = ask(id, "tools/list", params)?;
        let listed = page.get("tools").and_then(Value::as_array);
        tools.extend(listed.cloned().unwrap_or_default());
        cursor = page.get("nextCursor").cloned().unwrap_or_default();
        if cursor.is_null() {
            break;
        }
    }
    Ok((about, Value::Array(tools)))
}

fn failed(what: String) -> Failure {
    Failure::Found(what)
}
