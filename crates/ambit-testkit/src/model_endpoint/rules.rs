//! What the real APIs refuse, as far as a client can get it wrong; and what they count.

use serde_json::{Value, json};

use super::script::PlayedTurn;

/// What a turn costs here: a token for every four bytes, with what the last request began with
/// counted apart.
pub(super) struct Usage {
    pub(super) input: usize,
    pub(super) cached: usize,
    pub(super) output: usize,
}

pub(super) fn usage(request: &Value, before: Option<&Value>, turn: &PlayedTurn) -> Usage {
    let read = as_read(request);
    let same = before.map_or(0, |before| {
        let before = as_read(before);
        let pairs = read.iter().zip(&before);
        let same = pairs.take_while(|(a, b)| a == b);
        same.map(|(it, _)| it.len()).sum()
    });
    let all: usize = read.iter().map(String::len).sum();
    let calls: usize = turn.calls.iter().map(|(a, b)| a.len() + b.len()).sum();
    Usage {
        input: (all - same) / 4,
        cached: same / 4,
        output: 1 + (turn.say.len() + calls) / 4,
    }
}

/// The pieces of a request in the order in which they are read: tools, system, messages. What is
/// deferred is not among them, and marks are not text.
fn as_read(request: &Value) -> Vec<String> {
    let list = |name: &str| request[name].as_array().cloned().unwrap_or_default();
    let tools = list("tools")
        .into_iter()
        .filter(|it| it["defer_loading"] != json!(true));
    let all = tools.chain(list("system")).chain(list("messages"));
    all.map(|mut it| {
        unmark(&mut it);
        it.to_string()
    })
    .collect()
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(unmark);
        }
        Value::Array(list) => list.iter_mut().for_each(unmark),
        _ => {}
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn ensure(holds: bool, otherwise: impl Into<String>) -> Result<(), String> {
    holds.then_some(()).ok_or_else(|| otherwise.into())
}

/// A plain object at its top.
fn schema(schema: &Value) -> Result<(), String> {
    let refused = ["oneOf", "anyOf", "allOf", "enum", "not"];
    let plain = refused.iter().all(|it| schema.get(it).is_none());
    ensure(
        plain && schema["type"] == "object",
        "a schema must have type 'object' and no combinators at its top",
    )
}

/// Chat completions: every call is answered right after it, and arguments are JSON.
pub(super) fn completions(request: &Value) -> Result<(), String> {
    ensure(request["stream"] == json!(true), "only streams are played")?;
    ensure(request["model"].is_string(), "`model` is missing")?;
    if let Some(tools) = request.get("tools") {
        ensure(!list(tools).is_empty(), "[] is too short - 'tools'")?;
        let named = |it: &Value| it["function"]["name"].is_string();
        ensure(list(tools).iter().all(named), "a tool without a function")?;
        for tool in list(tools) {
            schema(&tool["function"]["parameters"])?;
        }
    }
    let mut open: Vec<String> = Vec::new();
    for message in list(&request["messages"]) {
        let answers = message["tool_call_id"].as_str();
        match (message["role"].as_str(), answers) {
            (Some("tool"), Some(id)) => {
                let place = open.iter().position(|it| it == id);
                open.remove(place.ok_or(format!("nobody called `{id}`"))?);
                ensure(message["content"].is_string(), "a result is not text")?;
                continue;
            }
            (Some("system" | "user" | "assistant"), None) => {}
            _ => return Err(format!("what is {message}?")),
        }
        ensure(open.is_empty(), format!("unanswered: {open:?}"))?;
        for call in list(&message["tool_calls"]) {
            open.push(call["id"].as_str().unwrap_or_default().to_owned());
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            serde_json::from_str::<Value>(arguments)
                .map_err(|error| format!("arguments are not JSON: {error}"))?;
        }
    }
    ensure(open.is_empty(), format!("unanswered: {open:?}"))
}

/// Anthropic's messages: sides take turns, results come first, thoughts come back, references
/// lead somewhere, and marks are few.
pub(super) fn messages(request: &Value, signatures: &[String]) -> Result<(), String> {
    ensure(request["stream"] == json!(true), "only streams are played")?;
    ensure(request["max_tokens"].is_u64(), "max_tokens: Field required")?;
    let marks = request.to_string().matches("\"cache_control\"").count();
    ensure(
        marks <= 4,
        format!("{marks} blocks with cache_control, at most 4"),
    )?;
    let tools = list(&request["tools"]);
    let is_deferred = |it: &&Value| it["defer_loading"] == json!(true);
    let deferred: Vec<&Value> = tools.iter().filter(is_deferred).collect();
    ensure(
        tools.is_empty() || deferred.len() < tools.len(),
        "All tools have defer_loading set",
    )?;
    ensure(
        deferred.iter().all(|it| it.get("cache_control").is_none()),
        "Tools with defer_loading cannot use prompt caching",
    )?;
    for tool in tools {
        schema(&tool["input_schema"])?;
    }
    let mut role = "assistant";
    let mut open: Vec<&str> = Vec::new();
    let mut thoughts: Vec<&str> = Vec::new();
    for message in list(&request["messages"]) {
        let now = message["role"].as_str().unwrap_or_default();
        ensure(now != role, "roles must alternate, user first")?;
        role = now;
        let blocks = list(&message["content"]);
        ensure(!blocks.is_empty(), "content must not be empty")?;
        let results = blocks.iter().take_while(|it| it["type"] == "tool_result");
        let mut answered: Vec<&str> = results
            .filter_map(|it| it["tool_use_id"].as_str())
            .collect();
        answered.sort_unstable();
        open.sort_unstable();
        ensure(
            answered == open,
            format!("{open:?} were called, {answered:?} answered"),
        )?;
        open.clear();
        for block in blocks {
            match block["type"].as_str() {
                Some("tool_use") => {
                    open.extend(block["id"].as_str());
                    ensure(block["input"].is_object(), "input: should be an object")?;
                }
                Some("thinking") => thoughts.extend(block["signature"].as_str()),
                Some("text") => {
                    let text = block["text"].as_str().unwrap_or_default();
                    ensure(
                        !text.trim().is_empty(),
                        "text content blocks must be non-empty",
                    )?;
                }
                Some("tool_result") => result(block, &deferred)?,
                _ => {}
            }
        }
    }
    ensure(role == "user", "the last message must be the user's")?;
    let missing = signatures
        .iter()
        .find(|it| !thoughts.contains(&it.as_str()));
    ensure(
        missing.is_none(),
        format!("the thought {missing:?} was not sent back"),
    )
}

fn result(block: &Value, deferred: &[&Value]) -> Result<(), String> {
    let content = list(&block["content"]);
    let references = content.iter().filter(|it| it["type"] == "tool_reference");
    let names: Vec<&Value> = references.map(|it| &it["tool_name"]).collect();
    ensure(
        names.is_empty() || names.len() == content.len(),
        "tool_reference beside other content",
    )?;
    match names
        .iter()
        .find(|name| deferred.iter().all(|it| it["name"] != ***name))
    {
        Some(name) => Err(format!(
            "Tool reference {name} has no corresponding tool definition"
        )),
        None => Ok(()),
    }
}
