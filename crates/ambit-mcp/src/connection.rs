//! One live connection: opened with its tools listed, called, and closed with everything behind
//! it. It never reconnects; whoever holds it decides that.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ambit_core::observation::{Failure, Output};
use parking_lot::RwLock;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ErrorCode, Implementation,
    PaginatedRequestParams, ProtocolVersion, ServerPeerInfo, SubscriptionFilter, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, RoleClient,
    RunningService, ServiceError, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use tokio::process::Command;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::error::McpError;
use crate::map::{self, About, ToolTable, cut};
use crate::process::{Process, StderrTail, inherited, launch};
use crate::spec::{ServerSpec, Transport};

const MAX_PAGES: usize = 256;
const MAX_TOOLS: usize = 4096;
const MAX_LIST_BYTES: usize = 16 * 1024 * 1024;
const MAX_REASON: usize = 500;

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

/// Tells that a server's tools are not what they were.
#[derive(Clone)]
pub(crate) struct ListNews {
    stale: Arc<AtomicBool>,
    changes: watch::Sender<u64>,
}

impl ListNews {
    /// News counted in this channel.
    pub(crate) fn new(changes: watch::Sender<u64>) -> Self {
        ListNews {
            stale: Arc::default(),
            changes,
        }
    }

    fn raise(&self) {
        self.stale.store(true, Ordering::Release);
        self.changes.send_modify(|it| *it += 1);
    }
}

/// What this side is towards a server: it can be told of changes and asked for nothing.
struct Listener(ListNews);

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.raise();
    }

    fn get_info(&self) -> ClientConfig {
        let version = env!("CARGO_PKG_VERSION");
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("ambit", version),
        )
    }
}

impl Connection {
    /// Connects and lists the tools. The caller sets the deadline; dropping the future ends
    /// whatever was begun.
    pub(crate) async fn open(
        spec: &Arc<ServerSpec>,
        stderr: &Arc<StderrTail>,
        news: ListNews,
    ) -> Result<Self, McpError> {
        let lost = CancellationToken::new();
        let end_tasks = lost.clone().drop_guard();
        let listener = Listener(news.clone());
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let (process, opened) = match &spec.transport {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => {
                let mut child = child_command(command, args, env, cwd.as_deref());
                let launched =
                    launch(&mut child, stderr, lost.clone()).map_err(|source| McpError::Spawn {
                        server: spec.name.clone(),
                        command: command.clone(),
                        source,
                    })?;
                // Messages are bounded before they get here.
                let transport = AsyncRwTransport::new_client(launched.stdout, launched.stdin)
                    .with_max_line_length(usize::MAX);
                let opened = serve_client_with_lifecycle_and_ct(
                    listener,
                    transport,
                    lifecycle,
                    lost.clone(),
                )
                .await;
                (Some(launched.process), opened)
            }
            Transport::Http { url, headers } => {
                let transport =
                    StreamableHttpClientTransport::from_config(http_config(spec, url, headers)?);
                let opened = serve_client_with_lifecycle_and_ct(
                    listener,
                    transport,
                    lifecycle,
                    lost.clone(),
                )
                .await;
                (None, opened)
            }
        };
        let service = match opened {
            Ok(service) => service,
            Err(error) => return Err(not_opened(spec, process.as_ref(), &error).await),
        };
        let info = service.peer_info();
        let about = info.as_deref().map(about).unwrap_or_default();
        if let Some(info) = info.filter(|it| needs_subscription(it)) {
            tracing::debug!(server = spec.name, version = %info.protocol_version, "subscribing");
            tokio::spawn(subscribe(service.peer().clone(), news.clone(), lost));
        }
        let connection = Connection {
            spec: Arc::clone(spec),
            service,
            process,
            about,
            table: RwLock::default(),
            news,
            _end_tasks: end_tasks,
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
        if self.news.stale.load(Ordering::Acquire) {
            self.relist().await
        } else {
            Ok(self.table())
        }
    }

    /// Lists the tools again.
    pub(crate) async fn relist(&self) -> Result<Arc<ToolTable>, McpError> {
        // Before the question: a change while the answer is under way is another change.
        self.news.stale.store(false, Ordering::Release);
        let listed = self.list().await;
        if listed.is_err() {
            self.news.stale.store(true, Ordering::Release);
        }
        let table = Arc::new(map::table(&self.spec, &self.about, listed?));
        *self.table.write() = Arc::clone(&table);
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

fn child_command(
    program: &str,
    args: &[String],
    env: &[(String, String)],
    cwd: Option<&Path>,
) -> Command {
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(inherited());
    command.envs(env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    command
}

fn http_config(
    spec: &ServerSpec,
    url: &str,
    headers: &[(String, String)],
) -> Result<StreamableHttpClientTransportConfig, McpError> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url)
        .max_concurrent_requests(spec.concurrency);
    for (name, value) in headers {
        let bad = || McpError::BadHeader {
            server: spec.name.clone(),
            header: name.clone(),
        };
        let name = name.parse().map_err(|_| bad())?;
        let value = value.parse().map_err(|_| bad())?;
        config.custom_headers.insert(name, value);
    }
    Ok(config)
}

fn about(info: &ServerPeerInfo) -> About {
    About {
        version: info
            .server_info
            .as_ref()
            .map(|it| it.version.clone())
            .unwrap_or_default(),
        protocol: info.protocol_version.to_string(),
        instructions: info.instructions.clone().unwrap_or_default(),
    }
}

/// In the stateless era changes are told only to who asked for them.
fn needs_subscription(info: &ServerPeerInfo) -> bool {
    let tells = info
        .capabilities
        .tools
        .as_ref()
        .and_then(|it| it.list_changed);
    !info.protocol_version.has_initialize() && tells == Some(true)
}

async fn subscribe(peer: Peer<RoleClient>, news: ListNews, lost: CancellationToken) {
    let listening = async {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let mut subscription = peer.listen(filter).await?;
        while subscription.next().await?.is_some() {
            news.raise();
        }
        Ok::<_, ServiceError>(())
    };
    tokio::select! {
        () = lost.cancelled() => {}
        ended = listening => if let Err(error) = ended {
            tracing::debug!(%error, "no news of changed tools");
        },
    }
}

async fn not_opened(
    spec: &ServerSpec,
    process: Option<&Process>,
    error: &ClientInitializeError,
) -> McpError {
    let server = spec.name.clone();
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return McpError::Unauthorized { server };
    }
    let end = match process {
        Some(process) => process.end().await,
        None => None,
    };
    McpError::Connect {
        server,
        reason: end.unwrap_or_else(|| cut(&error.to_string(), MAX_REASON)),
    }
}
