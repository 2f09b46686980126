//! How a connection begins: a child or an address, then whichever handshake the server speaks.
//! The stateless one is tried first, on the same connection as the other. A server that cannot
//! bear even the question (some end themselves when anything precedes `initialize`) is asked
//! again with the old one alone, and that is remembered.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ambit_runtime::provider::ProviderNews;
use parking_lot::Mutex;
use reqwest::Url;
use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, Service as _,
    serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::process::Command;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::calls::Calls;
use crate::direct::{Direct, Introduction};
use crate::egress::Dialer;
use crate::error::McpError;
use crate::flights::{Flights, Watched};
use crate::listener::{ListNews, Listener, list_changes, listen};
use crate::map::{About, cut};
use crate::oauth::{Authorized, Keeper, TokenStore, challenge_in, login_needed};
use crate::pace::Paced;
use crate::process::{Process, StderrTail, inherited, launch};
use crate::spec::{ServerSpec, Transport};
use crate::stdio::Stdio;
use crate::watchers::Watchers;

/// Longest reason passed on from the other side.
pub(crate) const MAX_REASON: usize = 500;
/// How much news may wait for a slow listener, who then hears that it missed some.
const NEWS: usize = 256;

/// What outlives one connection of a server.
pub(crate) struct Lasting {
    pub(crate) stderr: Arc<StderrTail>,
    /// Counts how often the server said that its tools changed.
    pub(crate) changes: watch::Sender<u64>,
    /// What it says unasked.
    pub(crate) news: broadcast::Sender<ProviderNews>,
    /// Which resources news is wanted of.
    pub(crate) watched: Watchers,
    /// Which log lines are wanted.
    pub(crate) log_level: Mutex<Option<String>>,
    /// The server cannot bear the question for the stateless era.
    initialize_only: AtomicBool,
    /// Its login, where it may have one.
    pub(crate) keeper: Option<Arc<Keeper>>,
}

impl Lasting {
    /// Of a server whose logins are kept there. One with an `Authorization` header of its own has
    /// no other.
    pub(crate) fn with_tokens(spec: &ServerSpec, tokens: Arc<dyn TokenStore>) -> Self {
        let keeper = match &spec.transport {
            Transport::Http { url, headers } => {
                let is_own =
                    |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
                let url = Url::parse(url).ok().filter(|_| !headers.iter().any(is_own));
                url.map(|it| Keeper::new(it, tokens))
            }
            Transport::Stdio { .. } => None,
        };
        Lasting {
            keeper,
            ..Lasting::default()
        }
    }

    /// Of another connection to the same server, with the same login.
    pub(crate) fn another(&self) -> Self {
        Lasting {
            keeper: self.keeper.clone(),
            ..Lasting::default()
        }
    }
}

impl Default for Lasting {
    fn default() -> Self {
        Lasting {
            stderr: Arc::default(),
            changes: watch::Sender::default(),
            news: broadcast::Sender::new(NEWS),
            watched: Watchers::default(),
            log_level: Mutex::default(),
            initialize_only: AtomicBool::default(),
            keeper: None,
        }
    }
}

/// A connection on which both sides have introduced themselves.
pub(crate) struct Joined {
    pub(crate) service: RunningService<RoleClient, Listener>,
    pub(crate) process: Option<Process>,
    pub(crate) about: About,
    pub(crate) flights: Flights,
    pub(crate) direct: Option<Direct>,
    pub(crate) end: CancellationToken,
    pub(crate) end_tasks: DropGuard,
}

/// Connects, in whichever era the server lives.
pub(crate) async fn join(
    spec: &ServerSpec,
    lasting: &Lasting,
    news: &ListNews,
) -> Result<Joined, McpError> {
    if !lasting.initialize_only.load(Ordering::Relaxed) {
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        match attempt(spec, lasting, news, lifecycle).await? {
            Ok(joined) => return Ok(joined),
            Err(refused) if refused.is_final => return Err(refused.error),
            Err(_) => {}
        }
    }
    let joined = attempt(spec, lasting, news, ClientLifecycleMode::Initialize).await?;
    let joined = joined.map_err(|it| it.error)?;
    lasting.initialize_only.store(true, Ordering::Relaxed);
    Ok(joined)
}

/// A handshake that failed.
struct Refused {
    error: McpError,
    /// Whether another handshake would fail, too.
    is_final: bool,
}

/// The outer error is one no other handshake can mend.
async fn attempt(
    spec: &ServerSpec,
    lasting: &Lasting,
    news: &ListNews,
    lifecycle: ClientLifecycleMode,
) -> Result<Result<Joined, Refused>, McpError> {
    let lost = CancellationToken::new();
    let end_tasks = lost.clone().drop_guard();
    let flights = Flights::default();
    let listener = Listener::new(news.clone(), flights.clone());
    let (process, calls, opened) = match &spec.transport {
        Transport::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let mut child = child_command(command, args, env, cwd.as_deref());
            let launched = launch(&mut child, &lasting.stderr, lost.clone());
            let launched = launched.map_err(|source| McpError::Spawn {
                server: spec.name.clone(),
                command: command.clone(),
                source,
            })?;
            let calls = Calls::new(launched.stdin.clone());
            let transport = Stdio::new(launched.stdout, launched.stdin, Arc::clone(&calls));
            let transport = Watched {
                inner: Paced::new(transport),
                flights: flights.clone(),
            };
            let opened =
                serve_client_with_lifecycle_and_ct(listener, transport, lifecycle, lost.clone());
            (Some(launched.process), Some(calls), opened.await)
        }
        Transport::Http { url, headers } => {
            let config = http_config(spec, url, headers)?;
            let client = http_client(spec, lasting, url).await?;
            let transport = StreamableHttpClientTransport::with_client(client, config);
            let transport = Watched {
                inner: Paced::new(transport),
                flights: flights.clone(),
            };
            let opened =
                serve_client_with_lifecycle_and_ct(listener, transport, lifecycle, lost.clone());
            (None, None, opened.await)
        }
    };
    let service = match opened {
        Ok(service) => service,
        Err(error) => return Ok(Err(refused(spec, lasting, process.as_ref(), &error).await)),
    };
    let info = service.peer_info();
    if let Some(filter) = info.as_deref().and_then(list_changes) {
        let peer = service.peer().clone();
        tokio::spawn(listen(peer, filter, news.clone(), lost.clone()));
    }
    let about = info.as_deref().map(about).unwrap_or_default();
    let introduction = about.stateless.then(|| Introduction {
        protocol: about.protocol.clone(),
        client: service.service().get_info().client_info,
    });
    Ok(Ok(Joined {
        flights,
        direct: calls.map(|calls| Direct {
            calls,
            introduction,
        }),
        end: lost,
        about,
        service,
        process,
        end_tasks,
    }))
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

async fn http_client(
    spec: &ServerSpec,
    lasting: &Lasting,
    url: &str,
) -> Result<Authorized, McpError> {
    let url = Url::parse(url).ok().filter(Url::has_host);
    let url = url.ok_or_else(|| McpError::BadUrl {
        server: spec.name.clone(),
    })?;
    if let Some(keeper) = &lasting.keeper {
        keeper.look().await;
    }
    let client = Dialer::of(&url).to_server();
    let client = client.map_err(|error| McpError::Connect {
        server: spec.name.clone(),
        reason: cut(&error.to_string(), MAX_REASON),
    })?;
    Ok(Authorized::new(client, lasting.keeper.clone()))
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
        resources: info.capabilities.resources.is_some(),
        stateless: !info.protocol_version.has_initialize(),
    }
}

async fn refused(
    spec: &ServerSpec,
    lasting: &Lasting,
    process: Option<&Process>,
    error: &ClientInitializeError,
) -> Refused {
    let server = spec.name.clone();
    let challenge = error.auth_challenge().or_else(|| challenge_in(error));
    if let Some(challenge) = challenge {
        return Refused {
            error: login_needed(spec, lasting.keeper.as_deref(), challenge),
            is_final: true,
        };
    }
    let end = match process {
        Some(process) => process.end().await,
        None => None,
    };
    Refused {
        error: McpError::Connect {
            server,
            reason: end.unwrap_or_else(|| cut(&error.to_string(), MAX_REASON)),
        },
        is_final: matches!(error, ClientInitializeError::LegacyFallbackFailed { .. }),
    }
}
