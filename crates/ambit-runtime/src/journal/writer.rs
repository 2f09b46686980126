//! The one thread that writes. It takes whatever waits and commits it as one transaction.

use std::sync::Arc;
use std::thread::JoinHandle;

use rusqlite::{Connection, TransactionBehavior, ffi};
use tokio::sync::watch;

use super::Durability;
use super::append::Chains;
use super::error::JournalError;
use super::open::Location;
use super::queue::{Entry, Queue, Work};

/// How often a transaction is tried again when other processes keep the file locked. Each
/// attempt waits some seconds by itself.
const ATTEMPTS: u32 = 6;

pub(super) fn spawn(
    connection: Connection,
    location: Location,
    queue: Arc<Queue>,
    written: watch::Sender<u64>,
) -> Result<JoinHandle<()>, JournalError> {
    let path = location.path().to_owned();
    let writer = Writer {
        connection,
        location,
        level: Level::Normal,
        suspect: false,
        chains: Chains::default(),
        lost: None,
        written,
    };
    std::thread::Builder::new()
        .name("ambit-journal".to_owned())
        .spawn(move || writer.run(&queue))
        .map_err(|error| JournalError::io(&path, error))
}

/// SQLite's `synchronous`. With a write-ahead log, only `Full` syncs at every commit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Normal,
    Full,
}

struct Writer {
    connection: Connection,
    location: Location,
    level: Level,
    /// A sync failed: what the system still holds in memory may never reach the disk.
    suspect: bool,
    chains: Chains,
    /// The first failure since the last flush.
    lost: Option<JournalError>,
    /// Counts commits, for whoever waits for the next.
    written: watch::Sender<u64>,
}

/// If the thread ends in any way, nobody waits for it.
struct Abandon<'a>(&'a Queue);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Writer {
    fn run(mut self, queue: &Queue) {
        let _abandon = Abandon(queue);
        let mut work = Vec::new();
        loop {
            queue.take(&mut work);
            if work.is_empty() {
                return;
            }
            self.write(&work);
        }
    }

    /// Writes the appends among `work` and resolves all their receipts.
    fn write(&mut self, work: &[Work]) {
        let appends = || {
            work.iter().filter_map(|it| match it {
                Work::Append(entry) => Some(entry),
                Work::Flush(_) => None,
            })
        };
        let outcome = match appends().map(|entry| entry.durability).max() {
            Some(durability) => {
                let committed = self.commit(appends, durability);
                self.written.send_modify(|it| *it += 1);
                committed
            }
            None => Ok(()),
        };
        for entry in appends() {
            match &outcome {
                Ok(()) => entry.receipt.resolve_assigned(entry.events.len()),
                Err(error) => entry.receipt.resolve(Err(error.clone())),
            }
        }
        if let Err(error) = outcome {
            self.lost.get_or_insert(error);
        }
        for it in work {
            if let Work::Flush(receipt) = it {
                receipt.resolve(self.lost.take().map_or(Ok((0, 0)), Err));
            }
        }
    }

    fn commit<'a, I: Iterator<Item = &'a Entry>>(
        &mut self,
        appends: impl Fn() -> I,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let mut attempt = 1;
        loop {
            let error = match self.try_commit(appends(), durability) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            self.chains.forget();
            for entry in appends() {
                entry.receipt.assign(None);
            }
            match self.location.error(error) {
                JournalError::Busy { .. } if attempt < ATTEMPTS => attempt += 1,
                error => {
                    self.suspect |= matches!(error, JournalError::Store { .. });
                    return Err(error);
                }
            }
        }
    }

    fn try_commit<'a>(
        &mut self,
        appends: impl Iterator<Item = &'a Entry>,
        durability: Durability,
    ) -> rusqlite::Result<()> {
        self.set_level(durability)?;
        if self.suspect {
            self.begin_log_anew()?;
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.chains.refresh(&transaction)?;
        // One that failed in an earlier attempt has been reported already.
        for entry in appends.filter(|it| !it.receipt.is_resolved()) {
            if let Err(error) = self.chains.prepare(entry) {
                entry.receipt.resolve(Err(error.clone()));
                self.lost.get_or_insert(error);
                continue;
            }
            self.chains.extend(&transaction, entry)?;
        }
        self.chains.save(&transaction)?;
        transaction.commit()
    }

    /// Moves the log into the database and syncs that, so that no later commit depends on what
    /// failed to be synced.
    fn begin_log_anew(&mut self) -> rusqlite::Result<()> {
        let busy: i64 =
            self.connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy != 0 {
            let busy = ffi::Error::new(ffi::SQLITE_BUSY);
            return Err(rusqlite::Error::SqliteFailure(busy, None));
        }
        self.suspect = false;
        Ok(())
    }

    /// Takes effect with the next transaction, and cannot be said inside one.
    fn set_level(&mut self, durability: Durability) -> rusqlite::Result<()> {
        let level = match durability {
            Durability::Synced => Level::Full,
            Durability::Written | Durability::Behind => Level::Normal,
        };
        if level != self.level {
            let word = match level {
                Level::Full => "FULL",
                Level::Normal => "NORMAL",
            };
            self.connection.pragma_update(None, "synchronous", word)?;
            self.level = level;
        }
        Ok(())
    }
}
