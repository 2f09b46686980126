//! A session's turns: what is selected in each, what that changed, and what the model is given.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::diff::VisibleDiff;
use ambit_core::digest::Digest;
use ambit_core::event::EventBody;
use ambit_core::id::CapabilityId;
use ambit_core::loaded::LoadedCapability;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::permission::Mode;
use ambit_core::policy::{POLICY_VERSION, select};
use ambit_core::projection::{Projection, ToolFormat, project};
use ambit_core::quarantine::Quarantine;
use ambit_core::turn::{Shown, TurnInput};
use ambit_core::visible::VisibleSet;
use ambit_core::wire::is_injection;

use crate::catalog::CatalogStep;
use crate::discovery::{Bounds, Exposure, TurnRequest};
use crate::journal::{Durability, NewEvent};
use crate::turn::BegunTurn;

use super::{Session, State};

/// One selection and what it was made from, taken together: a call belongs to one turn even
/// when the next begins meanwhile.
#[derive(Clone, Default)]
pub(crate) struct Turn {
    pub(crate) number: u32,
    pub(crate) visible: Arc<VisibleSet>,
    pub(crate) mode: Mode,
    pub(super) catalog: Arc<CatalogSnapshot>,
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

impl Session {
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

    pub(super) fn select(
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
}
