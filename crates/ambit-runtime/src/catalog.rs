//! The catalog of a process: the current snapshot behind an atomic pointer, and what changed on
//! the way here.

use std::collections::VecDeque;
use std::sync::Arc;

use ambit_core::catalog::{CatalogChange, CatalogSnapshot, SourceSnapshot};
use ambit_core::digest::Digest;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::watch;

/// How many changes are remembered. A session that slept through more records only the newest;
/// its turn still names the snapshot it looked at.
const REMEMBERED: usize = 256;

/// One step from a snapshot to the next.
#[derive(Clone, Debug)]
pub struct CatalogStep {
    /// The revision it led to.
    pub revision: u64,
    /// The contents it led to.
    pub catalog: Digest,
    /// What changed.
    pub change: CatalogChange,
}

/// All descriptors. Readers take a snapshot and are never held up; writers come one at a time.
#[derive(Default)]
pub struct CapabilityCatalog {
    current: ArcSwap<CatalogSnapshot>,
    steps: Mutex<VecDeque<CatalogStep>>,
    moved: watch::Sender<u64>,
}

impl CapabilityCatalog {
    /// The catalog as it is now.
    pub fn snapshot(&self) -> Arc<CatalogSnapshot> {
        self.current.load_full()
    }

    /// Takes in what sources offer now, each whole.
    pub fn push(&self, sources: impl IntoIterator<Item = SourceSnapshot>) {
        let mut steps = self.steps.lock();
        let (next, change) = self.current.load().with_sources(sources);
        if change.is_empty() {
            return;
        }
        if steps.len() == REMEMBERED {
            steps.pop_front();
        }
        steps.push_back(CatalogStep {
            revision: next.revision(),
            catalog: next.digest(),
            change,
        });
        let revision = next.revision();
        self.current.store(Arc::new(next));
        self.moved.send_replace(revision);
    }

    /// Moves with the revision.
    pub fn moved(&self) -> watch::Receiver<u64> {
        self.moved.subscribe()
    }

    /// Steps after one revision and up to another, oldest first.
    pub fn steps(&self, after: u64, up_to: u64) -> Vec<CatalogStep> {
        self.steps
            .lock()
            .iter()
            .filter(|it| it.revision > after && it.revision <= up_to)
            .cloned()
            .collect()
    }
}
