//! From bytes to a turn: events as they come, however they are cut into pieces.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use reqwest::Response;
use sse_stream::SseStream;

use super::fault::Fault;
use super::limits::{EVENT_BYTES, STREAM_BYTES};
use crate::engine::{Listener, ModelTurn};

/// How long the end of a stream is waited for after its last event.
const FAREWELL: Duration = Duration::from_millis(250);

/// A provider's way of telling a turn in events.
pub(crate) trait Assembly: Send {
    /// Takes the data of one event.
    fn take(&mut self, data: &str, listener: &dyn Listener) -> Result<Flow, Fault>;

    /// The turn, once nothing more comes.
    fn finish(self) -> Result<ModelTurn, Fault>;
}

/// Whether more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It may.
    More,
    /// That was all.
    Done,
}

/// The bytes of an answer. Keep-alives count as a sign of life.
pub(super) fn bytes_of(
    response: Response,
    patience: Duration,
) -> impl Stream<Item = Result<Bytes, BodyFault>> + Send {
    stream::unfold(Some(response), move |response| async move {
        let mut response = response?;
        let chunk = tokio::time::timeout(patience, response.chunk()).await;
        let fault = match chunk {
            Ok(Ok(Some(chunk))) => return Some((Ok(chunk), Some(response))),
            Ok(Ok(None)) => return None,
            Ok(Err(error)) => Fault::Connection(innermost(&error)),
            Err(_) => Fault::Silence(patience),
        };
        Some((Err(BodyFault(fault)), None))
    })
}

/// Assembles a turn of a stream of bytes.
pub(crate) async fn assemble<A: Assembly>(
    bytes: impl Stream<Item = Result<Bytes, BodyFault>> + Send,
    mut assembly: A,
    listener: &dyn Listener,
) -> Result<ModelTurn, Fault> {
    let since_event = Arc::new(AtomicUsize::new(0));
    let counted = counted(bytes, Arc::clone(&since_event));
    let mut events = Box::pin(SseStream::from_bytes_stream(counted));
    while let Some(event) = events.next().await {
        since_event.store(0, Ordering::Relaxed);
        let event = event.map_err(fault)?;
        let Some(data) = event.data else { continue };
        if assembly.take(&data, listener)? == Flow::Done {
            // Read to its end, the connection serves the next turn, too.
            let rest = async { while let Some(Ok(_)) = events.next().await {} };
            tokio::time::timeout(FAREWELL, rest).await.ok();
            break;
        }
    }
    assembly.finish()
}

/// The same bytes, as long as they are not too many: altogether, and between two events.
fn counted(
    bytes: impl Stream<Item = Result<Bytes, BodyFault>> + Send,
    since_event: Arc<AtomicUsize>,
) -> impl Stream<Item = Result<Bytes, BodyFault>> + Send {
    let mut total = 0usize;
    bytes.map(move |chunk| {
        let chunk = chunk?;
        total = total.saturating_add(chunk.len());
        let before = since_event.fetch_add(chunk.len(), Ordering::Relaxed);
        let too_large = |what, limit| Err(BodyFault(Fault::TooLarge { what, limit }));
        if total > STREAM_BYTES {
            return too_large("the answer", STREAM_BYTES);
        }
        if before.saturating_add(chunk.len()) > EVENT_BYTES {
            return too_large("one event of the answer", EVENT_BYTES);
        }
        Ok(chunk)
    })
}

/// A fault on its way through the parser.
#[derive(Debug)]
pub(crate) struct BodyFault(Fault);

impl fmt::Display for BodyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl std::error::Error for BodyFault {}

fn fault(error: sse_stream::Error) -> Fault {
    match error {
        sse_stream::Error::Body(error) => match error.downcast::<BodyFault>() {
            Ok(fault) => fault.0,
            Err(error) => Fault::Connection(error.to_string()),
        },
        other => Fault::Garbled(format!("not a stream of events: {other}")),
    }
}

/// What really happened: the last of the errors behind an error. The first ones repeat the url,
/// with whatever stands in it.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
