//! What is served now: the agents of one reading of the configuration. Another reading is another
//! generation, with sessions of its own; what began in this one ends in it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::session::SessionSpec;
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::access::Caller;
use super::direct::Desk;
use super::hooks::Hooks;
use super::limits::HttpLimits;
use super::metrics::CallCounts;
use super::sessions::{AtHome, SessionTable, Sessions};
use super::turns::ApprovalDesk;
use crate::client::ClientTable;
use crate::handler::Handler;
use crate::rounds::Rounds;
use crate::shared::SharedFronts;
use crate::style::Style;

/// Agents, and what they act in.
#[derive(Clone)]
pub struct Served {
    /// Where their sessions are opened.
    pub market: Arc<CapabilityMarketplace>,
    /// How, by name.
    pub agents: BTreeMap<String, SessionSpec>,
    /// This style, whoever the client is.
    pub style: Option<Style>,
    /// What is said of clients, besides what is known of them.
    pub clients: ClientTable,
    /// Servers behind, and where each stands.
    pub upstreams: Upstreams,
    /// Where questions wait for a person.
    pub desk: Arc<dyn ApprovalDesk>,
    /// What requests from outside can start.
    pub hooks: Arc<dyn Hooks>,
}

/// Says which servers are behind, and where each stands.
pub type Upstreams = Arc<dyn Fn() -> Vec<(String, &'static str)> + Send + Sync>;

/// The protocol as the SDK speaks it over HTTP.
pub(crate) type McpService = StreamableHttpService<Arc<Handler>, Sessions>;

/// What one caller speaks to.
pub(crate) struct Front {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) service: McpService,
    desk: Option<Arc<Desk>>,
}

impl Front {
    /// Where calls without a session are answered past the SDK.
    pub(super) fn desk(&self) -> Option<Arc<Desk>> {
        self.desk.clone()
    }
}

/// One reading of the configuration.
pub(crate) struct Generation {
    number: u64,
    market: Arc<CapabilityMarketplace>,
    agents: BTreeMap<String, Agent>,
    style: Option<Style>,
    clients: Arc<ClientTable>,
    upstreams: Upstreams,
    desk: Arc<dyn ApprovalDesk>,
    hooks: Arc<dyn Hooks>,
    counts: Arc<CallCounts>,
    /// By caller: at most as many as there are tokens.
    fronts: Mutex<BTreeMap<Caller, Arc<Front>>>,
}

/// What the clients of one agent share. Every request without a session has a handler of its own,
/// so these are handed out and not copied.
struct Agent {
    spec: Arc<SessionSpec>,
    shared: Arc<SharedFronts>,
    rounds: Arc<Rounds>,
}

impl Generation {
    pub(crate) fn new(
        number: u64,
        served: Served,
        limits: &HttpLimits,
        counts: Arc<CallCounts>,
    ) -> Self {
        let agent = |(name, spec)| {
            let agent = Agent {
                spec: Arc::new(spec),
                shared: Arc::new(SharedFronts::new(limits.stateless_clients)),
                rounds: Arc::default(),
            };
            (name, agent)
        };
        Generation {
            number,
            market: served.market,
            agents: served.agents.into_iter().map(agent).collect(),
            style: served.style,
            clients: Arc::new(served.clients),
            upstreams: served.upstreams,
            desk: served.desk,
            hooks: served.hooks,
            counts,
            fronts: Mutex::default(),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn market(&self) -> &Arc<CapabilityMarketplace> {
        &self.market
    }

    /// Where questions wait for a person.
    pub(crate) fn desk(&self) -> &Arc<dyn ApprovalDesk> {
        &self.desk
    }

    /// What requests from outside can start.
    pub(crate) fn hooks(&self) -> &Arc<dyn Hooks> {
        &self.hooks
    }

    /// How sessions of an agent are opened; nothing if it is not served.
    pub(crate) fn spec(&self, agent: &str) -> Option<SessionSpec> {
        Some(SessionSpec::clone(&self.agents.get(agent)?.spec))
    }

    pub(crate) fn upstreams(&self) -> Vec<(String, &'static str)> {
        (self.upstreams)()
    }

    /// What this caller speaks to; nothing if its agent is not served.
    pub(crate) fn front(
        self: &Arc<Self>,
        caller: &Caller,
        table: &Arc<SessionTable>,
        limits: &HttpLimits,
        stop: &CancellationToken,
    ) -> Option<Arc<Front>> {
        if !self.agents.contains_key(&caller.agent) {
            return None;
        }
        let mut fronts = self.fronts.lock();
        if let Some(front) = fronts.get(caller) {
            return Some(Arc::clone(front));
        }
        let front = Arc::new(self.open(caller, table, limits, stop));
        fronts.insert(caller.clone(), Arc::clone(&front));
        Some(front)
    }

    fn open(
        self: &Arc<Self>,
        caller: &Caller,
        table: &Arc<SessionTable>,
        limits: &HttpLimits,
        stop: &CancellationToken,
    ) -> Front {
        let sessions = Arc::new(Sessions::new(table, caller.clone(), self.number));
        let config = StreamableHttpServerConfig::default()
            // Both are checked at the door.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(limits.body_bytes)
            .with_cancellation_token(stop.clone());
        let agent = caller.agent.clone();
        // Not kept alive by what it keeps itself.
        let generation = Arc::downgrade(self);
        let home = Arc::downgrade(&sessions);
        let handler = move || {
            let made = generation.upgrade().and_then(|it| it.handler(&agent));
            let made = made.ok_or_else(|| io::Error::other("this agent is not served any more"))?;
            let home = home.clone();
            Ok(Arc::new_cyclic(|me| Handler {
                at_home: Some(AtHome {
                    sessions: home,
                    handler: me.clone(),
                }),
                ..made
            }))
        };
        let shared = self.handler(&caller.agent);
        Front {
            desk: shared.map(|it| Arc::new(Desk::without_session(it))),
            service: StreamableHttpService::new(handler, Arc::clone(&sessions), config),
            sessions,
        }
    }

    /// What answers one client's session, or one request that has none.
    fn handler(&self, agent: &str) -> Option<Handler> {
        let agent = self.agents.get(agent)?;
        let (market, spec) = (Arc::clone(&self.market), Arc::clone(&agent.spec));
        Some(Handler {
            shared: Some(Arc::clone(&agent.shared)),
            rounds: Arc::clone(&agent.rounds),
            counts: Arc::clone(&self.counts),
            clients: Arc::clone(&self.clients),
            ..Handler::new(market, spec, self.style)
        })
    }
}
