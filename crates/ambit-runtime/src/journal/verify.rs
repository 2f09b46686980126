//! Is the record what was written? Walks the journal once, in order, and stops at the first
//! event that cannot be what was written.

use std::collections::BTreeMap;
use std::fmt;

use ambit_core::digest::Digest;
use rusqlite::{Connection, ErrorCode, Row};
use serde::Serialize;

use super::append::digest;
use super::chain::Link;
use super::reader::number;
use super::session::SessionId;
use super::wal::Tail;

/// What verifying found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Events found good, up to the first damage.
    pub events: u64,
    /// Sessions they belong to.
    pub sessions: u64,
    /// The first damage, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<Damage>,
    /// Bytes at the end of a write that never finished. Not damage: nobody was told that it
    /// had, and the next writer drops them.
    pub torn: u64,
    /// Calls that began and have no end on record. Not damage: they may be running, or their
    /// process was ended.
    pub unfinished: Vec<Unfinished>,
}

/// Something that cannot be what was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The first event concerned, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Its session, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What is wrong.
    pub what: String,
}

impl Damage {
    pub(super) fn somewhere(what: String) -> Self {
        Damage {
            seq: None,
            session: None,
            what,
        }
    }

    fn of(self, session: Option<SessionId>) -> Self {
        Damage { session, ..self }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(seq) = self.seq {
            write!(f, "event {seq}")?;
            if let Some(session) = &self.session {
                write!(f, " of session `{session}`")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.what)
    }
}

/// A call that began and has no end on record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// The event that recorded its start.
    pub seq: u64,
    /// Its session.
    pub session: SessionId,
    /// The call.
    pub call: String,
}

/// Checks everything, in one snapshot. Errors that say the file is damaged are a finding, not
/// an error.
pub(super) fn verify(connection: &Connection, tail: Tail) -> rusqlite::Result<VerifyReport> {
    let snapshot = connection.unchecked_transaction()?;
    let mut walk = Walk::default();
    let outcome = walk
        .events(&snapshot)
        .and_then(|found| match found {
            None => walk.heads(&snapshot),
            found => Ok(found),
        })
        .and_then(|found| match found {
            None => file(&snapshot),
            found => Ok(found),
        });
    let damage = match outcome {
        Ok(found) => found.or_else(|| walk.lost_in(tail)),
        Err(error) if says_damage(&error) => Some(Damage {
            seq: Some(walk.last + 1).filter(|_| !walk.complete),
            session: None,
            what: format!("the file cannot be read any further: {error}"),
        }),
        Err(error) => return Err(error),
    };
    Ok(VerifyReport {
        events: walk.last,
        sessions: walk.chains.len() as u64,
        damage,
        torn: match tail {
            Tail::Unfinished { bytes } => bytes,
            Tail::Clean | Tail::Unreadable { .. } => 0,
        },
        unfinished: walk.unfinished(),
    })
}

fn says_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, QueryReturnedNoRows,
        SqliteFailure, Utf8Error,
    };
    match error {
        SqliteFailure(failure, _) => matches!(
            failure.code,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase
        ),
        FromSqlConversionFailure(..)
        | IntegralValueOutOfRange(..)
        | InvalidColumnType(..)
        | QueryReturnedNoRows
        | Utf8Error(..) => true,
        _ => false,
    }
}

/// One session's chain as far as it was walked.
struct Chain {
    session: SessionId,
    hash: Digest,
    events: u64,
    last: u64,
}

#[derive(Default)]
struct Walk {
    /// The last event found good.
    last: u64,
    /// Whether all events were walked.
    complete: bool,
    /// By the session's key in the file.
    chains: BTreeMap<i64, Chain>,
    /// Starts without an end, by session and call.
    open: BTreeMap<(i64, String), u64>,
}

impl Walk {
    fn events(&mut self, snapshot: &Connection) -> rusqlite::Result<Option<Damage>> {
        let mut statement = snapshot.prepare(
            "SELECT e.seq, e.session, s.id, e.type, e.at, e.cause, e.correlation, e.body, e.hash
             FROM events e LEFT JOIN sessions s ON s.key = e.session ORDER BY e.seq",
        )?;
        let mut rows = statement.query([])?;
        let mut gap: Option<Damage> = None;
        while let Some(row) = rows.next()? {
            let seq = number(row, 0)?;
            if gap.is_none() && seq != self.last + 1 {
                gap = Some(self.gap_before(seq));
            }
            match (gap.take(), self.event(seq, row)?) {
                (None, None) => self.last = seq,
                (None, damage) => return Ok(damage),
                // Goes on until a chain tells whose event is missing.
                (Some(before), None) => gap = Some(before),
                (Some(before), Some(after)) => return Ok(Some(before.of(after.session))),
            }
        }
        match gap {
            None => {
                self.complete = true;
                Ok(None)
            }
            Some(gap) => {
                let session = self.heads(snapshot)?.and_then(|it| it.session);
                Ok(Some(gap.of(session)))
            }
        }
    }

    fn gap_before(&self, seq: u64) -> Damage {
        let what = match seq.checked_sub(self.last) {
            Some(2) => "it is missing".to_owned(),
            _ => format!("it and others before event {seq} are missing"),
        };
        Damage {
            seq: Some(self.last + 1),
            session: None,
            what,
        }
    }

    /// Checks one event against its chain, and moves the chain.
    fn event(&mut self, seq: u64, row: &Row<'_>) -> rusqlite::Result<Option<Damage>> {
        let key: i64 = row.get(1)?;
        let Some(session) = row.get::<_, Option<String>>(2)? else {
            return Ok(Some(Damage {
                seq: Some(seq),
                session: None,
                what: "the session it belongs to is missing".to_owned(),
            }));
        };
        let kind = row.get_ref(3)?.as_str()?;
        let correlation = row.get_ref(6)?.as_str_or_null()?;
        let previous = self.chains.get(&key).map_or(Digest::ZERO, |it| it.hash);
        let hash = Link {
            previous: &previous,
            seq,
            session: &session,
            at: row.get(4)?,
            cause: row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned),
            kind,
            correlation,
            body: row.get_ref(7)?.as_str()?,
        }
        .hash();
        let session = SessionId::stored(session);
        if hash != digest(row, 8)? {
            return Ok(Some(Damage {
                seq: Some(seq),
                session: Some(session),
                what: "it does not match its hash: it or its predecessor was changed".to_owned(),
            }));
        }
        if let Some(call) = correlation {
            let call = (key, call.to_owned());
            match kind {
                "tool.started" => drop(self.open.insert(call, seq)),
                "tool.observation" => drop(self.open.remove(&call)),
                _ => {}
            }
        }
        let chain = self.chains.entry(key).or_insert(Chain {
            session,
            hash,
            events: 0,
            last: seq,
        });
        chain.hash = hash;
        chain.events += 1;
        chain.last = seq;
        Ok(None)
    }

    /// Compares the chains with where the file says they end.
    fn heads(&mut self, snapshot: &Connection) -> rusqlite::Result<Option<Damage>> {
        let last = snapshot.query_row("SELECT last FROM head", [], |row| number(row, 0))?;
        let mut statement =
            snapshot.prepare("SELECT key, id, last, events, hash FROM sessions ORDER BY last")?;
        let mut rows = statement.query([])?;
        let mut first: Option<Damage> = None;
        while let Some(row) = rows.next()? {
            let key = row.get(0)?;
            let session = SessionId::stored(row.get(1)?);
            let head = (number(row, 2)?, number(row, 3)?, digest(row, 4)?);
            let walked = self
                .chains
                .get(&key)
                .map(|it| (it.last, it.events, it.hash));
            if walked != Some(head) && first.is_none() {
                let (seq, what) = if head.0 > self.last {
                    (self.last + 1, "it and all after it are missing at the end")
                } else {
                    (
                        head.0,
                        "the end of its session is not where it was recorded",
                    )
                };
                first = Some(Damage {
                    seq: Some(seq),
                    session: Some(session),
                    what: what.to_owned(),
                });
            }
        }
        if first.is_none() && last != self.last {
            first = Some(Damage {
                seq: Some(self.last.min(last) + 1),
                session: None,
                what: format!("the journal's end is recorded as event {last}"),
            });
        }
        Ok(first)
    }

    /// What the log held after the last event, if that may have been finished.
    fn lost_in(&self, tail: Tail) -> Option<Damage> {
        let Tail::Unreadable { bytes } = tail else {
            return None;
        };
        Some(Damage {
            seq: Some(self.last + 1),
            session: None,
            what: format!("it and all after it are in {bytes} damaged bytes at the end"),
        })
    }

    fn unfinished(&self) -> Vec<Unfinished> {
        let mut all: Vec<_> = self
            .open
            .iter()
            .filter_map(|((key, call), seq)| {
                Some(Unfinished {
                    seq: *seq,
                    session: self.chains.get(key)?.session.clone(),
                    call: call.clone(),
                })
            })
            .collect();
        all.sort_unstable_by_key(|it| it.seq);
        all
    }
}

/// What no event tells: the objects, the indexes, the pages between.
fn file(snapshot: &Connection) -> rusqlite::Result<Option<Damage>> {
    let mut statement = snapshot.prepare("SELECT digest, json, hash FROM objects")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if Digest::of_bytes(row.get_ref(1)?.as_str()?.as_bytes()) != digest(row, 2)? {
            let what = format!("the object `{}` was changed", digest(row, 0)?);
            return Ok(Some(Damage::somewhere(what)));
        }
    }
    let check: String = snapshot.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok((check != "ok").then(|| Damage::somewhere(format!("the file's structure: {check}"))))
}
