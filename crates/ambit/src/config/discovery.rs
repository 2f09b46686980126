//! How turns are selected, as far as config says: bounds, pins, and how much each signal counts.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ambit_core::id::CapabilityId;
use ambit_core::weights::Weights;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::defaults;

fn ids_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {"type": "string", "pattern": "^(skill__.+|[a-z0-9]+__.+__.+)$"},
        "examples": [["mcp__github__search_issues", "skill__code-review"]],
    })
}

/// What a model is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscoveryFile {
    /// Most tokens that what is shown may cost.
    #[serde(default)]
    #[schemars(extend("default" = defaults::DISCOVERY_BUDGET))]
    pub budget: Option<u32>,
    /// Most entries shown.
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = defaults::DISCOVERY_LIMIT))]
    pub limit: Option<u32>,
    /// Always shown, if they may be at all.
    #[serde(default)]
    #[schemars(schema_with = "ids_schema")]
    pub pin: BTreeSet<CapabilityId>,
    /// Never shown.
    #[serde(default)]
    #[schemars(schema_with = "ids_schema")]
    pub exclude: BTreeSet<CapabilityId>,
    /// How much each signal counts, from 0 to 10000.
    #[serde(default)]
    pub weights: WeightsFile,
    /// A folder with a static embedding model (`tokenizer.json`, `model.safetensors`) that ranks
    /// by meaning beside words. Nothing is ever downloaded.
    #[serde(default)]
    pub model: Option<PathBuf>,
}

/// How much each signal counts. What is left out keeps its default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WeightsFile {
    /// It fits the task.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub goal: Option<i32>,
    /// What was observed mentions it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub evidence: Option<i32>,
    /// A search asked for it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub candidate: Option<i32>,
    /// It is about files that were touched.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub touched: Option<i32>,
    /// It fits the kind of project.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub project: Option<i32>,
    /// It was called in this session.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub called: Option<i32>,
    /// It is a skill that was loaded.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub loaded: Option<i32>,
    /// It was visible before.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub stays: Option<i32>,
    /// It comes with Ambit, or is a skill that does not say when it is wanted.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub base: Option<i32>,
    /// Taken off per failure, from the third in a row on.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub failure: Option<i32>,
}

impl WeightsFile {
    /// These over others.
    pub fn over(&self, under: Weights) -> Weights {
        Weights {
            goal: self.goal.unwrap_or(under.goal),
            evidence: self.evidence.unwrap_or(under.evidence),
            candidate: self.candidate.unwrap_or(under.candidate),
            touched: self.touched.unwrap_or(under.touched),
            project: self.project.unwrap_or(under.project),
            called: self.called.unwrap_or(under.called),
            loaded: self.loaded.unwrap_or(under.loaded),
            stays: self.stays.unwrap_or(under.stays),
            base: self.base.unwrap_or(under.base),
            failure: self.failure.unwrap_or(under.failure),
        }
    }
}

/// What holds: both files together, with every default filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// Most tokens that what is shown may cost.
    pub budget: u32,
    /// Most entries shown.
    pub limit: u32,
    /// Always shown, if they may be at all.
    pub pin: BTreeSet<CapabilityId>,
    /// Never shown.
    pub exclude: BTreeSet<CapabilityId>,
    /// How much each signal counts.
    pub weights: Weights,
    /// A static embedding model.
    pub model: Option<PathBuf>,
}

impl Discovery {
    /// The project's over the user's; pins and excludes of both.
    pub(super) fn of(over: DiscoveryFile, under: DiscoveryFile) -> Self {
        Discovery {
            budget: over
                .budget
                .or(under.budget)
                .unwrap_or(defaults::DISCOVERY_BUDGET),
            limit: over
                .limit
                .or(under.limit)
                .unwrap_or(defaults::DISCOVERY_LIMIT),
            pin: over.pin.into_iter().chain(under.pin).collect(),
            exclude: over.exclude.into_iter().chain(under.exclude).collect(),
            weights: over.weights.over(under.weights.over(Weights::default())),
            model: over.model.or(under.model),
        }
    }
}
