//! One configuration out of the user's file and a project's.
//!
//! The project's is laid over the user's: an agent or server of the same name is replaced
//! whole, a scalar is replaced, hooks are appended. Rules are united, so a project cannot take
//! a user's `deny` away; because a more specific rule could still outweigh it, the user's own
//! rules are also kept apart.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_agent::config::EngineConfig;
use ambit_core::permission::Mode;
use ambit_gateway::client::ClientTable;
use ambit_runtime::registry::UnknownCapabilities;

use super::agents;
use super::defaults;
use super::discovery::Discovery;
use super::file::{Agent, ConfigFile, Hook, LimitsFile, Origin};
use super::rules::RuleLists;
use super::serve::Serve;
use super::server::McpServer;

/// What holds: both files together, with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// MCP servers by name, the disabled ones included.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Agents by name; never empty.
    pub agents: BTreeMap<String, Agent>,
    /// Models by name.
    pub models: BTreeMap<String, EngineConfig>,
    /// The model of agents that name none.
    pub default_model: Option<String>,
    /// How calls that change something are treated, unless an agent says otherwise.
    pub mode: Mode,
    /// Rules for every agent, from both files.
    pub permissions: RuleLists,
    /// The user's own rules alone. What they end up denying stays denied, however specific a
    /// project's rule is.
    pub user_permissions: RuleLists,
    /// The user's hooks, then the project's.
    pub hooks: Vec<Hook>,
    /// How much and how long.
    pub limits: Limits,
    /// What a model is shown of all that is granted.
    pub discovery: Discovery,
    /// How the HTTP front serves.
    pub serve: Serve,
    /// What is said of MCP clients.
    pub clients: ClientTable,
    /// What to do about capabilities nobody offers, unless an agent says otherwise.
    pub unknown_capabilities: UnknownCapabilities,
}

/// How much and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of one result handed to a model.
    pub result_bytes: u64,
    /// Most bytes of one call's arguments.
    pub input_bytes: u64,
    /// How long a call may run.
    pub call: Duration,
    /// How long a person has to answer.
    pub approval: Duration,
    /// Turns of the model a run may have.
    pub run_turns: u32,
    /// Tokens a run may use up.
    pub run_tokens: Option<u64>,
}

impl Limits {
    fn of(over: &LimitsFile, under: &LimitsFile) -> Limits {
        let pick =
            |over: Option<u64>, under: Option<u64>, default| over.or(under).unwrap_or(default);
        Limits {
            result_bytes: pick(
                over.result_bytes,
                under.result_bytes,
                defaults::RESULT_BYTES,
            ),
            input_bytes: pick(over.input_bytes, under.input_bytes, defaults::INPUT_BYTES),
            call: Duration::from_secs(pick(
                over.call_seconds,
                under.call_seconds,
                defaults::CALL_SECONDS,
            )),
            approval: Duration::from_secs(pick(
                over.approval_seconds,
                under.approval_seconds,
                defaults::APPROVAL_SECONDS,
            )),
            run_turns: over
                .run_turns
                .or(under.run_turns)
                .unwrap_or(defaults::RUN_TURNS),
            run_tokens: over.run_tokens.or(under.run_tokens),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::of(&LimitsFile::default(), &LimitsFile::default())
    }
}

impl Default for Config {
    fn default() -> Self {
        merge(ConfigFile::default(), ConfigFile::default())
    }
}

impl Config {
    /// The mode an agent runs in.
    pub fn mode_of(&self, agent: &Agent) -> Mode {
        agent.mode.unwrap_or(self.mode)
    }

    /// What to do about capabilities nobody offers to this agent.
    pub fn unknown_capabilities_of(&self, agent: &Agent) -> UnknownCapabilities {
        agent
            .unknown_capabilities
            .unwrap_or(self.unknown_capabilities)
    }
}

/// The project's file over the user's.
pub(super) fn merge(mut user: ConfigFile, mut project: ConfigFile) -> Config {
    mark(&mut user, Origin::User);
    mark(&mut project, Origin::Project);
    let mut mcp_servers = user.mcp_servers;
    mcp_servers.extend(project.mcp_servers);
    let mut agents = user.agents;
    agents.extend(project.agents);
    if agents.is_empty() {
        let implied = agents::implied(&mcp_servers);
        agents.insert(agents::DEFAULT_AGENT.to_owned(), implied);
    }
    let mut models = user.models;
    models.extend(project.models);
    let clients = user.clients.into_iter().chain(project.clients);
    let clients = clients
        .map(|(name, client)| (name, client.into()))
        .collect();
    let mut hooks = user.hooks;
    hooks.extend(project.hooks);
    Config {
        mcp_servers,
        agents,
        models,
        default_model: project.default_model.or(user.default_model),
        mode: project.mode.or(user.mode).unwrap_or(defaults::MODE),
        permissions: user.permissions.and(&project.permissions),
        user_permissions: user.permissions,
        hooks,
        limits: Limits::of(&project.limits, &user.limits),
        discovery: Discovery::of(project.discovery, user.discovery),
        serve: Serve::of(project.serve, user.serve),
        clients: ClientTable(clients),
        unknown_capabilities: project
            .unknown_capabilities
            .or(user.unknown_capabilities)
            .unwrap_or_default(),
    }
}

fn mark(file: &mut ConfigFile, origin: Origin) {
    file.mcp_servers
        .values_mut()
        .for_each(|it| it.origin = origin);
    file.agents.values_mut().for_each(|it| it.origin = origin);
    file.hooks.iter_mut().for_each(|it| it.origin = origin);
}
