//! What is due: from a schedule, what has been dealt with, and the time, to the run that is to be
//! started, if any. Pure; the scheduler does what it says.
//!
//! A due time is missed when nobody was there within a minute of it: nothing was running, the
//! machine slept, or the run before had not ended. However many were missed, at most one run is
//! started for them, for the last of them.

use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

use super::schedule::Schedule;

/// How late a due time may be noticed without being missed.
const GRACE: SignedDuration = SignedDuration::from_mins(1);
/// Missed due times are counted up to here.
const MOST_COUNTED: u32 = 1_000;

/// What to do about missed due times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Missed {
    /// One run for all of them.
    #[default]
    Once,
    /// Nothing.
    Skip,
}

impl Missed {
    pub(super) const WORDS: [&str; 2] = ["once", "skip"];
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missed::Once => "once",
            Missed::Skip => "skip",
        })
    }
}

impl FromStr for Missed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "once" => Ok(Missed::Once),
            "skip" => Ok(Missed::Skip),
            _ => Err(format!("`{text}` is neither `once` nor `skip`")),
        }
    }
}

/// What is due now, and when to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Plan {
    /// The last due time that has come; all up to it are dealt with by what follows.
    pub passed: Option<Timestamp>,
    /// Whether a run is to be started for it, and how many were missed before it.
    pub start: Option<Start>,
    /// The first due time that has not come yet.
    pub next: Option<Timestamp>,
}

/// A run to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// How many due times were missed that it stands for; at most a thousand are counted.
    pub missed: u32,
}

/// What is due of a schedule whose due times up to `last` have been dealt with.
pub fn plan(
    schedule: &Schedule,
    anchor: Timestamp,
    missed: Missed,
    last: Timestamp,
    now: Timestamp,
) -> Plan {
    let next_after = |after| schedule.next_after(anchor, after);
    let next = next_after(now);
    let Some(first) = next_after(last).filter(|it| *it <= now) else {
        return Plan {
            next,
            ..Plan::default()
        };
    };
    let mut count = 1;
    let mut passed = first;
    while let Some(later) = next_after(passed).filter(|it| *it <= now) {
        passed = later;
        count += 1;
        if count > MOST_COUNTED {
            passed = latest(&next_after, now).unwrap_or(later);
            break;
        }
    }
    let in_time = now.duration_since(passed) <= GRACE;
    let start = match (missed, in_time) {
        (_, true) => Some(Start { missed: count - 1 }),
        (Missed::Once, false) => Some(Start { missed: count }),
        (Missed::Skip, false) => None,
    };
    Plan {
        passed: Some(passed),
        start,
        next,
    }
}

/// The last due time up to now, without counting them all: looked for further and further back.
fn latest(
    next_after: &impl Fn(Timestamp) -> Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    let hours = [1, 24, 32 * 24, 366 * 24];
    hours.into_iter().find_map(|hours| {
        let from = now.checked_sub(SignedDuration::from_hours(hours)).ok()?;
        let up_to_now = |after| next_after(after).filter(|it| *it <= now);
        std::iter::successors(up_to_now(from), |it| up_to_now(*it)).last()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Timestamp {
        format!("2026-01-{text}Z").parse().unwrap()
    }

    /// Schedule, policy, dealt with up to, now; then what is passed, missed, next.
    const TABLE: &str = "
        0 9 * * *    once  01T09:00  01T12:00     -         -    02T09:00
        0 9 * * *    once  01T09:00  02T09:00     02T09:00  0    03T09:00
        0 9 * * *    skip  01T09:00  02T09:01     02T09:00  0    03T09:00
        0 9 * * *    skip  01T09:00  02T09:01:01  02T09:00  no   03T09:00
        0 9 * * *    once  01T09:00  02T09:01:01  02T09:00  1    03T09:00
        0 9 * * *    once  01T09:00  05T10:00     05T09:00  4    06T09:00
        0 9 * * *    once  01T09:00  05T09:00:30  05T09:00  3    06T09:00
        0 9 * * *    skip  01T09:00  05T10:00     05T09:00  no   06T09:00
        * * * * *    once  01T00:00  31T00:00:59  31T00:00  1000 31T00:01
        * * * * *    skip  01T00:00  31T00:00:59  31T00:00  1000 31T00:01
        0 0 1 1 *    once  01T00:00  31T00:00     -         -    never";

    #[test]
    fn what_is_due() {
        for line in TABLE.trim().lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let schedule = Schedule::cron(&words[..5].join(" "), "UTC").unwrap();
            let (missed, last, now) = (words[5].parse().unwrap(), at(words[6]), at(words[7]));
            let plan = plan(&schedule, Timestamp::UNIX_EPOCH, missed, last, now);
            let passed = (words[8] != "-").then(|| at(words[8]));
            assert_eq!(plan.passed, passed, "{line}");
            let missed = words[9].parse().ok().map(|missed| Start { missed });
            assert_eq!(plan.start, missed, "{line}");
            if words[10] != "never" {
                assert_eq!(plan.next, Some(at(words[10])), "{line}");
            }
        }
    }

    proptest! {
        /// However the time passes in which somebody looks, every due time is dealt with once.
        #[test]
        fn no_due_time_is_started_twice_and_none_is_forgotten(
            every in 1..200i64,
            looks in proptest::collection::vec(1..100_000i64, 1..40),
        ) {
            let schedule = Schedule::Every(SignedDuration::from_mins(every));
            let anchor = Timestamp::from_second(1_700_000_000).unwrap();
            let (mut last, mut now) = (anchor, anchor);
            let mut started = Vec::new();
            for seconds in looks {
                now += SignedDuration::from_secs(seconds);
                let plan = plan(&schedule, anchor, Missed::Once, last, now);
                prop_assert_eq!(plan.start.is_some(), plan.passed.is_some());
                if let Some(passed) = plan.passed {
                    prop_assert!(passed > last && passed <= now);
                    started.push(passed);
                    last = passed;
                }
                // Whatever has come is dealt with.
                prop_assert!(schedule.next_after(anchor, last).unwrap() > now);
            }
            let mut once = started.clone();
            once.dedup();
            prop_assert_eq!(once, started);
        }
    }
}
