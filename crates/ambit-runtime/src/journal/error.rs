//! What can be wrong with a journal, in words for whoever has to act on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;
use thiserror::Error;

use super::verify::Damage;

/// Why a journal could not be opened, read or written. Cheap to clone, since all appends of a
/// failed transaction get the same one.
#[derive(Clone, Debug, Error)]
pub enum JournalError {
    /// There is none.
    #[error("there is no journal at `{}`", path.display())]
    Missing {
        /// Where.
        path: PathBuf,
    },
    /// Something else is there.
    #[error("`{}` is not a journal", path.display())]
    NotAJournal {
        /// Where.
        path: PathBuf,
    },
    /// It was written by a newer version. It is left untouched.
    #[error("the journal `{}` has format {found}; this version knows formats up to {known}", path.display())]
    Newer {
        /// Its format.
        found: u32,
        /// The newest known here.
        known: u32,
        /// Where.
        path: PathBuf,
    },
    /// The file or its folder cannot be written.
    #[error("the journal `{}` needs a file and a folder that can be written, and one is read-only", path.display())]
    ReadOnly {
        /// Where.
        path: PathBuf,
    },
    /// There is no room. What was recorded before is kept.
    #[error("the journal `{}` cannot be written: the disk is full", path.display())]
    DiskFull {
        /// Where.
        path: PathBuf,
    },
    /// Somebody else keeps it locked.
    #[error("the journal `{}` is kept locked by another process", path.display())]
    Busy {
        /// Where.
        path: PathBuf,
    },
    /// Something in it cannot be what was written.
    #[error("the journal `{}` is damaged: {damage}", path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// What is known about it.
        damage: Damage,
    },
    /// The store failed in another way.
    #[error("the journal `{}` failed", path.display())]
    Store {
        /// Where.
        path: PathBuf,
        /// What the store says.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The file system failed.
    #[error("the journal `{}` failed", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// More waits to be written than may.
    #[error("{waiting} bytes already wait to be written to the journal")]
    Overloaded {
        /// How much waits.
        waiting: usize,
    },
    /// The event cannot be written as JSON.
    #[error("an event cannot be written as JSON: {message}")]
    NotJson {
        /// Why.
        message: String,
    },
    /// What caused an event is not on record, so the event is not recorded either.
    #[error("event {index} of the append names a cause that is not on record")]
    CauseNotRecorded {
        /// Which event of the append.
        index: usize,
    },
    /// The writer is gone.
    #[error("the journal's writer has ended")]
    Ended,
    /// No session is named so.
    #[error("no session is named `{text}`")]
    NoSuchSession {
        /// What was looked for.
        text: String,
        /// Names near it.
        near: Vec<String>,
    },
    /// Several sessions begin so.
    #[error("several sessions begin with `{text}`")]
    AmbiguousSession {
        /// What was looked for.
        text: String,
        /// Some of them.
        matches: Vec<String>,
    },
}

impl JournalError {
    /// What to do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            JournalError::NotAJournal { .. } => {
                "move the file away, or name another place for the journal".to_owned()
            }
            JournalError::Newer { .. } => {
                "use the version that wrote it, or a newer one".to_owned()
            }
            JournalError::ReadOnly { .. } => {
                "make the file and its folder writable, or name another place for the journal"
                    .to_owned()
            }
            JournalError::DiskFull { .. } => {
                "free some space; what was recorded before is kept".to_owned()
            }
            JournalError::NoSuchSession { near, .. } => ambit_core::suggest::did_you_mean(near)?,
            JournalError::AmbiguousSession { matches, .. } => {
                ambit_core::suggest::did_you_mean(matches)?
            }
            _ => return None,
        })
    }

    pub(super) fn store(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => JournalError::NotAJournal { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                JournalError::ReadOnly { path }
            }
            Some(ErrorCode::DiskFull) => JournalError::DiskFull { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                JournalError::Busy { path }
            }
            Some(ErrorCode::DatabaseCorrupt) => JournalError::Damaged {
                path,
                damage: Damage::somewhere(error.to_string()),
            },
            _ => JournalError::Store {
                path,
                source: Arc::new(error),
            },
        }
    }

    pub(super) fn io(path: &Path, error: std::io::Error) -> Self {
        use std::io::ErrorKind::{
            NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };
        let path = path.to_owned();
        match error.kind() {
            NotFound => JournalError::Missing { path },
            PermissionDenied | ReadOnlyFilesystem => JournalError::ReadOnly { path },
            StorageFull | QuotaExceeded => JournalError::DiskFull { path },
            _ => JournalError::Io {
                path,
                source: Arc::new(error),
            },
        }
    }
}
