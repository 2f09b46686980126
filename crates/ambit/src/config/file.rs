//! What one `ambit.json` may say. The JSON Schema is generated from these types, and the
//! comments on their fields are what an editor shows.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use ambit_agent::config::EngineConfig;
use ambit_core::event::HookStage;
use ambit_core::permission::{Mode, Subject};
use ambit_runtime::registry::UnknownCapabilities;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::clients::Client;
use super::defaults;
use super::discovery::DiscoveryFile;
use super::rules::RuleLists;
use super::serve::ServeFile;
use super::server::McpServer;

/// Ambit's configuration: `ambit.json`, the user's or a project's.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "ambit.json")]
pub struct ConfigFile {
    /// Where an editor finds the schema of this file. Ambit does not read it.
    #[serde(rename = "$schema", default)]
    pub schema: Option<String>,
    /// MCP servers by name: the object their READMEs tell you to paste. Each name becomes a
    /// capability key that an agent can be granted.
    #[serde(default)]
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Agents by name, each with the capabilities it may ever have. Without any there is one,
    /// `default`.
    #[serde(default)]
    pub agents: BTreeMap<String, Agent>,
    /// Models by name, for agents that `ambit run` runs.
    #[serde(default)]
    pub models: BTreeMap<String, EngineConfig>,
    /// The model of agents that name none. Not needed where there is only one.
    #[serde(default)]
    pub default_model: Option<String>,
    /// How calls that change something are treated.
    #[serde(default)]
    #[schemars(schema_with = "mode_schema", extend("default" = defaults::MODE.as_str()))]
    pub mode: Option<Mode>,
    /// Rules for every agent.
    #[serde(default)]
    pub permissions: RuleLists,
    /// Programs that are asked before a call, or told after it.
    #[serde(default)]
    pub hooks: Vec<Hook>,
    /// How much and how long.
    #[serde(default)]
    pub limits: LimitsFile,
    /// What a model is shown of all that is granted.
    #[serde(default)]
    pub discovery: DiscoveryFile,
    /// How `ambit serve` serves.
    #[serde(default)]
    pub serve: ServeFile,
    /// MCP clients by the name they give themselves, where more is known of one than Ambit knows.
    #[serde(default)]
    pub clients: BTreeMap<String, Client>,
    /// What to do about a capability or tool nobody offers.
    #[serde(default)]
    #[schemars(schema_with = "unknown_capabilities_schema", extend("default" = "error"))]
    pub unknown_capabilities: Option<UnknownCapabilities>,
}

impl ConfigFile {
    /// With its relative paths taken from the folder it stands in.
    pub(super) fn beside(mut self, folder: Option<&Path>) -> Self {
        let scripts = self.models.values_mut().filter_map(|it| it.script.as_mut());
        let paths = scripts.chain(self.discovery.model.as_mut());
        if let Some(folder) = folder {
            paths.for_each(|path| *path = folder.join(&*path));
        }
        self
    }
}

/// An agent, and the outer bound of what it may ever do.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Agent {
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// What it may have: capability keys with their config, or a list of keys. Not listed
    /// means not there.
    pub capabilities: Capabilities,
    /// What it is told to be and to do, whenever `ambit run` runs it.
    #[serde(default)]
    pub instructions: Option<String>,
    /// The model it is run with, of those in `models`, instead of the file's.
    #[serde(default)]
    pub model: Option<String>,
    /// Its own mode, instead of the file's.
    #[serde(default)]
    #[schemars(schema_with = "mode_schema")]
    pub mode: Option<Mode>,
    /// Rules for this agent, besides those for all.
    #[serde(default)]
    pub permissions: RuleLists,
    /// Instead of the file's `unknownCapabilities`.
    #[serde(default)]
    #[schemars(schema_with = "unknown_capabilities_schema")]
    pub unknown_capabilities: Option<UnknownCapabilities>,
    /// Whose file it stands in.
    #[serde(skip)]
    pub origin: Origin,
}

/// What an agent is granted: each capability key with its config.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "CapabilitiesForm")]
pub struct Capabilities(pub BTreeMap<String, Map<String, Value>>);

impl Capabilities {
    /// As the JSON object a resolver takes.
    pub fn to_value(&self) -> Value {
        let entries = self.0.iter();
        Value::Object(
            entries
                .map(|(key, config)| (key.clone(), Value::Object(config.clone())))
                .collect(),
        )
    }
}

/// Both ways of writing it.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum CapabilitiesForm {
    /// Keys with their config; `tools` narrows to some of a capability's tools.
    Configured(BTreeMap<String, Map<String, Value>>),
    /// Keys alone: all their tools, no config.
    Keys(Vec<String>),
}

impl From<CapabilitiesForm> for Capabilities {
    fn from(form: CapabilitiesForm) -> Self {
        Capabilities(match form {
            CapabilitiesForm::Configured(entries) => entries,
            CapabilitiesForm::Keys(keys) => keys.into_iter().map(|key| (key, Map::new())).collect(),
        })
    }
}

impl JsonSchema for Capabilities {
    fn schema_name() -> Cow<'static, str> {
        "Capabilities".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        CapabilitiesForm::json_schema(generator)
    }
}

fn mode_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": ["read-only", "ask", "auto"]})
}

fn unknown_capabilities_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": ["error", "skip"]})
}

fn hook_stage_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": ["before", "after"]})
}

/// A program that is asked before a call, or told after it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hook {
    /// What refusals and the journal call it.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Before the call, where it may refuse, or after it.
    #[schemars(schema_with = "hook_stage_schema")]
    pub when: HookStage,
    /// The program and its arguments.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// How long it may take. A hook that takes longer counts as a refusal.
    #[serde(default = "defaults::hook_seconds")]
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_seconds: u64,
    /// Only for calls these subjects match. Absent: for every call.
    #[serde(default)]
    #[schemars(schema_with = "super::rules::subjects_schema")]
    pub only: Option<Vec<Subject>>,
    /// Whose file it stands in.
    #[serde(skip)]
    pub origin: Origin,
}

impl Hook {
    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }
}

/// How much and how long, as far as a file says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LimitsFile {
    /// Most bytes of one result handed to a model; the rest can be paged.
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = defaults::RESULT_BYTES))]
    pub result_bytes: Option<u64>,
    /// Most bytes of one call's arguments.
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = defaults::INPUT_BYTES))]
    pub input_bytes: Option<u64>,
    /// Seconds a call may run.
    #[serde(default)]
    #[schemars(range(min = 1, max = 86400), extend("default" = defaults::CALL_SECONDS))]
    pub call_seconds: Option<u64>,
    /// Seconds a person has to answer before the answer is no.
    #[serde(default)]
    #[schemars(range(min = 1, max = 86400), extend("default" = defaults::APPROVAL_SECONDS))]
    pub approval_seconds: Option<u64>,
    /// Turns of the model a run may have.
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = defaults::RUN_TURNS))]
    pub run_turns: Option<u32>,
    /// Tokens a run may use up, read and written, sub-agents included. Default: as many as it takes.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub run_tokens: Option<u64>,
}

/// Whose file something stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The user's own.
    #[default]
    User,
    /// A project's.
    Project,
    /// Nobody's: it is there because nothing else was said.
    Implied,
}
