//! Opening: who may, what is there, and whether the last writer finished.
//!
//! The database file is only ever opened through SQLite. SQLite's locks are POSIX locks, and
//! closing any other descriptor of the same file in this process would drop them.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::OpenReport;
use super::error::JournalError;
use super::schema::{self, Found};
use super::session::SessionId;
use super::wal::{self, Tail};

/// How long one attempt to get the write lock goes on.
const PATIENCE_MS: i32 = 5_000;

/// Pages in the write-ahead log before they are moved into the database (16 MiB).
const CHECKPOINT_PAGES: i64 = 4_096;

/// Only while a file is new may one of its descriptors be closed; see the top of this file.
static CREATING: Mutex<()> = Mutex::new(());

/// Where a journal is.
#[derive(Clone, Debug)]
pub(super) enum Location {
    File(PathBuf),
    /// Named, so that a reader finds what the writer made.
    Memory(PathBuf),
}

impl Location {
    pub(super) fn file(path: &Path) -> Result<Self, JournalError> {
        if path.is_dir() {
            let path = path.to_owned();
            return Err(JournalError::NotAJournal { path });
        }
        // Absolute, so that no name is taken for a URI.
        std::path::absolute(path)
            .map(Location::File)
            .map_err(|error| JournalError::io(path, error))
    }

    pub(super) fn memory() -> Self {
        Location::Memory(format!("file:/{}?vfs=memdb", SessionId::generate()).into())
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Location::File(path) | Location::Memory(path) => path,
        }
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> JournalError {
        let path = self.path();
        let cannot = error.sqlite_error_code() == Some(ErrorCode::CannotOpen);
        // What cannot be opened then is a helper file that would have to be made.
        match path.parent().map(|folder| access(folder, Access::WRITE_OK)) {
            Some(Err(Errno::ROFS | Errno::ACCESS)) if cannot => JournalError::ReadOnly {
                path: path.to_owned(),
            },
            _ => JournalError::store(path, error),
        }
    }

    fn connect(&self, flags: OpenFlags) -> Result<Connection, JournalError> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let open = || {
            let mut connection = Connection::open_with_flags(self.path(), flags)?;
            connection.busy_handler(Some(wait_a_little))?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            // Looking at a file must not change it.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            Ok(connection)
        };
        open().map_err(|error| self.error(error))
    }
}

/// SQLite's own waiting backs off to 100 ms, by which a busy neighbour would always win.
fn wait_a_little(times: i32) -> bool {
    std::thread::sleep(Duration::from_millis(1));
    times < PATIENCE_MS
}

/// Opens for appending, making the journal if there is none.
pub(super) fn for_writing(location: &Location) -> Result<(Connection, OpenReport), JournalError> {
    let path = location.path();
    let _creating = CREATING.lock();
    create_file(path)?;
    let folder = path.parent().unwrap_or(path);
    for it in [path, folder] {
        access(it, Access::WRITE_OK).map_err(|error| JournalError::io(path, error.into()))?;
    }
    let repaired = give_up(tail(location)?, path)?;
    let mut connection = location.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    if schema::look(&connection, location)? == Found::Nothing {
        schema::create(&mut connection, location)?;
        sync_folder(folder)?;
    }
    enter_wal_mode(&connection)
        .and_then(|()| prepare(&connection))
        .and_then(|()| match repaired {
            // What was dropped must not be found again.
            Some(_) => connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())),
            None => Ok(()),
        })
        .map_err(|error| location.error(error))?;
    Ok((connection, OpenReport { repaired }))
}

/// Opens the writer of a journal that lives in memory only.
pub(super) fn in_memory(location: &Location) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut connection = location.connect(flags)?;
    schema::create(&mut connection, location)?;
    prepare(&connection).map_err(|error| location.error(error))?;
    Ok(connection)
}

/// Opens for reading. Works where nothing can be written, as long as the last writer closed the
/// journal properly.
pub(super) fn for_reading(location: &Location) -> Result<(Connection, Tail), JournalError> {
    let path = location.path();
    std::fs::metadata(path).map_err(|error| JournalError::io(path, error))?;
    let _creating = CREATING.lock();
    let tail = tail(location)?;
    let connection = look_into(location, path).or_else(|error| match unchanging(path) {
        Some(uri) => look_into(location, &uri),
        None => Err(error),
    })?;
    Ok((connection, tail))
}

/// Opens another connection for reading what this process writes.
pub(super) fn beside_writer(location: &Location) -> Result<Connection, JournalError> {
    look_into(location, location.path())
}

fn look_into(location: &Location, path: &Path) -> Result<Connection, JournalError> {
    let place = match location {
        Location::File(_) => Location::File(path.to_owned()),
        Location::Memory(_) => Location::Memory(path.to_owned()),
    };
    // The memory store knows no read-only connection.
    let flags = match location {
        Location::File(_) => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Location::Memory(_) => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let connection = place.connect(flags)?;
    match schema::look(&connection, location)? {
        Found::Journal => Ok(connection),
        Found::Nothing => Err(JournalError::NotAJournal {
            path: location.path().to_owned(),
        }),
    }
}

/// The name of a file in a folder that cannot be written, where SQLite could not make its
/// helper files and, without a write-ahead log, does not need them.
fn unchanging(path: &Path) -> Option<PathBuf> {
    let fixed = access(path.parent()?, Access::WRITE_OK).is_err();
    let alone = std::fs::metadata(wal_of(path)).map_or(true, |wal| wal.len() == 0);
    let escaped = path
        .to_str()?
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    (fixed && alone).then(|| format!("file:{escaped}?immutable=1").into())
}

fn create_file(path: &Path) -> Result<(), JournalError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(JournalError::io(path, error)),
    }
}

/// A synced file whose name is not synced is gone after power loss.
fn sync_folder(folder: &Path) -> Result<(), JournalError> {
    std::fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| JournalError::io(folder, error))
}

/// Switching needs the file for a moment, and SQLite does not wait for that by itself.
fn enter_wal_mode(connection: &Connection) -> rusqlite::Result<()> {
    let mut tries = 0;
    loop {
        let mode: rusqlite::Result<String> =
            connection.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0));
        match mode {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && wait_a_little(tries) =>
            {
                tries += 1;
            }
            other => return other.map(drop),
        }
    }
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Where a plain sync stops at the disk's own memory.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    // Space a burst needed is given back.
    connection.pragma_update_and_check(
        None,
        "journal_size_limit",
        CHECKPOINT_PAGES * 4_096,
        |_| Ok(()),
    )?;
    connection.pragma_update(None, "cache_size", -8_192)?;
    connection.pragma_update(None, "cell_size_check", true)
}

fn wal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// How the log ends. Only asked while nobody else has the journal open: what looks unfinished
/// then is not a write under way.
fn tail(location: &Location) -> Result<Tail, JournalError> {
    let path = location.path();
    let wal = wal_of(path);
    if std::fs::metadata(&wal).map_or(true, |it| it.len() == 0) {
        return Ok(Tail::Clean);
    }
    let _alone = match access(path, Access::WRITE_OK) {
        Ok(()) => match lock_out_others(location)? {
            Some(alone) => Some(alone),
            None => return Ok(Tail::Clean),
        },
        // Nobody can write here.
        Err(Errno::ROFS) => None,
        Err(_) => return Ok(Tail::Clean),
    };
    wal::inspect(&wal).map_err(|error| JournalError::io(&wal, error))
}

/// Says what opening for writing drops, and keeps a copy of what may have been finished.
fn give_up(tail: Tail, path: &Path) -> Result<Option<String>, JournalError> {
    Ok(match tail {
        Tail::Clean => None,
        Tail::Unfinished { bytes } => Some(format!(
            "{bytes} bytes of an unfinished write at the end were dropped"
        )),
        Tail::Unreadable { bytes } => Some(format!(
            "{bytes} bytes at the end are damaged and could not be kept; they may hold finished \
             writes, so a copy is in `{}`",
            keep_copy(&wal_of(path))?.display()
        )),
    })
}

/// A connection that keeps all others out while it lives, unless one is there already.
fn lock_out_others(location: &Location) -> Result<Option<Connection>, JournalError> {
    let connection = location.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let lock = || {
        connection.busy_timeout(Duration::ZERO)?;
        connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
    };
    match lock() {
        Ok(()) => schema::look(&connection, location).map(|_| Some(connection)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
        Err(error) => Err(location.error(error)),
    }
}

fn keep_copy(wal: &Path) -> Result<PathBuf, JournalError> {
    let mut name = wal.as_os_str().to_owned();
    name.push(format!(".damaged-{}", SessionId::generate()));
    let copy = PathBuf::from(name);
    std::fs::copy(wal, &copy).map_err(|error| JournalError::io(&copy, error))?;
    Ok(copy)
}
