//! Edits of a configuration that a running server holds back, because they let an agent do more
//! than before: which file, as it was then, and what it would change.

use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use jiff::Timestamp;
use rusqlite::params;

use super::projects::key;
use super::{TrustError, TrustStore, digest, now, time};

/// An edit that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldEdit {
    /// The file.
    pub path: PathBuf,
    /// Its digest as edited; [`Digest::ZERO`] if it is gone.
    pub digest: Digest,
    /// What would be wider, a line each.
    pub what: String,
    /// Since when it waits.
    pub at: Timestamp,
}

impl TrustStore {
    /// Leaves an edit for a person. A later edit of the same file takes its place.
    pub fn hold_edit(&self, path: &Path, digest: &Digest, what: &str) -> Result<(), TrustError> {
        self.connection.lock().execute(
            "INSERT INTO held_edits (path, digest, what, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (path) DO UPDATE SET digest = excluded.digest, what = excluded.what,
                 at = excluded.at",
            params![key(path), digest.to_string(), what, now()],
        )?;
        Ok(())
    }

    /// What waits, by path.
    pub fn held_edits(&self) -> Result<Vec<HeldEdit>, TrustError> {
        let connection = self.connection.lock();
        let mut query =
            connection.prepare("SELECT path, digest, what, at FROM held_edits ORDER BY path")?;
        let rows = query.query_map([], |row| {
            Ok(HeldEdit {
                path: PathBuf::from(row.get::<_, String>(0)?),
                digest: digest(row, 1)?,
                what: row.get(2)?,
                at: time(row, 3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// An edit waits no more: it was accepted, taken back or overtaken.
    pub fn release_edit(&self, path: &Path) -> Result<(), TrustError> {
        let connection = self.connection.lock();
        connection.execute("DELETE FROM held_edits WHERE path = ?1", [key(path)])?;
        Ok(())
    }
}
