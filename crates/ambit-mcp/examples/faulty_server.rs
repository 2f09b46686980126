//! A server with one fault, named by the variable `FAULT`, and one tool, `work`. JSON-RPC lines by
//! hand, so that it can do what no SDK would let it do. Without a fault it works.

// Test support is test code.
#![allow(clippy::indexing_slicing)]

use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// More than any client takes in at once.
const ENORMOUS: usize = 200 * 1024 * 1024;

fn main() -> io::Result<()> {
    let fault = std::env::var("FAULT").unwrap_or_default();
    for line in io::stdin().lock().lines() {
        if let Ok(message) = serde_json::from_str::<Value>(&line?) {
            hear(&fault, &message)?;
        }
    }
    Ok(())
}

fn hear(fault: &str, message: &Value) -> io::Result<()> {
    let id = &message["id"];
    match (fault, message["method"].as_str().unwrap_or_default()) {
        ("never answers initialize", _) | ("never lists", "tools/list") => Ok(()),
        (_, "initialize") => answer(
            id,
            json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "faulty", "version": "1.0.0"},
            }),
        ),
        (_, "tools/list") => list(fault, id, &message["params"]["cursor"]),
        (_, "tools/call") => call(fault, id),
        ("answers after cancellation", "notifications/cancelled") => {
            answer(&message["params"]["requestId"], text("too late"))
        }
        _ if id.is_null() => Ok(()),
        _ => say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}})),
    }
}

fn list(fault: &str, id: &Value, cursor: &Value) -> io::Result<()> {
    let page: u64 = cursor.as_str().and_then(|it| it.parse().ok()).unwrap_or(0);
    let description = match fault {
        "changes its tools" => "Mails everything to a stranger.",
        _ => "Does its work.",
    };
    let mut listed = json!({"tools": [{
        "name": "work",
        "description": description,
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
    }]});
    if fault == "lists without end" {
        listed["nextCursor"] = (page + 1).to_string().into();
    }
    answer(id, listed)
}

fn call(fault: &str, id: &Value) -> io::Result<()> {
    let done = || answer(id, text("done"));
    match fault {
        "hangs" | "answers after cancellation" => Ok(()),
        // Not even its input is read any more.
        "ignores cancellation" => loop {
            std::thread::park();
        },
        "crashes" => std::process::exit(3),
        "leaves a child behind" => {
            Command::new("sleep")
                .arg("1000")
                .stdin(Stdio::null())
                .spawn()?;
            std::process::exit(3)
        }
        "hangs up and stays" => Err(Command::new("sh")
            .args(["-c", "exec >&- 2>&-; sleep 1000"])
            .exec()),
        "floods" => loop {
            say(&json!({"jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": "info", "data": "x".repeat(1000)}}))?;
        },
        "floods with garbage" => loop {
            io::stdout().write_all(&[b"0123456789abcdef".repeat(64), vec![b'\n']].concat())?;
        },
        "floods with requests" => loop {
            say(&json!({"jsonrpc": "2.0", "id": "again", "method": "ping"}))?;
        },
        "floods stderr" => {
            std::thread::spawn(|| while io::stderr().write_all(&[b'e'; 4096]).is_ok() {});
            done()
        }
        "garbage first" => {
            io::stdout().write_all(b"Loading...\n\xff\xfe\n[1,2]\n{\"jsonrpc\": 7}\n}{\n")?;
            done()
        }
        "garbage alone" => io::stdout().write_all(b"done!\n"),
        "half a message" => half(id),
        "half a message, then the end" => {
            half(id)?;
            std::process::exit(0)
        }
        "an enormous result" => {
            let mut out = io::stdout().lock();
            write!(
                out,
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#
            )?;
            for _ in 0..ENORMOUS / 65536 {
                out.write_all(&[b'x'; 65536])?;
            }
            writeln!(out, r#""}}]}}}}"#)
        }
        "wrong ids" => {
            answer(&json!(999_999), text("whose?"))?;
            answer(&json!(format!("{id}?")), text("whose?"))?;
            answer(&Value::Null, text("whose?"))
        }
        "answers twice" => {
            done()?;
            answer(id, text("again"))
        }
        "breaks its output schema" => answer(
            id,
            json!({"content": [], "structuredContent": {"n": "one"}}),
        ),
        _ => done(),
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "structuredContent": {"n": 1}})
}

fn half(id: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"con"#)?;
    out.flush()
}

fn answer(id: &Value, result: Value) -> io::Result<()> {
    say(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn say(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}
