//! What waits to be written. Bounded by bytes: a caller faster than the disk is told so instead
//! of filling the memory.

use std::ops::Deref;
use std::time::{Duration, Instant};

use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::intent::rough_bytes;
use jiff::Timestamp;
use parking_lot::{Condvar, Mutex};

use super::Durability;
use super::error::JournalError;
use super::event::NewEvent;
use super::receipt::Receipt;
use super::session::SessionId;

/// How much may wait.
const LIMIT: usize = 64 << 20;

/// How long an append that nobody waits for may wait for company.
const LINGER: Duration = Duration::from_millis(4);

/// One append. Its events are written as JSON by the writer: nobody who calls waits for that.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) session: SessionId,
    pub(super) at: i64,
    pub(super) events: Vec<NewEvent>,
    pub(super) objects: Vec<(Digest, String)>,
    pub(super) durability: Durability,
    pub(super) receipt: Promised,
}

impl Entry {
    pub(super) fn new(
        session: &SessionId,
        events: Vec<NewEvent>,
        objects: Vec<(Digest, String)>,
        durability: Durability,
    ) -> (Entry, Receipt) {
        let receipt = Receipt::pending();
        let entry = Entry {
            session: session.clone(),
            at: Timestamp::now().as_microsecond(),
            events,
            objects,
            durability,
            receipt: Promised(receipt.clone()),
        };
        (entry, receipt)
    }

    fn bytes(&self) -> usize {
        let events = self.events.iter().map(|it| weight(&it.body));
        let objects = self.objects.iter().map(|(_, json)| json.len() + 64);
        events.chain(objects).sum()
    }
}

/// Roughly how many bytes an event takes up. What is counted is what others decide the size of.
fn weight(body: &EventBody) -> usize {
    const REST: usize = 768;
    REST + match body {
        EventBody::ToolIntent { arguments, .. } => rough_bytes(arguments),
        EventBody::ToolPermission { input, .. } => {
            64 * input.rules.count() + 128 * input.standing.len()
        }
        EventBody::ToolObservation(it) => {
            it.excerpt.len() + it.reason.as_ref().map_or(0, String::len)
        }
        it if it.call().is_some() => 0,
        // Seldom, and of any size.
        it => serde_json::to_string(it).map_or(0, |it| it.len()),
    }
}

/// A receipt in the queue's or the writer's hands. Whatever happens there, nobody waits forever.
#[derive(Debug)]
pub(super) struct Promised(Receipt);

impl Deref for Promised {
    type Target = Receipt;

    fn deref(&self) -> &Receipt {
        &self.0
    }
}

impl Drop for Promised {
    fn drop(&mut self) {
        self.0.resolve(Err(JournalError::Ended));
    }
}

/// Something for the writer to do.
#[derive(Debug)]
pub(super) enum Work {
    Append(Entry),
    /// Resolved after everything before it.
    Flush(Promised),
}

/// Between any number of callers and one writer.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    work: Vec<Work>,
    bytes: usize,
    /// When the oldest of `work` came.
    since: Option<Instant>,
    /// Whether somebody may be waiting for one of `work`.
    urgent: bool,
    closed: bool,
}

impl Queue {
    /// Hands over an append; if that cannot be, its receipt says why.
    pub(super) fn push(&self, entry: Entry) {
        let bytes = entry.bytes();
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return;
        }
        if waiting.bytes + bytes > LIMIT {
            entry.receipt.resolve(Err(JournalError::Overloaded {
                waiting: waiting.bytes,
            }));
            return;
        }
        waiting.bytes += bytes;
        let urgent = entry.durability > Durability::Behind;
        self.enqueue(&mut waiting, Work::Append(entry), urgent);
    }

    /// A receipt that resolves when everything pushed before is written or has failed.
    pub(super) fn flush(&self) -> Receipt {
        let receipt = Receipt::pending();
        let promised = Work::Flush(Promised(receipt.clone()));
        let mut waiting = self.waiting.lock();
        if !waiting.closed {
            self.enqueue(&mut waiting, promised, true);
        }
        receipt
    }

    fn enqueue(&self, waiting: &mut Waiting, work: Work, urgent: bool) {
        let wakes = waiting.work.is_empty() || (urgent && !waiting.urgent);
        waiting.since.get_or_insert_with(Instant::now);
        waiting.urgent |= urgent;
        waiting.work.push(work);
        if wakes {
            self.changed.notify_one();
        }
    }

    /// Waits for work and takes all of it. Nothing is left once it comes back empty.
    pub(super) fn take(&self, work: &mut Vec<Work>) {
        work.clear();
        let mut waiting = self.waiting.lock();
        loop {
            match waiting.since {
                _ if waiting.closed || waiting.urgent => break,
                None => self.changed.wait(&mut waiting),
                Some(since) => {
                    let late = self.changed.wait_until(&mut waiting, since + LINGER);
                    if late.timed_out() {
                        break;
                    }
                }
            }
        }
        std::mem::swap(&mut waiting.work, work);
        waiting.bytes = 0;
        waiting.since = None;
        waiting.urgent = false;
    }

    /// Nothing more comes in.
    pub(super) fn close(&self) {
        self.waiting.lock().closed = true;
        self.changed.notify_one();
    }

    /// Nothing more comes in, and what waits is given up.
    pub(super) fn abandon(&self) {
        let mut waiting = self.waiting.lock();
        waiting.closed = true;
        waiting.work.clear();
    }
}
