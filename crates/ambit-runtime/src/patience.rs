//! How long a call is waited for: up to its limit since it began or last showed progress, not
//! counting the time a person takes to answer, and never longer than many limits in all.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// So many limits in all, however much progress there is.
const CEILING: u32 = 60;

/// The deadline of one call.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    clock: Mutex<Clock>,
    moved: Notify,
}

/// While it is there, the deadline stands still.
pub(crate) struct Hold(Arc<Patience>);

impl Patience {
    /// From now on.
    pub(crate) fn begin(&self, limit: Duration) {
        self.clock.lock().begin(limit, Instant::now());
    }

    /// From now on with this limit, if it is shorter.
    pub(crate) fn shorten(&self, limit: Duration) {
        let mut clock = self.clock.lock();
        if clock.begun.as_ref().is_some_and(|it| limit < it.limit) {
            clock.begin(limit, Instant::now());
            drop(clock);
            self.moved.notify_waiters();
        }
    }

    /// There is progress.
    pub(crate) fn renew(&self) {
        self.clock.lock().renew(Instant::now());
    }

    /// How long there may be no progress.
    pub(crate) fn limit(&self) -> Duration {
        let clock = self.clock.lock();
        clock.begun.as_ref().map_or(Duration::ZERO, |it| it.limit)
    }

    /// Stops the clock.
    pub(crate) fn hold(self: &Arc<Self>) -> Hold {
        self.clock.lock().hold(Instant::now());
        self.moved.notify_waiters();
        Hold(Arc::clone(self))
    }

    /// Ends when the deadline has passed.
    pub(crate) async fn runs_out(&self) {
        loop {
            let moved = self.moved.notified();
            let until = self.clock.lock().until();
            match until {
                Some(until) if until <= Instant::now() => return,
                Some(until) => tokio::select! {
                    () = sleep_until(until) => {}
                    () = moved => {}
                },
                None => moved.await,
            }
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.clock.lock().release(Instant::now());
        self.0.moved.notify_waiters();
    }
}

/// The arithmetic of it.
#[derive(Debug, Default)]
struct Clock {
    /// Nothing runs out before it has begun.
    begun: Option<Begun>,
    holds: usize,
    /// Since when a person is waited for.
    held_at: Option<Instant>,
}

#[derive(Debug)]
struct Begun {
    limit: Duration,
    until: Instant,
    ceiling: Instant,
}

impl Clock {
    fn begin(&mut self, limit: Duration, now: Instant) {
        self.begun = Some(Begun {
            limit,
            until: now + limit,
            ceiling: now + limit.saturating_mul(CEILING),
        });
    }

    fn renew(&mut self, now: Instant) {
        if let Some(begun) = &mut self.begun {
            begun.until = (now + begun.limit).min(begun.ceiling);
        }
    }

    fn hold(&mut self, now: Instant) {
        self.holds += 1;
        self.held_at.get_or_insert(now);
    }

    fn release(&mut self, now: Instant) {
        self.holds = self.holds.saturating_sub(1);
        if self.holds == 0
            && let Some(held_at) = self.held_at.take()
            && let Some(begun) = &mut self.begun
        {
            let held = now - held_at;
            begun.until += held;
            begun.ceiling += held;
        }
    }

    /// When it runs out, if nothing happens.
    fn until(&self) -> Option<Instant> {
        let begun = self.begun.as_ref().filter(|_| self.holds == 0);
        begun.map(|it| it.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One step of a call's life, and the second it happens at.
    enum At {
        Progress(u64),
        Hold(u64),
        Release(u64),
    }

    #[test]
    fn a_deadline_is_as_long_as_it_should_be() {
        use At::{Hold, Progress, Release};
        let check = |steps: &[At], ends: Option<u64>| {
            let start = Instant::now();
            let at = |second: &u64| start + Duration::from_secs(*second);
            let mut clock = Clock::default();
            clock.begin(Duration::from_secs(10), start);
            for step in steps {
                match step {
                    Progress(second) => clock.renew(at(second)),
                    Hold(second) => clock.hold(at(second)),
                    Release(second) => clock.release(at(second)),
                }
            }
            assert_eq!(clock.until(), ends.map(|it| at(&it)));
        };
        check(&[], Some(10));
        check(&[Progress(9)], Some(19));
        check(&[Progress(9), Progress(18)], Some(28));
        // Not for ever.
        check(&[Progress(595)], Some(600));
        // A person may think as long as they like.
        check(&[Hold(4)], None);
        check(&[Hold(4), Release(1004)], Some(1010));
        check(&[Hold(4), Hold(5), Release(6)], None);
        check(&[Hold(4), Hold(5), Release(6), Release(7)], Some(13));
    }

    #[tokio::test]
    async fn it_runs_out() {
        let patience = Arc::new(Patience::default());
        patience.begin(Duration::ZERO);
        let held = patience.hold();
        let waiting = Arc::clone(&patience);
        let waiting = tokio::spawn(async move { waiting.runs_out().await });
        drop(held);
        waiting.await.unwrap();
    }
}
