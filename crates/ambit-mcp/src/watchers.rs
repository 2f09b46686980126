//! Which resources of a server are watched, and by how many. It outlives connections: each new one
//! asks the server to tell of all of them.

use std::collections::BTreeMap;

use parking_lot::Mutex;

#[derive(Default)]
pub(crate) struct Watchers(Mutex<BTreeMap<String, usize>>);

impl Watchers {
    /// One more.
    pub(crate) fn add(&self, uri: &str) {
        *self.0.lock().entry(uri.to_owned()).or_default() += 1;
    }

    /// One less; whether it was the last.
    pub(crate) fn remove(&self, uri: &str) -> bool {
        let mut all = self.0.lock();
        match all.get_mut(uri) {
            Some(1) => all.remove(uri).is_some(),
            Some(count) => {
                *count -= 1;
                false
            }
            None => false,
        }
    }

    /// Everything that is watched.
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().keys().cloned().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_watches_stays_watched() {
        let watchers = Watchers::default();
        watchers.add("a");
        watchers.add("a");
        watchers.add("b");
        assert!(!watchers.remove("a"));
        assert_eq!(watchers.all(), ["a", "b"]);
        assert!(watchers.remove("a") && watchers.remove("b"));
        assert!(!watchers.remove("b") && watchers.is_empty());
    }
}
