//! The connections there are. When one more comes than may be, the one that has been doing nothing
//! for longest makes room: whoever holds thousands open and says nothing only displaces himself.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::running::{Drained, Run, Running};

/// All open connections.
pub(crate) struct Connections {
    most: usize,
    table: Mutex<Table>,
    /// Those displaced included, until they have let go.
    alive: Running,
}

#[derive(Default)]
struct Table {
    next: u64,
    open: HashMap<u64, Entry>,
}

struct Entry {
    /// Requests at work.
    busy: usize,
    /// Since when it has been as it is.
    since: Instant,
    close: CancellationToken,
}

/// One open connection; it leaves the table when dropped.
pub(crate) struct Connection {
    number: u64,
    all: Arc<Connections>,
    /// Asks for its end.
    pub(crate) close: CancellationToken,
    _alive: Run,
}

/// A request at work on a connection; while there is one, the connection is not displaced.
pub(crate) struct Busy(Arc<Connection>);

/// All connections are at work.
pub(crate) struct NoRoom;

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Connections {
            most,
            table: Mutex::default(),
            alive: Running::default(),
        })
    }

    /// Takes in one more.
    pub(crate) fn open(self: &Arc<Self>) -> Result<Connection, NoRoom> {
        let mut table = self.table.lock();
        if table.open.len() >= self.most {
            let idle = table.open.iter().filter(|(_, it)| it.busy == 0);
            let longest = idle
                .min_by_key(|(_, it)| it.since)
                .map(|(number, _)| *number);
            let displaced = longest
                .and_then(|it| table.open.remove(&it))
                .ok_or(NoRoom)?;
            displaced.close.cancel();
        }
        table.next += 1;
        let number = table.next;
        let close = CancellationToken::new();
        let entry = Entry {
            busy: 0,
            since: Instant::now(),
            close: close.clone(),
        };
        table.open.insert(number, entry);
        Ok(Connection {
            number,
            all: Arc::clone(self),
            close,
            _alive: self.alive.begin(),
        })
    }

    /// Waits until all of them have ended, for so long at most.
    pub(crate) async fn end(&self, patience: Duration) -> Drained {
        self.alive.end(patience).await
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.table.lock().open.len()
    }

    fn change(&self, number: u64, busy: impl Fn(usize) -> usize) {
        // One that was displaced is not there any more.
        if let Some(entry) = self.table.lock().open.get_mut(&number) {
            entry.busy = busy(entry.busy);
            entry.since = Instant::now();
        }
    }
}

impl Connection {
    /// A request has arrived whole.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.all.change(self.number, |busy| busy + 1);
        Busy(Arc::clone(self))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0
            .all
            .change(self.0.number, |busy| busy.saturating_sub(1));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.table.lock().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_makes_room_and_who_works_stays() {
        let all = Connections::new(2);
        let first = Arc::new(all.open().ok().unwrap());
        let second = Arc::new(all.open().ok().unwrap());
        let working = first.busy();
        let third = Arc::new(all.open().ok().unwrap());
        let closed = [&first, &second, &third].map(|it| it.close.is_cancelled());
        assert_eq!((closed, all.count()), ([false, true, false], 2));
        let also_working = third.busy();
        assert!(all.open().is_err(), "nobody is idle");
        drop(working);
        assert!(all.open().is_ok());
        assert!(first.close.is_cancelled() && !third.close.is_cancelled());
        drop((first, second, third, also_working));
        assert_eq!(all.count(), 0);
    }
}
