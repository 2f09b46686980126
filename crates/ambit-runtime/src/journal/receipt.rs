//! What an append gives back: a promise of the numbers its events get.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::SetOnce;

use super::error::JournalError;

/// What made an event happen.
#[derive(Clone, Debug)]
pub enum Cause {
    /// An event on record.
    Seq(u64),
    /// The last event of an earlier append to this journal, which may not be written yet. If
    /// that append fails, this one does too: no record refers to what is not on record.
    Earlier(Receipt),
    /// An earlier event of the same append, by its index.
    InBatch(usize),
}

/// Tells when an append is written, and under which numbers.
#[derive(Clone, Debug)]
pub struct Receipt(Arc<Promise>);

#[derive(Debug)]
struct Promise {
    /// The last number given in the transaction under way, for causes in that transaction.
    assigned: AtomicU64,
    outcome: SetOnce<Result<(u64, u64), JournalError>>,
}

const UNASSIGNED: u64 = u64::MAX;

impl Receipt {
    /// The first and last number, once written. An append without events has `(0, 0)`.
    pub fn range(&self) -> Option<(u64, u64)> {
        self.0.outcome.get()?.as_ref().ok().copied()
    }

    /// Waits until the append is written as durably as was asked for.
    pub async fn written(&self) -> Result<(u64, u64), JournalError> {
        self.0.outcome.wait().await.clone()
    }

    /// Whether it is known by now that the append was not written.
    pub fn failed(&self) -> bool {
        matches!(self.0.outcome.get(), Some(Err(_)))
    }

    pub(super) fn pending() -> Self {
        Receipt(Arc::new(Promise {
            assigned: AtomicU64::new(UNASSIGNED),
            outcome: SetOnce::new(),
        }))
    }

    /// The first outcome stays.
    pub(super) fn resolve(&self, outcome: Result<(u64, u64), JournalError>) {
        let _ = self.0.outcome.set(outcome);
    }

    pub(super) fn is_resolved(&self) -> bool {
        self.0.outcome.initialized()
    }

    /// The transaction that gave it numbers for `count` events is committed.
    pub(super) fn resolve_assigned(&self, count: usize) {
        if let Some(last) = self.last_assigned() {
            let first = (last + 1).saturating_sub(count as u64);
            self.resolve(Ok((first.min(last), last)));
        }
    }

    /// Says what the transaction under way gave it; nothing takes it back.
    pub(super) fn assign(&self, last: Option<u64>) {
        self.0
            .assigned
            .store(last.unwrap_or(UNASSIGNED), Ordering::Relaxed);
    }

    /// The last number of the append as the writer sees it.
    pub(super) fn last_assigned(&self) -> Option<u64> {
        match self.0.outcome.get() {
            Some(Ok((_, last))) => Some(*last),
            Some(Err(_)) => None,
            None => {
                Some(self.0.assigned.load(Ordering::Relaxed)).filter(|last| *last != UNASSIGNED)
            }
        }
    }
}
