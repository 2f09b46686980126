//! Reading what is on record. What cannot be read is an error that names the event; nothing is
//! left out silently.

use std::path::PathBuf;

use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::suggest::suggest;
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use serde::Serialize;

use super::append::digest;
use super::error::JournalError;
use super::event::{Event, microseconds};
use super::open::{self, Location};
use super::session::SessionId;
use super::verify::{self, Damage, VerifyReport};
use super::wal::Tail;

/// Reads a journal, while others write or not.
#[derive(Debug)]
pub struct JournalReader {
    connection: Connection,
    path: PathBuf,
    /// How the log ended when this was opened.
    tail: Tail,
}

/// One line about a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionSummary {
    /// Its name.
    pub id: SessionId,
    /// For whom, if it says.
    pub agent: Option<String>,
    /// When its first event happened.
    #[serde(serialize_with = "microseconds")]
    pub started: Timestamp,
    /// How many events it has.
    pub events: u64,
    /// When its last event happened.
    #[serde(serialize_with = "microseconds")]
    pub last: Timestamp,
}

/// Which events to read. By default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only of these types, unless empty.
    pub types: Vec<String>,
    /// Only after this number.
    pub after: Option<u64>,
    /// Only the first so many.
    pub limit: Option<usize>,
}

const COLUMNS: &str = "SELECT e.seq, s.id, e.at, e.cause, e.correlation, e.body, e.hash
     FROM events e LEFT JOIN sessions s ON s.key = e.session";

impl JournalReader {
    pub(super) fn open(location: &Location) -> Result<Self, JournalError> {
        let (connection, tail) = open::for_reading(location)?;
        Ok(JournalReader {
            connection,
            path: location.path().to_owned(),
            tail,
        })
    }

    pub(super) fn beside_writer(location: &Location) -> Result<Self, JournalError> {
        Ok(JournalReader {
            connection: open::beside_writer(location)?,
            path: location.path().to_owned(),
            tail: Tail::Clean,
        })
    }

    /// All sessions, in the order they began.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, JournalError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT id, first, last, events FROM sessions ORDER BY first")?
                .query_map([], |row| {
                    let id = SessionId::stored(row.get(0)?);
                    Ok((id, number(row, 1)?, number(row, 2)?, number(row, 3)?))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        let rows = read().map_err(|error| self.error(error))?;
        rows.into_iter()
            .map(|(id, first, last, events)| {
                let first = self.event(first, &id)?;
                let last = self.event(last, &id)?;
                let agent = match first.body {
                    EventBody::SessionStarted { agent, .. } => Some(agent),
                    _ => None,
                };
                Ok(SessionSummary {
                    id,
                    agent,
                    started: first.at,
                    events,
                    last: last.at,
                })
            })
            .collect()
    }

    /// The events that fit the filter, by number.
    pub fn events(&self, filter: &EventFilter) -> Result<Vec<Event>, JournalError> {
        let mut sql = format!("{COLUMNS} WHERE e.seq > ?");
        let after = filter.after.unwrap_or(0);
        let mut values = vec![Value::from(after.min(i64::MAX as u64).cast_signed())];
        if let Some(session) = &filter.session {
            sql += " AND e.session = (SELECT key FROM sessions WHERE id = ?)";
            values.push(session.as_str().to_owned().into());
        }
        if !filter.types.is_empty() {
            let marks = vec!["?"; filter.types.len()].join(", ");
            sql += &format!(" AND e.type IN ({marks})");
            values.extend(filter.types.iter().cloned().map(Value::from));
        }
        sql += " ORDER BY e.seq";
        if let Some(limit) = filter.limit {
            sql += " LIMIT ?";
            values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        }
        let mut statement = self
            .connection
            .prepare_cached(&sql)
            .map_err(|error| self.error(error))?;
        let mut rows = statement
            .query(params_from_iter(values))
            .map_err(|error| self.error(error))?;
        let mut events = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.error(error))? {
            events.push(self.read(row)?);
        }
        Ok(events)
    }

    /// The number of the newest event; 0 where there is none.
    pub fn last(&self) -> Result<u64, JournalError> {
        self.connection
            .prepare_cached("SELECT coalesce(max(seq), 0) FROM events")
            .and_then(|mut it| it.query_row([], |row| number(row, 0)))
            .map_err(|error| self.error(error))
    }

    /// An object stored under this digest.
    pub fn object(&self, digest: &Digest) -> Result<Option<String>, JournalError> {
        self.connection
            .prepare_cached("SELECT json FROM objects WHERE digest = ?1")
            .and_then(|mut it| {
                it.query_row([digest.as_bytes()], |row| row.get(0))
                    .optional()
            })
            .map_err(|error| self.error(error))
    }

    /// The session a person means: by its name, by a beginning that only one has, or `last` for
    /// the one that began last.
    pub fn find_session(&self, text: &str) -> Result<SessionId, JournalError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT id FROM sessions ORDER BY first")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<String>>>()
        };
        let mut names = read().map_err(|error| self.error(error))?;
        if text == "last"
            && let Some(name) = names.pop()
        {
            return Ok(SessionId::stored(name));
        }
        if names.iter().any(|name| name == text) {
            return Ok(SessionId::stored(text.to_owned()));
        }
        let begin = |name: &&String| !text.is_empty() && name.starts_with(text);
        let matches: Vec<_> = names.iter().filter(begin).take(4).cloned().collect();
        match matches.as_slice() {
            [] => Err(JournalError::NoSuchSession {
                text: text.to_owned(),
                near: suggest(text, names.iter().map(String::as_str)),
            }),
            [one] => Ok(SessionId::stored(one.clone())),
            _ => Err(JournalError::AmbiguousSession {
                text: text.to_owned(),
                matches,
            }),
        }
    }

    /// Checks every event, chain and head against each other, as of now.
    pub fn verify(&self) -> Result<VerifyReport, JournalError> {
        verify::verify(&self.connection, self.tail).map_err(|error| self.error(error))
    }

    fn event(&self, seq: u64, session: &SessionId) -> Result<Event, JournalError> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("{COLUMNS} WHERE e.seq = ?1"))
            .map_err(|error| self.error(error))?;
        let mut rows = statement
            .query([seq.cast_signed()])
            .map_err(|error| self.error(error))?;
        match rows.next().map_err(|error| self.error(error))? {
            Some(row) => self.read(row),
            None => Err(self.damaged(Damage {
                seq: Some(seq),
                session: Some(session.clone()),
                what: "it is missing".to_owned(),
            })),
        }
    }

    fn read(&self, row: &Row<'_>) -> Result<Event, JournalError> {
        let seq = number(row, 0).map_err(|error| self.error(error))?;
        let session = row.get(1).ok().map(SessionId::stored);
        parse(row, seq, session.clone()).map_err(|what| {
            self.damaged(Damage {
                seq: Some(seq),
                session,
                what,
            })
        })
    }

    fn damaged(&self, damage: Damage) -> JournalError {
        JournalError::Damaged {
            path: self.path.clone(),
            damage,
        }
    }

    fn error(&self, error: rusqlite::Error) -> JournalError {
        JournalError::store(&self.path, error)
    }
}

fn parse(row: &Row<'_>, seq: u64, session: Option<SessionId>) -> Result<Event, String> {
    let column = |error: rusqlite::Error| error.to_string();
    let at = row.get(2).map_err(column)?;
    let body = row.get_ref(5).map_err(column)?;
    Ok(Event {
        seq,
        session: session.ok_or("its session is not known")?,
        at: Timestamp::from_microsecond(at).map_err(|error| error.to_string())?,
        cause: row
            .get::<_, Option<i64>>(3)
            .map_err(column)?
            .map(i64::cast_unsigned),
        correlation: row.get(4).map_err(column)?,
        hash: digest(row, 6).map_err(column)?,
        body: body
            .as_str()
            .map_err(|error| error.to_string())
            .and_then(|text| serde_json::from_str(text).map_err(|error| error.to_string()))?,
    })
}

pub(super) fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(i64::cast_unsigned)
}
