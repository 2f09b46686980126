//! The trust store: what a person has accepted, and what waits for one.
//!
//! One SQLite file in the user's state directory, shared by every process of that user. A file
//! written by a newer version is refused and left as it is.

mod approvals;
mod held;
mod pins;
mod projects;
mod proposed;
#[cfg(test)]
mod tests;
mod tokens;

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ambit_core::digest::Digest;
use ambit_core::id::{CapabilityId, IdError};
use jiff::Timestamp;
use parking_lot::Mutex;
use rusqlite::types::Type;
use rusqlite::{Connection, Row, TransactionBehavior};
use thiserror::Error;

use crate::places::{Places, private_directory};

pub use approvals::{NewRequest, OnceDecision, PendingRequest, Scope, StandingApproval, YesFor};
pub use held::HeldEdit;
pub use pins::HeldDefinition;
pub use projects::{AcceptedProject, ProjectTrust};
pub use proposed::{NewProposal, ProposedEdit};
pub use tokens::{IssuedToken, OPERATOR};

const VERSION: i64 = 5;

/// How long a process waits for another one's write.
const PATIENCE: Duration = Duration::from_secs(10);

/// What each version adds to the one before.
const SCHEMAS: [&str; VERSION as usize] = [
    "
CREATE TABLE projects (
    path TEXT NOT NULL,
    digest TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (path, digest)
) STRICT;
CREATE TABLE standing (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    capability TEXT NOT NULL,
    definition TEXT NOT NULL,
    session TEXT,
    at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX standing_once
    ON standing (agent, capability, definition, session IS NULL, ifnull(session, ''));
CREATE TABLE pending (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    capability TEXT NOT NULL,
    definition TEXT NOT NULL,
    call TEXT NOT NULL UNIQUE,
    arguments TEXT NOT NULL,
    why TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE TABLE once (
    call TEXT PRIMARY KEY,
    allowed INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT;
",
    "
CREATE TABLE tokens (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    revoked INTEGER
) STRICT;
CREATE TABLE held_edits (
    path TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    what TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
",
    pins::SCHEMA,
    "ALTER TABLE pending ADD COLUMN stands INTEGER NOT NULL DEFAULT 1;",
    proposed::SCHEMA,
];

/// The trust store cannot answer.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The file was written by a newer version.
    #[error("`{}` was written by a newer version ({found}, this one knows {VERSION})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The directory or the file cannot be made.
    #[error("`{}` cannot be made", path.display())]
    Create {
        /// What cannot be made.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no such request, or it has been decided.
    #[error("there is no pending request {0}")]
    NoSuchRequest(i64),
    /// SQLite says no.
    #[error("the trust store failed: {0}")]
    Store(#[from] rusqlite::Error),
}

/// What a person has accepted, and what waits for one.
#[derive(Debug)]
pub struct TrustStore {
    connection: Mutex<Connection>,
}

impl TrustStore {
    /// Opens the user's store, making it if there is none.
    pub fn open(places: &Places) -> Result<TrustStore, TrustError> {
        let path = places.trust();
        let create = |source| TrustError::Create {
            path: path.clone(),
            source,
        };
        if !path.exists() {
            private_directory(places.state()).map_err(create)?;
            // Made here and not by SQLite, so that it is private from its first moment.
            OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o600)
                .open(&path)
                .map_err(create)?;
        }
        let mut connection = Connection::open(&path)?;
        connection.busy_timeout(PATIENCE)?;
        prepare(&mut connection, &path)?;
        Ok(TrustStore {
            connection: Mutex::new(connection),
        })
    }

    /// A number that is another one after another process has written.
    pub fn written_elsewhere(&self) -> Result<i64, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
    }
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), TrustError> {
    let found = version(connection)?;
    if found > VERSION {
        return Err(TrustError::Newer {
            path: path.to_owned(),
            found,
        });
    }
    if found < VERSION {
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been first.
        let found = usize::try_from(version(&change)?).unwrap_or(0);
        for schema in SCHEMAS.iter().skip(found) {
            change.execute_batch(schema)?;
        }
        change.pragma_update(None, "user_version", VERSION)?;
        change.commit()?;
    }
    // No write-ahead log: what was accepted must be readable on a full or read-only disk, too.
    connection.pragma_update(None, "journal_mode", "delete")?;
    connection.pragma_update(None, "synchronous", "full")?;
    Ok(())
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

fn broken(
    column: usize,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(row.get(column)?).map_err(|error| broken(column, error))
}

fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    let text: String = row.get(column)?;
    text.parse().map_err(|error: String| broken(column, error))
}

fn capability(row: &Row<'_>, column: usize) -> rusqlite::Result<CapabilityId> {
    let text: String = row.get(column)?;
    text.parse().map_err(|error: IdError| broken(column, error))
}
