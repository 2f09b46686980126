//! The line to a child: its output, split into messages, and its input. Answers to calls are
//! handed to their callers in passing; everything else is the SDK's.

use std::io;
use std::sync::Arc;

use ambit_runtime::conversation::QuestionKind;
use ambit_runtime::lines::{LineReader, LineWriter, Sent};
use bytes::{Bytes, BytesMut};
use rmcp::model::{CustomRequest, ErrorData, GetExtensions as _, JsonRpcMessage, ServerRequest};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{JsonRpcMessageCodec, JsonRpcMessageCodecError};
use serde_json::error::Category;
use serde_json::json;
use tokio::io::AsyncRead;
use tokio::time::{Instant, sleep_until};
use tokio_util::codec::Decoder as _;

use crate::calls::{Calls, Taken};
use crate::pace::Schedule;

/// A child's input and output.
pub(crate) struct Stdio<R> {
    from: LineReader<R>,
    to: LineWriter,
    calls: Arc<Calls>,
    codec: JsonRpcMessageCodec<RxJsonRpcMessage<RoleClient>>,
    /// Of lines that are no messages: they cost as much as messages do.
    noise: Schedule,
}

impl<R: AsyncRead + Unpin> Stdio<R> {
    /// How long a message may be is for whoever made `from` to say.
    pub(crate) fn new(from: R, to: LineWriter, calls: Arc<Calls>) -> Self {
        Stdio {
            from: LineReader::new(from, usize::MAX),
            to,
            calls,
            codec: JsonRpcMessageCodec::new(),
            noise: Schedule::new(),
        }
    }

    /// The message a line is, if it is one for the SDK.
    fn message(&mut self, line: &Bytes) -> Option<RxJsonRpcMessage<RoleClient>> {
        match self.calls.take(line) {
            Taken::Answer => return None,
            Taken::TooLate => {
                self.noise.book(Instant::now());
                return None;
            }
            Taken::Other => {}
        }
        let mut line = BytesMut::from(line.as_ref());
        line.extend_from_slice(b"\n");
        match self.codec.decode(&mut line) {
            Ok(Some(message)) => return Some(associated(message)),
            // Not of this protocol.
            Ok(None) => {}
            Err(JsonRpcMessageCodecError::Serde(error)) if error.classify() == Category::Data => {
                let invalid = ErrorData::invalid_request("Invalid request", None);
                let answer = TxJsonRpcMessage::<RoleClient>::error(invalid, None);
                // A server that does not read what it is told is not told it twice.
                let _ = self.write(&answer);
            }
            // Answering what is no JSON at all invites more of it.
            Err(error) => tracing::debug!(%error, "a line that is no message"),
        }
        self.noise.book(Instant::now());
        None
    }

    fn write(&self, message: &TxJsonRpcMessage<RoleClient>) -> io::Result<Sent> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        Ok(self.to.send(&line))
    }
}

/// The SDK turns away questions while it knows of no request under way, and of calls it knows
/// nothing: whether a question belongs to one is decided by `Flights`.
fn associated(message: RxJsonRpcMessage<RoleClient>) -> RxJsonRpcMessage<RoleClient> {
    let JsonRpcMessage::Request(mut it) = message else {
        return message;
    };
    let (kind, params) = match &it.request {
        ServerRequest::ElicitRequest(asked) => {
            let params = serde_json::to_value(&asked.params);
            (QuestionKind::Elicitation, params)
        }
        ServerRequest::CreateMessageRequest(asked) => {
            (QuestionKind::Sampling, serde_json::to_value(&asked.params))
        }
        ServerRequest::ListRootsRequest(_) => (QuestionKind::Roots, Ok(json!({}))),
        _ => return JsonRpcMessage::Request(it),
    };
    let mut request = CustomRequest::new(kind.method(), params.ok());
    request.extensions = std::mem::take(it.request.extensions_mut());
    it.request = ServerRequest::CustomRequest(request);
    JsonRpcMessage::Request(it)
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleClient> for Stdio<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let sent = self.write(&message);
        let to = self.to.clone();
        async move { to.written(sent?).await }
    }

    /// All waiting comes before a line is taken: whoever drops this future loses nothing.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(free) = self.noise.full() {
                sleep_until(free).await;
            }
            let line = match self.from.next().await {
                Ok(line) => line?,
                Err(error) => {
                    tracing::debug!(%error, "a child's output cannot be read");
                    return None;
                }
            };
            if line.is_empty() {
                self.noise.book(Instant::now());
                continue;
            }
            if let Some(message) = self.message(&line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.to.close();
        Ok(())
    }
}

impl<R> Drop for Stdio<R> {
    fn drop(&mut self) {
        self.calls.end();
        self.to.close();
    }
}
