//! Conversations from elsewhere, read from the files other programs leave: JSON or JSON Lines of
//! messages, sessions of Claude Code, rollouts of Codex.
//!
//! All of them are lists of objects with a role and a content somewhere inside, so one reading
//! serves them all. What is no part of the conversation (instructions, thinking, bookkeeping) is
//! passed over; what is not understood is reported by its line.

use ambit_core::redact::Redactor;
use jiff::Timestamp;
use serde_json::Value;
use thiserror::Error;

use super::message::Role;
use crate::moment::written;

/// As much of one message as is kept.
const MOST_CHARACTERS: usize = 100_000;

/// Why nothing can be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TranscriptError {
    /// It holds no messages.
    #[error("no messages were found in it")]
    NoMessages,
}

/// A conversation that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// What the program that wrote it calls it.
    pub(super) session: Option<String>,
    pub(super) messages: Vec<Said>,
    /// Lines that were not understood.
    pub skipped: Vec<Skipped>,
}

/// One message of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) role: Role,
    pub(super) text: String,
    pub(super) at: Option<String>,
}

/// A line that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Which, counted from 1.
    pub line: usize,
    /// Why.
    pub why: String,
}

impl Transcript {
    /// Reads a file's text. What must not be kept is taken out of every message by `redactor`.
    pub fn parse(text: &str, redactor: &Redactor) -> Result<Self, TranscriptError> {
        let text = text.trim_start_matches('\u{feff}');
        let mut reading = Reading {
            transcript: Transcript::default(),
            redactor,
        };
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(items)) => reading.take_all(&items),
            Ok(whole) => match whole.get("messages").and_then(Value::as_array) {
                Some(items) => {
                    reading.take_session(&whole);
                    reading.take_all(items);
                }
                None => reading.take_lines(text),
            },
            Err(_) => reading.take_lines(text),
        }
        let transcript = reading.transcript;
        match transcript.messages.is_empty() {
            true => Err(TranscriptError::NoMessages),
            false => Ok(transcript),
        }
    }

    /// How many messages it has.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether it has none. One that was read has.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

/// A file on its way to be a transcript.
struct Reading<'a> {
    transcript: Transcript,
    redactor: &'a Redactor,
}

impl Reading<'_> {
    fn take_all(&mut self, items: &[Value]) {
        for (item, line) in items.iter().zip(1..) {
            self.take_line(item, line);
        }
    }

    fn take_lines(&mut self, text: &str) {
        for (text, line) in text.lines().zip(1..) {
            if text.trim().is_empty() {
                continue;
            }
            match serde_json::from_str(text) {
                Ok(item) => self.take_line(&item, line),
                Err(error) => self.skip(line, format!("not JSON: {error}")),
            }
        }
    }

    fn take_line(&mut self, item: &Value, line: usize) {
        let before = self.transcript.messages.len();
        if !self.take(item) {
            let why = match item.is_object() {
                true => "neither a message nor anything known",
                false => "not an object",
            };
            self.skip(line, why.to_owned());
            self.transcript.messages.truncate(before);
        }
    }

    fn skip(&mut self, line: usize, why: String) {
        self.transcript.skipped.push(Skipped { line, why });
    }

    /// Takes in one object; whether it was understood.
    fn take(&mut self, item: &Value) -> bool {
        let at = moment(item);
        self.take_session(item);
        // Codex wraps what was said and what happened.
        if let Some(payload) = item.get("payload") {
            return match item["type"].as_str() {
                Some("response_item") => self.take_inner(payload, at),
                Some("session_meta") => {
                    self.name(&payload["id"]);
                    true
                }
                kind => kind.is_some(),
            };
        }
        // Claude Code wraps messages, and marks those nobody said.
        if let Some(message) = item.get("message").filter(|it| it.is_object()) {
            let is_aside = item["isMeta"] == true || item["isSidechain"] == true;
            return is_aside || self.take_inner(message, at);
        }
        self.take_inner(item, at)
    }

    fn take_inner(&mut self, item: &Value, at: Option<String>) -> bool {
        let at = at.or_else(|| moment(item));
        match item["type"].as_str() {
            Some("function_call" | "custom_tool_call" | "local_shell_call") => {
                let with = item
                    .get("arguments")
                    .or_else(|| item.get("input"))
                    .or_else(|| item.get("action"));
                self.take_call(&item["name"], with, at);
                return true;
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                self.take_result(&item["output"], at);
                return true;
            }
            _ => {}
        }
        let role = match item["role"].as_str() {
            Some("user" | "human") => Role::User,
            Some("assistant" | "model" | "ai") => Role::Assistant,
            Some("tool" | "function") => Role::Result,
            // Instructions are no part of what was said.
            Some("system" | "developer") => return true,
            Some(_) => return false,
            // Summaries, snapshots and other bookkeeping have a type and nobody who says it.
            None => return item["type"].is_string(),
        };
        match &item["content"] {
            Value::String(text) => self.take_text(role, text, at),
            Value::Array(blocks) => {
                for block in blocks {
                    self.take_block(role, block, at.clone());
                }
            }
            Value::Null => {}
            _ => return false,
        }
        true
    }

    fn take_block(&mut self, role: Role, block: &Value, at: Option<String>) {
        match (block["type"].as_str(), block["text"].as_str()) {
            (Some("text" | "input_text" | "output_text"), Some(text)) => {
                self.take_text(role, text, at);
            }
            (Some("tool_use"), _) => self.take_call(&block["name"], block.get("input"), at),
            (Some("tool_result"), _) => self.take_result(&block["content"], at),
            _ => {}
        }
    }

    fn take_call(&mut self, name: &Value, with: Option<&Value>, at: Option<String>) {
        let with = match with {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let name = name.as_str().unwrap_or("shell");
        self.take_text(Role::Call, &format!("{name} {with}"), at);
    }

    fn take_result(&mut self, content: &Value, at: Option<String>) {
        match content {
            Value::Array(blocks) => {
                for block in blocks {
                    if let Some(text) = block["text"].as_str() {
                        self.take_text(Role::Result, text, at.clone());
                    }
                }
            }
            Value::String(text) => self.take_text(Role::Result, text, at),
            Value::Null => {}
            other => self.take_text(Role::Result, &other.to_string(), at),
        }
    }

    fn take_text(&mut self, role: Role, text: &str, at: Option<String>) {
        let text = text.trim();
        // What Codex tells its model in the user's name.
        let is_aside = ["<environment_context>", "<user_instructions>"]
            .iter()
            .any(|it| text.starts_with(it));
        if text.is_empty() || is_aside {
            return;
        }
        let text = self.redactor.written(text);
        let text: String = text.chars().take(MOST_CHARACTERS).collect();
        self.transcript.messages.push(Said { role, text, at });
    }

    fn take_session(&mut self, item: &Value) {
        for key in ["sessionId", "session_id", "conversation_id"] {
            self.name(&item[key]);
        }
    }

    fn name(&mut self, id: &Value) {
        if let (None, Some(id)) = (&self.transcript.session, id.as_str()) {
            self.transcript.session = Some(id.to_owned());
        }
    }
}

/// When something was said, if it says so: as text, or as seconds or milliseconds.
fn moment(item: &Value) -> Option<String> {
    let keys = ["timestamp", "created_at", "at", "time"];
    let found = keys.iter().find_map(|it| item.get(*it))?;
    let at = match found {
        Value::String(text) => text.parse::<Timestamp>().ok()?,
        Value::Number(number) => {
            let number = number.as_f64()?;
            // Seconds reach this in the year 5138.
            let seconds = if number >= 1e11 { number / 1e3 } else { number };
            Timestamp::from_second(seconds as i64).ok()?
        }
        _ => return None,
    };
    Some(written(at))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn parse(text: &str) -> Result<Transcript, TranscriptError> {
        Transcript::parse(text, &Redactor::new(["hunter2hunter2"]))
    }

    #[test]
    fn secrets_stay_out() {
        check(
            r#"[{"role": "user", "content": "it is hunter2hunter2"}]"#,
            expect![[r#"
                - user: it is [redacted]
            "#]],
        );
    }

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let mut out = String::new();
        match parse(text) {
            Err(error) => out = error.to_string(),
            Ok(it) => {
                if let Some(session) = &it.session {
                    out += &format!("session {session}\n");
                }
                for said in &it.messages {
                    let at = said.at.as_deref().unwrap_or("-");
                    out += &format!("{at} {}: {}\n", said.role.as_str(), said.text);
                }
                for skipped in &it.skipped {
                    out += &format!("line {}: {}\n", skipped.line, skipped.why);
                }
            }
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn messages_as_json_and_as_lines() {
        check(
            r#"[{"role": "user", "content": "hi", "timestamp": 1767225600},
                {"role": "system", "content": "be nice"},
                {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}]"#,
            expect![[r#"
                2026-01-01T00:00:00Z user: hi
                - assistant: hello
            "#]],
        );
        check(
            r#"{"session_id": "x", "messages": [{"role": "user", "content": "hi", "created_at": 1767225600000}, 7]}"#,
            expect![[r#"
                session x
                2026-01-01T00:00:00Z user: hi
                line 2: not an object
            "#]],
        );
        check(
            "{\"role\": \"user\", \"content\": \"hi\", \"timestamp\": \"2026-01-01T01:00:00+01:00\"}\n\nnot json\n{\"role\": \"ghost\", \"content\": \"boo\"}\n{\"content\": 1}\n{\"role\": \"tool\", \"content\": \"7\"}\n",
            expect![[r#"
                2026-01-01T00:00:00Z user: hi
                - result: 7
                line 3: not JSON: expected ident at line 1 column 2
                line 4: neither a message nor anything known
                line 5: neither a message nor anything known
            "#]],
        );
    }

    #[test]
    fn sessions_of_claude_code() {
        check(
            r#"{"type":"summary","summary":"Flaky test","leafUuid":"u"}
{"type":"user","sessionId":"s1","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"why is it flaky?"}}
{"type":"user","sessionId":"s1","isMeta":true,"message":{"role":"user","content":"Caveat: …"}}
{"type":"assistant","sessionId":"s1","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","sessionId":"s1","timestamp":"2026-01-01T00:00:06.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a.rs"}]}]}}
{"type":"file-history-snapshot","messageId":"m"}"#,
            expect![[r#"
                session s1
                2026-01-01T00:00:00Z user: why is it flaky?
                2026-01-01T00:00:05Z assistant: I look.
                2026-01-01T00:00:05Z call: Bash {"command":"ls"}
                2026-01-01T00:00:06Z result: a.rs
            "#]],
        );
    }

    #[test]
    fn rollouts_of_codex() {
        check(
            r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"c1","cwd":"/w"}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}}
{"timestamp":"2026-01-01T00:00:02Z","type":"event_msg","payload":{"type":"user_message","message":"fix it"}}
{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"reasoning","summary":[]}}
{"timestamp":"2026-01-01T00:00:04Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"x"}}
{"timestamp":"2026-01-01T00:00:05Z","type":"response_item","payload":{"type":"function_call_output","call_id":"x","output":"a.rs"}}
{"timestamp":"2026-01-01T00:00:06Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#,
            expect![[r#"
                session c1
                2026-01-01T00:00:02Z user: fix it
                2026-01-01T00:00:04Z call: shell {"command":["ls"]}
                2026-01-01T00:00:05Z result: a.rs
                2026-01-01T00:00:06Z assistant: Done.
            "#]],
        );
    }

    #[test]
    fn what_is_no_conversation() {
        for text in [
            "",
            "[]",
            "{}",
            "hello",
            "{\"messages\": 3}",
            "[1, 2]",
            "\0\u{1}",
        ] {
            assert_eq!(parse(text), Err(TranscriptError::NoMessages));
        }
    }
}
