//! When a server that failed may be tried again. The first few times whoever calls waits a
//! little; after that calls are turned away at once until the pause is over, and then one of
//! them is the probe. Pauses double up to a ceiling and are jittered, so that many servers that
//! fell together do not rise together. Time comes in as an argument.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use tokio::time::Instant;

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// From so many failures in a row on, nobody waits.
pub(crate) const OPEN_AFTER: u32 = 5;

/// What to do with a wish to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Connect, after this pause.
    After(Duration),
    /// Turn it away: the pause is too long to wait for.
    Refused { failures: u32, again_in: Duration },
}

/// Failures in a row, and the pause they earned.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: u32,
    until: Option<Instant>,
}

impl Breaker {
    pub(crate) fn admit(&self, now: Instant) -> Admission {
        let left = self
            .until
            .map_or(Duration::ZERO, |it| it.saturating_duration_since(now));
        if self.failures >= OPEN_AFTER && !left.is_zero() {
            Admission::Refused {
                failures: self.failures,
                again_in: left,
            }
        } else {
            Admission::After(left)
        }
    }

    pub(crate) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.until = Some(now + pause(self.failures, jitter()));
    }

    /// It answered: what was before does not count.
    pub(crate) fn answered(&mut self) {
        *self = Breaker::default();
    }
}

/// The pause after so many failures; `jitter` takes up to half of it away.
fn pause(failures: u32, jitter: u8) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    let whole = FIRST_PAUSE
        .saturating_mul(1 << doublings)
        .min(LONGEST_PAUSE);
    whole - whole * u32::from(jitter) / 512
}

/// A byte nobody can predict; the keys of a hasher are the randomness of the standard library.
fn jitter() -> u8 {
    let [byte, ..] = RandomState::new().build_hasher().finish().to_le_bytes();
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_ceiling() {
        let pauses: Vec<u128> = [1, 2, 3, 5, 8, 9, 40, u32::MAX]
            .map(|it| pause(it, 0).as_millis())
            .to_vec();
        assert_eq!(
            pauses,
            [250, 500, 1000, 4000, 32_000, 60_000, 60_000, 60_000]
        );
        for failures in 1..12 {
            let (least, most) = (pause(failures, 255), pause(failures, 0));
            assert!(least < most && least >= most / 2);
        }
    }

    #[test]
    fn it_opens_probes_and_closes() {
        let mut breaker = Breaker::default();
        let mut now = Instant::now();
        assert_eq!(breaker.admit(now), Admission::After(Duration::ZERO));
        for _ in 1..OPEN_AFTER {
            breaker.failed(now);
            assert!(matches!(breaker.admit(now), Admission::After(wait) if !wait.is_zero()));
        }
        breaker.failed(now);
        assert!(matches!(
            breaker.admit(now),
            Admission::Refused {
                failures: OPEN_AFTER,
                ..
            }
        ));
        // Half open: once the pause is over one may try, and its failure closes the door again.
        now += LONGEST_PAUSE;
        assert_eq!(breaker.admit(now), Admission::After(Duration::ZERO));
        breaker.failed(now);
        assert!(matches!(
            breaker.admit(now),
            Admission::Refused { failures: 6, .. }
        ));
        breaker.answered();
        assert_eq!(breaker.admit(now), Admission::After(Duration::ZERO));
    }
}
