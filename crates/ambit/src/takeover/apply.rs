//! Writes what was planned: a backup first, then the file, and only if it is still the file that
//! was planned for.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ambit_core::digest::Digest;
use thiserror::Error;

use super::rewire::{EditError, Rewire};
use super::undo::Backups;

/// Why a file was left as it is.
#[derive(Debug, Error)]
pub enum RefusedReason {
    /// It is not what was planned for.
    #[error("it was edited since it was looked at; run the command again")]
    Changed,
    /// Its owner made it read-only.
    #[error("it is read-only")]
    ReadOnly,
    /// It cannot be edited.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// It cannot be read, backed up or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The file itself, behind whatever links lead to it.
    pub target: PathBuf,
    /// Its bytes from before.
    pub backup: PathBuf,
}

/// Does one planned edit.
pub fn apply(rewire: &Rewire, backups: &Backups) -> Result<Applied, RefusedReason> {
    let after = rewire.after.as_ref().map_err(|error| *error)?;
    // A link stays a link: what it leads to is edited.
    let target = rewire.path.canonicalize()?;
    if fs::metadata(&target)?.permissions().readonly() {
        return Err(RefusedReason::ReadOnly);
    }
    let before = fs::read(&target)?;
    if Digest::of_bytes(&before) != rewire.expected {
        return Err(RefusedReason::Changed);
    }
    let backup = backups.keep(rewire, &target, &before, after.as_bytes())?;
    replace(&target, after.as_bytes())?;
    Ok(Applied { target, backup })
}

/// Replaces a file whole or not at all, keeping its owner and permissions.
pub fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    if let Ok(metadata) = fs::metadata(target) {
        file.as_file().set_permissions(metadata.permissions())?;
        keep_owner(file.path(), &metadata);
    }
    file.as_file().sync_all()?;
    file.persist(target).map_err(|it| it.error)?;
    File::open(folder)?.sync_all()
}

/// Only the superuser can give files away; for everybody else the owner is the same anyway.
fn keep_owner(path: &Path, metadata: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, chown};
    let _ = chown(path, Some(metadata.uid()), Some(metadata.gid()));
}
