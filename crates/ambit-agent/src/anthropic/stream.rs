//! Events of a message, put together block by block. Events and blocks that are not known are
//! passed over: the API says that there will be more.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::NAME;
use crate::engine::{Listener, ModelNews, ModelTurn, StopReason};
use crate::http::{Assembly, Fault, Flow, limits, said};
use crate::message::AssistantPart;
use crate::usage::Usage;
use crate::written::{WrittenCall, room_for_one_more};

/// A message so far.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    blocks: BTreeMap<u64, Block>,
    calls: usize,
    stop: Option<StopReason>,
    usage: Usage,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call {
        call: WrittenCall,
        /// What stood in the block when it began; usually nothing.
        input: Value,
    },
    /// Signed, and wanted back as it is.
    Thinking {
        thinking: String,
        signature: String,
    },
    /// Anything else that is wanted back as it is.
    Other(Value),
}

impl Assembly for Blocks {
    fn take(&mut self, data: &str, listener: &dyn Listener) -> Result<Flow, Fault> {
        let event: Value = serde_json::from_str(data)
            .map_err(|error| Fault::Garbled(format!("an event is not JSON: {error}")))?;
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match event.get("type").and_then(Value::as_str) {
            Some("error") => return Err(said(&event).judged()),
            Some("message_stop") => return Ok(Flow::Done),
            Some("message_start") => self.count(event.pointer("/message/usage")),
            Some("content_block_start") => {
                let block = event.get("content_block").cloned().unwrap_or_default();
                self.begin(index, block, listener)?;
            }
            Some("content_block_delta") => {
                if let (Some(block), Some(delta)) =
                    (self.blocks.get_mut(&index), event.get("delta"))
                {
                    block.extend(delta, listener)?;
                }
            }
            Some("message_delta") => {
                self.count(event.get("usage"));
                let reason = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                if let Some(reason) = reason {
                    self.stop = Some(stop(reason));
                }
            }
            _ => {}
        }
        Ok(Flow::More)
    }

    fn finish(self) -> Result<ModelTurn, Fault> {
        let Some(stop) = self.stop else {
            return Err(Fault::Connection(
                "the answer broke off in the middle".to_owned(),
            ));
        };
        let blocks = self.blocks.into_values().enumerate();
        let parts: Vec<AssistantPart> = blocks.filter_map(|(n, block)| block.part(n)).collect();
        let has_calls = parts.iter().any(|it| it.as_call().is_some());
        let stop = match stop {
            StopReason::Answered if has_calls => StopReason::WantsTools,
            StopReason::WantsTools if !has_calls => StopReason::Answered,
            stop => stop,
        };
        Ok(ModelTurn {
            parts,
            stop,
            usage: self.usage,
        })
    }
}

impl Blocks {
    fn begin(&mut self, index: u64, block: Value, listener: &dyn Listener) -> Result<(), Fault> {
        room_for_one_more(self.blocks.len(), "the number of blocks", limits::BLOCKS)?;
        let word = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        let begun = match word("type") {
            "text" => {
                let text = word("text").to_owned();
                if !text.is_empty() {
                    listener.hear(ModelNews::Text(&text));
                }
                Block::Text(text)
            }
            "thinking" => Block::Thinking {
                thinking: word("thinking").to_owned(),
                signature: word("signature").to_owned(),
            },
            "tool_use" => {
                room_for_one_more(self.calls, "the number of calls", limits::CALLS)?;
                self.calls += 1;
                Block::Call {
                    call: WrittenCall::begun(word("id"), word("name"), listener),
                    input: block.get("input").cloned().unwrap_or_default(),
                }
            }
            _ => Block::Other(block),
        };
        self.blocks.insert(index, begun);
        Ok(())
    }

    /// Counts come at the beginning, and again at the end; what is said again is the sum so far.
    fn count(&mut self, usage: Option<&Value>) {
        let count = |name: &str| usage.and_then(|it| it.get(name)).and_then(Value::as_u64);
        let places = [
            ("input_tokens", &mut self.usage.input),
            ("cache_read_input_tokens", &mut self.usage.cached_input),
            ("cache_creation_input_tokens", &mut self.usage.cache_write),
            ("output_tokens", &mut self.usage.output),
        ];
        for (name, place) in places {
            if let Some(count) = count(name) {
                *place = count;
            }
        }
    }
}

impl Block {
    fn extend(&mut self, delta: &Value, listener: &dyn Listener) -> Result<(), Fault> {
        let word = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        match (word("type"), self) {
            ("text_delta", Block::Text(text)) => {
                text.push_str(word("text"));
                listener.hear(ModelNews::Text(word("text")));
            }
            ("input_json_delta", Block::Call { call, .. }) => call.push(word("partial_json"))?,
            ("thinking_delta", Block::Thinking { thinking, .. }) => {
                thinking.push_str(word("thinking"));
                listener.hear(ModelNews::Thinking(word("thinking")));
            }
            ("signature_delta", Block::Thinking { signature, .. }) => {
                signature.push_str(word("signature"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Nothing, for a text without words.
    fn part(self, place: usize) -> Option<AssistantPart> {
        let kept = |value: Value| AssistantPart::Kept {
            engine: NAME.to_owned(),
            value,
        };
        Some(match self {
            Block::Text(text) if text.is_empty() => return None,
            Block::Text(text) => AssistantPart::Text { text },
            Block::Call { mut call, input } => {
                if call.is_bare() && input.as_object().is_some_and(|it| !it.is_empty()) {
                    // Too large to be taken means too large to have come as an event.
                    let _ = call.push(&input.to_string());
                }
                AssistantPart::Call(call.whole(place))
            }
            Block::Thinking {
                thinking,
                signature,
            } => kept(json!({"type": "thinking", "thinking": thinking, "signature": signature})),
            Block::Other(value) => kept(value),
        })
    }
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::WantsTools,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refused,
        _ => StopReason::Answered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Unheard;

    /// The first block of a message and what it is stopped with; the parts of the turn.
    #[track_caller]
    fn check(block: &str, delta: &str, reason: &str, expected: &str) {
        let mut blocks = Blocks::default();
        for event in [
            format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#),
            format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#),
            format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#),
        ] {
            assert_eq!(blocks.take(&event, &Unheard).unwrap(), Flow::More);
        }
        let turn = blocks.finish().unwrap();
        let parts = serde_json::to_string(&turn.parts).unwrap();
        assert_eq!(format!("{:?} {parts}", turn.stop), expected);
    }

    #[test]
    fn blocks_become_parts() {
        check(
            r#"{"type":"tool_use","id":"a","name":"x","input":{"n":1}}"#,
            "{}",
            "tool_use",
            r#"WantsTools [{"type":"call","id":"a","name":"x","arguments":{"object":{"n":1}}}]"#,
        );
        check(
            r#"{"type":"redacted_thinking","data":"…"}"#,
            "{}",
            "end_turn",
            r#"Answered [{"type":"kept","engine":"anthropic","value":{"data":"…","type":"redacted_thinking"}}]"#,
        );
        check(
            r#"{"type":"text","text":""}"#,
            r#"{"type":"citations_delta"}"#,
            "model_context_window_exceeded",
            "Length []",
        );
        check(
            r#"{"type":"text","text":"No"}"#,
            r#"{"type":"text_delta","text":"!"}"#,
            "refusal",
            r#"Refused [{"type":"text","text":"No!"}]"#,
        );
    }

    #[test]
    fn what_broke_off_is_no_turn() {
        assert!(matches!(
            Blocks::default().finish(),
            Err(Fault::Connection(_))
        ));
    }
}
