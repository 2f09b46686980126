//! What a server sends without having been asked is taken in at a pace this side can bear. Nothing
//! is lost and nobody is hung up on: beyond the pace the server's output is not read, and a server
//! that floods waits for its own pipe. Without it the SDK starts a task for each message, and
//! answers to a server that does not read pile up without end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{JsonRpcMessage, RequestId, ServerNotification};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// So many requests of a server may wait for their answers.
const UNANSWERED: usize = 64;
/// Each unasked message takes up this much time,
const STEP: Duration = Duration::from_millis(1);
/// of which this much may be taken up in advance.
const BURST: Duration = Duration::from_secs(1);

/// A connection whose server is kept to a pace.
pub(crate) struct Paced<T> {
    inner: T,
    unanswered: Unanswered,
    requests: Arc<Semaphore>,
    schedule: Schedule,
}

/// The server's requests that wait for an answer.
type Unanswered = Arc<Mutex<HashMap<RequestId, OwnedSemaphorePermit>>>;

impl<T> Paced<T> {
    pub(crate) fn new(inner: T) -> Self {
        Paced {
            inner,
            unanswered: Unanswered::default(),
            requests: Arc::new(Semaphore::new(UNANSWERED)),
            schedule: Schedule::new(),
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Paced<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(it) => Some(it.id.clone()),
            JsonRpcMessage::Error(it) => it.id.clone(),
            _ => None,
        };
        let answered = answered.map(|id| (id, Arc::clone(&self.unanswered)));
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            if let Some((id, unanswered)) = answered {
                unanswered.lock().remove(&id);
            }
            sent
        }
    }

    /// All waiting comes before the message is taken: whoever drops this future loses nothing.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        if let Some(free) = self.schedule.full() {
            sleep_until(free).await;
        }
        let permit = Arc::clone(&self.requests).acquire_owned().await.ok()?;
        let message = self.inner.receive().await?;
        match &message {
            JsonRpcMessage::Request(it) => {
                self.unanswered.lock().insert(it.id.clone(), permit);
                self.schedule.book(Instant::now());
            }
            JsonRpcMessage::Notification(it) => {
                // A request that is taken back is never answered.
                if let ServerNotification::CancelledNotification(it) = &it.notification
                    && let Some(id) = &it.params.request_id
                {
                    self.unanswered.lock().remove(id);
                }
                self.schedule.book(Instant::now());
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Until when time is taken up.
pub(crate) struct Schedule(Instant);

impl Schedule {
    pub(crate) fn new() -> Self {
        Schedule(Instant::now())
    }

    /// When the next may be taken, if not now. The clock is looked at only if it matters.
    pub(crate) fn full(&self) -> Option<Instant> {
        self.full_until(Instant::now())
    }

    pub(crate) fn book(&mut self, now: Instant) {
        self.0 = self.0.max(now) + STEP;
    }

    /// When the next message may be taken, if not now.
    fn full_until(&self, now: Instant) -> Option<Instant> {
        let free = self.0.checked_sub(BURST)?;
        (free > now).then_some(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many messages as fast as may be; when the last one came.
    fn take(schedule: &mut Schedule, count: usize, mut now: Instant) -> Instant {
        for _ in 0..count {
            now = schedule.full_until(now).unwrap_or(now);
            schedule.book(now);
        }
        now
    }

    #[test]
    fn a_burst_is_free_and_a_flood_is_not() {
        let begun = Instant::now();
        let mut schedule = Schedule(begun);
        assert_eq!(take(&mut schedule, 1001, begun), begun);
        let flooded = take(&mut schedule, 500, begun);
        assert_eq!(flooded - begun, STEP * 500);
        // Quiet is not saved up.
        let later = begun + Duration::from_secs(3600);
        assert_eq!(take(&mut schedule, 1501, later) - later, STEP * 500);
    }
}
