//! A turn as a harness takes it: tools in its model's format, what else there is to plan with, why
//! each is there, and what that costs.

use std::sync::Arc;

use ambit_core::diff::VisibleDiff;
use ambit_core::id::CapabilityId;
use ambit_core::permission::Mode;
use ambit_core::projection::{Projection, ToolFormat};
use ambit_core::visible::{Layer, VisibleReason, VisibleSet};
use serde::Serialize;
use serde_json::Value;

use crate::discovery::TurnRequest;
use crate::session::Session;

/// What a turn brought.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnReport {
    /// Counts turns of this session.
    pub turn: u32,
    /// The mode that holds in it.
    pub mode: Mode,
    /// Definitions, in the format that was asked for.
    pub tools: Vec<Value>,
    /// Skills that can be loaded, a line each.
    pub skills: Vec<String>,
    /// Resources that can be read, a line each.
    pub resources: Vec<String>,
    /// Tools that are callable but not defined here: lines and cards.
    pub deferred: Vec<String>,
    /// Everything that may be called, in the order a model sees it.
    pub visible: Vec<VisibleCapability>,
    /// What changed since the turn before.
    pub diff: VisibleDiff,
    /// What it costs.
    pub tokens: TurnTokens,
}

/// Something that may be called in a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VisibleCapability {
    /// Which.
    pub id: CapabilityId,
    /// What the model calls it.
    pub name: String,
    /// How much of it is shown.
    pub layer: Layer,
    /// What that costs.
    pub tokens: u32,
    /// Why it is there.
    pub reasons: Vec<VisibleReason>,
}

/// What a turn costs, and what it would cost without a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TurnTokens {
    /// Of what is shown.
    pub exposed: u32,
    /// Of all that is granted, defined in full.
    pub catalog: u32,
}

/// One selection, with what it changed.
pub(crate) struct BegunTurn {
    pub(crate) number: u32,
    pub(crate) mode: Mode,
    pub(crate) visible: Arc<VisibleSet>,
    pub(crate) diff: VisibleDiff,
}

impl Session {
    /// Begins the next turn, and says all a harness needs for it. What its agent was granted is
    /// looked at again first, if the catalog has changed.
    pub async fn next_turn(&self, request: &TurnRequest, format: ToolFormat) -> TurnReport {
        self.renew().await;
        let BegunTurn {
            number,
            mode,
            visible,
            diff,
        } = self.begin(request);
        let Projection {
            tools,
            skills,
            resources,
            deferred,
        } = self.project(&visible, format);
        TurnReport {
            turn: number,
            mode,
            tools,
            skills,
            resources,
            deferred,
            visible: entries(&visible),
            diff,
            tokens: TurnTokens {
                exposed: visible.tokens(),
                catalog: self.whole(),
            },
        }
    }

    fn whole(&self) -> u32 {
        let catalog = self.scope.market.catalog();
        let bounds = self.bounds();
        let granted = bounds.granted.iter().filter_map(|id| catalog.get(id));
        granted
            .map(|it| it.tokens.full)
            .fold(0, u32::saturating_add)
    }
}

fn entries(visible: &VisibleSet) -> Vec<VisibleCapability> {
    let entry = |it: &ambit_core::visible::VisibleEntry| VisibleCapability {
        id: it.id.clone(),
        name: visible.name_of(&it.id),
        layer: it.layer,
        tokens: it.tokens,
        reasons: it.reasons.clone(),
    };
    visible.entries().iter().map(entry).collect()
}
