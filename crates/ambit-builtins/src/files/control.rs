//! The files and folders no capability may write, whatever path leads to them.
//!
//! They are resolved at each write, because a control file may appear after the capability was
//! resolved. A target is compared by its real path, which also guards what does not exist yet,
//! and by identity, which also guards what has several paths: other letter case where the file
//! system folds it, a bind mount.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use ambit_core::observation::Failure;
use cap_std::fs::{Metadata, MetadataExt as _};

/// Which file or folder something is, by whatever path it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        FileId {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// The files and folders no capability may write.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControlPaths(Vec<PathBuf>);

impl ControlPaths {
    pub(crate) fn new(paths: Vec<PathBuf>) -> Self {
        ControlPaths(paths)
    }

    /// Refuses a write to `real`, a path without symlinks, reached through folders and
    /// perhaps ending at a file with the identities `passed`.
    pub(crate) fn check(&self, real: &Path, passed: &[FileId], shown: &str) -> Result<(), Failure> {
        let guarded = self.0.iter().any(|control| {
            // A link that is itself a control file is guarded where it stands and where it
            // points.
            real.starts_with(resolve_parent(control))
                || real.starts_with(resolve(control))
                || identify(control).is_some_and(|id| passed.contains(&id))
        });
        if guarded {
            return Err(Failure::refused(format!(
                "`{shown}` belongs to what controls this agent (its configuration, skills or \
                 state) and cannot be written through a capability; a person has to change it"
            )));
        }
        Ok(())
    }
}

fn identify(path: &Path) -> Option<FileId> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}

/// The real path of the deepest part that exists, and the rest as written.
fn resolve(path: &Path) -> PathBuf {
    match path.canonicalize() {
        Ok(real) => real,
        Err(_) => resolve_parent(path),
    }
}

fn resolve_parent(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolve(parent).join(name),
        _ => path.to_owned(),
    }
}
