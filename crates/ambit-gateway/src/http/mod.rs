//! Ambit over HTTP: as an MCP server for many clients and several agents, one endpoint for both
//! eras, and the turn API for harnesses with a model of their own (`turns`).
//!
//! The way of a request: `listen` (a connection, within bounds) → `access` (host, origin, path,
//! token: who is it, and may it) → `endpoint` (is there room) → `served` (which agent, in which
//! reading of the configuration) → the SDK, which speaks the protocol → the crate's handler.

mod access;
mod answer;
mod body;
mod connections;
mod cors;
mod direct;
mod endpoint;
mod hold;
mod hooks;
mod host;
mod limits;
mod listen;
mod metrics;
mod pages;
mod patient;
mod running;
mod served;
mod sessions;
mod tls;
mod token;
mod turns;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

pub use access::{Caller, Door, Lock};
pub use hooks::{HookAnswer, Hooks};
pub use host::{AllowedHost, AllowedOrigin};
pub use limits::HttpLimits;
pub(crate) use metrics::CallCounts;
pub use served::{Served, Upstreams};
pub(crate) use sessions::AtHome;
pub use tls::{Tls, TlsError};
pub use token::{NewToken, TokenDigest};
pub use turns::{ApprovalDesk, DeskError, WaitingApproval, openapi};

use endpoint::Endpoint;
use running::Drained;
use served::Generation;

/// How often sessions are looked through.
const SWEEP: Duration = Duration::from_secs(1);

/// How long clients may take to receive the end of what was sent to them.
const PARTING: Duration = Duration::from_secs(1);

/// The HTTP front, listening and not yet serving.
pub struct HttpFront {
    listener: TcpListener,
    tls: Option<Tls>,
    control: HttpControl,
}

/// Changes what a running front serves, and to whom.
#[derive(Clone)]
pub struct HttpControl(Arc<Endpoint>);

impl HttpFront {
    /// Listens.
    pub fn bind(
        listen: SocketAddr,
        tls: Option<Tls>,
        limits: HttpLimits,
        door: Door,
        served: Served,
    ) -> io::Result<Self> {
        let listener = listen::bind(listen)?;
        let counts = Arc::default();
        let generation = Generation::new(1, served, &limits, Arc::clone(&counts));
        Ok(HttpFront {
            listener,
            tls,
            control: HttpControl(Arc::new(Endpoint::new(limits, door, generation, counts))),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What changes it while it serves.
    pub fn control(&self) -> HttpControl {
        self.control.clone()
    }

    /// Serves until told to stop; then lets what runs come to its end, for as long as the limits
    /// say.
    pub async fn serve(self, stop: CancellationToken) {
        let endpoint = self.control.0;
        let accepting = tokio::spawn(listen::accept(
            self.listener,
            self.tls.map(|it| it.0),
            Arc::clone(&endpoint),
        ));
        let mut sweep = interval(SWEEP);
        loop {
            tokio::select! {
                _ = sweep.tick() => {
                    let generation = endpoint.generation.load().number();
                    let door = endpoint.door.load_full();
                    let may_go_on = |caller: &Caller, of: u64| of == generation && door.knows(caller);
                    endpoint.sessions.sweep(may_go_on).await;
                    endpoint.turn_sessions.sweep();
                }
                () = stop.cancelled() => break,
            }
        }
        tracing::info!(
            running = endpoint.running.count(),
            sessions = endpoint.sessions.count(),
            connections = endpoint.connections.count(),
            "stopping"
        );
        endpoint.draining.cancel();
        let _ = accepting.await;
        if let Drained::Except(left) = endpoint.running.end(endpoint.limits.drain).await {
            tracing::warn!(left, "what still ran is called off");
        }
        endpoint.stop.cancel();
        endpoint.sessions.end_all().await;
        // What was answered last is still on its way.
        if let Drained::Except(left) = endpoint.connections.end(PARTING).await {
            tracing::debug!(left, "connections are cut");
        }
    }
}

impl HttpControl {
    /// Serves other agents, or the same otherwise. Sessions of before end; what runs in them comes
    /// to its end first.
    pub fn offer(&self, served: Served) {
        let number = self.0.generation.load().number() + 1;
        let counts = Arc::clone(&self.0.calls_ended);
        let generation = Generation::new(number, served, &self.0.limits, counts);
        self.0.generation.store(Arc::new(generation));
    }

    /// Lets others in. Sessions of whoever may not come in any more end.
    pub fn guard(&self, door: Door) {
        self.0.door.store(Arc::new(door));
    }
}
