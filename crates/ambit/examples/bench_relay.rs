//! The least that can stand between a client and a server: `bench_relay [--http] PROGRAM|URL` hands
//! tool lists and calls on with the SDK alone. What Ambit costs is measured beside it.
//!
//! It serves standard input and output, or with `--http` an address, and speaks to its server in
//! the era Ambit would choose.

#[path = "support/serve_http.rs"]
mod serve_http;

use std::error::Error;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{
    ClientLifecycleMode, Peer, RequestContext, RoleClient, RoleServer, RunningService,
    ServiceError, serve_client_with_lifecycle, serve_server,
};
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use tokio::process::Command;

#[derive(Clone)]
struct Relay(Peer<RoleClient>);

impl ServerHandler for Relay {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.0.list_tools(request).await.map_err(passed_on)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.call_tool_once(request).await.map_err(passed_on)
    }
}

fn passed_on(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}

/// More calls at once than are measured.
const AT_ONCE: usize = 64;

async fn upstream(to: &str) -> Result<RunningService<RoleClient, ()>, Box<dyn Error>> {
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    if to.starts_with("http://") {
        let config = StreamableHttpClientTransportConfig::with_uri(to);
        let config = config.max_concurrent_requests(AT_ONCE);
        let transport = StreamableHttpClientTransport::from_config(config);
        return Ok(serve_client_with_lifecycle((), transport, lifecycle).await?);
    }
    let child = TokioChildProcess::new(Command::new(to))?;
    Ok(serve_client_with_lifecycle((), child, lifecycle).await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let to = arguments
        .pop()
        .ok_or("usage: bench_relay [--http] PROGRAM|URL")?;
    let upstream = upstream(&to).await?;
    let relay = Relay(upstream.peer().clone());
    if arguments.iter().any(|it| it == "--http") {
        return serve_http::serve_http(relay).await;
    }
    serve_server(relay, stdio_pipes()).await?.waiting().await?;
    Ok(())
}
