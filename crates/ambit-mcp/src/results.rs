//! What prompts and resources bring back, in the words of an output.

use ambit_core::observation::{Content, ErrorAnswer, Failure, Output};
use rmcp::model::{GetPromptResult, ReadResourceResult, ServerResult};
use serde_json::{Value, json};

use crate::map;

/// The result of any call.
pub(crate) fn output(result: ServerResult) -> Result<Output, Failure> {
    match result {
        ServerResult::CallToolResult(it) => map::completed(it),
        ServerResult::GetPromptResult(it) => Ok(prompt(&it)),
        ServerResult::ReadResourceResult(it) => Ok(resource(&it)),
        _ => Err(unexpected()),
    }
}

/// The server answered, but not what it was asked.
pub(crate) fn unexpected() -> Failure {
    Failure::provider("the server answered with something that is not the result of such a call")
}

/// A task's own error.
pub(crate) fn task_failure(error: &Value) -> Failure {
    let answer: Option<ErrorAnswer> = serde_json::from_value(error.clone()).ok();
    match answer {
        Some(answer) => Failure::provider(answer.message.clone()).with_answer(answer),
        None => Failure::provider("the server's task failed"),
    }
}

/// The messages, whole for a client and as content for anybody else.
fn prompt(result: &GetPromptResult) -> Output {
    let whole = serde_json::to_value(result).unwrap_or_default();
    let messages = result.messages.iter();
    Output {
        content: messages.map(|it| map::block(it.content.clone())).collect(),
        structured: Some(without_cache_hints(whole)),
        ..Output::default()
    }
}

/// Each piece as an embedded resource.
fn resource(result: &ReadResourceResult) -> Output {
    let pieces = serde_json::to_value(&result.contents).unwrap_or_default();
    let pieces = match pieces {
        Value::Array(pieces) => pieces,
        _ => Vec::new(),
    };
    Output {
        content: pieces
            .into_iter()
            .map(|it| Content::Block(json!({"type": "resource", "resource": it})))
            .collect(),
        ..Output::default()
    }
}

/// How long somebody else may keep it is between them and us.
fn without_cache_hints(mut result: Value) -> Value {
    if let Some(result) = result.as_object_mut() {
        for hint in ["ttlMs", "cacheScope", "resultType"] {
            result.remove(hint);
        }
    }
    result
}
