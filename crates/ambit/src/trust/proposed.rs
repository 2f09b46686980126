//! Edits of agents that an agent proposed and that are not its own to make: what it wants, what
//! that would change, and why it waits.

use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use super::projects::key;
use super::{TrustError, TrustStore, digest, now, time};

pub(super) const SCHEMA: &str = "
CREATE TABLE proposed_edits (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    path TEXT NOT NULL,
    edit TEXT NOT NULL,
    seen TEXT NOT NULL,
    what TEXT NOT NULL,
    diff TEXT NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (agent, path, edit)
) STRICT;
";

/// An edit that is proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProposal {
    /// The agent that proposes it.
    pub agent: String,
    /// The file it is about.
    pub path: PathBuf,
    /// The edit, as JSON.
    pub edit: String,
    /// What was there in its place when it was made.
    pub seen: Digest,
    /// Why it waits, a line each.
    pub what: String,
    /// What it would change in the file.
    pub diff: String,
}

/// A proposed edit that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedEdit {
    /// Its number.
    pub n: i64,
    /// What is proposed.
    pub proposal: NewProposal,
    /// Since when.
    pub at: Timestamp,
}

const COLUMNS: &str = "n, agent, path, edit, seen, what, diff, at";

impl TrustStore {
    /// Leaves an edit for a person, and says its number. The same edit proposed again is one.
    pub fn propose_edit(&self, proposal: &NewProposal) -> Result<i64, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.query_row(
            "INSERT INTO proposed_edits (agent, path, edit, seen, what, diff, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (agent, path, edit) DO UPDATE SET seen = excluded.seen,
                 what = excluded.what, diff = excluded.diff, at = excluded.at
             RETURNING n",
            params![
                proposal.agent,
                key(&proposal.path),
                proposal.edit,
                proposal.seen.to_string(),
                proposal.what,
                proposal.diff,
                now(),
            ],
            |row| row.get(0),
        )?)
    }

    /// What is proposed, oldest first.
    pub fn proposed_edits(&self) -> Result<Vec<ProposedEdit>, TrustError> {
        let connection = self.connection.lock();
        let mut query =
            connection.prepare(&format!("SELECT {COLUMNS} FROM proposed_edits ORDER BY n"))?;
        let rows = query.query_map([], proposed)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The proposal of this number.
    pub fn proposed_edit(&self, n: i64) -> Result<Option<ProposedEdit>, TrustError> {
        let connection = self.connection.lock();
        let one = format!("SELECT {COLUMNS} FROM proposed_edits WHERE n = ?1");
        Ok(connection.query_row(&one, [n], proposed).optional()?)
    }

    /// A proposal waits no more: it was accepted or refused. Says whether it was there.
    pub fn drop_proposal(&self, n: i64) -> Result<bool, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.execute("DELETE FROM proposed_edits WHERE n = ?1", [n])? > 0)
    }
}

fn proposed(row: &Row<'_>) -> rusqlite::Result<ProposedEdit> {
    Ok(ProposedEdit {
        n: row.get(0)?,
        proposal: NewProposal {
            agent: row.get(1)?,
            path: Path::new(&row.get::<_, String>(2)?).to_owned(),
            edit: row.get(3)?,
            seen: digest(row, 4)?,
            what: row.get(5)?,
            diff: row.get(6)?,
        },
        at: time(row, 7)?,
    })
}
