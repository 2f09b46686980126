//! The conversation of a session that was, from its events: what was said, what calls brought, and
//! for calls whose results never reached the model, what is known of them.

use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::run::IntentRecord;
use ambit_runtime::journal::{EventFilter, JournalError, JournalReader, SessionId};
use ambit_runtime::past::SessionPast;

use super::results::recalled;
use crate::message::{AssistantPart, Message};

/// What an earlier run leaves to go on with.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    pub(super) messages: Vec<Message>,
    /// How many of them are on record.
    pub(super) settled: usize,
    /// What was asked last.
    pub(super) goal: String,
}

/// Reads it.
pub(super) fn recall(
    reader: &JournalReader,
    id: &SessionId,
    past: &SessionPast,
) -> Result<Recalled, JournalError> {
    let events = reader.events(&EventFilter {
        session: Some(id.clone()),
        types: [
            "message.user",
            "model.responded",
            "message.results",
            "context.compacted",
        ]
        .map(str::to_owned)
        .to_vec(),
        ..EventFilter::default()
    })?;
    let object = |digest: &Digest| -> Result<Option<Message>, JournalError> {
        let text = reader.object(digest)?;
        Ok(text.and_then(|it| serde_json::from_str(&it).ok()))
    };
    let mut recalled = Recalled::default();
    let mut open: Vec<IntentRecord> = Vec::new();
    for event in events {
        match event.body {
            EventBody::MessageUser { text, message } => {
                recalled.messages.extend(object(&message)?);
                recalled.goal = text;
                open.clear();
            }
            EventBody::ModelResponded {
                message, intents, ..
            } => {
                recalled.messages.extend(object(&message)?);
                open = intents;
            }
            EventBody::MessageResults { message, .. } => {
                recalled.messages.extend(object(&message)?);
                open.clear();
            }
            EventBody::ContextCompacted { replaced, .. } => {
                for (at, digest) in replaced {
                    let place = recalled.messages.get_mut(at as usize);
                    if let (Some(place), Some(message)) = (place, object(&digest)?) {
                        *place = message;
                    }
                }
            }
            _ => {}
        }
    }
    recalled.settled = recalled.messages.len();
    if let Some(results) = unanswered(&recalled.messages, &open, past) {
        recalled.messages.push(results);
    }
    Ok(recalled)
}

/// Results for calls that never got any: a model's API takes no call without one.
fn unanswered(
    messages: &[Message],
    intents: &[IntentRecord],
    past: &SessionPast,
) -> Option<Message> {
    let Some(Message::Assistant { parts }) = messages.last() else {
        return None;
    };
    let calls = parts.iter().filter_map(AssistantPart::as_call);
    let results: Vec<_> = calls
        .map(|wanted| {
            let intent = intents.iter().find(|it| it.id == wanted.id);
            recalled(wanted, intent.and_then(|it| past.calls.get(&it.call)))
        })
        .collect();
    (!results.is_empty()).then_some(Message::Results { results })
}
