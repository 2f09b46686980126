//! The journal: an append-only, hash-chained record of what happened, in one SQLite file.
//!
//! Appending never blocks: events go to a writer thread, which puts everything that waits into
//! one transaction (group commit). How much a caller waits for is its own choice:
//! [`Durability`] says what the commit must survive, [`Receipt::written`] says when it did.
//! The start of an effect is appended [`Durability::Synced`] and awaited before the effect
//! runs, so neither `kill -9` nor power loss can leave an effect without its record.
//!
//! Several processes may share one file, even one session: a transaction looks at the chains'
//! heads again whenever another connection has written since.
//!
//! Numbers run through the whole journal without gaps, and every session has its own chain of
//! hashes. So [`JournalReader::verify`] can name the first event that was changed, removed or
//! cut off.

mod append;
mod chain;
mod error;
mod event;
mod open;
mod queue;
mod reader;
mod receipt;
mod schema;
mod session;
mod verify;
mod wal;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use ambit_core::digest::Digest;
use tokio::sync::watch;

pub use error::JournalError;
pub use event::{Event, NewEvent};
pub use reader::{EventFilter, JournalReader, SessionSummary};
pub use receipt::{Cause, Receipt};
pub use session::{SessionId, SessionIdProblem};
pub use verify::{Damage, Unfinished, VerifyReport};

use open::Location;
use queue::{Entry, Queue};

/// What a record must survive before its receipt resolves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// The end of this process, and it may take a few milliseconds: reads.
    Behind,
    /// The end of this process, `kill -9` included.
    Written,
    /// The end of power: synced to the disk.
    Synced,
}

/// What opening a journal had to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// What was found unfinished or unreadable at the end, and what became of it.
    pub repaired: Option<String>,
}

/// A journal open for appending. Clones share one writer; dropping the last one writes what
/// still waits.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    queue: Arc<Queue>,
    location: Location,
    written: watch::Receiver<u64>,
    writer: Option<JoinHandle<()>>,
}

impl Journal {
    /// Opens the journal at `path`, or begins one that only its owner can read.
    pub fn open(path: &Path) -> Result<(Journal, OpenReport), JournalError> {
        let location = Location::file(path)?;
        let (connection, report) = open::for_writing(&location)?;
        Ok((Self::start(location, connection)?, report))
    }

    /// Opens the journal at `path` for reading only.
    pub fn open_read_only(path: &Path) -> Result<JournalReader, JournalError> {
        JournalReader::open(&Location::file(path)?)
    }

    /// A journal that ends with its last handle or reader.
    pub fn in_memory() -> Result<Journal, JournalError> {
        let location = Location::memory();
        let connection = open::in_memory(&location)?;
        Self::start(location, connection)
    }

    fn start(
        location: Location,
        connection: rusqlite::Connection,
    ) -> Result<Journal, JournalError> {
        let queue = Arc::new(Queue::default());
        let (written, heard) = watch::channel(0);
        let writer = writer::spawn(connection, location.clone(), Arc::clone(&queue), written)?;
        Ok(Journal(Arc::new(Shared {
            queue,
            location,
            written: heard,
            writer: Some(writer),
        })))
    }

    /// Appends events to a session, together and in order, with the objects they refer to by
    /// digest. Never blocks: whoever must know that they are on record awaits the receipt.
    pub fn append(
        &self,
        session: &SessionId,
        events: Vec<NewEvent>,
        objects: Vec<(Digest, String)>,
        durability: Durability,
    ) -> Receipt {
        let (entry, receipt) = Entry::new(session, events, objects, durability);
        self.0.queue.push(entry);
        receipt
    }

    /// Waits until everything appended so far is written. An append that failed since the last
    /// flush makes it fail, whether or not anybody looked at its receipt.
    pub async fn flush(&self) -> Result<(), JournalError> {
        self.0.queue.flush().written().await.map(drop)
    }

    /// Moves when something was written by this process; what others write shows when one looks.
    pub fn written(&self) -> watch::Receiver<u64> {
        self.0.written.clone()
    }

    /// A reader of this journal. It sees what is written when it looks.
    pub fn reader(&self) -> Result<JournalReader, JournalError> {
        JournalReader::beside_writer(&self.0.location)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(writer) = self.writer.take() {
            // However it ended, no receipt is left open; see `Promised`.
            let _ = writer.join();
        }
    }
}
