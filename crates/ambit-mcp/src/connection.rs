//! One live connection: opened with its tools listed, called, and closed with everything behind
//! it. It never reconnects; whoever holds it decides that.

use std::sync::Arc;

use ambit_core::observation::{Failure, Output};
use parking_lot::RwLock;
use rmcp::model::{CallToolRequestParams, ErrorCode, PaginatedRequestParams, Tool};
use rmcp::service::{RoleClient, RunningService, ServiceError};
use serde_json::Value;
use tokio_util::sync::DropGuard;

use crate::error::McpError;
use crate::handshake::{Lasting, MAX_REASON, join};
use crate::map::{self, About, ToolTable, cut};
use crate::news::{ListNews, Listener};
use crate::process::Process;
use crate::spec::ServerSpec;

const MAX_PAGES: usize = 256;
const MAX_TOOLS: usize = 4096;
const MAX_LIST_BYTES: usize = 16 * 1024 * 1024;

/// A live connection. Dropping it ends the process behind it.
pub(crate) struct Connection {
    spec: Arc<ServerSpec>,
    service: RunningService<RoleClient, Listener>,
    process: Option<Process>,
    about: About,
    table: RwLock<Arc<ToolTable>>,
    news: ListNews,
    _end_tasks: DropGuard,
}

impl Connection {
    /// Connects and lists the tools. The caller sets the deadline; dropping the future ends
    /// whatever was begun.
    pub(crate) async fn open(spec: &Arc<ServerSpec>, lasting: &Lasting) -> Result<Self, McpError> {
        let news = ListNews::new(lasting.changes.clone());
        let joined = join(spec, lasting, &news).await?;
        let connection = Connection {
            spec: Arc::clone(spec),
            service: joined.service,
            process: joined.process,
            about: joined.about,
            table: RwLock::default(),
            news,
            _end_tasks: joined.end_tasks,
        };
        connection.relist().await?;
        Ok(connection)
    }

    /// Whether nothing can be sent any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_transport_closed()
    }

    /// What the server says about itself.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }

    /// The child's number, if there is a child.
    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().and_then(|it| it.id)
    }

    /// The tools as listed last.
    pub(crate) fn table(&self) -> Arc<ToolTable> {
        Arc::clone(&self.table.read())
    }

    /// The tools, listed again if the server said that they changed.
    pub(crate) async fn current_table(&self) -> Result<Arc<ToolTable>, McpError> {
        if self.news.is_stale() {
            self.relist().await
        } else {
            Ok(self.table())
        }
    }

    /// Lists the tools again.
    pub(crate) async fn relist(&self) -> Result<Arc<ToolTable>, McpError> {
        // A change while the answer is under way is one more change.
        let count = self.news.count();
        let listed = self.list().await?;
        let table = Arc::new(map::table(&self.spec, &self.about, listed));
        *self.table.write() = Arc::clone(&table);
        self.news.listed_at(count);
        Ok(table)
    }

    async fn list(&self) -> Result<Vec<Tool>, McpError> {
        let too_long = |limit| McpError::ListTooLong {
            server: self.spec.name.clone(),
            limit,
        };
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let page = match self.service.list_tools(Some(params)).await {
                Ok(page) => page,
                // A server of resources or prompts alone.
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                    return Ok(tools);
                }
                Err(error) => return Err(self.lost(error).await),
            };
            bytes += serde_json::to_string(&page.tools).map_or(0, |it| it.len());
            tools.extend(page.tools);
            if tools.len() > MAX_TOOLS {
                return Err(too_long("4096 tools"));
            }
            if bytes > MAX_LIST_BYTES {
                return Err(too_long("16 MiB of tools"));
            }
            if page.next_cursor.is_none() {
                return Ok(tools);
            }
            if page.next_cursor == cursor {
                return Err(too_long("one page, over and over"));
            }
            cursor = page.next_cursor;
        }
        Err(too_long("256 pages of tools"))
    }

    /// Calls a tool by the server's own name. Dropping the future tells the server that nobody
    /// waits any more; the connection stays. The outer error is the connection's, the inner one
    /// the server's answer.
    pub(crate) async fn call(
        &self,
        raw_name: &str,
        arguments: Value,
    ) -> Result<Result<Output, Failure>, McpError> {
        let mut params = CallToolRequestParams::new(raw_name.to_owned());
        if let Value::Object(arguments) = arguments {
            params = params.with_arguments(arguments);
        }
        match self.service.call_tool_once(params).await {
            Ok(response) => Ok(map::answer(response)),
            Err(ServiceError::McpError(error)) => Ok(Err(map::refusal(&error))),
            Err(ServiceError::UnexpectedResponse) => Ok(Err(Failure::provider(
                "the server answered with something that is not the result of a tool",
            ))),
            Err(error) => Err(self.lost(error).await),
        }
    }

    async fn lost(&self, error: ServiceError) -> McpError {
        let server = self.spec.name.clone();
        match error {
            ServiceError::McpError(error) => McpError::Connect {
                server,
                reason: cut(&error.message, MAX_REASON),
            },
            error => {
                let end = match &self.process {
                    Some(process) => process.end().await,
                    None => Some(cut(&error.to_string(), MAX_REASON)),
                };
                McpError::Gone {
                    server,
                    reason: end,
                }
            }
        }
    }

    /// Lets the server go: its input is closed, and it is killed if it does not leave by itself.
    pub(crate) async fn close(mut self) {
        let _ = self.service.close().await;
        if let Some(process) = self.process.take() {
            process.leave().await;
        }
    }
}
