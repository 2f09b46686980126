//! A request for chat completions. What does not change stands first, so that a provider that
//! remembers prefixes finds the longest one.

use serde_json::{Map, Value, json};

use super::NAME;
use crate::engine::ModelRequest;
use crate::message::{AssistantPart, Message, ToolResult};
use crate::piece::{Piece, pieces, text_of};
use crate::schema::fitted;

/// What is said with each request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) max_output: Option<u32>,
    pub(super) temperature: Option<f64>,
    pub(super) bound: Bound,
}

/// What the bound of an answer is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// By OpenAI, whose newer models refuse the old word.
    MaxCompletionTokens,
    /// By those who speak the same, not all of whom know the new one.
    MaxTokens,
}

/// Who calls it by its new name.
const NEW_WORD: &[&str] = &["//api.openai.com/", ".openai.azure.com/"];

impl Bound {
    /// At this address.
    pub(super) fn at(url: &str) -> Self {
        match NEW_WORD.iter().any(|host| url.contains(host)) {
            true => Bound::MaxCompletionTokens,
            false => Bound::MaxTokens,
        }
    }
}

/// The whole request.
pub(super) fn body(model: &str, request: &ModelRequest<'_>, settings: &Settings) -> Value {
    let mut body = Map::new();
    let mut say = |name: &str, value: Value| body.insert(name.to_owned(), value);
    say("model", json!(model));
    say("stream", json!(true));
    say("stream_options", json!({"include_usage": true}));
    if let Some(temperature) = settings.temperature {
        say("temperature", json!(temperature));
    }
    if let Some(most) = request.options.max_output.or(settings.max_output) {
        let word = match settings.bound {
            Bound::MaxCompletionTokens => "max_completion_tokens",
            Bound::MaxTokens => "max_tokens",
        };
        say(word, json!(most));
    }
    // An empty list is an error to some.
    if !request.projection.tools.is_empty() {
        let tools = request.projection.tools.iter().map(tool);
        say("tools", tools.collect());
    }
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system.join("\n\n")}));
    }
    for message in request.messages {
        write(message, &mut messages);
    }
    say("messages", json!(messages));
    Value::Object(body)
}

fn tool(tool: &Value) -> Value {
    let mut tool = tool.clone();
    if let Some(schema) = tool.pointer_mut("/function/parameters") {
        *schema = fitted(schema);
    }
    tool
}

fn write(message: &Message, messages: &mut Vec<Value>) {
    match message {
        Message::User { content } => {
            messages.push(json!({"role": "user", "content": parts(&pieces(content))}));
        }
        Message::Assistant { parts } => messages.extend(assistant(parts)),
        Message::Results { results } => {
            messages.extend(results.iter().map(result));
            // Results are text; what there is to look at comes after all of them, since they
            // have to follow their calls without a gap.
            messages.extend(results.iter().filter_map(images));
        }
    }
}

/// Nothing, for a message with nothing in it that this provider understands.
fn assistant(parts: &[AssistantPart]) -> Option<Value> {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let mut said = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            AssistantPart::Text { text } => said.push_str(text),
            AssistantPart::Call(call) => calls.push(json!({
                "id": call.id, "type": "function",
                "function": {"name": call.name, "arguments": call.arguments.as_object().to_string()},
            })),
            AssistantPart::Kept {
                engine,
                value: Value::Object(kept),
            } if engine == NAME => message.extend(kept.clone()),
            AssistantPart::Kept { .. } => {}
        }
    }
    if said.is_empty() && calls.is_empty() {
        return None;
    }
    let content = match said.is_empty() {
        true => Value::Null,
        false => json!(said),
    };
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), json!(calls));
    }
    Some(Value::Object(message))
}

fn result(result: &ToolResult) -> Value {
    json!({"role": "tool", "tool_call_id": result.call, "content": text_of(&result.content)})
}

fn images(result: &ToolResult) -> Option<Value> {
    let pieces = pieces(&result.content);
    let images: Vec<Piece<'_>> = pieces
        .into_iter()
        .filter(|it| matches!(it, Piece::Image { .. }))
        .collect();
    if images.is_empty() {
        return None;
    }
    let text = format!("What `{}` brought to look at:", result.name);
    let mut all = vec![Piece::Text(text)];
    all.extend(images);
    Some(json!({"role": "user", "content": parts(&all)}))
}

/// Text alone is a string: not everybody takes a list.
fn parts(pieces: &[Piece<'_>]) -> Value {
    if let [Piece::Text(text)] = pieces {
        return json!(text);
    }
    let part = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, data } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{media_type};base64,{data}")}})
        }
    };
    pieces.iter().map(part).collect()
}

#[cfg(test)]
mod tests;
