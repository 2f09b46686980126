//! A turn as chat completions stream it: calls side by side, their arguments in pieces.

use serde_json::{Value, json};

use super::rules::Usage;
use super::script::{PlayedTurn, pieces};

pub(super) fn events(turn: &PlayedTurn, number: usize, usage: &Usage) -> Vec<String> {
    let mut chunks = vec![delta(json!({"role": "assistant", "content": ""}))];
    chunks.extend(
        pieces(&turn.say)
            .iter()
            .map(|it| delta(json!({"content": it}))),
    );
    for (n, (name, _)) in turn.calls.iter().enumerate() {
        let id = format!("call_{number}_{}", n + 1);
        chunks.push(delta(json!({"tool_calls": [{
            "index": n, "id": id, "type": "function", "function": {"name": name, "arguments": ""},
        }]})));
    }
    let written: Vec<Vec<String>> = turn.calls.iter().map(|(_, it)| pieces(it)).collect();
    let longest = written.iter().map(Vec::len).max().unwrap_or(0);
    for round in 0..longest {
        for (n, pieces) in written.iter().enumerate() {
            if let Some(piece) = pieces.get(round) {
                chunks.push(delta(
                    json!({"tool_calls": [{"index": n, "function": {"arguments": piece}}]}),
                ));
            }
        }
    }
    let reason = match (turn.stop.as_deref(), turn.calls.is_empty()) {
        (Some("length"), _) => "length",
        (Some("refused"), _) => "content_filter",
        (_, false) => "tool_calls",
        (_, true) => "stop",
    };
    chunks.push(chunk(
        json!([{"index": 0, "delta": {}, "finish_reason": reason}]),
    ));
    let mut last = chunk(json!([]));
    last["usage"] = json!({
        "prompt_tokens": usage.input + usage.cached, "completion_tokens": usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    });
    chunks.push(last);
    let mut events: Vec<String> = chunks.iter().map(|it| format!("data: {it}\n\n")).collect();
    // Some keep a connection alive in this way.
    events.insert(1, ": processing\n\n".to_owned());
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn delta(delta: Value) -> Value {
    chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]))
}

fn chunk(choices: Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in",
        "choices": choices, "usage": null,
    })
}
