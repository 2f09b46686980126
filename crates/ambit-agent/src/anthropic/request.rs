//! A request for a message.
//!
//! A tool that came into view in mid-conversation is deferred, and the result that brought it
//! refers to it: what stood before stays as it was. The API takes no words beside references in a
//! result, so the words of that result follow behind the results.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::NAME;
use super::marks::{mark_messages, mark_system, mark_tools};
use super::models::Reveal;
use crate::engine::ModelRequest;
use crate::message::{AssistantPart, Message, ToolResult};
use crate::piece::{Piece, pieces, text_of};

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

/// What some result brought into view, of what is there. Not all tools can be deferred, and an
/// error can refer to nothing.
fn deferred<'a>(request: &ModelRequest<'a>) -> BTreeSet<&'a str> {
    let results = request.messages.iter().flat_map(|message| match message {
        Message::Results { results } => results.as_slice(),
        Message::User { .. } | Message::Assistant { .. } => &[],
    });
    let revealed: BTreeSet<&str> = results
        .filter(|it| !it.is_error)
        .flat_map(|it| it.reveals.iter().map(String::as_str))
        .collect();
    let tools: BTreeSet<&str> = request
        .projection
        .tools
        .iter()
        .filter_map(name_of)
        .collect();
    let deferred: BTreeSet<&str> = tools.intersection(&revealed).copied().collect();
    match deferred.len() < tools.len() {
        true => deferred,
        false => BTreeSet::new(),
    }
}

fn tools(tools: &[Value], deferred: &BTreeSet<&str>) -> Value {
    let mut tools = tools.to_vec();
    for tool in &mut tools {
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
            Message::Results { results } => ("user", results_blocks(results, deferred)),
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

fn results_blocks(results: &[ToolResult], deferred: &BTreeSet<&str>) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut behind = Vec::new();
    for result in results {
        let reveals = result.reveals.iter().filter(|_| !result.is_error);
        let references: Vec<Value> = reveals
            .filter(|name| deferred.contains(name.as_str()))
            .map(|name| json!({"type": "tool_reference", "tool_name": name}))
            .collect();
        let id = harmless(&result.call);
        let mut block = json!({"type": "tool_result", "tool_use_id": id});
        let content = match (references.is_empty(), result.is_error) {
            (false, _) => {
                let words = text_of(&result.content);
                if !words.is_empty() {
                    behind.push(text(&format!("Result of `{}`:\n{words}", result.name)));
                }
                references
            }
            // An error may only have words.
            (true, true) => vec![text(&or_nothing(text_of(&result.content)))],
            (true, false) => content_blocks(&pieces(&result.content)),
        };
        if let Some(block) = block.as_object_mut() {
            if !content.is_empty() {
                block.insert("content".to_owned(), json!(content));
            }
            if result.is_error {
                block.insert("is_error".to_owned(), json!(true));
            }
        }
        blocks.push(block);
    }
    blocks.extend(behind);
    blocks
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
