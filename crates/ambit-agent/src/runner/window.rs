//! Keeps a conversation inside its model's window: old results become references that
//! `read_result` follows, and loaded skills a line that says how to load them again.
//!
//! It is done seldom and much at once. Each time changes what a provider has cached; between two
//! times a conversation only grows at its end.

use std::collections::BTreeMap;

use ambit_core::event::EventBody;
use ambit_core::observation::{Content, Output};
use ambit_runtime::injection::LOAD_SKILL;
use ambit_runtime::session::Session;
use serde_json::Value;

use super::transcript::Transcript;
use crate::message::{Arguments, AssistantPart, Message, ToolResult};

/// From here on old results have to go, in parts of a hundred of the window.
const FULL: u64 = 75;
/// How far they are taken back.
const EASED: u64 = 45;
/// Results that cost less than this stay as they are: a reference costs as much.
const SMALL: u64 = 120;
/// How much of a result its reference quotes.
const QUOTED: usize = 160;

/// How urgent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressure {
    /// Only if the window is nearly full.
    Usual,
    /// The model says that it is too much.
    Refused,
}

/// Makes room if need be. `beside` is what a request has beside the conversation. What was done,
/// in tokens before and after.
pub(super) fn make_room(
    transcript: &mut Transcript,
    session: &Session,
    turn: u32,
    beside: u64,
    window: u64,
    pressure: Pressure,
) -> Option<(u64, u64)> {
    let part = |hundredths: u64| window / 100 * hundredths;
    let from = transcript.tokens();
    if pressure == Pressure::Usual && from + beside < part(FULL) {
        return None;
    }
    let goal = part(EASED).saturating_sub(beside);
    let skills = loaded_skills(transcript.messages());
    let redactor = session.market().redactor();
    // The newest results are what the model asked for last; it has not read them yet.
    let last = transcript.messages().len().saturating_sub(1);
    let mut replaced = Vec::new();
    let mut objects = Vec::new();
    let mut before = 0;
    for at in 0..last {
        if transcript.tokens() <= goal {
            break;
        }
        let Some(Message::Results { results }) = transcript.messages().get(at) else {
            continue;
        };
        let small = |it: &ToolResult| weight(it) < SMALL;
        if results.iter().all(small) {
            continue;
        }
        let results = results.iter().map(|it| match small(it) {
            true => it.clone(),
            false => reference(it, session, &skills),
        });
        let message = Message::Results {
            results: results.collect(),
        };
        let written = transcript.replace(at, message, redactor);
        replaced.push((at as u32, written.digest));
        objects.push((written.digest, written.json));
        before = at + 1;
    }
    if replaced.is_empty() {
        return None;
    }
    let to = transcript.tokens();
    let body = EventBody::ContextCompacted {
        turn,
        before: before as u32,
        from,
        to,
        replaced,
    };
    session.record(body, objects);
    Some((from, to))
}

fn weight(result: &ToolResult) -> u64 {
    super::transcript::weigh(&Message::Results {
        results: vec![result.clone()],
    })
}

/// What stands for a result that has gone.
fn reference(
    result: &ToolResult,
    session: &Session,
    skills: &BTreeMap<String, String>,
) -> ToolResult {
    let text = match skills.get(&result.call) {
        Some(skill) => format!(
            "[the skill `{skill}` was loaded here{}. Load it again with load_skill before you follow it further]",
            summary(session, skill)
        ),
        None => {
            let output = Output {
                content: result.content.clone(),
                ..Output::default()
            };
            let texts = result.content.iter().filter_map(Content::as_text);
            let quote: String = texts.flat_map(str::chars).take(QUOTED).collect();
            let quote = quote.split_whitespace().collect::<Vec<_>>().join(" ");
            // Where it cannot be kept it can still be called for again.
            match session.market().results().store(session.agent(), &output) {
                Ok(it) => format!(
                    "[result of {}, begins: {quote} … Read it again with read_result and {{\"ref\":\"{}\"}}]",
                    result.name, it.0
                ),
                Err(_) => format!(
                    "[result of {}, begins: {quote} … It is not kept; call again if you need it]",
                    result.name
                ),
            }
        }
    };
    ToolResult {
        content: vec![Content::text(text)],
        ..result.clone()
    }
}

fn summary(session: &Session, skill: &str) -> String {
    let catalog = session.market().catalog();
    let id = ambit_core::id::CapabilityId::skill(skill).ok();
    let found = id.and_then(|id| catalog.get(&id).cloned());
    found.map_or(String::new(), |it| {
        format!(": {}", it.summary.trim_end_matches('.'))
    })
}

/// Which calls loaded which skill.
fn loaded_skills(messages: &[Message]) -> BTreeMap<String, String> {
    let parts = messages.iter().flat_map(|it| match it {
        Message::Assistant { parts } => parts.as_slice(),
        Message::User { .. } | Message::Results { .. } => &[],
    });
    let calls = parts.filter_map(AssistantPart::as_call);
    calls
        .filter(|it| it.name == LOAD_SKILL)
        .filter_map(|call| match &call.arguments {
            Arguments::Object(map) => {
                let name = map.get("name").and_then(Value::as_str)?;
                let name = name.strip_prefix("skill__").unwrap_or(name);
                Some((call.id.clone(), name.to_owned()))
            }
            Arguments::Malformed(_) => None,
        })
        .collect()
}
