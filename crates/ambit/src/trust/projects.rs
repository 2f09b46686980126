//! Projects whose file a person has read and accepted, by canonical path and digest.

use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::{TrustError, TrustStore, digest, now, time};

/// Whether a person has accepted a project's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectTrust {
    /// As it is now.
    Trusted,
    /// Not as it is now, but as it was.
    Changed {
        /// When it was last accepted.
        since: Timestamp,
    },
    /// Never.
    Unknown,
}

/// One accepted version of a project's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedProject {
    /// The file's canonical path.
    pub path: PathBuf,
    /// Its digest when it was accepted.
    pub digest: Digest,
    /// When.
    pub at: Timestamp,
}

impl TrustStore {
    /// Remembers that a person accepted this file as it is. Earlier versions stay accepted, so
    /// that changing branches does not ask again.
    pub fn accept_project(&self, path: &Path, digest: &Digest) -> Result<(), TrustError> {
        self.connection.lock().execute(
            "INSERT INTO projects (path, digest, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (path, digest) DO UPDATE SET at = excluded.at",
            params![key(path), digest.to_string(), now()],
        )?;
        Ok(())
    }

    /// Forgets every accepted version of this file, and says how many there were.
    pub fn revoke_project(&self, path: &Path) -> Result<usize, TrustError> {
        let connection = self.connection.lock();
        Ok(connection.execute("DELETE FROM projects WHERE path = ?1", [key(path)])?)
    }

    /// Whether this file has been accepted.
    pub fn project_trust(&self, path: &Path, digest: &Digest) -> Result<ProjectTrust, TrustError> {
        let connection = self.connection.lock();
        let last = connection
            .query_row(
                "SELECT at, digest = ?2 FROM projects WHERE path = ?1
                 ORDER BY digest = ?2 DESC, at DESC LIMIT 1",
                params![key(path), digest.to_string()],
                |row| Ok((time(row, 0)?, row.get::<_, bool>(1)?)),
            )
            .optional()?;
        Ok(match last {
            Some((_, true)) => ProjectTrust::Trusted,
            Some((since, false)) => ProjectTrust::Changed { since },
            None => ProjectTrust::Unknown,
        })
    }

    /// Every accepted version of every file, by path and newest first.
    pub fn accepted_projects(&self) -> Result<Vec<AcceptedProject>, TrustError> {
        let connection = self.connection.lock();
        let mut query = connection
            .prepare("SELECT path, digest, at FROM projects ORDER BY path, at DESC, digest")?;
        let rows = query.query_map([], |row| {
            Ok(AcceptedProject {
                path: PathBuf::from(row.get::<_, String>(0)?),
                digest: digest(row, 1)?,
                at: time(row, 2)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// A path as text. One that is not UTF-8 keeps its bytes apart from every other by a digest.
pub(super) fn key(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => {
            let bytes = path.as_os_str().as_encoded_bytes();
            format!("{} {}", path.display(), Digest::of_bytes(bytes))
        }
    }
}
