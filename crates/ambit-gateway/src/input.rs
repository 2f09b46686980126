//! The client's side of the line, and the moment it hangs up: what was asked of it then is never
//! answered.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ambit_runtime::CancellationToken;
use tokio::io::{AsyncRead, ReadBuf};

/// Input that says when it has ended.
pub(crate) struct Input<R> {
    pub(crate) from: R,
    pub(crate) ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut this.from).poll_read(context, buffer));
        if read.is_err() || buffer.filled().len() == before {
            this.ended.cancel();
        }
        Poll::Ready(read)
    }
}
