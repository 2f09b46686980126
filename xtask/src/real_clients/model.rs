//! A stand-in for a model: it speaks as much of the Anthropic Messages API and of the OpenAI
//! Responses API as it takes to ask for one tool and then to be content with the answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::{CONTENT, FILE, TOOL};
use crate::run::{Failure, Result};

/// A model that listens. Its threads end with the process.
pub(crate) struct Model {
    pub(crate) url: String,
    turns: Arc<Mutex<Turns>>,
}

/// What happened so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// The tool it asked for, as it was listed.
    pub(crate) asked: Option<String>,
    /// Whether a later request had what the tool reads.
    pub(crate) result_arrived: bool,
    /// What was listed when there was nothing to ask for.
    listed: Vec<String>,
}

impl Model {
    pub(crate) fn start() -> Result<Self> {
        let failed = |error: io::Error| Failure::Found(format!("no port to listen on: {error}"));
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let url = format!("http://{}", listener.local_addr().map_err(failed)?);
        let turns = Arc::<Mutex<Turns>>::default();
        let seen = Arc::clone(&turns);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                // A client that goes away in mid-sentence is told of by what it then says itself.
                std::thread::spawn(move || drop(answer(stream, &seen)));
            }
        });
        Ok(Model { url, turns })
    }

    pub(crate) fn turns(&self) -> Turns {
        let turns = self.turns.lock();
        turns.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads one request and answers it.
fn answer(mut stream: TcpStream, turns: &Mutex<Turns>) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or(0);
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    let events = match path {
        "/v1/messages" => messages(&wish(&request, "messages", turns)),
        "/v1/responses" => responses(&wish(&request, "input", turns)),
        _ => Vec::new(),
    };
    let (kind, text) = match events.is_empty() {
        true => ("application/json", "{}".to_owned()),
        false => ("text/event-stream", events.iter().map(event).collect()),
    };
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
    )
}

fn event(data: &Value) -> String {
    let name = data.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}

/// What the model does with a request.
enum Wish {
    Call {
        name: String,
        namespace: Option<String>,
        arguments: Value,
    },
    Say(&'static str),
}

/// Asks for the tool until its result is in the conversation: by its name where it is listed, or
/// else by way of `call_tool`.
fn wish(request: &Value, conversation: &str, turns: &Mutex<Turns>) -> Wish {
    let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
    let said = request.get(conversation).map(Value::to_string);
    if said.is_some_and(|it| it.contains(CONTENT)) {
        turns.result_arrived = true;
        return Wish::Say("Apples.");
    }
    let listed = tools(request);
    let named = |wanted: &str| listed.iter().find(|(name, _)| name.ends_with(wanted));
    let arguments = json!({"path": FILE});
    let (found, arguments) = match named(TOOL) {
        Some(found) => (Some(found), arguments),
        None => {
            let arguments = json!({"name": TOOL, "arguments": arguments});
            (named("call_tool"), arguments)
        }
    };
    match found {
        Some((name, namespace)) if turns.asked.is_none() => {
            turns.asked = Some(name.clone());
            Wish::Call {
                name: name.clone(),
                namespace: namespace.clone(),
                arguments,
            }
        }
        _ => {
            turns.listed = listed.into_iter().map(|(name, _)| name).collect();
            Wish::Say("There is no such tool.")
        }
    }
}

/// The names of all tools, each with the namespace it is in.
fn tools(request: &Value) -> Vec<(String, Option<String>)> {
    let list = |it: &Value| it.get("tools").and_then(Value::as_array).cloned();
    let name = |it: &Value| Some(it.get("name")?.as_str()?.to_owned());
    let mut all = Vec::new();
    for tool in list(request).unwrap_or_default() {
        match list(&tool) {
            Some(inner) => {
                let names = inner.iter().filter_map(name);
                all.extend(names.map(|it| (it, name(&tool))));
            }
            None => all.extend(name(&tool).map(|it| (it, None))),
        }
    }
    all
}

/// A message as Anthropic's API streams it.
fn messages(wish: &Wish) -> Vec<Value> {
    let (block, delta, reason) = match wish {
        Wish::Call {
            name, arguments, ..
        } => (
            json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
            "tool_use",
        ),
        Wish::Say(text) => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
    };
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 1},
        }),
        json!({"type": "message_stop"}),
    ]
}

/// A response as OpenAI's API streams it.
fn responses(wish: &Wish) -> Vec<Value> {
    let item = match wish {
        Wish::Call {
            name,
            namespace,
            arguments,
        } => json!({
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed",
            "name": name, "namespace": namespace, "arguments": arguments.to_string(),
        }),
        Wish::Say(text) => json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
    vec![
        json!({"type": "response.created", "response": {"id": "resp_1"}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}),
    ]
}
