//! What built-in capabilities keep: one SQLite database per workspace, in the data directory,
//! shared by every process that works there.
//!
//! Each capability has a `Part` of its own with its own versions, so one can change without the
//! others. The database is opened when somebody first needs it. One that a newer version wrote is
//! refused and left as it is; one that is damaged is copied aside and never made anew by itself.

pub(crate) mod cell;
mod dump;
mod error;
mod folder;
mod part;
#[cfg(test)]
mod tests;

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use dump::{Dump, PartDump};
pub use error::StoreError;
pub(crate) use part::Part;

/// The database's name in its folder.
const NAME: &str = "data.db";

/// How long a process waits for another one's write.
const PATIENCE: Duration = Duration::from_secs(10);

/// Everything kept in it.
const PARTS: &[&Part] = &[
    &crate::secrets::PART,
    &crate::memory::PART,
    &crate::notes::PART,
    &crate::history::PART,
    &crate::tasks::PART,
    &crate::own::PART,
    &crate::triggers::PART,
    &crate::notices::PART,
];

/// One workspace's database, and the folder it is in.
pub struct Store {
    folder: PathBuf,
    parts: &'static [&'static Part],
    connection: Mutex<Option<Connection>>,
}

impl Store {
    /// The store in this folder. Nothing is opened or made by asking.
    pub fn at(folder: &Path) -> Arc<Self> {
        Self::of(folder, PARTS)
    }

    fn of(folder: &Path, parts: &'static [&'static Part]) -> Arc<Self> {
        Arc::new(Store {
            folder: folder.to_owned(),
            parts,
            connection: Mutex::default(),
        })
    }

    /// Where files lie that a person would want to open.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The database's file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// Looks at what is kept, as it is at one moment.
    pub fn read<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Deferred, work)
    }

    /// Changes what is kept: all of the work or nothing of it, and nobody else's meanwhile. What
    /// has returned is on disk.
    pub fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Immediate, work)
    }

    fn transaction<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut slot = self.connection.lock();
        let connection = match &mut *slot {
            Some(connection) => connection,
            None => slot.insert(self.open()?),
        };
        let done = || -> Result<T, StoreError> {
            let transaction = connection.transaction_with_behavior(behavior)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        done().map_err(|error| self.told(error))
    }

    /// Whether every page of it can be read.
    pub fn check(&self) -> Result<(), StoreError> {
        if !self.path().exists() {
            return Ok(());
        }
        let said: String =
            self.read(|it| Ok(it.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?))?;
        match said.as_str() {
            "ok" => Ok(()),
            _ => Err(self.damaged(said)),
        }
    }

    fn open(&self) -> Result<Connection, StoreError> {
        let unusable = |error: std::io::Error| StoreError::Unusable {
            path: self.path(),
            message: error.to_string(),
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(unusable)?;
        // Made here, for its owner alone: SQLite would ask only the umask.
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(self.path())
            .map_err(unusable)?;
        self.prepare().map_err(|error| self.told(error))
    }

    fn prepare(&self) -> Result<Connection, StoreError> {
        let mut connection = Connection::open(self.path())?;
        connection.busy_timeout(PATIENCE)?;
        // Looked at before anything is changed: not even the journal mode of a newer one.
        part::refuse_newer(&connection, self.parts, &self.path())?;
        write_ahead(&connection)?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        part::bring_up(&mut connection, self.parts, &self.path())?;
        Ok(connection)
    }

    /// An error of the database, as what it means for whoever asked.
    fn told(&self, error: StoreError) -> StoreError {
        let error = match error {
            StoreError::Database(error) => error,
            other => return other,
        };
        if error::is_damage(&error) {
            return self.damaged(error.to_string());
        }
        StoreError::Unusable {
            path: self.path(),
            message: error.to_string(),
        }
    }

    fn damaged(&self, message: String) -> StoreError {
        StoreError::Damaged {
            path: self.path(),
            message,
            copy: error::copy_aside(&self.path()),
        }
    }
}

/// Readers and writers do not wait for each other from now on. While somebody else makes the same
/// change SQLite says at once that the database is locked, however patient it was told to be.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if error::is_busy(&error) && Instant::now() < until => {
                thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}
