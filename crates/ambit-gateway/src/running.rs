//! Requests answered past the SDK, and what calls them off.

use std::collections::HashMap;
use std::sync::Arc;

use ambit_runtime::CancellationToken;
use parking_lot::Mutex;
use rmcp::model::RequestId;
use tokio::sync::Notify;

/// The requests of one client that are under way.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Shared>);

#[derive(Default)]
struct Shared {
    requests: Mutex<HashMap<RequestId, CancellationToken>>,
    /// Told when there are none left.
    idle: Notify,
}

/// One of them, for as long as it is there.
pub(crate) struct Run {
    all: Running,
    id: RequestId,
}

impl Running {
    /// A request begins.
    pub(crate) fn begin(&self, id: RequestId, cancel: CancellationToken) -> Run {
        self.0.requests.lock().insert(id.clone(), cancel);
        Run {
            all: self.clone(),
            id,
        }
    }

    /// Calls a request off. Whether it was under way.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let running = self.0.requests.lock().remove(id);
        if let Some(cancel) = &running {
            cancel.cancel();
        }
        running.is_some()
    }

    /// Waits until nothing runs.
    pub(crate) async fn idle(&self) {
        loop {
            let idle = self.0.idle.notified();
            if self.0.requests.lock().is_empty() {
                return;
            }
            idle.await;
        }
    }
}

impl Run {
    /// Whether nobody waits for its answer any more.
    pub(crate) fn is_called_off(&self) -> bool {
        !self.all.0.requests.lock().contains_key(&self.id)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let mut requests = self.all.0.requests.lock();
        requests.remove(&self.id);
        let is_idle = requests.is_empty();
        drop(requests);
        if is_idle {
            self.all.0.idle.notify_waiters();
        }
    }
}
