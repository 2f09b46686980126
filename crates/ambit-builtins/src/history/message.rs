//! What was said in a session, read from its events.
//!
//! Whoever speaks through a client of its own leaves goals, calls and results; a run of an agent
//! also leaves the messages themselves. Calls of this capability are left out: a search that
//! found earlier searches would only ever find itself.

use std::collections::{BTreeSet, HashMap};

use ambit_core::digest::Digest;
use ambit_core::event::{EventBody, ObservationRecord};
use ambit_core::id::CapabilityId;
use ambit_core::intent::CallId;
use ambit_core::turn::{Asked, TurnInput};
use ambit_runtime::journal::{Event, SessionId};
use serde_json::Value;

use crate::moment::written;

/// The events a message can come from, and those that say whose it is.
pub(super) const TYPES: &[&str] = &[
    "session.started",
    "turn.started",
    "message.user",
    "model.responded",
    "tool.intent",
    "tool.observation",
];

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    /// What was called, and with what.
    Call,
    /// What a call brought.
    Result,
}

impl Role {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Call => "call",
            Role::Result => "result",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Role> {
        [Role::User, Role::Assistant, Role::Call, Role::Result]
            .into_iter()
            .find(|it| it.as_str() == text)
    }
}

/// One message of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Its place in the thread; later ones have larger numbers.
    pub(super) number: i64,
    pub(super) role: Role,
    pub(super) text: String,
    pub(super) at: Option<String>,
    /// Whether it came from outside.
    pub(super) untrusted: bool,
}

/// Finds an object of the journal by its digest.
pub(super) type Objects<'a> = &'a dyn Fn(&Digest) -> Option<String>;

/// Sessions, as far as they have been read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// What the user said last in each. A goal is repeated with every turn.
    said: HashMap<SessionId, String>,
    /// Calls of this capability that have not ended.
    pub(super) own: BTreeSet<CallId>,
}

impl Reading {
    /// The message an event brings, if it brings one that was not there yet.
    pub(super) fn take(&mut self, event: &Event, objects: Objects<'_>) -> Option<Message> {
        match &event.body {
            EventBody::ToolIntent { call, id, .. } if is_own(id.as_ref()) => {
                self.own.insert(call.clone());
                return None;
            }
            EventBody::ToolObservation(record) if self.own.remove(&record.call) => return None,
            _ => {}
        }
        let message = message(event, objects)?;
        if message.role == Role::User {
            let said = self.said.entry(event.session.clone()).or_default();
            if said.starts_with(message.text.trim_end_matches('…')) {
                return None;
            }
            said.clone_from(&message.text);
        }
        Some(message)
    }
}

/// The message an event brings, taken by itself.
pub(super) fn message(event: &Event, objects: Objects<'_>) -> Option<Message> {
    let (role, text) = match &event.body {
        EventBody::TurnStarted { input, .. } => (Role::User, goal(input)?.to_owned()),
        EventBody::MessageUser { text, message } => (Role::User, whole(message, text, objects)),
        EventBody::ModelResponded { text, message, .. } => {
            (Role::Assistant, whole(message, text, objects))
        }
        EventBody::ToolIntent {
            target, arguments, ..
        } => (Role::Call, format!("{target} {arguments}")),
        EventBody::ToolObservation(record) => (Role::Result, result(record)),
        _ => return None,
    };
    let untrusted = matches!(&event.body, EventBody::ToolObservation(it) if it.untrusted);
    (!text.trim().is_empty()).then(|| Message {
        number: event.seq.cast_signed(),
        role,
        text,
        at: Some(written(event.at)),
        untrusted,
    })
}

fn is_own(id: Option<&CapabilityId>) -> bool {
    id.is_some_and(|it| it.to_string().starts_with("local__history__"))
}

fn goal(input: &TurnInput) -> Option<&str> {
    let mut texts = input.relevance.iter();
    let goal = texts.find(|it| it.asked == Asked::Goal)?;
    Some(&goal.text)
}

fn result(record: &ObservationRecord) -> String {
    match &record.reason {
        None => record.excerpt.clone(),
        Some(reason) => format!("{}: {reason}", record.status),
    }
}

/// The texts of a stored message; what the event quotes of it where it is not there any more.
fn whole(digest: &Digest, quoted: &str, objects: Objects<'_>) -> String {
    let stored = objects(digest).and_then(|it| serde_json::from_str::<Value>(&it).ok());
    let pieces = stored.as_ref().and_then(|it| {
        let pieces = it.get("content").or_else(|| it.get("parts"))?;
        pieces.as_array()
    });
    let Some(pieces) = pieces else {
        return quoted.to_owned();
    };
    let texts = pieces.iter().filter(|it| it["type"] == "text");
    let texts: Vec<&str> = texts.filter_map(|it| it["text"].as_str()).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use ambit_core::run::ModelUsage;
    use ambit_core::turn::Relevance;
    use serde_json::json;

    use super::*;

    fn intent(call: &str, id: &str) -> EventBody {
        EventBody::ToolIntent {
            call: CallId(call.to_owned()),
            turn: 1,
            target: id.to_owned(),
            via: None,
            id: Some(id.parse().unwrap()),
            arguments: json!({"query": "x"}),
            digest: Digest::ZERO,
        }
    }

    fn observation(call: &str, status: &str, text: &str) -> EventBody {
        let is_fine = status == "completed";
        EventBody::ToolObservation(ObservationRecord {
            call: CallId(call.to_owned()),
            status: status.to_owned(),
            code: None,
            reason: (!is_fine).then(|| text.to_owned()),
            bytes: 0,
            digest: Digest::ZERO,
            excerpt: if is_fine {
                text.to_owned()
            } else {
                String::new()
            },
            result_ref: None,
            untrusted: true,
            duration_ms: 0,
        })
    }

    fn turn(goal: &str) -> EventBody {
        let relevance = Relevance {
            asked: Asked::Goal,
            text: goal.to_owned(),
            hits: Vec::new(),
        };
        EventBody::TurnStarted {
            turn: 1,
            catalog: Digest::ZERO,
            policy: 1,
            granted: Digest::ZERO,
            input: Box::new(TurnInput {
                relevance: vec![relevance],
                ..TurnInput::default()
            }),
        }
    }

    fn responded(text: &str, message: Digest) -> EventBody {
        EventBody::ModelResponded {
            turn: 1,
            text: text.to_owned(),
            intents: Vec::new(),
            stop: "answered".to_owned(),
            usage: ModelUsage::default(),
            message,
        }
    }

    #[test]
    fn a_session_is_read_as_a_conversation() {
        let stored = Digest::of_bytes(b"stored");
        let parts = json!({"role": "assistant", "parts": [
            {"type": "kept", "engine": "e", "value": {"type": "text", "text": "no"}},
            {"type": "text", "text": "One."},
            {"type": "text", "text": "Two."},
        ]});
        let bodies = vec![
            turn("fix the te…"),
            EventBody::MessageUser {
                text: "fix the test".to_owned(),
                message: Digest::ZERO,
            },
            turn("fix the te…"),
            intent("c1", "local__history__search_threads"),
            intent("c2", "local__files__read_file"),
            observation("c1", "completed", "an earlier search"),
            observation("c2", "completed", "fn test()"),
            observation("c3", "denied", "not allowed"),
            observation("c4", "completed", ""),
            responded("One. T…", stored),
            responded("quoted", Digest::ZERO),
            turn("now another"),
        ];
        let objects = |digest: &Digest| (*digest == stored).then(|| parts.to_string());
        let mut reading = Reading::default();
        let read: Vec<String> = (1..)
            .zip(bodies)
            .filter_map(|(seq, body)| {
                let event = Event {
                    seq,
                    session: "s".parse().unwrap(),
                    at: "2026-01-01T00:00:00Z".parse().unwrap(),
                    body,
                    cause: None,
                    correlation: None,
                    hash: Digest::ZERO,
                };
                let it = reading.take(&event, &objects)?;
                Some(format!("{} {}: {}", it.number, it.role.as_str(), it.text))
            })
            .collect();
        assert_eq!(
            read,
            [
                "1 user: fix the te…",
                "2 user: fix the test",
                "5 call: local__files__read_file {\"query\":\"x\"}",
                "7 result: fn test()",
                "8 result: denied: not allowed",
                "10 assistant: One.\nTwo.",
                "11 assistant: quoted",
                "12 user: now another",
            ]
        );
    }
}
