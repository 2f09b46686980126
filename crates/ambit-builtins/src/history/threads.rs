//! One agent's threads: finding what was said, and reading it again.

use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::digest::Digest;
use ambit_core::observation::Failure;
use ambit_runtime::journal::{EventFilter, JournalReader, SessionId};
use rusqlite::{OptionalExtension as _, Row, Transaction, named_params};

use super::index::{self, Pace, Reached, imported_messages, unreadable};
use super::message::{self, Message, TYPES};
use crate::OpenJournal;
use crate::asked::Asked;
use crate::store::{Store, StoreError};

/// What an agent's tools work on.
pub(super) struct Threads {
    pub(super) store: Arc<Store>,
    pub(super) journal: Option<OpenJournal>,
    pub(super) agent: String,
    pub(super) workspace: PathBuf,
    /// The conversation that goes on now. It is not past.
    pub(super) current: Option<String>,
    pub(super) pace: Pace,
}

/// One line about a thread.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) first_at: Option<String>,
    pub(super) is_imported: bool,
    /// Whether anything in it came from outside.
    pub(super) untrusted: bool,
}

/// A thread that answers a search: the best place in it, with what is around that.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) thread: Thread,
    pub(super) number: i64,
    pub(super) messages: Vec<Message>,
}

/// What a search found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) hits: Vec<Hit>,
    pub(super) reached: Reached,
}

/// A part of a thread.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) thread: Thread,
    pub(super) messages: Vec<Message>,
    /// Where it goes on.
    pub(super) next: Option<i64>,
}

/// Messages shown before and after the best one.
const AROUND: u32 = 2;
/// Matches looked at for the best of each thread.
const MOST_MATCHES: u32 = 2000;

impl Threads {
    pub(super) fn search(&self, asked: &Asked, limit: usize) -> Result<Found, Failure> {
        let journal = self.open()?;
        let reached =
            index::bring_up_to_date(&self.store, journal.as_ref(), &self.workspace, self.pace)?;
        let best = self.store.read(|it| self.best(it, asked, limit))?;
        let mut hits = Vec::with_capacity(best.len());
        for (thread, number) in best {
            let numbers = self.store.read(|it| around(it, &thread.id, number))?;
            let messages = self.messages(journal.as_ref(), &thread, &numbers)?;
            hits.push(Hit {
                thread,
                number,
                messages,
            });
        }
        Ok(Found { hits, reached })
    }

    pub(super) fn read(&self, id: &str, from: i64, limit: usize) -> Result<Page, Failure> {
        let journal = self.open()?;
        index::bring_up_to_date(&self.store, journal.as_ref(), &self.workspace, self.pace)?;
        let (thread, mut numbers) = self.store.read(|it| {
            let sql = format!("{COLUMNS} WHERE thread = ?1 AND agent = ?2");
            let found = it.query_row(&sql, (id, &self.agent), thread).optional()?;
            let thread = found.ok_or_else(|| {
                Failure::refused(format!(
                    "there is no thread `{}` of yours: search_threads finds those there are",
                    id.escape_debug()
                ))
            })?;
            let mut rows = it.prepare(
                "SELECT number FROM indexed_messages WHERE thread = ?1 AND number >= ?2
                 ORDER BY number LIMIT ?3",
            )?;
            let limit = i64::try_from(limit + 1).unwrap_or(i64::MAX);
            let rows = rows.query_map((id, from, limit), |row| row.get(0))?;
            Ok((thread, rows.collect::<rusqlite::Result<Vec<i64>>>()?))
        })?;
        let next = numbers.get(limit).copied();
        numbers.truncate(limit);
        Ok(Page {
            messages: self.messages(journal.as_ref(), &thread, &numbers)?,
            thread,
            next,
        })
    }

    fn open(&self) -> Result<Option<JournalReader>, Failure> {
        match &self.journal {
            Some(open) => open().map_err(unreadable),
            None => Ok(None),
        }
    }

    /// The best message of each of the best threads.
    fn best(
        &self,
        it: &Transaction<'_>,
        asked: &Asked,
        limit: usize,
    ) -> Result<Vec<(Thread, i64)>, StoreError> {
        let mut matching = it.prepare(
            "SELECT t.thread, t.title, t.first_at, t.untrusted, t.content, m.number
             FROM indexed_text
             JOIN indexed_messages m ON m.entry = indexed_text.rowid
             JOIN indexed_threads t ON t.thread = m.thread
             WHERE indexed_text MATCH :query AND t.agent = :agent AND t.thread IS NOT :current
             ORDER BY bm25(indexed_text), m.entry DESC LIMIT :most",
        )?;
        let mut best: Vec<(Thread, i64)> = Vec::new();
        for query in asked.queries() {
            if best.len() >= limit {
                break;
            }
            let rows = matching.query_map(
                named_params! {
                    ":query": query, ":agent": self.agent, ":current": self.current,
                    ":most": MOST_MATCHES,
                },
                |row| Ok((thread(row)?, row.get(5)?)),
            )?;
            for row in rows {
                let (thread, number): (Thread, i64) = row?;
                let is_known = best.iter().any(|(known, _)| known.id == thread.id);
                if best.len() < limit && !is_known {
                    best.push((thread, number));
                }
            }
        }
        Ok(best)
    }

    /// These messages of a thread, as they stand where they are kept.
    fn messages(
        &self,
        journal: Option<&JournalReader>,
        thread: &Thread,
        numbers: &[i64],
    ) -> Result<Vec<Message>, Failure> {
        let Some(first) = numbers.first() else {
            return Ok(Vec::new());
        };
        if thread.is_imported {
            let found = self
                .store
                .read(|it| imported_messages(it, &thread.id, *first, numbers.len()))?;
            return Ok(found);
        }
        let (Some(journal), Ok(session)) = (journal, thread.id.parse::<SessionId>()) else {
            return Ok(Vec::new());
        };
        let objects = |digest: &Digest| journal.object(digest).ok().flatten();
        let mut found = Vec::with_capacity(numbers.len());
        let mut after = first.cast_unsigned().saturating_sub(1);
        while found.len() < numbers.len() {
            let events = journal
                .events(&EventFilter {
                    session: Some(session.clone()),
                    types: TYPES.iter().map(|it| (*it).to_owned()).collect(),
                    after: Some(after),
                    limit: Some(numbers.len() * 2),
                })
                .map_err(unreadable)?;
            let Some(last) = events.last() else {
                break;
            };
            after = last.seq;
            let wanted = events
                .iter()
                .filter(|it| numbers.contains(&it.seq.cast_signed()));
            found.extend(wanted.filter_map(|it| message::message(it, &objects)));
        }
        Ok(found)
    }
}

const COLUMNS: &str = "SELECT thread, title, first_at, untrusted, content FROM indexed_threads";

fn thread(row: &Row<'_>) -> rusqlite::Result<Thread> {
    Ok(Thread {
        id: row.get(0)?,
        title: row.get(1)?,
        first_at: row.get(2)?,
        untrusted: row.get(3)?,
        is_imported: row.get::<_, Option<String>>(4)?.is_some(),
    })
}

/// The numbers of a message and those around it, in order.
fn around(it: &Transaction<'_>, thread: &str, number: i64) -> Result<Vec<i64>, StoreError> {
    let mut rows = it.prepare(
        "SELECT number FROM (
             SELECT number FROM (SELECT number FROM indexed_messages
                 WHERE thread = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3)
             UNION ALL SELECT ?2
             UNION ALL SELECT number FROM (SELECT number FROM indexed_messages
                 WHERE thread = ?1 AND number > ?2 ORDER BY number LIMIT ?3)
         ) ORDER BY number",
    )?;
    let rows = rows.query_map((thread, number, AROUND), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
