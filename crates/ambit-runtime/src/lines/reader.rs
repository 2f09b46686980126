//! Lines coming in.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much is asked for at once.
const READ: usize = 32 << 10;

/// Splits what it reads into lines.
pub struct LineReader<R> {
    from: R,
    read: BytesMut,
    /// So much of `read` is known to hold no end of a line.
    searched: usize,
    /// A longer line is left out.
    longest: usize,
    /// The line at hand is being left out.
    skipping: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Lines of at most so many bytes; longer ones are left out.
    pub fn new(from: R, longest: usize) -> Self {
        LineReader {
            from,
            read: BytesMut::new(),
            searched: 0,
            longest,
            skipping: false,
        }
    }

    /// The next line, without its end. `None` when there is no more; a line that was begun and not
    /// ended is none. Whoever drops this future loses nothing.
    pub async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if let Some(line) = self.take() {
                return Ok(Some(line));
            }
            self.read.reserve(READ);
            if self.from.read_buf(&mut self.read).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// The next line of what is read already.
    pub fn take(&mut self) -> Option<Bytes> {
        loop {
            let fresh = self.read.get(self.searched..).unwrap_or_default();
            let Some(at) = fresh.iter().position(|it| *it == b'\n') else {
                self.searched = self.read.len();
                if self.searched > self.longest {
                    self.read.clear();
                    self.searched = 0;
                    self.skipping = true;
                }
                return None;
            };
            let mut line = self.read.split_to(self.searched + at + 1);
            self.searched = 0;
            let skipped = std::mem::take(&mut self.skipping);
            if skipped || line.len() > self.longest {
                continue;
            }
            line.truncate(line.len() - 1);
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            return Some(line.freeze());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_whole_however_they_are_read() {
        for pieces in [
            &["one\ntwo\r\n\nthree\n"][..],
            &["on", "e\ntw", "o\r", "\n", "\nthree", "\n"],
            // Longer than the longest.
            &["one\nfar too long to be taken\ntwo\n\nthree\n"],
            &[
                "one\nfar too",
                " long to be",
                " taken\ntwo\n\nthree\nunended",
            ],
        ] {
            let mut reader = reader(pieces);
            let mut lines = Vec::new();
            while let Some(line) = reader.next().await.unwrap() {
                lines.push(String::from_utf8(line.to_vec()).unwrap());
            }
            assert_eq!(lines, ["one", "two", "", "three"], "{pieces:?}");
        }
    }

    fn reader(pieces: &[&'static str]) -> LineReader<Pieces> {
        LineReader::new(Pieces(pieces.to_vec()), 10)
    }

    /// Gives one piece with each read.
    struct Pieces(Vec<&'static str>);

    impl AsyncRead for Pieces {
        fn poll_read(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            buffer: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<io::Result<()>> {
            if !self.0.is_empty() {
                buffer.put_slice(self.0.remove(0).as_bytes());
            }
            std::task::Poll::Ready(Ok(()))
        }
    }
}
