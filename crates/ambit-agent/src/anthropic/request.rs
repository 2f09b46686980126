//! A request for a message.
//!
//! A tool that came into view in mid-conversation is deferred, and referred to where it did: what
//! stood before stays as it was. The API takes references in a result that has nothing else, and
//! what a call brought must not be moved out of its own: outside of it, a stranger's words would
//! be the user's. So references stand in the result of a search that is written in for them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::NAME;
use super::marks::{mark_messages, mark_system, mark_tools};
use super::models::Reveal;
use crate::engine::ModelRequest;
use crate::message::{AssistantPart, Message, ToolResult};
use crate::piece::{Piece, pieces, text_of};
use crate::schema::fitted;

/// What a search for tools is called here.
const SEARCH: &str = "tool_search";

/// What is said with each request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) max_output: u32,
    pub(super) temperature: Option<f64>,
    pub(super) reveal: Reveal,
}

/// The whole request.
pub(super) fn body(model: &str, request: &ModelRequest<'_>, settings: &Settings) -> Value {
    let deferred = match settings.reveal {
        Reveal::InPlace => deferred(request),
        Reveal::Listed => BTreeSet::new(),
    };
    let most = request.options.max_output.unwrap_or(settings.max_output);
    let mut body = Map::new();
    let mut say = |name: &str, value: Value| body.insert(name.to_owned(), value);
    say("model", json!(model));
    say("max_tokens", json!(most));
    say("stream", json!(true));
    if let Some(temperature) = settings.temperature {
        say("temperature", json!(temperature));
    }
    if !request.projection.tools.is_empty() {
        say("tools", tools(&request.projection.tools, &deferred));
    }
    let blocks = request.system.iter().filter(|it| !it.is_empty());
    let mut system: Vec<Value> = blocks.map(|it| text(it)).collect();
    if !system.is_empty() {
        mark_system(&mut system);
        say("system", json!(system));
    }
    say("messages", messages(request.messages, &deferred));
    Value::Object(body)
}

fn name_of(tool: &Value) -> Option<&str> {
    tool.get("name").and_then(Value::as_str)
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// What some results brought into view, of what is there. Not all tools can be deferred.
fn deferred<'a>(request: &ModelRequest<'a>) -> BTreeSet<&'a str> {
    let pairs = request.messages.windows(2).flat_map(|pair| match pair {
        [Message::Assistant { parts }, Message::Results { results }]
            if parts.iter().any(|it| it.as_call().is_some()) =>
        {
            results.as_slice()
        }
        _ => &[],
    });
    let revealed: BTreeSet<&str> = pairs
        .flat_map(|it| it.reveals.iter().map(String::as_str))
        .collect();
    let tools = request.projection.tools.iter().filter_map(name_of);
    let tools: BTreeSet<&str> = tools.collect();
    let deferred: BTreeSet<&str> = tools.intersection(&revealed).copied().collect();
    match deferred.len() < tools.len() {
        true => deferred,
        false => BTreeSet::new(),
    }
}

fn tools(tools: &[Value], deferred: &BTreeSet<&str>) -> Value {
    let mut tools = tools.to_vec();
    for tool in &mut tools {
        if let Some(schema) = tool.get_mut("input_schema") {
            *schema = fitted(schema);
        }
        let is_deferred = name_of(tool).is_some_and(|name| deferred.contains(name));
        if let (true, Some(tool)) = (is_deferred, tool.as_object_mut()) {
            tool.insert("defer_loading".to_owned(), json!(true));
        }
    }
    mark_tools(&mut tools);
    Value::Array(tools)
}

/// Messages of one side that follow each other are one: results have to stand first in the one
/// after their calls.
fn messages(messages: &[Message], deferred: &BTreeSet<&str>) -> Value {
    let mut written: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::User { content } => ("user", content_blocks(&pieces(content))),
            Message::Assistant { parts } => ("assistant", parts.iter().filter_map(part).collect()),
            Message::Results { results } => {
                let mut blocks: Vec<Value> = results.iter().map(result_block).collect();
                let search = search(results, deferred);
                if let (Some((call, found)), Some(("assistant", calls))) =
                    (search, written.last_mut())
                {
                    calls.push(call);
                    blocks.push(found);
                }
                ("user", blocks)
            }
        };
        match written.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => written.push((role, blocks)),
        }
    }
    let object = |(role, content): (&str, Vec<Value>)| json!({"role": role, "content": content});
    let mut written: Vec<Value> = written.into_iter().map(object).collect();
    mark_messages(&mut written);
    Value::Array(written)
}

/// A search for what these results brought into view, and what it found.
fn search(results: &[ToolResult], deferred: &BTreeSet<&str>) -> Option<(Value, Value)> {
    let names = results.iter().flat_map(|it| &it.reveals);
    let names = names.map(String::as_str).filter(|it| deferred.contains(it));
    let names: Vec<&str> = names.collect();
    let reference = |name: &&str| json!({"type": "tool_reference", "tool_name": name});
    let found: Vec<Value> = names.iter().map(reference).collect();
    let first = results.first().map(|it| harmless(&it.call));
    let id = format!("in_view_{}", first.unwrap_or_default());
    let query = json!({"query": names.join(" ")});
    (!found.is_empty()).then(|| {
        (
            json!({"type": "tool_use", "id": id, "name": SEARCH, "input": query}),
            json!({"type": "tool_result", "tool_use_id": id, "content": found}),
        )
    })
}

fn part(part: &AssistantPart) -> Option<Value> {
    match part {
        // The API refuses text that is none.
        AssistantPart::Text { text: said } => (!said.trim().is_empty()).then(|| text(said)),
        AssistantPart::Call(call) => Some(json!({
            "type": "tool_use", "id": harmless(&call.id), "name": call.name,
            "input": call.arguments.as_object(),
        })),
        AssistantPart::Kept { engine, value } => (engine == NAME).then(|| value.clone()),
    }
}

fn result_block(result: &ToolResult) -> Value {
    let content = match result.is_error {
        // An error may only have words.
        true => vec![text(&or_nothing(text_of(&result.content)))],
        false => content_blocks(&pieces(&result.content)),
    };
    let mut block = Map::new();
    block.insert("type".to_owned(), json!("tool_result"));
    block.insert("tool_use_id".to_owned(), json!(harmless(&result.call)));
    if !content.is_empty() {
        block.insert("content".to_owned(), json!(content));
    }
    if result.is_error {
        block.insert("is_error".to_owned(), json!(true));
    }
    Value::Object(block)
}

fn or_nothing(words: String) -> String {
    match words.trim().is_empty() {
        true => "it failed without a word".to_owned(),
        false => words,
    }
}

fn content_blocks(pieces: &[Piece<'_>]) -> Vec<Value> {
    let blocks = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(said) => (!said.trim().is_empty()).then(|| text(said)),
        Piece::Image { media_type, data } => Some(json!({
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": data},
        })),
    });
    blocks.collect()
}

/// An id as this API takes it. Another provider may have given it.
fn harmless(id: &str) -> String {
    let harmless = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' || c == '-' => c,
        _ => '_',
    };
    id.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests;
