//! A stand-in for GitHub, for the demo and the example: an MCP server on standard input and
//! output with the tools and answers of one file. It remembers nothing and reaches nothing.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use crate::cli::fail::{Exit, Fail};

/// Its tools, and what they answer.
const GITHUB: &str = include_str!("../../../../../examples/test-fix/github.json");
/// Spoken where the client asks for something else.
const PROTOCOL: &str = "2025-06-18";

/// Answers until there are no more requests.
pub(crate) fn serve() -> Result<Exit, Fail> {
    let github: Value = serde_json::from_str(GITHUB).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = match serde_json::from_str(&line?) {
            Ok(request) => request,
            Err(_) => continue,
        };
        if let Some(answer) = answer(&github, &request) {
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// The answer to a request; nothing to a notification.
fn answer(github: &Value, request: &Value) -> Option<Value> {
    let id = request.get("id")?;
    let params = |name: &str| request.pointer(&format!("/params/{name}"));
    let result = match request.get("method").and_then(Value::as_str)? {
        "initialize" => json!({
            "protocolVersion": params("protocolVersion").cloned().unwrap_or(PROTOCOL.into()),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "github-stand-in", "version": "1.0.0"},
        }),
        "ping" => json!({}),
        "tools/list" => json!({"tools": github.get("tools")}),
        "tools/call" => {
            let tool = params("name").and_then(Value::as_str).unwrap_or_default();
            called(github, tool, params("arguments"))
        }
        _ => {
            let error = json!({"code": -32601, "message": "there is no such method here"});
            return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn called(github: &Value, tool: &str, arguments: Option<&Value>) -> Value {
    let number = arguments.and_then(|it| it.get("number"));
    let number = number.map(ToString::to_string).unwrap_or_default();
    let answers = github.get("answers").and_then(|it| it.get(tool));
    match answers
        .and_then(|it| it.get(&number))
        .and_then(Value::as_str)
    {
        Some(text) => json!({"content": [{"type": "text", "text": text}]}),
        None => json!({
            "content": [{"type": "text", "text": "this stand-in only knows pull request 128"}],
            "isError": true,
        }),
    }
}
