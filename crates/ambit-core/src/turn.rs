//! What a turn's selection depends on. It is recorded as it was used, so that the turn can be
//! recomputed: texts are there for a reader, redacted; what they led to is there as hits.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::id::CapabilityId;
use crate::manifest::ChannelFeature;
use crate::permission::{Bound, Mode, Rules};
use crate::visible::{Layer, VisibleEntry};
use crate::weights::Weights;

/// A text that was searched for before selecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Asked {
    /// The task.
    Goal,
    /// Something observed.
    Evidence,
    /// Names of touched files.
    Touched,
    /// The kind of project.
    Project,
}

/// What a text led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relevance {
    /// What kind of text.
    pub asked: Asked,
    /// The text, redacted and shortened.
    pub text: String,
    /// Capabilities it points to, with a score each, best first.
    pub hits: Vec<(CapabilityId, u32)>,
}

/// What a model has read of a capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Which.
    pub id: CapabilityId,
    /// How much of it.
    pub layer: Layer,
}

impl From<&VisibleEntry> for Shown {
    fn from(it: &VisibleEntry) -> Self {
        Shown {
            id: it.id.clone(),
            layer: it.layer,
        }
    }
}

/// The input of one selection, besides the catalog and what is granted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnInput {
    /// How freely the agent may act.
    pub mode: Mode,
    /// The rules that hold.
    pub rules: Rules,
    /// What the entry point can do.
    pub channel: BTreeSet<ChannelFeature>,
    /// Most tokens the projection may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// Most entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// What was visible before, in order of first appearance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub previous: Vec<Shown>,
    /// What the task, observations and files point to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relevance: Vec<Relevance>,
    /// Files that were touched, relative to the workspace.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub touched: BTreeSet<String>,
    /// What searches found since the last turn.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub candidates: BTreeSet<CapabilityId>,
    /// What was called in this session.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub called: BTreeSet<CapabilityId>,
    /// Skills that were loaded.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub loaded: BTreeSet<CapabilityId>,
    /// Failures in a row.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<CapabilityId, u32>,
    /// Always shown, if they may be at all.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub pins: BTreeSet<CapabilityId>,
    /// Never shown.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub excludes: BTreeSet<CapabilityId>,
    /// How much each signal counts.
    pub weights: Weights,
    /// Those that asked this agent: what they cannot see, it cannot either.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<Bound>,
}

impl TurnInput {
    /// Whether anything says what is wanted. Without it, relevance hides nothing.
    pub fn has_direction(&self) -> bool {
        !self.relevance.is_empty() || !self.touched.is_empty() || !self.candidates.is_empty()
    }
}
