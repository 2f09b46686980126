//! The conversation of a run: its messages, what each costs, and which of them are on record.
//!
//! A message is stored in the journal as an object, redacted, and the event that brought it names
//! its digest. So a session can go on from its events alone.

use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::observation::Content;
use ambit_core::redact::Redactor;
use ambit_core::run::RequestTokens;
use ambit_runtime::tokens::count;
use serde_json::Value;

use super::prompt::Prompt;
use crate::message::{Arguments, AssistantPart, Message};

/// How much of a text an event quotes.
const QUOTED: usize = 400;

/// What was found out about a message once.
#[derive(Clone, Debug)]
struct Entry {
    /// Of its written form.
    digest: Digest,
    tokens: u64,
}

/// The conversation.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    messages: Vec<Message>,
    /// One for each message that is settled; the newest may still be added to.
    entries: Vec<Entry>,
    /// Everything the last request had, piece by piece, in the order a provider caches it.
    requested: Vec<(Digest, u64)>,
}

/// A message as the journal keeps it.
pub(super) struct Written {
    pub(super) digest: Digest,
    pub(super) json: String,
}

impl Transcript {
    /// What is on record of an earlier run.
    pub(super) fn recalled(messages: Vec<Message>, redactor: &Redactor) -> Self {
        let entries = messages.iter().map(|it| entry(it, redactor)).collect();
        Transcript {
            messages,
            entries,
            requested: Vec::new(),
        }
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Another message. It can be added to until it is settled.
    pub(super) fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Says something beside what the newest message says: it is the last thing a model reads.
    pub(super) fn add_news(&mut self, text: Option<String>, reveals: Vec<String>) {
        if self.entries.len() == self.messages.len() {
            return;
        }
        match self.messages.last_mut() {
            Some(Message::User { content }) => content.extend(text.map(Content::text)),
            Some(Message::Results { results }) => {
                if let Some(result) = results.last_mut() {
                    result.content.extend(text.map(Content::text));
                    result.reveals = reveals;
                }
            }
            Some(Message::Assistant { .. }) | None => {}
        }
    }

    /// Settles what is new: as what each message is on record.
    pub(super) fn settle(&mut self, redactor: &Redactor) -> Vec<(&Message, Written)> {
        let new = self.messages.iter().skip(self.entries.len());
        let settled: Vec<(&Message, Written)> = new.map(|it| (it, write(it, redactor))).collect();
        let entries = settled.iter().map(|(message, written)| Entry {
            digest: written.digest,
            tokens: weigh(message),
        });
        self.entries.extend(entries);
        settled
    }

    /// What all messages cost.
    pub(super) fn tokens(&self) -> u64 {
        self.entries.iter().map(|it| it.tokens).sum()
    }

    /// Puts another message in the place of a settled one.
    pub(super) fn replace(&mut self, at: usize, message: Message, redactor: &Redactor) -> Written {
        let written = write(&message, redactor);
        if let (Some(place), Some(entry)) = (self.messages.get_mut(at), self.entries.get_mut(at)) {
            *entry = Entry {
                digest: written.digest,
                tokens: weigh(&message),
            };
            *place = message;
        }
        written
    }

    /// Notes what is asked with: the digest of all of it, and what it costs.
    pub(super) fn request(
        &mut self,
        tools: &[Value],
        shown: u64,
        prompt: &Prompt,
    ) -> (Digest, RequestTokens) {
        let share = shown.checked_div(tools.len() as u64).unwrap_or(0);
        let tools = tools.iter().map(|it| (Digest::of_json(it), share));
        let messages = self.entries.iter().map(|it| (it.digest, it.tokens));
        let pieces: Vec<(Digest, u64)> = tools
            .chain(prompt.pieces.iter().copied())
            .chain(messages)
            .collect();
        let same = self.requested.iter().zip(&pieces);
        let same = same.take_while(|(before, now)| before.0 == now.0);
        let prefix = same.map(|(_, now)| now.1).sum();
        let request = Digest::of_fields(pieces.iter().map(|it| it.0.as_bytes().as_slice()));
        self.requested = pieces;
        let tokens = RequestTokens {
            system: prompt.tokens(),
            tools: shown,
            messages: self.tokens(),
            prefix,
        };
        (request, tokens)
    }
}

/// The event that brings a message, where it is not the model's.
pub(super) fn event(turn: u32, message: &Message, written: &Written) -> Option<EventBody> {
    match message {
        Message::User { .. } => Some(EventBody::MessageUser {
            text: quote(&written.json, message),
            message: written.digest,
        }),
        Message::Results { .. } => Some(EventBody::MessageResults {
            turn,
            message: written.digest,
        }),
        Message::Assistant { .. } => None,
    }
}

/// The beginning of a message's text, as it is written.
fn quote(written: &str, message: &Message) -> String {
    let read: Result<Message, _> = serde_json::from_str(written);
    let text = texts(read.as_ref().unwrap_or(message)).join(" ");
    shortened(&text)
}

/// A text cut to what an event quotes.
pub(super) fn shortened(text: &str) -> String {
    if text.chars().count() <= QUOTED {
        return text.to_owned();
    }
    text.chars().take(QUOTED - 1).chain(['…']).collect()
}

fn entry(message: &Message, redactor: &Redactor) -> Entry {
    Entry {
        digest: write(message, redactor).digest,
        tokens: weigh(message),
    }
}

fn write(message: &Message, redactor: &Redactor) -> Written {
    let value = serde_json::to_value(message).unwrap_or_default();
    let value = redactor.written_json(&value);
    Written {
        digest: Digest::of_json(&value),
        json: value.to_string(),
    }
}

/// What a message costs a model, roughly: its texts, and what calls are made of.
pub(super) fn weigh(message: &Message) -> u64 {
    /// Around a message, and around each part of it.
    const AROUND: u64 = 4;
    let texts = texts(message);
    let parts = texts.len() as u64;
    let tokens: u64 = texts.iter().map(|it| u64::from(count(it))).sum();
    tokens + AROUND * (parts + 1)
}

fn texts(message: &Message) -> Vec<String> {
    let block = |it: &Content| match it {
        Content::Text(it) => it.text.clone(),
        Content::Block(value) => value.to_string(),
    };
    match message {
        Message::User { content } => content.iter().map(block).collect(),
        Message::Results { results } => results
            .iter()
            .flat_map(|it| it.content.iter().map(block))
            .collect(),
        Message::Assistant { parts } => parts
            .iter()
            .map(|part| match part {
                AssistantPart::Text { text } => text.clone(),
                AssistantPart::Call(call) => match &call.arguments {
                    Arguments::Object(map) => {
                        let arguments = serde_json::to_string(map).unwrap_or_default();
                        format!("{} {arguments}", call.name)
                    }
                    Arguments::Malformed(text) => format!("{} {text}", call.name),
                },
                AssistantPart::Kept { value, .. } => value.to_string(),
            })
            .collect(),
    }
}
