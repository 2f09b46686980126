//! Ends what this process started even if this process is killed: a second process, started with
//! the first child, is told of every group there is, and ends what is left of them when it hears
//! no more. Nothing else survives `kill -9`.

use std::collections::HashSet;
use std::io::{BufRead, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::OnceLock;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};

static WATCHDOG: OnceLock<Mutex<Watchdog>> = OnceLock::new();

enum Watchdog {
    /// Nothing to watch yet; this is how it is started.
    Asleep(Box<Command>),
    Awake(ChildStdin),
    /// It could not be started, or has ended.
    Gone,
}

/// From now on, groups are watched over by a process started so: one that calls [`guard`] on its
/// standard input. The first to say how is heard.
pub fn keep(command: Command) {
    let _ = WATCHDOG.set(Mutex::new(Watchdog::Asleep(Box::new(command))));
}

/// What the second process does: it listens until nobody speaks any more, and kills every group
/// that is still there.
pub fn guard(told: impl BufRead) {
    let mut groups = HashSet::new();
    for line in told.lines().map_while(Result::ok) {
        let group = |text: &str| text.parse().ok().and_then(Pid::from_raw);
        match line.split_at_checked(1) {
            Some(("+", id)) => groups.extend(group(id)),
            Some(("-", id)) => {
                group(id).map(|it| groups.remove(&it));
            }
            _ => {}
        }
    }
    for group in groups {
        // Already gone is what we want.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Is there before a group is started: whoever is killed right after starting one has told of it.
pub fn wake() {
    if let Some(watchdog) = WATCHDOG.get() {
        awake(&mut watchdog.lock());
    }
}

/// A group was started.
pub(crate) fn born(group: Pid) {
    tell('+', group);
}

/// A group has ended; its number may be somebody else's from now on.
pub(crate) fn gone(group: Pid) {
    tell('-', group);
}

fn tell(what: char, group: Pid) {
    let Some(watchdog) = WATCHDOG.get() else {
        return;
    };
    let mut watchdog = watchdog.lock();
    awake(&mut watchdog);
    if let Watchdog::Awake(pipe) = &mut *watchdog {
        let line = format!("{what}{}\n", group.as_raw_nonzero());
        // One write: a line is whole or not there.
        if pipe.write_all(line.as_bytes()).is_err() {
            *watchdog = Watchdog::Gone;
        }
    }
}

fn awake(watchdog: &mut Watchdog) {
    if let Watchdog::Asleep(command) = watchdog {
        *watchdog = start(command).map_or(Watchdog::Gone, Watchdog::Awake);
    }
}

fn start(command: &mut Command) -> Option<ChildStdin> {
    use std::os::unix::process::CommandExt as _;
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // What ends a terminal's processes must not end this one first.
        .process_group(0)
        .spawn();
    match started {
        Ok(mut child) => child.stdin.take(),
        Err(error) => {
            tracing::warn!(%error, "what is started here will outlive a `kill -9` of this process");
            None
        }
    }
}
