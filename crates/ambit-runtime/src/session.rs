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
use ambit_core::granted::Granted;
use ambit_core::id::{CapabilityId, Kind};
use ambit_core::loaded::LoadedCapability;
use ambit_core::manifest::{CapabilityManifest, ChannelFeature};
use ambit_core::observation::Observation;
use ambit_core::permission::{
    Asker, Bound, Mode, PermissionInput, PermissionTerms, Rules, StandingApproval, Taint,
};
use ambit_core::policy::{POLICY_VERSION, select};
use ambit_core::projection::{Projection, ToolFormat, project};
use ambit_core::quarantine::Quarantine;
use ambit_core::turn::{Shown, TurnInput};
use ambit_core::visible::VisibleSet;
use ambit_core::wire::is_injection;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use serde_json::Value;

use crate::catalog::CatalogStep;
use crate::discovery::{Bounds, DiscoverySettings, Exposure, TurnRequest};
use crate::executor::CapabilityExecutor;
use crate::filling::SecretFiller;
use crate::gates::Gates;
use crate::heard::Heard;
use crate::holdings::{Claim, Holdings};
use crate::injection::resolve_injections;
use crate::journal::{Durability, NewEvent, Receipt, SessionId};
use crate::marketplace::CapabilityMarketplace;
use crate::past::SessionPast;
use crate::provider::Provider;
use crate::registry::{Skipped, UnknownCapabilities};
use crate::resolver::{Callbacks, ResolverContext};
use crate::turn::BegunTurn;
use crate::within::{self, Within};

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

/// One selection and what it was made from, taken together: a call belongs to one turn even
/// when the next begins meanwhile.
#[derive(Clone, Default)]
pub(crate) struct Turn {
    pub(crate) number: u32,
    pub(crate) visible: Arc<VisibleSet>,
    pub(crate) mode: Mode,
    catalog: Arc<CatalogSnapshot>,
}

/// How a session comes to be.
pub(crate) enum Opening {
    /// For the first time, somewhere.
    Anew(Option<String>),
    /// With a past.
    Again(Box<SessionPast>),
}

impl From<SessionPast> for Opening {
    fn from(past: SessionPast) -> Self {
        Opening::Again(Box::new(past))
    }
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
        self.make_session(spec, Opening::Anew(None)).await
    }

    /// The same for somebody who will come back for it through this front.
    pub async fn open_session_at(
        self: &Arc<Self>,
        front: &str,
        spec: SessionSpec,
    ) -> Result<Session, Vec<GrantProblem>> {
        let opening = Opening::Anew(Some(front.to_owned()));
        self.make_session(spec, opening).await
    }

    pub(crate) async fn make_session(
        self: &Arc<Self>,
        spec: SessionSpec,
        opening: Opening,
    ) -> Result<Session, Vec<GrantProblem>> {
        let id = match &opening {
            Opening::Anew(_) => SessionId::generate(),
            Opening::Again(past) => past.id.clone(),
        };
        let chain = spec.within.iter().flat_map(|it| &it.bounds);
        let asked_by = chain.map(|it| it.agent.clone()).collect();
        let claim = Claim {
            capabilities: spec.capabilities,
            unknown: spec.unknown,
            context: ResolverContext {
                agent: spec.agent.clone(),
                asked_by,
                agent_dir: spec.agent_dir,
                workspace: spec.workspace.clone(),
                thread: Some(id.to_string()),
                control_paths: spec.control_paths,
                callbacks: spec.callbacks,
            },
        };
        let catalog = self.catalog();
        let holdings = claim.settle(self, &Holdings::default()).await?;
        let mut state = State {
            standing: self.parts.approver.standing(&spec.agent),
            revision: catalog.revision(),
            ..State::default()
        };
        let mut heard = Heard::default();
        if let Opening::Again(past) = &opening {
            state.turn.number = past.turn;
            state.taint = past.taint;
            heard = past.heard.clone();
        }
        let within = spec.within.unwrap_or_default();
        state.taint = state.taint.and(within.taint);
        let channel = match &within.granted {
            Some(_) => spec
                .channel
                .intersection(&within.channel)
                .copied()
                .collect(),
            None => spec.channel,
        };
        let scope = Arc::new(SessionScope {
            market: Arc::clone(self),
            id,
            agent: spec.agent,
            bounds: ArcSwap::from_pointee(Bounds {
                granted: Arc::default(),
                mode: spec.mode,
                rules: spec.rules,
                channel,
                settings: spec.discovery,
                exposure: spec.exposure,
                within: within.bounds,
                gates: Gates::default(),
            }),
            asker: spec.asker,
            outer: within.granted,
            heard: Mutex::new(heard),
            state: Mutex::new(state),
        });
        let session = Session {
            scope: Arc::clone(&scope),
            claim,
            holdings: ArcSwap::default(),
            injections: Mutex::default(),
            renewing: tokio::sync::Mutex::new(catalog.revision()),
        };
        session.hold(holdings, &catalog);
        let mode = scope.bounds().mode;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        match opening {
            Opening::Anew(front) => drop(scope.record(EventBody::SessionStarted {
                agent: scope.agent.clone(),
                mode,
                workspace: spec.workspace.display().to_string(),
                version,
                front,
            })),
            Opening::Again(past) => {
                let turn = past.turn;
                drop(scope.record(EventBody::SessionResumed {
                    mode,
                    turn,
                    version,
                }));
                session.begin_again(*past);
            }
        }
        Ok(session)
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

    /// What the model sees now.
    pub fn visible(&self) -> Arc<VisibleSet> {
        Arc::clone(&self.scope.state.lock().turn.visible)
    }

    /// Whether the next turn would select from more, or something else, than this one did: a
    /// search found candidates, or the catalog has changed.
    pub fn is_behind(&self) -> bool {
        let scope = &self.scope;
        let found = scope.bounds().exposure == Exposure::Selected
            && !scope.heard.lock().candidates.is_empty();
        found || scope.state.lock().revision != scope.market.catalog().revision()
    }

    /// Begins the next turn: selects what is visible, and records what that depended on and what
    /// it changed.
    pub fn begin_turn(&self, request: &TurnRequest) -> Arc<VisibleSet> {
        self.begin(request).visible
    }

    pub(crate) fn begin(&self, request: &TurnRequest) -> BegunTurn {
        let scope = &self.scope;
        // Held to the end: no call may see the turn before its record is on the way.
        let mut state = self.scope.state.lock();
        let catalog = scope.market.catalog();
        let bounds = scope.bounds();
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
            .turn_input(&bounds, &catalog, request, &heard, previous);
        self.select(&mut state, &catalog, &bounds, input)
    }

    /// Begins the last turn of a past again, in the bounds of now.
    fn begin_again(&self, past: SessionPast) {
        let Some(input) = past.input else {
            return;
        };
        let mut state = self.scope.state.lock();
        let bounds = self.scope.bounds();
        let previous = past.shown.iter().map(Shown::from).collect();
        let input = bounds.again(*input, previous);
        self.select(&mut state, &self.scope.market.catalog(), &bounds, input);
    }

    fn select(
        &self,
        state: &mut State,
        catalog: &Arc<CatalogSnapshot>,
        bounds: &Bounds,
        input: TurnInput,
    ) -> BegunTurn {
        let scope = &self.scope;
        let granted = &bounds.granted;
        let visible = Arc::new(select(catalog, granted, &input));
        let turn = state.turn.number + 1;
        let mode = input.mode;
        let next = Turn {
            number: turn,
            visible: Arc::clone(&visible),
            mode,
            catalog: Arc::clone(catalog),
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
        events.extend(self.newly_quarantined(state, catalog));
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
            diff: diff.clone(),
        });
        let objects = scope.market.turn_objects(catalog, granted);
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
        BegunTurn {
            number: turn,
            mode,
            visible,
            diff,
        }
    }

    /// What is granted and held back, and was not, or not for that, when it was last recorded.
    fn newly_quarantined(&self, state: &mut State, catalog: &CatalogSnapshot) -> Vec<EventBody> {
        let granted = &self.scope.bounds().granted;
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
        self.project(&self.visible(), format)
    }

    pub(crate) fn project(&self, visible: &VisibleSet, format: ToolFormat) -> Projection {
        let exposure = self.scope.bounds().exposure;
        let manifests: BTreeMap<CapabilityId, Arc<CapabilityManifest>> = visible
            .entries()
            .iter()
            .filter(|it| exposure != Exposure::Dispatched || is_injection(&it.id))
            .filter_map(|it| Some((it.id.clone(), self.scope.manifest(&it.id)?)))
            .collect();
        project(visible, format, |id| manifests.get(id).map(Arc::as_ref))
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

    /// What calls are judged by now, made anew only if that has changed.
    pub(crate) fn permission(&self, mode: Mode) -> PermissionTerms {
        let bounds = self.scope.bounds();
        let mut state = self.scope.state.lock();
        let within = within::with_answers(&bounds.within, &state.approved);
        let terms = state.terms.take().filter(|it| {
            let input = it.input();
            input.mode == mode
                && input.taint == state.taint
                && input.standing == state.standing
                && input.rules == bounds.rules
                && input.within == within
        });
        let terms = terms.unwrap_or_else(|| {
            PermissionTerms::from(PermissionInput {
                agent: self.scope.agent.clone(),
                mode,
                rules: bounds.rules.clone(),
                standing: state.standing.clone(),
                taint: state.taint,
                asker: self.scope.asker,
                within,
            })
        });
        state.terms.insert(terms).clone()
    }

    /// What bounds the sessions this one asks for: all it may do itself.
    pub fn within(&self) -> Within {
        let bounds = self.scope.bounds_now();
        let state = self.scope.state.lock();
        let own = Bound {
            agent: self.scope.agent.clone(),
            mode: bounds.mode,
            rules: bounds.rules.clone(),
            standing: state.standing.clone(),
        };
        let above = within::with_answers(&bounds.within, &state.approved);
        Within {
            granted: Some(Arc::clone(&bounds.granted)),
            bounds: above.into_iter().chain([own]).collect(),
            channel: bounds.channel.clone(),
            taint: state.taint,
        }
    }

    /// Those that asked for it, the first who asked first.
    pub(crate) fn asked_by(&self) -> Vec<String> {
        let bounds = self.scope.bounds();
        bounds.within.iter().map(|it| it.agent.clone()).collect()
    }

    /// Takes in what a session that this one asked for has seen: its answer may tell of it.
    pub fn absorb(&self, other: &Session) {
        let seen = other.scope.state.lock().taint;
        let mut state = self.scope.state.lock();
        state.taint = state.taint.and(seen);
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

    pub(crate) fn stand(&self, approval: StandingApproval) {
        let mut state = self.scope.state.lock();
        if !state.standing.contains(&approval) {
            state.approved.push(approval.clone());
            state.standing.push(approval);
        }
    }

    /// Takes in how a call of a capability ended.
    pub(crate) fn observed(&self, capability: &CapabilityDescriptor, observation: &Observation) {
        if quotes(observation.code()) {
            let mut state = self.scope.state.lock();
            state.taint = state.taint.after(capability);
            if let Observation::Completed(it) = observation {
                state.taint.saw_untrusted |= it.untrusted;
            }
        }
        self.scope.heard.lock().observe(&capability.id, observation);
    }
}

/// Whether the caller of a call that ended like this is given words of the provider: its errors
/// carry them as its results do, and nothing else does.
pub(crate) fn quotes(code: Option<Code>) -> bool {
    matches!(
        code,
        None | Some(
            Code::ProviderFailed
                | Code::ProviderUnreachable
                | Code::LoginRequired
                | Code::Refused
                | Code::OutputInvalid
        )
    )
}
