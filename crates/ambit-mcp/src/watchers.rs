//! Which resources of a server are watched, by how many. It outlives connections: a server that
//! was let go, or went, is asked to tell again.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};

#[derive(Default)]
pub(crate) struct Watchers(Mutex<BTreeMap<String, Watched>>);

struct Watched {
    count: usize,
    /// Ends the listening for it, where that is a request of its own.
    listening: Option<DropGuard>,
}

impl Watchers {
    /// One more; whether it is the first.
    pub(crate) fn add(&self, uri: &str) -> bool {
        let mut all = self.0.lock();
        let watched = all.entry(uri.to_owned()).or_insert(Watched {
            count: 0,
            listening: None,
        });
        watched.count += 1;
        watched.count == 1
    }

    /// One less; whether it was the last.
    pub(crate) fn remove(&self, uri: &str) -> bool {
        let mut all = self.0.lock();
        let Some(watched) = all.get_mut(uri) else {
            return false;
        };
        watched.count -= 1;
        if watched.count > 0 {
            return false;
        }
        all.remove(uri);
        true
    }

    /// Keeps listening until nobody watches.
    pub(crate) fn listen(&self, uri: &str, end: CancellationToken) {
        if let Some(watched) = self.0.lock().get_mut(uri) {
            watched.listening = Some(end.drop_guard());
        }
    }
}
