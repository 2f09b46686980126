//! Imported conversations, as they are kept.

use std::sync::Arc;

use ambit_core::digest::Digest;
use rusqlite::{OptionalExtension as _, Transaction};
use serde::Serialize;

use super::index;
use super::message::Role;
use super::transcript::{Said, Transcript};
use crate::Clock;
use crate::moment::written;
use crate::store::{Store, StoreError};

/// The imported conversations of a workspace.
pub struct Transcripts {
    store: Arc<Store>,
    clock: Clock,
}

/// What became of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Added {
    /// It was not there.
    New,
    /// It was there, and has gone on since.
    Replaced,
    /// It is there already, just so.
    Known,
}

/// One line about an imported conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptSummary {
    /// Its name as a thread.
    pub thread: String,
    /// Whose history it is part of.
    pub agent: String,
    /// What it begins with.
    pub title: String,
    /// Where it came from.
    pub source: String,
    /// When it was imported.
    pub imported_at: String,
    /// How many messages it has.
    pub messages: u32,
}

impl Transcripts {
    /// Those of this store.
    pub fn new(store: Arc<Store>, clock: Clock) -> Self {
        Transcripts { store, clock }
    }

    /// Keeps a conversation as part of an agent's history. The same one twice is one: by the name
    /// its program gave it, else by what it says.
    pub fn add(
        &self,
        agent: &str,
        source: &str,
        transcript: &Transcript,
    ) -> Result<(String, Added), StoreError> {
        let content = content(&transcript.messages);
        let named = transcript.session.as_deref().map(str::as_bytes);
        let name = named.unwrap_or(content.as_bytes());
        let name = Digest::of_fields([agent.as_bytes(), name]).to_string();
        let hex = name.trim_start_matches("sha256:");
        let thread = format!("t-{}", hex.get(..12).unwrap_or(hex));
        let now = written((self.clock)());
        let title = title(
            transcript
                .messages
                .iter()
                .map(|it| (it.role, it.text.as_str())),
        );
        self.store.write(|it| {
            let known: Option<String> = it
                .query_row(
                    "SELECT content FROM transcripts WHERE thread = ?1",
                    [&thread],
                    |row| row.get(0),
                )
                .optional()?;
            let added = match known {
                Some(known) if known == content.to_string() => {
                    return Ok((thread.clone(), Added::Known));
                }
                Some(_) => Added::Replaced,
                None => Added::New,
            };
            delete(it, &thread)?;
            it.execute(
                "INSERT INTO transcripts VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (&thread, agent, &title, source, &now, content.to_string()),
            )?;
            let mut insert =
                it.prepare("INSERT INTO transcript_messages VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for (said, number) in transcript.messages.iter().zip(1_i64..) {
                insert.execute((&thread, number, said.role.as_str(), &said.text, &said.at))?;
            }
            Ok((thread.clone(), added))
        })
    }

    /// All of them, the last imported first.
    pub fn list(&self) -> Result<Vec<TranscriptSummary>, StoreError> {
        self.store.read(|it| {
            let mut rows = it.prepare(
                "SELECT thread, agent, title, source, imported_at,
                    (SELECT count(*) FROM transcript_messages m WHERE m.thread = t.thread)
                 FROM transcripts t ORDER BY imported_at DESC, thread",
            )?;
            let rows = rows.query_map([], |row| {
                Ok(TranscriptSummary {
                    thread: row.get(0)?,
                    agent: row.get(1)?,
                    title: row.get(2)?,
                    source: row.get(3)?,
                    imported_at: row.get(4)?,
                    messages: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Forgets one, and what was indexed of it. Whether it was there.
    pub fn remove(&self, thread: &str) -> Result<bool, StoreError> {
        self.store.write(|it| {
            let was_there = delete(it, thread)?;
            index::forget(it, thread)?;
            Ok(was_there)
        })
    }
}

fn delete(it: &Transaction<'_>, thread: &str) -> Result<bool, StoreError> {
    it.execute(
        "DELETE FROM transcript_messages WHERE thread = ?1",
        [thread],
    )?;
    Ok(it.execute("DELETE FROM transcripts WHERE thread = ?1", [thread])? > 0)
}

fn content(messages: &[Said]) -> Digest {
    let fields = messages.iter().flat_map(|it| {
        [
            it.role.as_str().as_bytes(),
            it.text.as_bytes(),
            it.at.as_deref().unwrap_or_default().as_bytes(),
        ]
    });
    Digest::of_fields(fields)
}

/// The first line somebody said.
pub(super) fn title<'a>(messages: impl Iterator<Item = (Role, &'a str)>) -> String {
    let mut first = None;
    for (role, text) in messages {
        if role == Role::User {
            first = Some(text);
            break;
        }
        first = first.or(Some(text));
    }
    let line = first.unwrap_or_default().trim().lines().next();
    let line = line.unwrap_or_default();
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(line)),
        None => line.to_owned(),
    }
}
