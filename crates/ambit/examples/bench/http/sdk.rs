//! The official Rust SDK as a client.

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{
    ClientLifecycleMode, Peer, RoleClient, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;

use super::{Era, Outcome, PAYLOAD};

/// More calls at once than are measured.
const AT_ONCE: usize = 64;

/// A connected client.
pub(crate) struct Sdk {
    service: RunningService<RoleClient, ()>,
    tool: String,
}

impl Sdk {
    pub(crate) async fn new(url: &str, era: Era, tool: &str) -> Outcome<Self> {
        let config = StreamableHttpClientTransportConfig::with_uri(url);
        let config = config.max_concurrent_requests(AT_ONCE);
        let transport = StreamableHttpClientTransport::from_config(config);
        let lifecycle = match era {
            Era::Sessions => ClientLifecycleMode::Initialize,
            Era::Stateless => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        };
        Ok(Sdk {
            service: serve_client_with_lifecycle((), transport, lifecycle).await?,
            tool: tool.to_owned(),
        })
    }

    /// What calls are made with.
    pub(crate) fn peer(&self) -> Peer<RoleClient> {
        self.service.peer().clone()
    }

    /// One call of the tool.
    pub(crate) fn call(&self) -> CallToolRequestParams {
        let arguments = json!({"text": PAYLOAD}).as_object().cloned();
        CallToolRequestParams::new(self.tool.clone()).with_arguments(arguments.unwrap_or_default())
    }
}

/// One call, and whether it was answered with what it said.
pub(crate) async fn call(peer: &Peer<RoleClient>, request: CallToolRequestParams) -> Outcome {
    let result = peer.call_tool(request).await?;
    let text = result.content.first().and_then(|it| it.as_text());
    match text.is_some_and(|it| it.text == PAYLOAD) {
        true => Ok(()),
        false => Err(format!("a call was answered with {result:?}").into()),
    }
}
