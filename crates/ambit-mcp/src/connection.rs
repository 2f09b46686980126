//! One live connection: opened with all it offers listed, called, and closed with everything
//! behind it. It never reconnects; whoever holds it decides that.

#![expect(
    deprecated,
    reason = "log levels are of the session era, which is spoken here"
)]

use std::sync::Arc;

use parking_lot::RwLock;
use rmcp::model::SetLevelRequestParams;
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::direct::Direct;
use crate::error::McpError;
use crate::flights::Flights;
use crate::handshake::{Lasting, MAX_REASON, join};
use crate::listener::{ListNews, Listener};
use crate::listing::{ListError, Listed, list};
use crate::map::{self, About, Table, cut};
use crate::oauth::{Keeper, challenge_in, login_needed};
use crate::process::Process;
use crate::spec::ServerSpec;
use crate::watching::Watching;

/// A live connection. Dropping it ends the process behind it.
pub(crate) struct Connection {
    spec: Arc<ServerSpec>,
    service: RunningService<RoleClient, Listener>,
    process: Option<Process>,
    about: About,
    table: RwLock<Arc<Table>>,
    news: ListNews,
    flights: Flights,
    direct: Option<Direct>,
    keeper: Option<Arc<Keeper>>,
    watching: Watching,
    end: CancellationToken,
    _end_tasks: DropGuard,
}

impl Connection {
    /// Connects and lists everything. The caller sets the deadline; dropping the future ends
    /// whatever was begun.
    pub(crate) async fn open(spec: &Arc<ServerSpec>, lasting: &Lasting) -> Result<Self, McpError> {
        let news = ListNews::new(lasting.changes.clone(), lasting.news.clone());
        let joined = join(spec, lasting, &news).await?;
        let connection = Connection {
            spec: Arc::clone(spec),
            service: joined.service,
            process: joined.process,
            about: joined.about,
            table: RwLock::default(),
            news,
            flights: joined.flights,
            direct: joined.direct,
            keeper: lasting.keeper.clone(),
            watching: Watching::default(),
            end: joined.end,
            _end_tasks: joined.end_tasks,
        };
        connection.relist().await?;
        let level = lasting.log_level.lock().clone();
        if let Some(level) = level {
            connection.ask_for_logs(&level).await;
        }
        for uri in lasting.watched.all() {
            if let Err(error) = connection.watch(&uri).await {
                tracing::debug!(%error, uri, server = spec.name, "it does not tell of a resource");
            }
        }
        Ok(connection)
    }

    /// Says which log lines are wanted, to a server that has any. In the stateless era every
    /// request says so for itself.
    pub(crate) async fn ask_for_logs(&self, level: &str) {
        let info = self.service.peer_info();
        let logs = info.is_some_and(|it| it.capabilities.logging.is_some());
        let level = serde_json::from_value(Value::String(level.to_owned()));
        if let (true, false, Ok(level)) = (logs, self.about.stateless, level) {
            let asked = self.service.set_level(SetLevelRequestParams::new(level));
            if let Err(error) = asked.await {
                tracing::debug!(%error, server = self.spec.name, "it logs as it likes");
            }
        }
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

    /// The other side.
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// The calls under way.
    pub(crate) fn flights(&self) -> &Flights {
        &self.flights
    }

    /// The way past the SDK, if there is one.
    pub(crate) fn direct(&self) -> Option<&Direct> {
        self.direct.as_ref()
    }

    /// What it hears.
    pub(crate) fn news(&self) -> &ListNews {
        &self.news
    }

    /// What it is told of.
    pub(crate) fn watching(&self) -> &Watching {
        &self.watching
    }

    /// Ends with the connection.
    pub(crate) fn end(&self) -> &CancellationToken {
        &self.end
    }

    /// What is offered, as listed last.
    pub(crate) fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table.read())
    }

    /// Lists everything again.
    pub(crate) async fn relist(&self) -> Result<Arc<Table>, McpError> {
        // A change while the answer is under way is one more change.
        let count = self.news.count();
        let listed = self.list().await?;
        let table = Arc::new(map::table(&self.spec, &self.about, listed));
        *self.table.write() = Arc::clone(&table);
        self.news.listed_at(count);
        Ok(table)
    }

    async fn list(&self) -> Result<Listed, McpError> {
        let can = self.service.peer_info().map(|it| it.capabilities.clone());
        match list(self.service.peer(), &can.unwrap_or_default()).await {
            Ok(listed) => Ok(listed),
            Err(ListError::TooLong(limit)) => Err(McpError::ListTooLong {
                server: self.spec.name.clone(),
                limit,
            }),
            Err(ListError::Service(error)) => Err(self.lost(error).await),
        }
    }

    pub(crate) async fn lost(&self, error: ServiceError) -> McpError {
        let server = self.spec.name.clone();
        match error {
            ServiceError::McpError(error) => McpError::Connect {
                server,
                reason: cut(&error.message, MAX_REASON),
            },
            ServiceError::TransportSend(error) if challenge_in(&error).is_some() => {
                let challenge = challenge_in(&error).unwrap_or_default();
                login_needed(&self.spec, self.keeper.as_deref(), challenge)
            }
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
