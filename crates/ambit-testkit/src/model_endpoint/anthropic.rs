//! A turn as Anthropic's messages stream it: a signed thought, text, calls.

use serde_json::{Value, json};

use super::rules::Usage;
use super::script::{PlayedTurn, pieces};

/// The events, and the signature that is wanted back with the results of its calls.
pub(super) fn events(
    turn: &PlayedTurn,
    number: usize,
    usage: &Usage,
) -> (Vec<String>, Option<String>) {
    let counts = json!({
        "input_tokens": usage.input, "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": 0, "output_tokens": 1,
    });
    let message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "stand-in",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": counts,
    });
    let mut events = vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "ping"}),
    ];
    let mut index = 0;
    let mut block = |block: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        let deltas = deltas.into_iter();
        events.extend(
            deltas.map(|it| json!({"type": "content_block_delta", "index": index, "delta": it})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    let signature = format!("signed-{number}");
    block(
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        vec![
            json!({"type": "thinking_delta", "thinking": "Hm."}),
            json!({"type": "signature_delta", "signature": signature}),
        ],
    );
    if !turn.say.is_empty() {
        let deltas = pieces(&turn.say).into_iter();
        block(
            json!({"type": "text", "text": ""}),
            deltas
                .map(|it| json!({"type": "text_delta", "text": it}))
                .collect(),
        );
    }
    for (n, (name, arguments)) in turn.calls.iter().enumerate() {
        let id = format!("toolu_{number}_{}", n + 1);
        let deltas = pieces(arguments).into_iter();
        block(
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            deltas
                .map(|it| json!({"type": "input_json_delta", "partial_json": it}))
                .collect(),
        );
    }
    let reason = match (turn.stop.as_deref(), turn.calls.is_empty()) {
        (Some("length"), _) => "max_tokens",
        (Some("refused"), _) => "refusal",
        (_, false) => "tool_use",
        (_, true) => "end_turn",
    };
    events.push(json!({
        "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"output_tokens": usage.output},
    }));
    events.push(json!({"type": "message_stop"}));
    let written = |data: &Value| {
        let name = data["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {data}\n\n")
    };
    let events = events.iter().map(written).collect();
    (events, (!turn.calls.is_empty()).then_some(signature))
}
