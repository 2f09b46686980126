//! Secrets an agent asked for, until a person has set them.

use ambit_core::observation::Failure;
use jiff::Timestamp;
use rusqlite::Row;

use crate::store::{Part, Store, StoreError};

pub(super) const LONGEST_REASON: usize = 500;
/// More than a person would go through.
const MOST: i64 = 50;

pub(crate) const PART: Part = Part {
    name: "secrets",
    versions: &["
CREATE TABLE secret_requests (
    agent TEXT NOT NULL,
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (agent, name)
) STRICT"],
    tables: &["secret_requests"],
};

/// One that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRequest {
    /// By whom.
    pub agent: String,
    /// Its name.
    pub name: String,
    /// What for, in the agent's words.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

impl SecretRequest {
    /// All that wait, oldest first.
    pub fn all(store: &Store) -> Result<Vec<SecretRequest>, StoreError> {
        store.read(|it| {
            let mut rows = it
                .prepare("SELECT agent, name, reason, at FROM secret_requests ORDER BY at, name")?;
            let rows = rows.query_map([], read)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Forgets requests for a secret that is there now. Says how many there were.
    pub fn answered(store: &Store, name: &str) -> Result<usize, StoreError> {
        store.write(|it| Ok(it.execute("DELETE FROM secret_requests WHERE name = ?1", [name])?))
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<SecretRequest> {
    Ok(SecretRequest {
        agent: row.get(0)?,
        name: row.get(1)?,
        reason: row.get(2)?,
        at: Timestamp::from_second(row.get(3)?).unwrap_or_default(),
    })
}

/// Keeps a request. Asking again changes the reason.
pub(super) fn keep(
    store: &Store,
    agent: &str,
    name: &str,
    reason: &str,
    at: Timestamp,
) -> Result<(), Failure> {
    store.write(|it| {
        let others: i64 = it.query_row(
            "SELECT count(*) FROM secret_requests WHERE (agent, name) <> (?1, ?2)",
            (agent, name),
            |row| row.get(0),
        )?;
        if others >= MOST {
            return Err(Failure::refused(format!(
                "{MOST} requests for secrets wait already; a person has to answer some first"
            ))
            .into());
        }
        it.execute(
            "INSERT INTO secret_requests VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (agent, name) DO UPDATE SET reason = ?3, at = ?4",
            (agent, name, reason, at.as_second()),
        )?;
        Ok(())
    })?;
    Ok(())
}
