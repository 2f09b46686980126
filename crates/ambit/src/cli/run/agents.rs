//! The configured agents, as the runner takes them. Engines are made when an agent is run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_agent::config::EngineConfig;
use ambit_agent::engine::Engine;
use ambit_agent::runner::{AgentProfile, Agents, RunLimits};
use ambit_core::manifest::ChannelFeature;
use ambit_core::suggest::{did_you_mean, suggest};
use ambit_runtime::session::SessionSpec;

use super::{engine_problem, limits, named};
use crate::cli::args::{AgentArgs, RunArgs};
use crate::cli::fail::Fail;
use crate::cli::own::told;
use crate::cli::setup::Setup;
use crate::project::project_kinds;

/// All agents of the configuration.
pub(super) struct ConfiguredAgents {
    agents: BTreeMap<String, Configured>,
    project: BTreeSet<String>,
    limits: RunLimits,
    /// Speaks for every model, where a script is played.
    script: Option<Arc<dyn Engine>>,
}

struct Configured {
    description: Option<String>,
    instructions: Vec<String>,
    spec: SessionSpec,
    model: Result<EngineConfig, String>,
}

impl ConfiguredAgents {
    pub(super) fn new(
        setup: &Setup,
        args: &RunArgs,
        script: Option<Arc<dyn Engine>>,
        channel: &BTreeSet<ChannelFeature>,
    ) -> Result<Self, Fail> {
        let config = &setup.loaded.config;
        let mut agents = BTreeMap::new();
        for (name, agent) in &config.agents {
            let mut spec = setup.session(&named(&args.agent, name), channel.clone())?;
            spec.discovery = setup.discovery();
            let model = config.model_of(agent, args.model.as_deref());
            let configured = Configured {
                description: agent.description.clone(),
                instructions: told(setup, name, agent),
                spec,
                model: model
                    .map(|(_, model)| model.clone())
                    .map_err(|it| it.to_string()),
            };
            agents.insert(name.clone(), configured);
        }
        Ok(ConfiguredAgents {
            agents,
            project: project_kinds(&setup.workspace),
            limits: limits(setup, args),
            script,
        })
    }

    /// The agent that was chosen, or why it cannot be run.
    pub(super) fn chosen(&self, setup: &Setup, args: &AgentArgs) -> Result<AgentProfile, Fail> {
        let (name, agent) = setup.agent(args.agent.as_deref())?;
        if self.script.is_none() {
            // With its place and hint, before anything is started.
            setup
                .loaded
                .config
                .model_of(agent, None)
                .map(drop)
                .or_else(|problem| match self.agents.get(name) {
                    Some(Configured { model: Ok(_), .. }) => Ok(()),
                    _ => Err(problem),
                })?;
        }
        let configured = self.agents.get(name);
        let engine = configured.map(|it| self.engine(it));
        match (configured, engine) {
            (Some(it), Some(Ok(engine))) => Ok(self.of(it, engine)),
            (_, Some(Err(error))) => Err(Fail::usage(engine_problem(&error))),
            _ => Err(setup.agent(Some(name)).err().unwrap_or_else(|| Fail {
                exit: crate::cli::fail::Exit::Bug,
                problems: Vec::new(),
            })),
        }
    }

    fn engine(
        &self,
        agent: &Configured,
    ) -> Result<Arc<dyn Engine>, ambit_agent::error::EngineError> {
        match (&self.script, &agent.model) {
            (Some(script), _) => Ok(Arc::clone(script)),
            (None, Ok(model)) => model.open(),
            (None, Err(why)) => Err(ambit_agent::error::EngineError::Config(why.clone())),
        }
    }

    fn of(&self, agent: &Configured, engine: Arc<dyn Engine>) -> AgentProfile {
        AgentProfile {
            spec: agent.spec.clone(),
            engine,
            instructions: agent.instructions.clone(),
            project: self.project.clone(),
            limits: self.limits,
        }
    }
}

impl Agents for ConfiguredAgents {
    fn names(&self) -> Vec<(String, Option<String>)> {
        let agents = self.agents.iter();
        agents
            .map(|(name, it)| (name.clone(), it.description.clone()))
            .collect()
    }

    fn profile(&self, name: &str) -> Result<AgentProfile, String> {
        let agent = self.agents.get(name).ok_or_else(|| {
            let hint = did_you_mean(&suggest(name, self.agents.keys().map(String::as_str)));
            let hint = hint.unwrap_or_else(|| "list_available_agents lists them".to_owned());
            format!("there is no agent `{name}`; {hint}")
        })?;
        let engine = self.engine(agent).map_err(|error| error.to_string())?;
        Ok(self.of(agent, engine))
    }
}
