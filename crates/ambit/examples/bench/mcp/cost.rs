//! What a process has cost: time on a processor, and how often one of its threads gave it up. Unlike
//! the time a call takes, that depends little on what else the machine does.

use std::fs;
use std::ops::{Add, Sub};

/// Of one process, without its children.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// In microseconds.
    pub(crate) processor: f64,
    pub(crate) switches: f64,
}

impl Cost {
    /// Until now; nothing where the system does not tell.
    pub(crate) fn of(process: u32) -> Self {
        let threads = fs::read_dir(format!("/proc/{process}/task"));
        let threads = threads.into_iter().flatten().flatten();
        threads.fold(Cost::default(), |all, thread| {
            let read = |name: &str| fs::read_to_string(thread.path().join(name));
            let (schedule, status) = (read("schedstat"), read("status"));
            let nanoseconds = schedule.ok().and_then(|it| number(it.split(' ').next()?));
            let switches = status.ok().and_then(|it| {
                let line = it
                    .lines()
                    .find_map(|it| it.strip_prefix("voluntary_ctxt_switches:"));
                number(line?)
            });
            all + Cost {
                processor: nanoseconds.unwrap_or_default() / 1e3,
                switches: switches.unwrap_or_default(),
            }
        })
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            processor: self.processor + other.processor,
            switches: self.switches + other.switches,
        }
    }
}

impl Sub for Cost {
    type Output = Cost;

    fn sub(self, other: Cost) -> Cost {
        Cost {
            processor: self.processor - other.processor,
            switches: self.switches - other.switches,
        }
    }
}
