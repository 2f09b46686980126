//! What a turn's selection depends on. It is recorded as it was used, so that the turn can be
//! recomputed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::id::CapabilityId;
use crate::manifest::ChannelFeature;
use crate::permission::{Mode, Rules};

/// The input of one selection, besides the catalog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnInput {
    /// What the registry resolved for this agent: the outer bound.
    pub granted: BTreeSet<CapabilityId>,
    /// How freely the agent may act.
    pub mode: Mode,
    /// The rules that hold.
    #[serde(default)]
    pub rules: Rules,
    /// What the entry point can do.
    #[serde(default)]
    pub channel: BTreeSet<ChannelFeature>,
}
