//! The least that can stand between a client and a server: `bench_relay PROGRAM` hands tool lists
//! and calls on with the SDK alone. What Ambit costs is measured beside it.

use std::error::Error;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{
    Peer, RequestContext, RoleClient, RoleServer, ServiceError, serve_client, serve_server,
};
use rmcp::transport::TokioChildProcess;
use rmcp::transport::io::stdio_pipes;
use tokio::process::Command;

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

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args()
        .nth(1)
        .ok_or("usage: bench_relay PROGRAM")?;
    let upstream = serve_client((), TokioChildProcess::new(Command::new(program))?).await?;
    let relay = Relay(upstream.peer().clone());
    serve_server(relay, stdio_pipes()).await?.waiting().await?;
    Ok(())
}
