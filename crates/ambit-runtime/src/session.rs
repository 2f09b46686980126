//! One conversation of one agent: what it was granted, what it sees now, what it has heard.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::code::Code;
use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::diff::VisibleDiff;
use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::grant::GrantProblem;
use ambit_core::id::CapabilityId;
use ambit_core::loaded::LoadedCapability;
use ambit_core::manifest::{CapabilityManifest, ChannelFeature};
use ambit_core::observation::Observation;
use ambit_core::permission::{Asker, Mode, PermissionInput, Rules, StandingApproval, Taint};
use ambit_core::policy::{POLICY_VERSION, select};
use ambit_core::projection::{Projection, ToolFormat, project};
use ambit_core::quarantine::Quarantine;
use ambit_core::turn::Shown;
use ambit_core::visible::VisibleSet;
use ambit_core::wire::is_injection;
use parking_lot::Mutex;
use serde_json::Value;

use crate::catalog::CatalogStep;
use crate::discovery::{Bounds, DiscoverySettings, Exposure, TurnRequest};
use crate::executor::CapabilityExecutor;
use crate::gates::Gates;
use crate::heard::Heard;
use crate::injection::resolve_injections;
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
}

/// What a session shares with the tools the runtime injects into it.
pub struct SessionScope {
    pub(crate) market: Arc<CapabilityMarketplace>,
    pub(crate) id: SessionId,
    pub(crate) agent: String,
    pub(crate) bounds: Bounds,
    asker: Asker,
    pub(crate) heard: Mutex<Heard>,
    state: Mutex<State>,
}

/// An open session.
pub struct Session {
    pub(crate) scope: Arc<SessionScope>,
    executors: BTreeMap<CapabilityId, Arc<dyn CapabilityExecutor>>,
    skipped: Vec<Skipped>,
}

#[derive(Default)]
struct State {
    turn: Turn,
    revision: u64,
    /// What was held back when that was last recorded.
    quarantined: BTreeMap<CapabilityId, Quarantine>,
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
        let injections = crate::injection::wanted(executors.keys(), spec.exposure);
        let state = State {
            standing: self.parts.approver.standing(&spec.agent),
            revision: catalog.revision(),
            ..State::default()
        };
        let scope = Arc::new(SessionScope {
            market: Arc::clone(self),
            id: SessionId::generate(),
            agent: spec.agent,
            bounds: Bounds {
                granted: Arc::new(
                    executors
                        .keys()
                        .chain(injections.iter().map(|it| &it.id))
                        // The catalog's own copy: comparing the two is quick then.
                        .map(|id| catalog.get(id).map_or(id, |it| &it.id).clone())
                        .collect(),
                ),
                mode: spec.mode,
                rules: spec.rules,
                channel: spec.channel,
                settings: spec.discovery,
                exposure: spec.exposure,
                gates: Gates::default(),
            },
            asker: spec.asker,
            heard: Mutex::default(),
            state: Mutex::new(state),
        });
        executors.extend(resolve_injections(&scope, injections));
        scope.record(EventBody::SessionStarted {
            agent: scope.agent.clone(),
            mode: scope.bounds.mode,
            workspace: spec.workspace.display().to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        });
        Ok(Session {
            scope,
            executors,
            skipped,
        })
    }
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

    /// The turn that holds now.
    pub(crate) fn turn(&self) -> Turn {
        self.state.lock().turn.clone()
    }
}

impl Session {
    /// Its name in the journal.
    pub fn id(&self) -> &SessionId {
        &self.scope.id
    }

    /// What it was given and does not have, and why.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// What holds for all its turns.
    pub fn bounds(&self) -> &Bounds {
        &self.scope.bounds
    }

    /// What the model sees now.
    pub fn visible(&self) -> Arc<VisibleSet> {
        Arc::clone(&self.scope.state.lock().turn.visible)
    }

    /// Whether the next turn would select from more, or something else, than this one did: a
    /// search found candidates, or the catalog has changed.
    pub fn is_behind(&self) -> bool {
        let scope = &self.scope;
        let found = scope.bounds.exposure == Exposure::Selected
            && !scope.heard.lock().candidates.is_empty();
        found || scope.state.lock().revision != scope.market.catalog().revision()
    }

    /// Begins the next turn: selects what is visible, and records what that depended on and what
    /// it changed.
    pub fn begin_turn(&self, request: &TurnRequest) -> Arc<VisibleSet> {
        let scope = &self.scope;
        // Held to the end: no call may see the turn before its record is on the way.
        let mut state = self.scope.state.lock();
        let catalog = scope.market.catalog();
        let granted = &scope.bounds.granted;
        let previous = state
            .turn
            .visible
            .entries()
            .iter()
            .map(Shown::from)
            .collect();
        let heard = {
            let mut heard = scope.heard.lock();
            let now = heard.clone();
            // Candidates have their turn now; what becomes visible stays by itself.
            heard.candidates.clear();
            now
        };
        let input = scope
            .market
            .turn_input(&scope.bounds, &catalog, request, &heard, previous);
        let visible = Arc::new(select(&catalog, granted, &input));
        let turn = state.turn.number + 1;
        let next = Turn {
            number: turn,
            visible: Arc::clone(&visible),
            catalog: Arc::clone(&catalog),
        };
        let before = std::mem::replace(&mut state.turn, next).visible;
        let since = std::mem::replace(&mut state.revision, catalog.revision());

        let steps = scope.market.steps(since, catalog.revision()).into_iter();
        let mut events: Vec<EventBody> = steps
            .map(
                |CatalogStep {
                     revision,
                     catalog,
                     change,
                 }| EventBody::CatalogChanged {
                    revision,
                    catalog,
                    change,
                },
            )
            .collect();
        events.extend(self.newly_quarantined(&mut state, &catalog));
        events.push(EventBody::TurnStarted {
            turn,
            catalog: catalog.digest(),
            granted: granted.digest(),
            policy: POLICY_VERSION,
            input: Box::new(input),
        });
        let diff = VisibleDiff::between(&before, &visible);
        events.push(EventBody::CapabilityDiff {
            turn,
            visible: visible.digest(),
            diff,
        });
        let objects = scope.market.turn_objects(&catalog, granted);
        let events = events
            .into_iter()
            .map(|body| NewEvent { body, cause: None })
            .collect();
        let stores: Vec<Digest> = objects.iter().map(|(digest, _)| *digest).collect();
        let receipt = scope
            .market
            .journal()
            .append(&scope.id, events, objects, Durability::Behind);
        stores
            .into_iter()
            .for_each(|digest| scope.market.handed_over(digest, &receipt));
        visible
    }

    /// What is granted and held back, and was not, or not for that, when it was last recorded.
    fn newly_quarantined(&self, state: &mut State, catalog: &CatalogSnapshot) -> Vec<EventBody> {
        let granted = &self.scope.bounds.granted;
        let held: BTreeMap<CapabilityId, Quarantine> = catalog
            .quarantined()
            .filter(|(id, _)| granted.contains(id))
            .map(|(id, it)| (id.clone(), it.clone()))
            .collect();
        let before = std::mem::replace(&mut state.quarantined, held);
        let new = state
            .quarantined
            .iter()
            .filter(|(id, it)| before.get(id) != Some(it));
        let redactor = self.scope.market.redactor();
        new.map(|(id, it)| EventBody::CapabilityQuarantined {
            id: id.clone(),
            reason: it.reason,
            diff: redactor.written(&it.diff).into(),
        })
        .collect()
    }

    /// What the model is given this turn. In a dispatched session that is the dispatching tools;
    /// what they can reach is found by searching.
    pub fn projection(&self, format: ToolFormat) -> Projection {
        let visible = self.visible();
        let manifests: BTreeMap<CapabilityId, Arc<CapabilityManifest>> = visible
            .entries()
            .iter()
            .filter(|it| self.scope.bounds.exposure != Exposure::Dispatched || is_injection(&it.id))
            .filter_map(|it| Some((it.id.clone(), self.scope.manifest(&it.id)?)))
            .collect();
        project(&visible, format, |id| manifests.get(id).map(Arc::as_ref))
    }

    pub(crate) fn turn(&self) -> Turn {
        self.scope.turn()
    }

    pub(crate) fn executor(&self, id: &CapabilityId) -> Option<Arc<dyn CapabilityExecutor>> {
        self.executors.get(id).cloned()
    }

    pub(crate) fn permission(&self) -> PermissionInput {
        let state = self.scope.state.lock();
        PermissionInput {
            agent: self.scope.agent.clone(),
            mode: self.scope.bounds.mode,
            rules: self.scope.bounds.rules.clone(),
            standing: state.standing.clone(),
            taint: state.taint,
            asker: self.scope.asker,
        }
    }

    pub(crate) fn stand(&self, approval: StandingApproval) {
        let mut state = self.scope.state.lock();
        if !state.standing.contains(&approval) {
            state.standing.push(approval);
        }
    }

    /// Takes in how a call of a capability ended.
    pub(crate) fn observed(&self, capability: &CapabilityDescriptor, observation: &Observation) {
        if quotes(observation) {
            let mut state = self.scope.state.lock();
            state.taint = state.taint.after(capability);
        }
        self.scope.heard.lock().observe(&capability.id, observation);
    }
}

/// Whether the caller is given words of the provider: its errors carry them as its results do.
fn quotes(observation: &Observation) -> bool {
    match observation {
        Observation::Completed(_) => true,
        Observation::Denied(_) => false,
        Observation::Failed(failure) => matches!(
            failure.code,
            Code::ProviderFailed | Code::ProviderUnreachable | Code::Refused | Code::OutputInvalid
        ),
    }
}
