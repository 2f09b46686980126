//! The supervisor of one server, shared by every session of the process: it connects when first
//! needed, once for all who wait, keeps too many calls away, notices when the server is gone or
//! silent, and lets it go when nobody needs it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use ambit_core::digest::Digest;
use ambit_core::id::CapabilityId;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::observation::{Failure, Output};
use ambit_runtime::conversation::Conversation;
use ambit_runtime::provider::Provider;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::connection::Connection;
use crate::error::McpError;
use crate::handshake::Lasting;
use crate::link::{Lease, Link, Outcome};
use crate::map::Table;
use crate::oauth::TokenStore;
use crate::side::Side;
use crate::skills::{self, KnownSkills};
use crate::spec::ServerSpec;
use crate::status::ServerStatus;

/// How many calls may wait for each that may run.
const QUEUE_PER_CALL: usize = 8;

/// One server, connected when needed.
pub struct McpServer {
    spec: Arc<ServerSpec>,
    lasting: Arc<Lasting>,
    permits: Semaphore,
    waiting: AtomicUsize,
    link: Mutex<Link>,
    /// Connecting and idling; they end with the server.
    tasks: Mutex<JoinSet<()>>,
    pub(crate) skills: KnownSkills,
}

impl McpServer {
    /// A server nobody has needed yet. Nothing is started.
    pub fn new(spec: ServerSpec) -> Arc<Self> {
        Self::made(spec, Lasting::default())
    }

    /// The same, with the logins kept there.
    pub fn with_tokens(spec: ServerSpec, tokens: Arc<dyn TokenStore>) -> Arc<Self> {
        let lasting = Lasting::with_tokens(&spec, tokens);
        Self::made(spec, lasting)
    }

    /// Another connection to the same server, with the same login.
    pub(crate) fn another(&self) -> Arc<Self> {
        Self::made(self.spec().clone(), self.lasting.another())
    }

    fn made(spec: ServerSpec, lasting: Lasting) -> Arc<Self> {
        let concurrency = spec.concurrency.clamp(1, Semaphore::MAX_PERMITS);
        Arc::new(McpServer {
            spec: Arc::new(ServerSpec {
                concurrency,
                ..spec
            }),
            lasting: Arc::new(lasting),
            permits: Semaphore::new(concurrency),
            waiting: AtomicUsize::new(0),
            link: Mutex::default(),
            tasks: Mutex::default(),
            skills: KnownSkills::default(),
        })
    }

    /// How it is configured.
    pub fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    pub(crate) fn lasting(&self) -> &Lasting {
        &self.lasting
    }

    /// Moves each time the server says that what it offers changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.lasting.changes.subscribe()
    }

    /// How it is doing.
    pub fn status(&self) -> ServerStatus {
        self.link.lock().status(self.lasting.stderr.text())
    }

    /// Why a call now would be turned away, if it would.
    pub fn unavailable(&self) -> Option<String> {
        self.link
            .lock()
            .refusal(&self.spec.name)
            .map(|it| it.to_string())
    }

    /// What it can do beside running calls.
    pub fn provider(self: &Arc<Self>) -> Arc<dyn Provider> {
        Arc::new(Side(Arc::clone(self)))
    }

    /// Calls a tool, whatever it is defined as now, with nobody to be asked.
    pub async fn call(
        self: &Arc<Self>,
        id: &CapabilityId,
        arguments: Value,
    ) -> Result<Output, Failure> {
        let nobody = Conversation::with_nobody();
        self.run(id, None, arguments, &nobody).await
    }

    /// Runs one call if what is called is still defined as it was judged. Dropping the future
    /// tells the server so and keeps the connection.
    pub async fn run(
        self: &Arc<Self>,
        id: &CapabilityId,
        definition: Option<Digest>,
        arguments: Value,
        conversation: &Conversation,
    ) -> Result<Output, Failure> {
        let _permit = self.permit().await.map_err(|it| it.failure())?;
        let connection = self.connection().await.map_err(|it| it.failure())?;
        let mut awaited = Awaited {
            server: self,
            connection: &connection,
            answered: false,
        };
        let reply = async {
            // What seldom happens is in boxes: every call has room for all of this.
            let mut table = match connection.news().is_stale() {
                true => Box::pin(connection.relist()).await?,
                false => connection.table(),
            };
            let changed = |table: &Table| {
                let now = table.find(id).and_then(|(_, content)| content);
                definition.is_some() && definition != now
            };
            if changed(&table) {
                // It may have changed since without saying so, to what was judged.
                table = Box::pin(connection.relist()).await?;
            }
            let Some((raw, _)) = table.find(id) else {
                let gone = format!("server `{}` does not offer `{id}` any more", self.spec.name);
                return Ok(Err(Failure::provider(gone)));
            };
            if changed(&table) {
                // Whoever follows its changes takes this one in.
                self.lasting.changes.send_modify(|it| *it += 1);
                let changed = format!(
                    "server `{}` has changed the definition of `{id}` since it was seen; nothing ran. \
                     `ambit ls --refresh` takes the new one in, and `ambit trust ls` shows what changed",
                    self.spec.name
                );
                return Ok(Err(Failure::refused(changed)));
            }
            let read = skills::address(raw, &arguments).map(str::to_owned);
            let answer = connection.run(raw, arguments, conversation).await?;
            Ok(match (answer, read) {
                (Ok(output), Some(uri)) => {
                    let side = Side(Arc::clone(self));
                    Box::pin(side.fitting(&uri, output)).await
                }
                (answer, _) => answer,
            })
        }
        .await;
        awaited.answered = true;
        let mut link = self.link.lock();
        match reply {
            Ok(answer) => {
                link.answered(Instant::now());
                answer
            }
            Err(error) => {
                link.lost(&connection, &error, Instant::now());
                Err(error.failure())
            }
        }
    }

    /// Everything the server offers, connecting if need be.
    pub async fn list(self: &Arc<Self>) -> Result<Vec<CapabilityManifest>, Arc<McpError>> {
        Ok(self.listed().await?.manifests.clone())
    }

    /// The same, with what else the server says of it.
    pub(crate) async fn listed(self: &Arc<Self>) -> Result<Arc<Table>, Arc<McpError>> {
        let lease = self.lease()?;
        let fresh = matches!(lease, Lease::Opening(_));
        let connection = self.leased(lease).await?;
        // Opening it listed it.
        if fresh {
            return Ok(connection.table());
        }
        let limit = self.spec.timeouts.connect;
        let listed = timeout(limit, connection.relist())
            .await
            .unwrap_or_else(|_| Err(too_slow(&self.spec)));
        match listed {
            Ok(table) => Ok(table),
            Err(error) => {
                self.link.lock().lost(&connection, &error, Instant::now());
                Err(Arc::new(error))
            }
        }
    }

    /// Lets it go. The next call connects again.
    pub async fn stop(&self) {
        let connection = self.link.lock().take();
        if let Some(connection) = connection.and_then(Arc::into_inner) {
            connection.close().await;
        }
    }

    async fn permit(&self) -> Result<SemaphorePermit<'_>, McpError> {
        if let Ok(permit) = self.permits.try_acquire() {
            return Ok(permit);
        }
        let place = Place::take(&self.waiting);
        if place.before >= self.spec.concurrency.saturating_mul(QUEUE_PER_CALL) {
            return Err(McpError::Busy {
                server: self.spec.name.clone(),
                waiting: place.before,
            });
        }
        // It is never closed.
        self.permits.acquire().await.map_err(|_| McpError::Gone {
            server: self.spec.name.clone(),
            reason: None,
        })
    }

    /// The connection, if there is one.
    pub(crate) fn connected(&self) -> Option<Arc<Connection>> {
        self.link.lock().live()
    }

    pub(crate) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, Arc<McpError>> {
        let lease = self.lease()?;
        self.leased(lease).await
    }

    /// The live connection, or the one that is being opened, opening one if there is none.
    fn lease(self: &Arc<Self>) -> Result<Lease, Arc<McpError>> {
        let mut link = self.link.lock();
        link.lease(&self.spec.name, Instant::now(), |pause| {
            let (told, outcome) = watch::channel(None);
            let mut tasks = self.tasks.lock();
            while tasks.try_join_next().is_some() {}
            let opening = Opening {
                spec: Arc::clone(&self.spec),
                lasting: Arc::clone(&self.lasting),
            };
            tasks.spawn(connect(Arc::downgrade(self), opening, pause, told));
            outcome
        })
    }

    async fn leased(&self, lease: Lease) -> Result<Arc<Connection>, Arc<McpError>> {
        match lease {
            Lease::Live(connection) => Ok(connection),
            Lease::Opening(mut outcome) => {
                let told = outcome.wait_for(Option::is_some).await;
                told.ok().and_then(|it| it.clone()).unwrap_or_else(|| {
                    Err(Arc::new(McpError::Gone {
                        server: self.spec.name.clone(),
                        reason: Some("connecting was called off".to_owned()),
                    }))
                })
            }
        }
    }

    /// Whether somebody would miss it: a call is under way, or news of a resource is wanted.
    fn busy(&self) -> bool {
        let calls = self.permits.available_permits() < self.spec.concurrency;
        calls || !self.lasting.watched.is_empty()
    }
}

fn too_slow(spec: &ServerSpec) -> McpError {
    McpError::ConnectTimeout {
        server: spec.name.clone(),
        after: spec.timeouts.connect,
    }
}

/// What opening a connection needs of its server, which may be dropped meanwhile.
struct Opening {
    spec: Arc<ServerSpec>,
    lasting: Arc<Lasting>,
}

impl Opening {
    async fn open(self) -> Outcome {
        let opening = Connection::open(&self.spec, &self.lasting);
        timeout(self.spec.timeouts.connect, opening)
            .await
            .unwrap_or_else(|_| Err(too_slow(&self.spec)))
            .map(Arc::new)
            .map_err(Arc::new)
    }
}

/// Connects for all who wait, in a task of its own: a caller with little time must not make the
/// others start over. Afterwards it stays to let the server go when it idles.
async fn connect(
    server: Weak<McpServer>,
    opening: Opening,
    pause: Duration,
    told: watch::Sender<Option<Outcome>>,
) {
    sleep(pause).await;
    let begun = Instant::now();
    let idle = opening.spec.timeouts.idle;
    let outcome = opening.open().await;
    if let Some(this) = server.upgrade() {
        this.link.lock().opened(&outcome, begun, Instant::now());
    }
    let connection = outcome.as_ref().ok().map(Arc::downgrade);
    told.send_replace(Some(outcome));
    drop(told);
    if let (Some(connection), Some(idle)) = (connection, idle) {
        let_go_when_idle(server, connection, idle).await;
    }
}

async fn let_go_when_idle(server: Weak<McpServer>, connection: Weak<Connection>, idle: Duration) {
    loop {
        let Some(this) = server.upgrade() else {
            return;
        };
        let now = Instant::now();
        let unused_since = match this.link.lock().used(&connection) {
            None => return,
            Some(_) if this.busy() => now,
            Some(used) => used,
        };
        let due = unused_since + idle;
        if due <= now {
            tracing::debug!(server = this.spec.name, "idle, letting it go");
            this.stop().await;
            return;
        }
        drop(this);
        sleep_until(due).await;
    }
}

/// A place in the queue.
struct Place<'a> {
    waiting: &'a AtomicUsize,
    before: usize,
}

impl<'a> Place<'a> {
    fn take(waiting: &'a AtomicUsize) -> Self {
        let before = waiting.fetch_add(1, Ordering::Relaxed);
        Place { waiting, before }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A call that was sent. If it is dropped before the answer, its time was up or it was called
/// off; a server that never answers at all is noticed by that.
struct Awaited<'a> {
    server: &'a McpServer,
    connection: &'a Arc<Connection>,
    answered: bool,
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        if !self.answered {
            let mut link = self.server.link.lock();
            link.unanswered(&self.server.spec.name, self.connection, Instant::now());
        }
    }
}
