//! What a request holds while it is at work: its connection, its place, its session. All of it is
//! let go when the answer has been sent, or nobody is left to take it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use tokio::sync::OwnedSemaphorePermit;

use super::connections::Busy;
use super::running::Run;
use super::sessions::InUse;

/// What a request holds while it is at work.
pub(crate) struct Holds {
    pub(crate) _connection: Busy,
    pub(crate) _run: Option<Run>,
    pub(crate) _place: OwnedSemaphorePermit,
    pub(crate) _session: Option<InUse>,
}

/// A body that lets go of what its request held when it has ended.
pub(crate) struct Held {
    body: BoxBody<Bytes, Infallible>,
    holds: Option<Box<Holds>>,
}

impl Held {
    pub(crate) fn all(body: BoxBody<Bytes, Infallible>, holds: Holds) -> Self {
        Held {
            body,
            holds: Some(Box::new(holds)),
        }
    }

    pub(crate) fn nothing(body: BoxBody<Bytes, Infallible>) -> Self {
        Held { body, holds: None }
    }
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() {
            self.holds = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
