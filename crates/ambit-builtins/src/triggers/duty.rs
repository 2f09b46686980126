//! Who starts due runs in a workspace: one process at a time, by a lock that ends with it. So
//! whatever had begun when somebody comes on duty was begun by somebody who is gone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use rustix::fs::{FlockOperation, flock};

use crate::store::Store;

const NAME: &str = "triggers.lock";

/// Being the one. Ends when it is dropped, and with the process.
pub(super) struct Duty {
    _lock: File,
}

/// Goes on duty, unless somebody is.
pub(super) fn take(store: &Store) -> io::Result<Option<Duty>> {
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(store.folder())?;
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(store.folder().join(NAME))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Duty { _lock: file })),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether somebody is on duty.
pub(super) fn is_taken(store: &Store) -> bool {
    store.folder().join(NAME).exists() && matches!(take(store), Ok(None))
}
