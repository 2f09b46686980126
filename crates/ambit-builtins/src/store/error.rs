//! What can be wrong with a database, and that a damaged one is kept.

use std::fs;
use std::path::{Path, PathBuf};

use ambit_core::code::Code;
use ambit_core::digest::Digest;
use ambit_core::observation::Failure;
use rusqlite::ErrorCode;
use thiserror::Error;

/// Why something cannot be kept or looked up.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A newer Ambit wrote it.
    #[error(
        "`{}` was written by a newer version of ambit (`{part}` is at version {found}, this one knows {known}); it is left as it is: use that version",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Whose tables.
        part: String,
        /// As which version they were written.
        found: i64,
        /// The last one known here.
        known: i64,
    },
    /// It cannot be read as a database.
    #[error(
        "`{}` is damaged ({message}); {}. Put a good copy in its place, or move it away and bring back an export with `ambit data import`",
        path.display(),
        copied(copy)
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        message: String,
        /// Where a copy of it was put.
        copy: Option<PathBuf>,
    },
    /// It cannot be opened, locked or written.
    #[error("`{}` cannot be used: {message}", path.display())]
    Unusable {
        /// The database.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// What is to be brought in does not fit.
    #[error("{0}")]
    Import(String),
    /// Whoever works with it refuses to go on: nothing is changed.
    #[error("{}", .0.message)]
    Refused(Failure),
    /// A statement failed.
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        StoreError::Refused(failure)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        // A locked database or a full disk may be well again in a moment; the rest needs a person.
        let retryable = matches!(error, StoreError::Unusable { .. });
        match error {
            StoreError::Refused(failure) => failure,
            error => Failure {
                retryable,
                ..Failure::new(Code::ProviderFailed, error.to_string())
            },
        }
    }
}

fn copied(copy: &Option<PathBuf>) -> String {
    match copy {
        Some(copy) => format!("a copy is at `{}`", copy.display()),
        None => "it could not be copied".to_owned(),
    }
}

/// Whether an error says that the file is not what it should be.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Whether an error says that somebody else is at it.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Copies a damaged database, and what was not yet moved into it, to a name made from its content:
/// the same damage is copied once, however often it is met.
pub(super) fn copy_aside(path: &Path) -> Option<PathBuf> {
    let content = fs::read(path).ok()?;
    let beside = |of: &Path, suffix: &str| {
        let mut name = of.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let copy = beside(
        path,
        &format!(".damaged-{}", Digest::of_bytes(&content).short()),
    );
    if !copy.exists() {
        fs::copy(path, &copy).ok()?;
        let log = beside(path, "-wal");
        if log.exists() {
            fs::copy(log, beside(&copy, "-wal")).ok()?;
        }
    }
    Some(copy)
}
