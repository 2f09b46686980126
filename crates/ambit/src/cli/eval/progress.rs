//! How far a long measurement is: one line on a terminal, after a while, and gone at the end.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How long one waits without being told, and how often one is told then.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) struct Progress {
    all: usize,
    done: usize,
    /// When there is something to say next; never where nobody looks.
    next: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    pub(super) fn new(all: usize) -> Progress {
        let is_watched = io::stderr().is_terminal();
        Progress {
            all,
            done: 0,
            next: is_watched.then(|| Instant::now() + PATIENCE),
            is_shown: false,
        }
    }

    /// One more is done.
    pub(super) fn step(&mut self) {
        self.done += 1;
        let now = Instant::now();
        if self.next.is_some_and(|it| it <= now) {
            let _ = write!(io::stderr(), "\r{} of {} queries", self.done, self.all);
            self.next = Some(now + PATIENCE);
            self.is_shown = true;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
