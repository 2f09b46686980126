//! The server at the end of the line in `bench mcp` and `bench http`: two tools that say what they
//! are told, one that only reads and one that may write. On standard input and output, or with
//! `--http` at an address.

#[path = "support/serve_http.rs"]
mod serve_http;

use std::error::Error;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, serve_server};
use rmcp::transport::io::stdio_pipes;
use serde_json::{Value, json};

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = [("echo", true), ("keep", false)].map(|(name, reads)| {
            let mut tool = Tool::new(name, "Says what it is told.", schema());
            tool.annotations = Some(ToolAnnotations::new().read_only(reads).open_world(false));
            tool
        });
        Ok(ListToolsResult::with_all_items(tools.into()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(Value::as_str);
        let said = ContentBlock::text(text.unwrap_or_default());
        Ok(CallToolResult::success(vec![said]).into())
    }
}

fn schema() -> Arc<JsonObject> {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("--http") {
        return serve_http::serve_http(Echo).await;
    }
    serve_server(Echo, stdio_pipes()).await?.waiting().await?;
    Ok(())
}
