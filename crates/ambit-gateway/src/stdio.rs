//! The line to a client on standard input and output. Calls of tools, and the list of them, are
//! answered where they come in; whatever is rarer is the SDK's. Its way takes each message through
//! several tasks and compares it with every kind of message there is, which costs more than Ambit
//! does.
//!
//! Only clients of the session era are answered here: what every request of the other era has to
//! say of itself is for the SDK to check.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ambit_runtime::CancellationToken;
use ambit_runtime::lines::{LineReader, LineWriter, Sent};
use bytes::{Bytes, BytesMut};
use rmcp::ServerHandler as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, RequestId, RequestMetaObject,
};
use rmcp::service::{Peer, RequestContext, RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{JsonRpcMessageCodec, JsonRpcMessageCodecError};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::value::RawValue;
use tokio::io::AsyncRead;
use tokio_util::codec::Decoder as _;

use crate::handler::Handler;
use crate::running::Run;

/// Longest message of a client; what is longer is left out.
const LONGEST: usize = 16 << 20;
/// How long what still runs may take to be answered, once the client says no more,
const AFTER_INPUT: Duration = Duration::from_secs(5);
/// or once serving is to end.
const AFTER_STOP: Duration = Duration::from_secs(2);

/// A client's side of the line.
pub(crate) struct Stdio<R> {
    from: LineReader<R>,
    to: LineWriter,
    desk: Arc<Desk>,
    codec: JsonRpcMessageCodec<RxJsonRpcMessage<RoleServer>>,
}

/// Where requests are answered past the SDK.
struct Desk {
    handler: Arc<Handler>,
    to: LineWriter,
    stop: CancellationToken,
}

impl<R: AsyncRead + Unpin> Stdio<R> {
    pub(crate) fn new(
        from: R,
        to: LineWriter,
        handler: Arc<Handler>,
        stop: &CancellationToken,
    ) -> Self {
        Stdio {
            from: LineReader::new(from, LONGEST),
            to: to.clone(),
            desk: Arc::new(Desk {
                handler,
                to,
                stop: stop.child_token(),
            }),
            codec: JsonRpcMessageCodec::new(),
        }
    }

    /// The message a line is, if it is one for the SDK.
    fn message(&mut self, line: &Bytes) -> Option<RxJsonRpcMessage<RoleServer>> {
        if let Some(client) = self.desk.handler.greeted.get()
            && self.desk.take(client, line)
        {
            return None;
        }
        let mut line = BytesMut::from(line.as_ref());
        line.extend_from_slice(b"\n");
        match self.codec.decode(&mut line) {
            // What is not of this protocol is passed over.
            Ok(message) => message,
            Err(JsonRpcMessageCodecError::Serde(error)) if error.classify() == Category::Data => {
                let invalid = ErrorData::invalid_request("Invalid request", None);
                let _ = self.write(&TxJsonRpcMessage::<RoleServer>::error(invalid, None));
                None
            }
            // Answering what is no JSON at all invites more of it.
            Err(error) => {
                tracing::debug!(%error, "a line that is no message");
                None
            }
        }
    }

    fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<Sent> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        Ok(self.to.send(&line))
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Stdio<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let sent = self.write(&message);
        let to = self.to.clone();
        async move { to.written(sent?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = match self.from.next().await {
                Ok(line) => line?,
                Err(error) => {
                    tracing::debug!(%error, "the client's input cannot be read");
                    return None;
                }
            };
            if !line.is_empty()
                && let Some(message) = self.message(&line)
            {
                return Some(message);
            }
        }
    }

    /// What still runs is answered first, if that does not take too long.
    async fn close(&mut self) -> Result<(), io::Error> {
        let patience = match self.desk.stop.is_cancelled() {
            true => AFTER_STOP,
            false => AFTER_INPUT,
        };
        let _ = tokio::time::timeout(patience, self.desk.handler.running.idle()).await;
        self.desk.stop.cancel();
        self.to.close();
        Ok(())
    }
}

/// As much of a message as tells what it is.
#[derive(Deserialize)]
struct Head<'a> {
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled {
    request_id: RequestId,
}

#[derive(Default, Deserialize)]
struct ListParams {
    #[serde(rename = "_meta", default)]
    meta: Option<RequestMetaObject>,
}

#[derive(Serialize)]
struct Response<'a, T> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: &'a T,
}

impl Desk {
    /// Answers a message if it is one of those answered here.
    fn take(self: &Arc<Self>, client: &Peer<RoleServer>, line: &[u8]) -> bool {
        let Ok(head) = serde_json::from_slice::<Head<'_>>(line) else {
            return false;
        };
        let params = head.params.map_or("{}", RawValue::get);
        match (head.method, head.id) {
            (Some("tools/call"), Some(id)) => {
                let Ok(mut request) = serde_json::from_str::<CallToolRequestParams>(params) else {
                    return false;
                };
                let Some((context, run)) = self.context(client, id, request.meta.take()) else {
                    return false;
                };
                let this = Arc::clone(self);
                // In a box: a task is moved about before it runs, and this one is large.
                let call = Box::pin(async move { this.call(request, context, run).await });
                tokio::spawn(call);
                true
            }
            (Some("tools/list"), Some(id)) => {
                let Ok(request) = serde_json::from_str::<ListParams>(params) else {
                    return false;
                };
                let Some((context, run)) = self.context(client, id, request.meta) else {
                    return false;
                };
                let this = Arc::clone(self);
                tokio::spawn(async move { this.list(context, run).await });
                true
            }
            (Some("notifications/cancelled"), None) => {
                let Ok(cancelled) = serde_json::from_str::<Cancelled>(params) else {
                    return false;
                };
                self.handler.running.cancel(&cancelled.request_id)
            }
            _ => false,
        }
    }

    /// What is known of a request; nothing if it speaks for itself, as in the other era.
    fn context(
        &self,
        client: &Peer<RoleServer>,
        id: RequestId,
        meta: Option<RequestMetaObject>,
    ) -> Option<(RequestContext<RoleServer>, Run)> {
        let meta = meta.unwrap_or_default();
        if meta.protocol_version().is_some() {
            return None;
        }
        let mut context = RequestContext::new(id, client.clone());
        context.meta = meta;
        context.ct = self.stop.child_token();
        let running = &self.handler.running;
        let run = running.begin(context.id.clone(), context.ct.clone());
        Some((context, run))
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
        run: Run,
    ) {
        let id = context.id.clone();
        match self.handler.call_tool(request, context).await {
            Ok(CallToolResponse::Complete(mut result)) => {
                result.result_type = None;
                self.answer(&id, &run, &result).await;
            }
            // Questions and tasks are of the other era.
            Ok(_) => {
                let error = ErrorData::internal_error("a call ended in no result", None);
                self.refuse(&id, &run, error).await;
            }
            Err(error) => self.refuse(&id, &run, error).await,
        }
    }

    async fn list(&self, context: RequestContext<RoleServer>, run: Run) {
        let id = context.id.clone();
        match self.handler.listing(&context).await {
            Ok(tools) => self.answer(&id, &run, &*tools).await,
            Err(error) => self.refuse(&id, &run, error).await,
        }
    }

    async fn answer<T: Serialize>(&self, id: &RequestId, run: &Run, result: &T) {
        let response = Response {
            jsonrpc: "2.0",
            id,
            result,
        };
        self.send(run, &response).await;
    }

    async fn refuse(&self, id: &RequestId, run: &Run, error: ErrorData) {
        let message = TxJsonRpcMessage::<RoleServer>::error(error, Some(id.clone()));
        self.send(run, &message).await;
    }

    /// Nobody waits for the answer to a request that was called off.
    async fn send(&self, run: &Run, message: &impl Serialize) {
        if run.is_called_off() {
            return;
        }
        let mut line = Vec::with_capacity(512);
        // Of what comes from JSON.
        if serde_json::to_writer(&mut line, message).is_ok() {
            line.push(b'\n');
            let sent = self.to.send(&line);
            drop(line);
            // If nobody reads any more, nobody is left to be told.
            let _ = self.to.written(sent).await;
        }
    }
}
