//! Extends the sessions' chains inside a transaction.

use std::collections::HashMap;
use std::collections::hash_map;

use ambit_core::digest::Digest;
use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Transaction, params};

use super::chain::Link;
use super::error::JournalError;
use super::queue::Entry;
use super::receipt::Cause;
use super::session::SessionId;

/// Heads kept in memory before they are read again.
const REMEMBERED: usize = 16_384;

/// Where the chains end, as of this connection's last transaction.
#[derive(Default)]
pub(super) struct Chains {
    /// The last number given.
    last: u64,
    heads: HashMap<SessionId, Head>,
    /// Sessions whose heads this transaction moved.
    moved: Vec<SessionId>,
    /// Of the entry at hand.
    causes: Vec<Option<u64>>,
    /// The events of the entry at hand, as JSON.
    bodies: Vec<String>,
    /// SQLite's number for what others have written; `None` when nothing here can be trusted.
    version: Option<i64>,
}

/// The end of one session's chain.
struct Head {
    key: i64,
    last: u64,
    events: u64,
    hash: Digest,
    moved: bool,
}

impl Chains {
    /// Drops what a transaction that failed has changed here.
    pub(super) fn forget(&mut self) {
        self.version = None;
    }

    /// Looks again if another connection has written since. Inside a write transaction, so
    /// nobody can from here on.
    pub(super) fn refresh(&mut self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let version = transaction
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        if self.version != Some(version) || self.heads.len() > REMEMBERED {
            self.heads.clear();
            self.moved.clear();
            self.last = transaction
                .prepare_cached("SELECT last FROM head")?
                .query_row([], |row| row.get::<_, i64>(0))?
                .cast_unsigned();
            self.version = Some(version);
        }
        Ok(())
    }

    /// Finds out what it takes to write an entry. Nothing is written if any of it is missing.
    pub(super) fn prepare(&mut self, entry: &Entry) -> Result<(), JournalError> {
        self.find_causes(entry)?;
        self.bodies.clear();
        for event in &entry.events {
            let body = serde_json::to_string(&event.body);
            self.bodies
                .push(body.map_err(|error| JournalError::NotJson {
                    message: error.to_string(),
                })?);
        }
        Ok(())
    }

    /// The numbers of what caused the entry's events.
    fn find_causes(&mut self, entry: &Entry) -> Result<(), JournalError> {
        self.causes.clear();
        for (index, event) in entry.events.iter().enumerate() {
            let missing = JournalError::CauseNotRecorded { index };
            let cause = match &event.cause {
                None => 0,
                Some(Cause::Seq(seq)) if (1..=self.last).contains(seq) => *seq,
                Some(Cause::InBatch(earlier)) if *earlier < index => {
                    self.last + 1 + *earlier as u64
                }
                Some(Cause::Earlier(receipt)) => receipt.last_assigned().ok_or(missing)?,
                Some(Cause::Seq(_) | Cause::InBatch(_)) => return Err(missing),
            };
            // An append without events has the number 0, and so has no cause.
            self.causes.push((cause != 0).then_some(cause));
        }
        Ok(())
    }

    /// Writes an entry that was prepared.
    pub(super) fn extend(
        &mut self,
        transaction: &Transaction<'_>,
        entry: &Entry,
    ) -> rusqlite::Result<()> {
        for (digest, json) in &entry.objects {
            transaction
                .prepare_cached("INSERT OR IGNORE INTO objects VALUES (?1, ?2, ?3)")?
                .execute(params![
                    digest.as_bytes(),
                    json,
                    Digest::of_bytes(json.as_bytes()).as_bytes()
                ])?;
        }
        if entry.events.is_empty() {
            entry.receipt.assign(Some(0));
            return Ok(());
        }
        let head = match self.heads.entry(entry.session.clone()) {
            hash_map::Entry::Occupied(known) => known.into_mut(),
            hash_map::Entry::Vacant(vacant) => {
                let head = Head::find(transaction, vacant.key(), self.last + 1)?;
                vacant.insert(head)
            }
        };
        if !head.moved {
            head.moved = true;
            self.moved.push(entry.session.clone());
        }
        let mut insert = transaction.prepare_cached(
            "INSERT INTO events (seq, session, type, at, cause, correlation, body, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        for ((event, cause), body) in entry.events.iter().zip(&self.causes).zip(&self.bodies) {
            let kind = event.body.type_name();
            let correlation = event.body.call().map(|it| it.0.as_str());
            self.last += 1;
            head.hash = Link {
                previous: &head.hash,
                seq: self.last,
                session: entry.session.as_str(),
                at: entry.at,
                cause: *cause,
                kind,
                correlation,
                body,
            }
            .hash();
            insert.execute(params![
                self.last.cast_signed(),
                head.key,
                kind,
                entry.at,
                cause.map(u64::cast_signed),
                correlation,
                body,
                head.hash.as_bytes(),
            ])?;
        }
        head.last = self.last;
        head.events += entry.events.len() as u64;
        entry.receipt.assign(Some(self.last));
        Ok(())
    }

    /// Writes the heads that moved.
    pub(super) fn save(&mut self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut update = transaction.prepare_cached(
            "UPDATE sessions SET last = ?2, events = ?3, hash = ?4 WHERE key = ?1",
        )?;
        for session in self.moved.drain(..) {
            if let Some(head) = self.heads.get_mut(&session) {
                head.moved = false;
                update.execute(params![
                    head.key,
                    head.last.cast_signed(),
                    head.events.cast_signed(),
                    head.hash.as_bytes()
                ])?;
            }
        }
        transaction
            .prepare_cached("UPDATE head SET last = ?1")?
            .execute([self.last.cast_signed()])?;
        Ok(())
    }
}

impl Head {
    /// The head of a session, which begins with the event `first` if it is new.
    fn find(
        transaction: &Transaction<'_>,
        session: &SessionId,
        first: u64,
    ) -> rusqlite::Result<Head> {
        let known = transaction
            .prepare_cached("SELECT key, last, events, hash FROM sessions WHERE id = ?1")?
            .query_row([session.as_str()], |row| {
                Ok(Head {
                    key: row.get(0)?,
                    last: row.get::<_, i64>(1)?.cast_unsigned(),
                    events: row.get::<_, i64>(2)?.cast_unsigned(),
                    hash: digest(row, 3)?,
                    moved: false,
                })
            })
            .optional()?;
        if let Some(head) = known {
            return Ok(head);
        }
        transaction
            .prepare_cached(
                "INSERT INTO sessions (id, first, last, events, hash) VALUES (?1, ?2, ?2, 0, ?3)",
            )?
            .execute(params![
                session.as_str(),
                first.cast_signed(),
                Digest::ZERO.as_bytes()
            ])?;
        Ok(Head {
            key: transaction.last_insert_rowid(),
            last: first,
            events: 0,
            hash: Digest::ZERO,
            moved: false,
        })
    }
}

/// A digest out of a column.
pub(super) fn digest(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    let bytes: [u8; 32] =
        row.get_ref(column)?.as_blob()?.try_into().map_err(|_| {
            rusqlite::Error::InvalidColumnType(column, "hash".to_owned(), Type::Blob)
        })?;
    Ok(Digest::from_bytes(bytes))
}
