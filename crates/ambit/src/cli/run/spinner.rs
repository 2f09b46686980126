//! One line at the bottom of the terminal that says what is waited for. It is drawn over and over
//! and never stays; lines that stay are written above it.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use anstream::AutoStream;
use parking_lot::Mutex;

use crate::cli::printer::{DIM, fit, styled};

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PACE: Duration = Duration::from_millis(90);
/// Quick things need no spinner.
const UNSEEN: Duration = Duration::from_millis(150);
const WIDTH: usize = 76;

/// How many want the line to be still: somebody is being asked.
static STILL: AtomicUsize = AtomicUsize::new(0);
/// Whether the line is on the screen.
static DRAWN: AtomicBool = AtomicBool::new(false);

/// While it is there, nothing is drawn.
pub(crate) struct Still;

/// Takes the line away until the guard is dropped.
pub(crate) fn still() -> Still {
    STILL.fetch_add(1, Ordering::SeqCst);
    erase(&mut io::stderr().lock());
    Still
}

impl Drop for Still {
    fn drop(&mut self) {
        STILL.fetch_sub(1, Ordering::SeqCst);
    }
}

fn erase(out: &mut impl Write) {
    if DRAWN.swap(false, Ordering::SeqCst) {
        let _ = write!(out, "\r\x1b[K");
        let _ = out.flush();
    }
}

/// What is waited for.
#[derive(Default)]
struct Waiting {
    what: Option<(String, Instant)>,
    frame: usize,
}

/// The line.
pub(super) struct Spinner {
    waiting: Arc<Mutex<Waiting>>,
}

impl Spinner {
    /// Draws on standard error, if that is a terminal.
    pub(super) fn new() -> Self {
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
        if io::stderr().is_terminal() && !dumb {
            let watched = Arc::downgrade(&waiting);
            // Without it there is no spinner, and everything else.
            let _ = std::thread::Builder::new().spawn(move || spin(&watched));
        }
        Spinner { waiting }
    }

    /// From now on this is waited for.
    pub(super) fn wait_for(&self, what: impl Into<String>) {
        self.waiting.lock().what = Some((what.into(), Instant::now()));
    }

    /// Says more about what is waited for.
    pub(super) fn detail(&self, what: impl Into<String>) {
        if let Some((said, _)) = &mut self.waiting.lock().what {
            *said = what.into();
        }
    }

    /// Nothing is waited for.
    pub(super) fn stop(&self) {
        self.waiting.lock().what = None;
        erase(&mut io::stderr().lock());
    }

    /// A line that stays.
    pub(super) fn line(&self, text: &str) {
        let mut out = AutoStream::auto(io::stderr().lock());
        erase(&mut out);
        let _ = writeln!(out, "{text}");
    }

    /// Text that stays, on standard output, as it comes.
    pub(super) fn text(&self, text: &str) {
        erase(&mut io::stderr().lock());
        let mut out = io::stdout().lock();
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spin(waiting: &Weak<Mutex<Waiting>>) {
    loop {
        std::thread::sleep(PACE);
        let Some(waiting) = waiting.upgrade() else {
            return;
        };
        let mut waiting = waiting.lock();
        waiting.frame = (waiting.frame + 1) % FRAMES.len();
        let frame = FRAMES.get(waiting.frame).copied().unwrap_or_default();
        let Some((what, since)) = &waiting.what else {
            continue;
        };
        if STILL.load(Ordering::SeqCst) > 0 || since.elapsed() < UNSEEN {
            continue;
        }
        let seconds = since.elapsed().as_secs();
        let time = match seconds {
            0 => String::new(),
            seconds => format!(" {seconds} s"),
        };
        let text = format!("{frame} {}{time}", fit(what, WIDTH));
        let mut out = AutoStream::auto(io::stderr().lock());
        let _ = write!(out, "\r\x1b[K{}", styled(DIM, text));
        let _ = out.flush();
        DRAWN.store(true, Ordering::SeqCst);
    }
}
