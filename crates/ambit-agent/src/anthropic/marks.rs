//! Where the prompt cache is told to remember. A request is read as tools, system, messages; a
//! mark says "all up to here may come again". There may be four: after the tools, after the
//! system prompt, after the last message, and after the one that was last the time before, since
//! the cache looks back only so many blocks for what it knows.

use serde_json::{Value, json};

/// Marks a block.
fn mark(block: &mut Value) {
    if let Some(block) = block.as_object_mut() {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// Marks the last tool that is read with the others. One that is deferred may not be marked.
pub(super) fn mark_tools(tools: &mut [Value]) {
    let listed = |it: &&mut Value| it.get("defer_loading").is_none();
    if let Some(last) = tools.iter_mut().rfind(listed) {
        mark(last);
    }
}

/// Marks the end of the system prompt.
pub(super) fn mark_system(blocks: &mut [Value]) {
    if let Some(last) = blocks.last_mut() {
        mark(last);
    }
}

/// Marks the ends of the last two messages that are not the model's.
pub(super) fn mark_messages(messages: &mut [Value]) {
    let asked = |it: &&mut Value| it.get("role").is_some_and(|role| role == "user");
    for message in messages.iter_mut().rev().filter(asked).take(2) {
        let content = message.get_mut("content").and_then(Value::as_array_mut);
        if let Some(last) = content.and_then(|it| it.last_mut()) {
            mark(last);
        }
    }
}
