//! One conversation of one agent: what it was granted, what it sees now, what it has heard.

mod judge;
mod open;
mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::granted::Granted;
use ambit_core::id::{CapabilityId, Kind};
use ambit_core::manifest::ChannelFeature;
use ambit_core::permission::{Asker, Mode, PermissionTerms, Rules, StandingApproval, Taint};
use ambit_core::quarantine::Quarantine;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use serde_json::Value;

use crate::discovery::{Bounds, DiscoverySettings, Exposure};
use crate::executor::CapabilityExecutor;
use crate::filling::SecretFiller;
use crate::heard::Heard;
use crate::holdings::{Claim, Holdings};
use crate::injection::resolve_injections;
use crate::journal::{Durability, NewEvent, Receipt, SessionId};
use crate::marketplace::CapabilityMarketplace;
use crate::provider::Provider;
use crate::registry::{Skipped, UnknownCapabilities};
use crate::resolver::Callbacks;
use crate::within::Within;
pub(crate) use judge::quotes;
pub(crate) use turn::Turn;

/// For whom and how a session is opened.
#[derive(Clone, Debug)]
pub struct SessionSpec {
    /// The agent's name.
    pub agent: String,
    /// Its `capabilities`, object or list.
    pub capabilities: Value,
    /// What to do with a key nobody registered.
    pub unknown: UnknownCapabilities,
    /// How freely it may act.
    pub mode: Mode,
    /// The rules that hold.
    pub rules: Rules,
    /// What the entry point can do.
    pub channel: BTreeSet<ChannelFeature>,
    /// How its turns are selected.
    pub discovery: DiscoverySettings,
    /// How much is put in front of it.
    pub exposure: Exposure,
    /// Who asks a person about changes.
    pub asker: Asker,
    /// Where the agent keeps what is its own.
    pub agent_dir: PathBuf,
    /// The folder it works in.
    pub workspace: PathBuf,
    /// Files and folders no capability may write.
    pub control_paths: Vec<PathBuf>,
    /// What the embedding program can do for a capability.
    pub callbacks: Callbacks,
    /// What bounds it because another session asked for it.
    pub within: Option<Within>,
}

/// What a session shares with the tools the runtime injects into it.
pub struct SessionScope {
    pub(crate) market: Arc<CapabilityMarketplace>,
    pub(crate) id: SessionId,
    pub(crate) agent: String,
    bounds: ArcSwap<Bounds>,
    asker: Asker,
    /// All that whoever asked for this session may have.
    outer: Option<Arc<Granted>>,
    pub(crate) heard: Mutex<Heard>,
    state: Mutex<State>,
}

/// An open session.
pub struct Session {
    pub(crate) scope: Arc<SessionScope>,
    claim: Claim,
    holdings: ArcSwap<Holdings>,
    injections: Mutex<BTreeMap<CapabilityId, Arc<dyn CapabilityExecutor>>>,
    /// One look at a time.
    renewing: tokio::sync::Mutex<u64>,
}

#[derive(Default)]
struct State {
    turn: Turn,
    revision: u64,
    /// What was held back when that was last recorded.
    quarantined: BTreeMap<CapabilityId, Quarantine>,
    standing: Vec<StandingApproval>,
    /// Of these, what a person said in this very session.
    approved: Vec<StandingApproval>,
    taint: Taint,
    /// What the last call was judged by.
    terms: Option<PermissionTerms>,
}

impl SessionScope {
    /// Records one thing that happened in this session.
    pub(crate) fn record(&self, body: EventBody) -> Receipt {
        self.market.journal().append(
            &self.id,
            vec![NewEvent { body, cause: None }],
            Vec::new(),
            Durability::Behind,
        )
    }

    /// What holds for its turns.
    pub(crate) fn bounds(&self) -> Arc<Bounds> {
        self.bounds.load_full()
    }

    /// The same, in the mode of the turn that holds now.
    pub(crate) fn bounds_now(&self) -> Arc<Bounds> {
        let (bounds, mode) = (self.bounds(), self.turn().mode);
        match mode < bounds.mode {
            true => Arc::new(Bounds {
                mode,
                ..Bounds::clone(&bounds)
            }),
            false => bounds,
        }
    }

    /// Where a resource is, or its template.
    pub(crate) fn address(&self, id: &CapabilityId) -> Option<String> {
        let manifest = self.manifest(id)?;
        manifest.address().map(str::to_owned)
    }

    /// The turn that holds now.
    pub(crate) fn turn(&self) -> Turn {
        self.state.lock().turn.clone()
    }
}

impl Session {
    /// Its agent's name.
    pub fn agent(&self) -> &str {
        &self.scope.agent
    }

    /// Its name in the journal.
    pub fn id(&self) -> &SessionId {
        &self.scope.id
    }

    /// How many turns it has had.
    pub fn turns(&self) -> u32 {
        self.scope.state.lock().turn.number
    }

    /// What it was given and does not have, and why.
    pub fn skipped(&self) -> Vec<Skipped> {
        self.holdings.load().skipped.clone()
    }

    /// What holds for all its turns.
    pub fn bounds(&self) -> Arc<Bounds> {
        self.scope.bounds()
    }

    /// Looks again at what the agent was granted, if the catalog has changed: a server may offer
    /// more now, or be there at last. The next turn selects from it.
    pub async fn renew(&self) {
        let mut renewed = self.renewing.lock().await;
        let catalog = self.scope.market.catalog();
        if *renewed == catalog.revision() {
            return;
        }
        let before = self.holdings.load_full();
        match self.claim.settle(&self.scope.market, &before).await {
            Ok(holdings) => self.hold(holdings, &catalog),
            // What is listed and gone is not in the catalog either; the rest stays.
            Err(problems) => tracing::debug!(?problems, "grants stay as they were"),
        }
        *renewed = catalog.revision();
    }

    fn hold(&self, mut holdings: Holdings, catalog: &CatalogSnapshot) {
        if let Some(outer) = &self.scope.outer {
            holdings.executors.retain(|id, _| outer.contains(id));
        }
        let bounds = self.scope.bounds();
        let in_background = bounds.channel.contains(&ChannelFeature::RunInBackground);
        let notify = &self.claim.context.callbacks.notify;
        let notify = notify.as_ref().filter(|_| in_background);
        let wanted = crate::injection::wanted(holdings.executors.keys(), bounds.exposure, notify);
        let granted = holdings
            .executors
            .keys()
            .chain(wanted.iter().map(|it| &it.id))
            // The catalog's own copy: comparing the two is quick then.
            .map(|id| catalog.get(id).map_or(id, |it| &it.id).clone())
            .collect();
        *self.injections.lock() = resolve_injections(&self.scope, wanted, notify);
        self.holdings.store(Arc::new(holdings));
        self.scope.bounds.store(Arc::new(Bounds {
            granted: Arc::new(granted),
            ..Bounds::clone(&self.scope.bounds())
        }));
    }

    /// What the provider of a visible capability can do beside running calls.
    pub fn provider(&self, id: &CapabilityId) -> Option<Arc<dyn Provider>> {
        self.visible().find(id.as_str())?;
        self.executor(id)?.provider()
    }

    /// The visible resource at an address, or the template it fits.
    pub fn resource_at(&self, uri: &str) -> Option<CapabilityId> {
        let visible = self.visible();
        crate::resources::at(&visible, uri, None, |id| self.scope.address(id)).cloned()
    }

    /// Every provider behind something visible, once each, by name. Not that of skills: what it
    /// has beside the visible ones is nobody's business here.
    pub fn providers(&self) -> Vec<Arc<dyn Provider>> {
        let mut by_name = BTreeMap::new();
        for entry in self.visible().entries() {
            if entry.id.kind() == Kind::Skill || by_name.contains_key(entry.id.owner()) {
                continue;
            }
            if let Some(provider) = self.executor(&entry.id).and_then(|it| it.provider()) {
                by_name.insert(entry.id.owner().to_owned(), provider);
            }
        }
        by_name.into_values().collect()
    }

    pub(crate) fn turn(&self) -> Turn {
        self.scope.turn()
    }

    pub(crate) fn executor(&self, id: &CapabilityId) -> Option<Arc<dyn CapabilityExecutor>> {
        let injected = || self.injections.lock().get(id).cloned();
        self.holdings
            .load()
            .executors
            .get(id)
            .cloned()
            .or_else(injected)
    }

    /// Who knows what placeholders of secrets stand for.
    pub(crate) fn fillers(&self) -> Vec<Arc<dyn SecretFiller>> {
        self.holdings.load().fillers()
    }

    /// Records one thing that happened in this session, with the objects it refers to by digest.
    pub fn record(&self, body: EventBody, objects: Vec<(Digest, String)>) -> Receipt {
        let events = vec![NewEvent { body, cause: None }];
        let journal = self.scope.market.journal();
        journal.append(&self.scope.id, events, objects, Durability::Written)
    }

    /// Where it happens.
    pub fn market(&self) -> &Arc<CapabilityMarketplace> {
        &self.scope.market
    }
}
