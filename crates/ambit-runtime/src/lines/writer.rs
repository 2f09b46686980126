//! Lines going out. What a pipe takes at once is written by whoever sends it; only what it does
//! not take waits, and is written in order by a task that ends with it.

use std::io;
use std::sync::Arc;

use bytes::{Buf as _, BytesMut};
use parking_lot::Mutex;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::{Mutex as AsyncMutex, watch};

/// Writes lines, one after the other, from anywhere.
#[derive(Clone)]
pub struct LineWriter(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    progress: watch::Sender<Progress>,
}

struct Queue {
    /// Nothing once it is closed.
    to: Option<Arc<To>>,
    waiting: BytesMut,
    /// A task writes what waits.
    draining: bool,
    /// How many bytes were ever sent.
    sent: u64,
}

enum To {
    Pipe(pipe::Sender),
    Other(AsyncMutex<Box<dyn AsyncWrite + Send + Unpin>>),
}

/// How far the task that writes has come.
#[derive(Clone, Copy, Default)]
struct Progress {
    written: u64,
    closed: bool,
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is written.
    Written,
    /// It will be, once so many bytes are.
    Waits(u64),
    /// Nobody reads any more.
    Refused,
}

impl LineWriter {
    /// Into a pipe.
    pub fn to_pipe(pipe: pipe::Sender) -> Self {
        Self::new(To::Pipe(pipe))
    }

    /// Into anything else.
    pub fn to(other: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::new(To::Other(AsyncMutex::new(Box::new(other))))
    }

    fn new(to: To) -> Self {
        LineWriter(Arc::new(Shared {
            queue: Mutex::new(Queue {
                to: Some(Arc::new(to)),
                waiting: BytesMut::new(),
                draining: false,
                sent: 0,
            }),
            progress: watch::Sender::default(),
        }))
    }

    /// Sends a line, its end included. To be called in a runtime.
    pub fn send(&self, line: &[u8]) -> Sent {
        let mut queue = self.0.queue.lock();
        let Some(to) = queue.to.clone() else {
            return Sent::Refused;
        };
        queue.sent += line.len() as u64;
        let written = match (&*to, queue.draining) {
            (To::Pipe(pipe), false) => write_now(pipe, line),
            _ => Ok(0),
        };
        let rest = match written {
            Ok(count) => line.get(count..).unwrap_or_default(),
            Err(_) => {
                self.close_in(&mut queue);
                return Sent::Refused;
            }
        };
        if rest.is_empty() {
            return Sent::Written;
        }
        queue.waiting.extend_from_slice(rest);
        let end = queue.sent;
        if !queue.draining {
            queue.draining = true;
            tokio::spawn(drain(self.clone(), to));
        }
        Sent::Waits(end)
    }

    /// Waits until a line is written.
    pub async fn written(&self, sent: Sent) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let end = match sent {
            Sent::Written => return Ok(()),
            Sent::Refused => return Err(gone()),
            Sent::Waits(end) => end,
        };
        let mut progress = self.0.progress.subscribe();
        let reached = progress.wait_for(|it| it.closed || it.written >= end);
        let reached = reached.await.map_err(|_| gone())?;
        match reached.written >= end {
            true => Ok(()),
            false => Err(gone()),
        }
    }

    /// Ends it. What waits is not written any more.
    pub fn close(&self) {
        self.close_in(&mut self.0.queue.lock());
    }

    fn close_in(&self, queue: &mut Queue) {
        queue.to = None;
        queue.waiting = BytesMut::new();
        self.0.progress.send_modify(|it| it.closed = true);
    }
}

/// As much as the pipe takes without waiting.
fn write_now(pipe: &pipe::Sender, line: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while let Some(rest) = line.get(written..).filter(|it| !it.is_empty()) {
        match pipe.try_write(rest) {
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

async fn drain(writer: LineWriter, to: Arc<To>) {
    let mut progress = writer.0.progress.subscribe();
    let closed = async move {
        // It cannot end without being closed: the writer is at hand.
        let _ = progress.wait_for(|it| it.closed).await;
    };
    tokio::select! {
        drained = drain_to(&writer, &to) => if drained.is_err() {
            writer.close();
        },
        () = closed => {}
    }
}

async fn drain_to(writer: &LineWriter, to: &To) -> io::Result<()> {
    loop {
        let other = match to {
            To::Pipe(pipe) => {
                pipe.writable().await?;
                None
            }
            To::Other(other) => Some(other),
        };
        let chunk = {
            let mut queue = writer.0.queue.lock();
            match to {
                To::Pipe(pipe) => {
                    let count = write_now(pipe, &queue.waiting)?;
                    queue.waiting.advance(count);
                    BytesMut::new()
                }
                To::Other(_) => queue.waiting.split(),
            }
        };
        if let Some(other) = other {
            let mut other = other.lock().await;
            other.write_all(&chunk).await?;
            other.flush().await?;
        }
        let mut queue = writer.0.queue.lock();
        let written = queue.sent - queue.waiting.len() as u64;
        writer.0.progress.send_modify(|it| it.written = written);
        if queue.waiting.is_empty() {
            queue.draining = false;
            // What one long line needed is not kept for the short ones.
            queue.waiting = BytesMut::new();
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// A pipe that is known to take something.
    async fn piped() -> (LineWriter, pipe::Receiver) {
        let (to, from) = pipe::pipe().unwrap();
        to.writable().await.unwrap();
        (LineWriter::to_pipe(to), from)
    }

    #[tokio::test]
    async fn what_a_pipe_does_not_take_follows_in_order() {
        let (writer, mut from) = piped().await;
        assert_eq!(writer.send(b"first\n"), Sent::Written);
        let long = vec![b'x'; 1 << 20];
        let begun = writer.send(&long);
        assert!(matches!(begun, Sent::Waits(_)));
        let last = writer.send(b"last\n");
        let mut read = vec![0; 6 + long.len() + 5];
        from.read_exact(&mut read).await.unwrap();
        assert!(read.starts_with(b"first\nx") && read.ends_with(b"xlast\n"));
        writer.written(begun).await.unwrap();
        writer.written(last).await.unwrap();
        assert_eq!(writer.send(b"again\n"), Sent::Written);
    }

    #[tokio::test]
    async fn nobody_waits_for_a_pipe_that_is_closed() {
        let (writer, from) = piped().await;
        let waits = writer.send(&vec![b'x'; 1 << 20]);
        let waiting = writer.written(waits);
        writer.close();
        assert!(waiting.await.is_err());
        assert_eq!(writer.send(b"more\n"), Sent::Refused);
        drop(from);

        let (writer, from) = piped().await;
        drop(from);
        assert_eq!(writer.send(b"more\n"), Sent::Refused);
    }

    #[tokio::test]
    async fn anything_else_is_written_by_the_task() {
        let (to, mut from) = tokio::io::duplex(4);
        let writer = LineWriter::to(to);
        let sent = [writer.send(b"one\n"), writer.send(b"two\n")];
        let mut read = [0; 8];
        from.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"one\ntwo\n");
        for it in sent {
            writer.written(it).await.unwrap();
        }
    }
}
