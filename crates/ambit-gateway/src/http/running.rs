//! What is at work, counted so that one can wait for its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// Requests at work.
#[derive(Clone)]
pub(crate) struct Running(Arc<watch::Sender<usize>>);

/// One of them.
pub(crate) struct Run(Running);

/// Whether everything ended in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drained {
    Wholly,
    /// So many were still at work.
    Except(usize),
}

impl Default for Running {
    fn default() -> Self {
        Running(Arc::new(watch::Sender::new(0)))
    }
}

impl Running {
    pub(crate) fn begin(&self) -> Run {
        self.0.send_modify(|count| *count += 1);
        Run(self.clone())
    }

    pub(crate) fn count(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until nothing is at work, for so long at most.
    pub(crate) async fn end(&self, patience: Duration) -> Drained {
        let mut count = self.0.subscribe();
        let ended = count.wait_for(|it| *it == 0);
        match timeout(patience, ended).await {
            Ok(_) => Drained::Wholly,
            Err(_) => Drained::Except(self.count()),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.0
            .0
            .send_modify(|count| *count = count.saturating_sub(1));
    }
}
