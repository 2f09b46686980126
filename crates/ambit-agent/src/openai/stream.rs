//! Chunks of a chat completion, put together. Those who speak this API differ in how they number
//! calls, whether they say `[DONE]`, and what they stop with; all of it is taken.

use serde_json::{Value, json};

use super::NAME;
use crate::engine::{Listener, ModelNews, ModelTurn, StopReason};
use crate::http::{Assembly, Fault, Flow, limits, said};
use crate::message::AssistantPart;
use crate::usage::Usage;
use crate::written::{WrittenCall, room_for_one_more};

/// A completion so far.
#[derive(Debug, Default)]
pub(crate) struct Completion {
    text: String,
    thinking: String,
    /// Each with the number the provider gave it.
    calls: Vec<(Option<u64>, WrittenCall)>,
    refused: bool,
    stop: Option<StopReason>,
    usage: Usage,
}

impl Assembly for Completion {
    fn take(&mut self, data: &str, listener: &dyn Listener) -> Result<Flow, Fault> {
        if data.trim() == "[DONE]" {
            return Ok(Flow::Done);
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|error| Fault::Garbled(format!("an event is not JSON: {error}")))?;
        if chunk.get("error").is_some_and(|it| !it.is_null()) {
            return Err(said(&chunk).judged());
        }
        if let Some(usage) = chunk.get("usage").filter(|it| it.is_object()) {
            self.usage = read_usage(usage);
        }
        let Some(choice) = chunk.pointer("/choices/0") else {
            return Ok(Flow::More);
        };
        if let Some(delta) = choice.get("delta") {
            self.delta(delta, listener)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.stop = Some(match reason {
                "length" => StopReason::Length,
                "content_filter" => StopReason::Refused,
                _ => StopReason::Answered,
            });
        }
        Ok(Flow::More)
    }

    fn finish(self) -> Result<ModelTurn, Fault> {
        let Some(stop) = self.stop else {
            return Err(Fault::Connection(
                "the answer broke off in the middle".to_owned(),
            ));
        };
        let mut parts = Vec::new();
        // Models that think between calls want their thoughts back with the results; after an
        // answer nobody does.
        if !self.thinking.is_empty() && !self.calls.is_empty() {
            parts.push(AssistantPart::Kept {
                engine: NAME.to_owned(),
                value: json!({"reasoning_content": self.thinking}),
            });
        }
        if !self.text.is_empty() {
            parts.push(AssistantPart::Text { text: self.text });
        }
        let stop = match stop {
            // Some say `stop` although there are calls.
            StopReason::Answered if !self.calls.is_empty() => StopReason::WantsTools,
            StopReason::Answered if self.refused => StopReason::Refused,
            stop => stop,
        };
        let calls = self.calls.into_iter().enumerate();
        parts.extend(calls.map(|(place, (_, call))| AssistantPart::Call(call.whole(place))));
        Ok(ModelTurn {
            parts,
            stop,
            usage: self.usage,
        })
    }
}

impl Completion {
    fn delta(&mut self, delta: &Value, listener: &dyn Listener) -> Result<(), Fault> {
        let word = |name: &str| {
            let text = delta.get(name).and_then(Value::as_str);
            text.filter(|it| !it.is_empty())
        };
        if let Some(thought) = word("reasoning_content").or(word("reasoning")) {
            self.thinking.push_str(thought);
            listener.hear(ModelNews::Thinking(thought));
        }
        self.refused |= word("refusal").is_some();
        for text in [word("content"), word("refusal")].into_iter().flatten() {
            self.text.push_str(text);
            listener.hear(ModelNews::Text(text));
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for piece in calls.into_iter().flatten() {
            self.call(piece, listener)?;
        }
        Ok(())
    }

    /// A piece of a call: of the one it names, or else of the last one.
    fn call(&mut self, piece: &Value, listener: &dyn Listener) -> Result<(), Fault> {
        let number = piece.get("index").and_then(Value::as_u64);
        let word = |pointer: &str| piece.pointer(pointer).and_then(Value::as_str);
        let id = word("/id").unwrap_or_default();
        let name = word("/function/name").unwrap_or_default();
        let place = match number {
            Some(_) => self.calls.iter().rposition(|(known, _)| *known == number),
            None => self.calls.len().checked_sub(1),
        };
        // Some give every call the same number and tell them apart by id.
        let place = place.filter(|place| {
            let known = self.calls.get(*place).map_or("", |(_, call)| &call.id);
            id.is_empty() || known.is_empty() || known == id
        });
        let place = match place {
            Some(place) => place,
            None => {
                room_for_one_more(self.calls.len(), "the number of calls", limits::CALLS)?;
                let call = WrittenCall::begun(id, name, listener);
                self.calls.push((number, call));
                self.calls.len() - 1
            }
        };
        let Some((_, call)) = self.calls.get_mut(place) else {
            return Ok(());
        };
        if call.name.is_empty() && !name.is_empty() {
            call.name = name.to_owned();
            listener.hear(ModelNews::Calling(name));
        }
        if call.id.is_empty() {
            call.id = id.to_owned();
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(text)) => call.push(text),
            Some(whole @ Value::Object(_)) => call.push(&whole.to_string()),
            _ => Ok(()),
        }
    }
}

/// Cached tokens are part of the prompt's here, and counted apart in Ambit.
fn read_usage(usage: &Value) -> Usage {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let cached_input = count("/prompt_tokens_details/cached_tokens");
    let cache_write = count("/prompt_tokens_details/cache_write_tokens");
    Usage {
        input: count("/prompt_tokens")
            .saturating_sub(cached_input)
            .saturating_sub(cache_write),
        cached_input,
        cache_write,
        output: count("/completion_tokens"),
        cost: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Unheard;

    /// The deltas of a stream, a line each, and what becomes of them.
    #[track_caller]
    fn check(deltas: &[&str], end: &str, expected: &str) {
        let mut completion = Completion::default();
        for delta in deltas {
            let chunk = format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#);
            completion.take(&chunk, &Unheard).unwrap();
        }
        let chunk = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":{end}}}]}}"#);
        completion.take(&chunk, &Unheard).unwrap();
        let turn = completion.finish().unwrap();
        let calls = turn.calls().map(|it| {
            let arguments = it.arguments.as_object();
            format!("{} {} {arguments}", it.id, it.name)
        });
        let calls: Vec<String> = calls.collect();
        let found = format!("{:?} {:?} {}", turn.stop, turn.text(), calls.join(", "));
        assert_eq!(found, expected);
    }

    #[test]
    fn calls_are_told_apart_however_they_are_numbered() {
        // One number for all, and an id each.
        check(
            &[
                r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"n\":1}"}}]}"#,
                r#"{"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}]}"#,
            ],
            r#""tool_calls""#,
            r#"WantsTools "" a x {"n":1}, b y {}"#,
        );
        // No numbers.
        check(
            &[
                r#"{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{\"n\""}}]}"#,
                r#"{"tool_calls":[{"function":{"arguments":":1}"}}]}"#,
                r#"{"tool_calls":[{"id":"b","function":{"name":"y"}}]}"#,
            ],
            r#""tool_calls""#,
            r#"WantsTools "" a x {"n":1}, b y {}"#,
        );
        // No ids, a name that comes later and again, arguments that are no text.
        check(
            &[
                r#"{"tool_calls":[{"index":0,"function":{"arguments":""}}]}"#,
                r#"{"tool_calls":[{"index":0,"function":{"name":"x"}}]}"#,
                r#"{"tool_calls":[{"index":0,"function":{"name":"x","arguments":{"n":1}}}]}"#,
                r#"{"tool_calls":[{"index":1,"id":"","function":{"name":"y","arguments":null}}]}"#,
            ],
            r#""stop""#,
            r#"WantsTools "" call_1 x {"n":1}, call_2 y {}"#,
        );
    }

    #[test]
    fn reasons_to_stop_are_understood() {
        check(&[r#"{"content":"a"}"#], r#""stop""#, r#"Answered "a" "#);
        check(&[r#"{"content":null}"#], r#""length""#, r#"Length "" "#);
        check(&[r#"{"refusal":"no"}"#], r#""stop""#, r#"Refused "no" "#);
        check(&[], r#""content_filter""#, r#"Refused "" "#);
        // A call cut short is text.
        check(
            &[
                r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"n"}}]}"#,
            ],
            r#""length""#,
            r#"Length "" a x {"malformed":"{\"n"}"#,
        );
    }
}
