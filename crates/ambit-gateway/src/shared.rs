//! Sessions behind requests that have none. In the stateless era every request stands for itself,
//! and opening a session for each would be most of the work: clients of one name share one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::front::Front;
use crate::style::Style;

/// Longer names of clients are nobody's in particular: they are kept and logged, and anybody can
/// send them.
pub(crate) const LONGEST_NAME: usize = 128;

/// Who shares: the client's name and the style it is shown.
type Key = (Option<String>, Style);

/// The fronts of one agent that requests without a session share.
pub(crate) struct SharedFronts {
    most: usize,
    fronts: Mutex<HashMap<Key, Kept>>,
}

struct Kept {
    front: Arc<OnceCell<Arc<Front>>>,
    used: Instant,
}

impl SharedFronts {
    pub(crate) fn new(most: usize) -> Self {
        SharedFronts {
            most,
            fronts: Mutex::default(),
        }
    }

    /// Any that shows everything: what a tool is does not depend on who asks.
    pub(crate) fn any(&self) -> Option<Arc<Front>> {
        let fronts = self.fronts.lock();
        let mut full = fronts
            .iter()
            .filter(|((_, style), _)| *style == Style::Full);
        full.find_map(|(_, kept)| kept.front.get().cloned())
    }

    /// Where the front of this client is, once it has been opened. Where there are too many, the
    /// one that has been unused longest is let go.
    pub(crate) fn of(&self, client: Option<&str>, style: Style) -> Arc<OnceCell<Arc<Front>>> {
        let key = (client.map(str::to_owned), style);
        let mut fronts = self.fronts.lock();
        if !fronts.contains_key(&key) && fronts.len() >= self.most {
            let oldest = fronts.iter().min_by_key(|(_, it)| it.used);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                fronts.remove(&key);
            }
        }
        let kept = fronts.entry(key).or_insert_with(|| Kept {
            front: Arc::default(),
            used: Instant::now(),
        });
        kept.used = Instant::now();
        Arc::clone(&kept.front)
    }
}
