//! The index of what was said: brought up to date with the journal and the imports when somebody
//! searches, by number, so that a long history is read once. It holds words and places, no texts:
//! those stay where they are.

use std::collections::BTreeSet;
use std::path::Path;

use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::intent::CallId;
use ambit_core::observation::Failure;
use ambit_runtime::journal::{Event, EventFilter, JournalError, JournalReader};
use rusqlite::{OptionalExtension as _, Transaction};

use super::imported::title;
use super::message::{Message, Reading, Role, TYPES};
use crate::store::{Part, Store, StoreError};

pub(crate) const PART: Part = Part {
    name: super::KEY,
    versions: &["
CREATE TABLE transcripts (
    thread TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    imported_at TEXT NOT NULL,
    -- Of all messages.
    content TEXT NOT NULL
) STRICT;
CREATE TABLE transcript_messages (
    thread TEXT NOT NULL REFERENCES transcripts,
    number INTEGER NOT NULL,
    role TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT,
    PRIMARY KEY (thread, number)
) STRICT;
CREATE TABLE indexed_threads (
    thread TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    title TEXT NOT NULL,
    first_at TEXT,
    last_at TEXT,
    -- Whether anything in it came from outside.
    untrusted INTEGER NOT NULL,
    -- What was indexed, if it was imported.
    content TEXT
) STRICT;
CREATE TABLE indexed_messages (
    entry INTEGER PRIMARY KEY,
    thread TEXT NOT NULL,
    number INTEGER NOT NULL
) STRICT;
CREATE INDEX indexed_messages_of_thread ON indexed_messages (thread, number);
CREATE VIRTUAL TABLE indexed_text USING fts5(
    text, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);
-- Calls of this capability that had not ended by then.
CREATE TABLE open_searches (call TEXT PRIMARY KEY) STRICT;
-- The last event that was read.
CREATE TABLE journal_mark (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT"],
    tables: &["transcripts", "transcript_messages"],
};

/// How much of the journal is read for one search. A history that is longer is caught up with by
/// the next ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Events read at once.
    pub(super) batch: usize,
    /// Times that is done.
    pub(super) batches: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Pace {
            batch: 1000,
            batches: 20,
        }
    }
}

/// As much of a message as can be found by.
const MOST_CHARACTERS: usize = 20_000;

/// How far the index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// Everything is in it.
    End,
    /// There was too much for one time.
    Part,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    seq: u64,
    hash: String,
}

/// Takes in what happened since, in this workspace.
pub(super) fn bring_up_to_date(
    store: &Store,
    journal: Option<&JournalReader>,
    workspace: &Path,
    pace: Pace,
) -> Result<Reached, Failure> {
    let reached = match journal {
        Some(journal) => follow(store, journal, workspace, pace)?,
        None => Reached::End,
    };
    take_imports(store)?;
    Ok(reached)
}

fn follow(
    store: &Store,
    journal: &JournalReader,
    workspace: &Path,
    pace: Pace,
) -> Result<Reached, Failure> {
    let workspace = workspace.display().to_string();
    let mut reading = Reading::default();
    let mut mark = current_mark(store, journal)?;
    for _ in 0..pace.batches {
        let filter = EventFilter {
            types: TYPES.iter().map(|it| (*it).to_owned()).collect(),
            after: Some(mark.as_ref().map_or(0, |it| it.seq)),
            limit: Some(pace.batch),
            ..EventFilter::default()
        };
        let events = journal.events(&filter).map_err(unreadable)?;
        let Some(last) = events.last() else {
            return Ok(Reached::End);
        };
        let next = Mark {
            seq: last.seq,
            hash: last.hash.to_string(),
        };
        let objects = |digest: &Digest| journal.object(digest).ok().flatten();
        let went_on = store.write(|it| {
            // Another process may have been here meanwhile.
            if read_mark(it)? != mark {
                return Ok(false);
            }
            reading.own = open_searches(it)?;
            for event in &events {
                take_event(it, event, &workspace, &mut reading, &objects)?;
            }
            keep_open_searches(it, &reading.own)?;
            it.execute(
                "INSERT OR REPLACE INTO journal_mark VALUES (1, ?1, ?2)",
                (next.seq.cast_signed(), &next.hash),
            )?;
            Ok(true)
        })?;
        if !went_on {
            mark = store.read(read_mark)?;
            continue;
        }
        mark = Some(next);
        if events.len() < pace.batch {
            return Ok(Reached::End);
        }
    }
    Ok(Reached::Part)
}

/// Where to go on. Another journal than the one that was read is read from its beginning.
fn current_mark(store: &Store, journal: &JournalReader) -> Result<Option<Mark>, Failure> {
    let Some(mark) = store.read(read_mark)? else {
        return Ok(None);
    };
    let filter = EventFilter {
        after: mark.seq.checked_sub(1),
        limit: Some(1),
        ..EventFilter::default()
    };
    let found = journal.events(&filter).map_err(unreadable)?;
    let is_same = |it: &Event| it.seq == mark.seq && it.hash.to_string() == mark.hash;
    if found.first().is_some_and(is_same) {
        return Ok(Some(mark));
    }
    store.write(|it| {
        it.execute_batch(
            "DELETE FROM indexed_text WHERE rowid IN (
                 SELECT entry FROM indexed_messages JOIN indexed_threads USING (thread)
                 WHERE content IS NULL);
             DELETE FROM indexed_messages WHERE thread IN (
                 SELECT thread FROM indexed_threads WHERE content IS NULL);
             DELETE FROM indexed_threads WHERE content IS NULL;
             DELETE FROM open_searches;
             DELETE FROM journal_mark",
        )?;
        Ok(())
    })?;
    Ok(None)
}

fn read_mark(it: &Transaction<'_>) -> Result<Option<Mark>, StoreError> {
    let mark = it.query_row("SELECT seq, hash FROM journal_mark", [], |row| {
        Ok(Mark {
            seq: row.get::<_, i64>(0)?.cast_unsigned(),
            hash: row.get(1)?,
        })
    });
    Ok(mark.optional()?)
}

fn open_searches(it: &Transaction<'_>) -> Result<BTreeSet<CallId>, StoreError> {
    let mut rows = it.prepare_cached("SELECT call FROM open_searches")?;
    let rows = rows.query_map([], |row| Ok(CallId(row.get(0)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn keep_open_searches(it: &Transaction<'_>, calls: &BTreeSet<CallId>) -> Result<(), StoreError> {
    it.execute("DELETE FROM open_searches", [])?;
    let mut insert = it.prepare_cached("INSERT INTO open_searches VALUES (?1)")?;
    for call in calls {
        insert.execute([&call.0])?;
    }
    Ok(())
}

fn take_event(
    it: &Transaction<'_>,
    event: &Event,
    workspace: &str,
    reading: &mut Reading,
    objects: super::message::Objects<'_>,
) -> Result<(), StoreError> {
    let thread = event.session.as_str();
    if let EventBody::SessionStarted {
        agent,
        workspace: of,
        ..
    } = &event.body
    {
        if of == workspace {
            begin(it, thread, agent, None)?;
        }
        return Ok(());
    }
    // Also forgets a session of another workspace before its objects are looked for.
    let mut known = it.prepare_cached("SELECT 1 FROM indexed_threads WHERE thread = ?1")?;
    if !known.exists([thread])? {
        return Ok(());
    }
    if let Some(message) = reading.take(event, objects) {
        add(it, thread, &message)?;
    }
    Ok(())
}

fn begin(
    it: &Transaction<'_>,
    thread: &str,
    agent: &str,
    content: Option<&str>,
) -> Result<(), StoreError> {
    it.execute(
        "INSERT OR IGNORE INTO indexed_threads (thread, agent, title, untrusted, content)
         VALUES (?1, ?2, '', 0, ?3)",
        (thread, agent, content),
    )?;
    Ok(())
}

fn add(it: &Transaction<'_>, thread: &str, message: &Message) -> Result<(), StoreError> {
    it.prepare_cached("INSERT INTO indexed_messages (thread, number) VALUES (?1, ?2)")?
        .execute((thread, message.number))?;
    let end = message.text.char_indices().nth(MOST_CHARACTERS);
    let text = end.and_then(|(end, _)| message.text.get(..end));
    it.prepare_cached("INSERT INTO indexed_text (rowid, text) VALUES (?1, ?2)")?
        .execute((it.last_insert_rowid(), text.unwrap_or(&message.text)))?;
    let title = match message.role {
        Role::User => title([(Role::User, message.text.as_str())].into_iter()),
        Role::Assistant | Role::Call | Role::Result => String::new(),
    };
    it.prepare_cached(
        "UPDATE indexed_threads SET
             first_at = coalesce(first_at, ?2),
             last_at = coalesce(?2, last_at),
             title = iif(title = '', ?3, title),
             untrusted = max(untrusted, ?4)
         WHERE thread = ?1",
    )?
    .execute((thread, &message.at, title, message.untrusted))?;
    Ok(())
}

/// Takes in imports that are new or have changed, and lets go of those that are gone.
fn take_imports(store: &Store) -> Result<(), Failure> {
    let pairs = |it: &Transaction<'_>, sql: &str| -> Result<Vec<(String, String)>, StoreError> {
        let mut rows = it.prepare(sql)?;
        let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    let new = "SELECT thread, content FROM transcripts t WHERE NOT EXISTS (
        SELECT 1 FROM indexed_threads i WHERE i.thread = t.thread AND i.content = t.content)";
    let gone = "SELECT thread, content FROM indexed_threads WHERE content IS NOT NULL
        AND thread NOT IN (SELECT thread FROM transcripts)";
    let is_current =
        store.read(|it| Ok(pairs(it, new)?.is_empty() && pairs(it, gone)?.is_empty()))?;
    if is_current {
        return Ok(());
    }
    store.write(|it| {
        for (thread, _) in pairs(it, gone)? {
            forget(it, &thread)?;
        }
        for (thread, content) in pairs(it, new)? {
            forget(it, &thread)?;
            let agent: String = it.query_row(
                "SELECT agent FROM transcripts WHERE thread = ?1",
                [&thread],
                |row| row.get(0),
            )?;
            begin(it, &thread, &agent, Some(&content))?;
            for message in imported_messages(it, &thread, 0, usize::MAX)? {
                add(it, &thread, &message)?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// Messages of an imported conversation, from a number on.
pub(super) fn imported_messages(
    it: &Transaction<'_>,
    thread: &str,
    from: i64,
    limit: usize,
) -> Result<Vec<Message>, StoreError> {
    let mut rows = it.prepare(
        "SELECT number, role, text, at FROM transcript_messages
         WHERE thread = ?1 AND number >= ?2 ORDER BY number LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = rows.query_map((thread, from, limit), |row| {
        let role: String = row.get(1)?;
        Ok(Message {
            number: row.get(0)?,
            role: Role::parse(&role).unwrap_or(Role::User),
            text: row.get(2)?,
            at: row.get(3)?,
            // Somebody else's program wrote it.
            untrusted: true,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Lets go of what was indexed of a thread.
pub(super) fn forget(it: &Transaction<'_>, thread: &str) -> Result<(), StoreError> {
    it.execute(
        "DELETE FROM indexed_text WHERE rowid IN (
             SELECT entry FROM indexed_messages WHERE thread = ?1)",
        [thread],
    )?;
    it.execute("DELETE FROM indexed_messages WHERE thread = ?1", [thread])?;
    it.execute("DELETE FROM indexed_threads WHERE thread = ?1", [thread])?;
    Ok(())
}

/// What a broken journal means for whoever asks.
pub(super) fn unreadable(error: JournalError) -> Failure {
    Failure::provider(format!(
        "the journal cannot be read: {error}; `ambit log verify` tells more"
    ))
}
