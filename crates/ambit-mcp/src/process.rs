//! The child behind a stdio server: a small environment, a process group of its own, its stderr
//! kept, and an end that takes whatever it started with it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ambit_runtime::lines::LineWriter;
use ambit_runtime::process::GroupGuard;
use ambit_runtime::watchdog;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Largest message accepted from a server.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;
const STDERR_KEPT: usize = 8 * 1024;
/// How long the last answer may still be on its way once the process is gone.
const DRAIN: Duration = Duration::from_millis(500);
/// How long it may take to leave by itself once its input is closed.
const LEAVE: Duration = Duration::from_secs(2);

/// What a server wrote to stderr last, over all its lives.
#[derive(Debug, Default)]
pub(crate) struct StderrTail(Mutex<VecDeque<u8>>);

impl StderrTail {
    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock();
        kept.extend(bytes);
        let over = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..over);
    }

    pub(crate) fn text(&self) -> String {
        let kept = self.0.lock();
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A running child. Dropping it kills its whole group.
pub(crate) struct Process {
    pub(crate) id: Option<u32>,
    ended: watch::Receiver<Option<String>>,
    group: Arc<Mutex<Option<GroupGuard>>>,
    _stop_reading: DropGuard,
}

/// A child and its streams.
pub(crate) struct Launched {
    pub(crate) process: Process,
    pub(crate) stdin: LineWriter,
    pub(crate) stdout: Messages<ChildStdout>,
}

/// Starts a child. `lost` is cancelled when it ends by itself.
pub(crate) fn launch(
    command: &mut Command,
    stderr: &Arc<StderrTail>,
    lost: CancellationToken,
) -> io::Result<Launched> {
    watchdog::wake();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let group = Arc::new(Mutex::new(Some(GroupGuard::of(&child))));
    let taken = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(errors)) = taken else {
        return Err(io::Error::other("its streams were not piped"));
    };
    let (ending, ended) = watch::channel(None);
    let ending = Arc::new(ending);
    let process = Process {
        id: child.id(),
        ended,
        group: Arc::clone(&group),
        _stop_reading: lost.clone().drop_guard(),
    };
    let stdout = Messages {
        inner: stdout,
        unfinished: 0,
        ending: Arc::clone(&ending),
    };
    let stdin = pipe::Sender::from_owned_fd(stdin.into_owned_fd()?)?;
    tokio::spawn(keep_stderr(errors, Arc::clone(stderr), lost.clone()));
    tokio::spawn(reap(child, group, ending, lost));
    Ok(Launched {
        process,
        stdin: LineWriter::to_pipe(stdin),
        stdout,
    })
}

impl Process {
    /// What is known of its end, shortly after its output ended.
    pub(crate) async fn end(&self) -> Option<String> {
        let mut ended = self.ended.clone();
        let known = tokio::time::timeout(DRAIN, ended.wait_for(Option::is_some)).await;
        known.ok()?.ok()?.clone()
    }

    /// Waits for it to leave by itself, now that its input is closed.
    pub(crate) async fn leave(self) {
        let mut ended = self.ended.clone();
        let _ = tokio::time::timeout(LEAVE, ended.wait_for(Option::is_some)).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.group.lock().take());
    }
}

/// Waits for the child, so that no zombie stays, and ends what it started. The group is let go
/// as soon as the child is reaped: its number may be somebody else's later.
async fn reap(
    mut child: Child,
    group: Arc<Mutex<Option<GroupGuard>>>,
    ending: Arc<watch::Sender<Option<String>>>,
    lost: CancellationToken,
) {
    let status = child.wait().await;
    drop(group.lock().take());
    let said = status.map_or_else(|error| error.to_string(), described);
    ending.send_if_modified(|it| {
        let first = it.is_none();
        it.get_or_insert(said);
        first
    });
    tokio::select! {
        () = tokio::time::sleep(DRAIN) => lost.cancel(),
        () = lost.cancelled() => {}
    }
}

fn described(status: ExitStatus) -> String {
    format!("it ended with {status}")
}

async fn keep_stderr(mut errors: ChildStderr, tail: Arc<StderrTail>, stop: CancellationToken) {
    let mut buffer = vec![0; 4096];
    loop {
        let read = tokio::select! {
            biased;
            read = errors.read(&mut buffer) => read,
            () = stop.cancelled() => return,
        };
        match read {
            Ok(0) | Err(_) => return,
            Ok(count) => tail.push(buffer.get(..count).unwrap_or_default()),
        }
    }
}

/// A server's output, as long as its messages have a reasonable size. A message that has not
/// ended by then ends the connection: nobody waits for what can never be taken in.
pub(crate) struct Messages<R> {
    inner: R,
    unfinished: usize,
    ending: Arc<watch::Sender<Option<String>>>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Messages<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let fresh = buffer.filled().get(before..).unwrap_or_default();
        self.unfinished = match fresh.iter().rposition(|it| *it == b'\n') {
            Some(at) => fresh.len() - at - 1,
            None => self.unfinished + fresh.len(),
        };
        if self.unfinished > MAX_MESSAGE {
            let why = format!("it sent a message larger than {MAX_MESSAGE} bytes");
            self.ending.send_replace(Some(why));
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        Poll::Ready(Ok(()))
    }
}

/// What every child gets of this process's environment: where programs, home and temporary
/// files are, language, and how to reach the network. Nothing else, secrets least of all.
pub(crate) fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_inherited))
}

fn is_inherited(name: &str) -> bool {
    const NAMES: [&str; 8] = [
        "PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
    ];
    const PROXIES: [&str; 4] = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];
    NAMES.contains(&name)
        || name.starts_with("LC_")
        || PROXIES.iter().any(|it| it.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_inherited() {
        for yes in [
            "PATH",
            "HOME",
            "LC_ALL",
            "LANG",
            "TMPDIR",
            "HTTPS_PROXY",
            "no_proxy",
        ] {
            assert!(is_inherited(yes), "{yes}");
        }
        for no in [
            "GITHUB_TOKEN",
            "LD_PRELOAD",
            "NODE_OPTIONS",
            "path",
            "AWS_PROFILE",
            "",
        ] {
            assert!(!is_inherited(no), "{no}");
        }
    }

    #[test]
    fn only_the_tail_is_kept() {
        let tail = StderrTail::default();
        for n in 0..10_000 {
            tail.push(format!("line {n}\n").as_bytes());
        }
        let text = tail.text();
        assert!(text.len() <= STDERR_KEPT && text.ends_with("line 9999\n"));
    }
}
