//! The tables of the file, and how to tell a journal from anything else.

use rusqlite::{Connection, TransactionBehavior};

use super::error::JournalError;
use super::open::Location;

/// The newest format known here, kept as SQLite's `user_version`.
pub(super) const FORMAT: u32 = 1;

/// "Ambt", kept as SQLite's `application_id`.
const APPLICATION: i64 = 0x416d_6274;

/// `head` and `sessions` repeat what the events say, so that events cut off at the end are
/// missed. `objects.hash` is of `json`; the digest is its owner's name for it.
const TABLES: &str = "
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    last INTEGER NOT NULL
) STRICT;
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    events INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    cause INTEGER,
    correlation TEXT,
    body TEXT NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE INDEX events_of_session ON events (session);
CREATE TABLE objects (
    digest BLOB PRIMARY KEY,
    json TEXT NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO head VALUES (1, 0);
";

/// What a file turned out to be.
#[derive(PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Journal,
}

/// Looks without changing anything, at one moment: another process may be making it just now.
pub(super) fn look(connection: &Connection, location: &Location) -> Result<Found, JournalError> {
    let moment = connection
        .unchecked_transaction()
        .map_err(|error| location.error(error))?;
    look_at(&moment, location)
}

fn look_at(connection: &Connection, location: &Location) -> Result<Found, JournalError> {
    let ask = |pragma: &str| {
        connection
            .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
            .map_err(|error| location.error(error))
    };
    let format = u32::try_from(ask("user_version")?).unwrap_or(u32::MAX);
    let application = ask("application_id")?;
    let empty = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map(|tables: i64| tables == 0)
        .map_err(|error| location.error(error))?;
    match (application, format) {
        (APPLICATION, FORMAT) => Ok(Found::Journal),
        (APPLICATION, found) if found > FORMAT => Err(JournalError::Newer {
            found,
            known: FORMAT,
            path: location.path().to_owned(),
        }),
        (0, 0) if empty => Ok(Found::Nothing),
        _ => Err(JournalError::NotAJournal {
            path: location.path().to_owned(),
        }),
    }
}

/// Makes an empty file a journal, unless another process was faster.
pub(super) fn create(connection: &mut Connection, location: &Location) -> Result<(), JournalError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| location.error(error))?;
    if look_at(&transaction, location)? == Found::Journal {
        return Ok(());
    }
    transaction
        .execute_batch(TABLES)
        .and_then(|()| transaction.pragma_update(None, "application_id", APPLICATION))
        .and_then(|()| transaction.pragma_update(None, "user_version", FORMAT))
        .and_then(|()| transaction.commit())
        .map_err(|error| location.error(error))
}
