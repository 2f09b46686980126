//! One conversation of one agent: what it was granted, what it sees now, what it has seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::event::{EventBody, RemovedEntry};
use ambit_core::grant::GrantProblem;
use ambit_core::id::CapabilityId;
use ambit_core::loaded::LoadedCapability;
use ambit_core::manifest::ChannelFeature;
use ambit_core::permission::{Mode, PermissionInput, Rules, StandingApproval, Taint};
use ambit_core::policy::{POLICY_VERSION, select};
use ambit_core::turn::TurnInput;
use ambit_core::visible::VisibleSet;
use parking_lot::Mutex;
use serde_json::Value;

use crate::executor::CapabilityExecutor;
use crate::injection::{InjectionContext, resolve_injections};
use crate::journal::{Durability, NewEvent, Receipt, SessionId};
use crate::marketplace::{CapabilityMarketplace, key_of};
use crate::registry::{Resolved, Skipped, UnknownCapabilities};
use crate::resolver::{Callbacks, ResolverContext};

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
    /// Where the agent keeps what is its own.
    pub agent_dir: PathBuf,
    /// The folder it works in.
    pub workspace: PathBuf,
    /// Files and folders no capability may write.
    pub control_paths: Vec<PathBuf>,
    /// What the embedding program can do for a capability.
    pub callbacks: Callbacks,
}

/// An open session.
pub struct Session {
    pub(crate) market: Arc<CapabilityMarketplace>,
    pub(crate) id: SessionId,
    pub(crate) agent: String,
    mode: Mode,
    rules: Rules,
    channel: BTreeSet<ChannelFeature>,
    granted: BTreeSet<CapabilityId>,
    executors: BTreeMap<CapabilityId, Arc<dyn CapabilityExecutor>>,
    skipped: Vec<Skipped>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    turn: Turn,
    revision: u64,
    standing: Vec<StandingApproval>,
    taint: Taint,
}

/// One selection and what it was made from, taken together: a call belongs to one turn even
/// when the next begins meanwhile.
#[derive(Clone, Default)]
pub(crate) struct Turn {
    pub(crate) number: u32,
    pub(crate) visible: Arc<VisibleSet>,
    catalog: Arc<CatalogSnapshot>,
}

impl Turn {
    /// Whether a capability is still what this turn's selection judged. A source may redefine its
    /// tools at any time; a definition nobody has judged does not run.
    pub(crate) fn judged(&self, capability: &LoadedCapability) -> bool {
        let now = capability.descriptor();
        self.catalog
            .get(&now.id)
            .is_some_and(|then| then.digest == now.digest)
    }
}

impl CapabilityMarketplace {
    /// Opens a session: checks and resolves the agent's capabilities, and records that it began.
    pub async fn open_session(
        self: &Arc<Self>,
        spec: SessionSpec,
    ) -> Result<Session, Vec<GrantProblem>> {
        let checked = self.registry().check(&spec.capabilities, spec.unknown)?;
        let context = ResolverContext {
            agent: spec.agent.clone(),
            agent_dir: spec.agent_dir,
            workspace: spec.workspace.clone(),
            thread: None,
            control_paths: spec.control_paths,
            callbacks: spec.callbacks,
        };
        let Resolved { granted, skipped } = self.registry().resolve(checked, &context).await;
        let mut executors: BTreeMap<CapabilityId, Arc<dyn CapabilityExecutor>> = BTreeMap::new();
        let catalog = self.catalog();
        for grant in granted {
            // An id that another key's definition holds is judged by that definition; running it
            // here would be running what nobody judged.
            let own = |id: &CapabilityId| {
                catalog
                    .get(id)
                    .is_none_or(|it| key_of(&it.source) == grant.key)
            };
            executors.extend(
                grant
                    .ids
                    .into_iter()
                    .filter(own)
                    .map(|id| (id, Arc::clone(&grant.executor))),
            );
        }
        let injected = InjectionContext {
            agent: spec.agent.clone(),
            results: self.parts.results.clone(),
            result_bytes: self.parts.limits.result_bytes,
        };
        for injection in resolve_injections(&injected) {
            executors.insert(injection.manifest.id, injection.executor);
        }
        let session = Session {
            market: Arc::clone(self),
            id: SessionId::generate(),
            mode: spec.mode,
            rules: spec.rules,
            channel: spec.channel,
            granted: executors.keys().cloned().collect(),
            executors,
            skipped,
            state: Mutex::new(State {
                standing: self.parts.approver.standing(&spec.agent),
                revision: self.catalog().revision(),
                ..State::default()
            }),
            agent: spec.agent,
        };
        session.record(vec![EventBody::SessionStarted {
            agent: session.agent.clone(),
            mode: session.mode,
            workspace: spec.workspace.display().to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }]);
        Ok(session)
    }
}

impl Session {
    /// Its name in the journal.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// What it was given and does not have, and why.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// What the model sees now.
    pub fn visible(&self) -> Arc<VisibleSet> {
        Arc::clone(&self.state.lock().turn.visible)
    }

    /// Begins the next turn: selects what is visible, and records what that depended on and what
    /// it changed.
    pub fn begin_turn(&self) -> Arc<VisibleSet> {
        // Held to the end: no call may see the turn before its record is on the way.
        let mut state = self.state.lock();
        let catalog = self.market.catalog();
        let input = TurnInput {
            granted: self.granted.clone(),
            mode: self.mode,
            rules: self.rules.clone(),
            channel: self.channel.clone(),
        };
        let visible = Arc::new(select(&catalog, &input));
        let turn = state.turn.number + 1;
        let next = Turn {
            number: turn,
            visible: Arc::clone(&visible),
            catalog: Arc::clone(&catalog),
        };
        let before = std::mem::replace(&mut state.turn, next).visible;
        let since = std::mem::replace(&mut state.revision, catalog.revision());

        let mut events: Vec<EventBody> = self
            .market
            .changes_since(since)
            .into_iter()
            .filter(|(revision, _, _)| *revision <= catalog.revision())
            .map(|(revision, catalog, change)| EventBody::CatalogChanged {
                revision,
                catalog,
                change,
            })
            .collect();
        events.push(EventBody::TurnStarted {
            turn,
            catalog: catalog.digest(),
            policy: POLICY_VERSION,
            input,
        });
        events.push(diff(turn, &before, &visible));
        let object = self.market.catalog_object(&catalog);
        let stores = object.as_ref().map(|(digest, _)| *digest);
        let events = events
            .into_iter()
            .map(|body| NewEvent { body, cause: None })
            .collect();
        let objects = object.into_iter().collect();
        let receipt = self
            .market
            .journal()
            .append(&self.id, events, objects, Durability::Behind);
        if let Some(digest) = stores {
            self.market.handed_over(digest, &receipt);
        }
        visible
    }

    pub(crate) fn turn(&self) -> Turn {
        self.state.lock().turn.clone()
    }

    pub(crate) fn executor(&self, id: &CapabilityId) -> Option<Arc<dyn CapabilityExecutor>> {
        self.executors.get(id).cloned()
    }

    pub(crate) fn permission(&self) -> PermissionInput {
        let state = self.state.lock();
        PermissionInput {
            mode: self.mode,
            rules: self.rules.clone(),
            standing: state.standing.clone(),
            taint: state.taint,
        }
    }

    pub(crate) fn stand(&self, approval: StandingApproval) {
        let mut state = self.state.lock();
        if !state.standing.contains(&approval) {
            state.standing.push(approval);
        }
    }

    pub(crate) fn observed(&self, capability: &ambit_core::descriptor::CapabilityDescriptor) {
        let mut state = self.state.lock();
        state.taint = state.taint.after(capability);
    }

    pub(crate) fn record(&self, bodies: Vec<EventBody>) -> Receipt {
        let events = bodies
            .into_iter()
            .map(|body| NewEvent { body, cause: None })
            .collect();
        self.market
            .journal()
            .append(&self.id, events, Vec::new(), Durability::Behind)
    }
}

fn diff(turn: u32, before: &VisibleSet, after: &VisibleSet) -> EventBody {
    let was: BTreeSet<_> = before.entries().iter().map(|it| &it.id).collect();
    let is: BTreeSet<_> = after.entries().iter().map(|it| &it.id).collect();
    EventBody::CapabilityDiff {
        turn,
        visible: after.digest(),
        added: after
            .entries()
            .iter()
            .filter(|it| !was.contains(&it.id))
            .cloned()
            .collect(),
        removed: was
            .difference(&is)
            .map(|id| RemovedEntry {
                id: (*id).clone(),
                why: after.hidden().get(id).cloned(),
            })
            .collect(),
    }
}
