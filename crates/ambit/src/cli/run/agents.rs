//! The configured agents, as the runner takes them. Engines are made when an agent is run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_agent::config::EngineConfig;
use ambit_agent::engine::Engine;
use ambit_agent::error::EngineError;
use ambit_agent::runner::{AgentProfile, Agents, RunLimits};
use ambit_core::manifest::ChannelFeature;
use ambit_core::permission::Mode;
use ambit_core::printable::printable;
use ambit_core::suggest::{did_you_mean, suggest};
use ambit_runtime::resolver::OutgoingFile;
use ambit_runtime::session::SessionSpec;

use super::{engine_problem, spinner};
use crate::cli::args::AgentArgs;
use crate::cli::fail::Fail;
use crate::cli::own::Told;
use crate::cli::printer::{BOLD, note, styled};
use crate::cli::setup::Setup;
use crate::config::Problem;
use crate::project::project_kinds;

/// What holds for all agents, beside what the configuration says of each.
pub(crate) struct Wanted {
    /// Instead of each one's own.
    pub(crate) mode: Option<Mode>,
    /// Instead of each one's own.
    pub(crate) model: Option<String>,
    pub(crate) limits: RunLimits,
    /// Speaks for every model, where a script is played.
    pub(crate) script: Option<Arc<dyn Engine>>,
}

impl Wanted {
    /// Nothing but what is configured.
    pub(crate) fn of(setup: &Setup) -> Self {
        let limits = &setup.loaded.config.limits;
        Wanted {
            mode: None,
            model: None,
            limits: RunLimits {
                turns: limits.run_turns,
                tokens: limits.run_tokens,
                cost: None,
            },
            script: None,
        }
    }
}

/// All agents of the configuration.
pub(crate) struct ConfiguredAgents {
    agents: BTreeMap<String, Configured>,
    project: BTreeSet<String>,
    limits: RunLimits,
    script: Option<Arc<dyn Engine>>,
}

struct Configured {
    description: Option<String>,
    told: Told,
    spec: SessionSpec,
    model: Result<EngineConfig, Problem>,
}

impl ConfiguredAgents {
    pub(crate) fn new(
        setup: &Setup,
        wanted: Wanted,
        channel: &BTreeSet<ChannelFeature>,
    ) -> Result<Self, Fail> {
        let config = &setup.loaded.config;
        let mut agents = BTreeMap::new();
        for (name, agent) in &config.agents {
            let chosen = AgentArgs {
                agent: Some(name.clone()),
                mode: wanted.mode,
            };
            let mut spec = setup.session(&chosen, channel.clone())?;
            spec.discovery = setup.discovery();
            if channel.contains(&ChannelFeature::SendFiles) {
                spec.callbacks.send_file = Some(Arc::new(handed_over));
            }
            let model = config.model_of(agent, wanted.model.as_deref());
            let configured = Configured {
                description: agent.description.clone(),
                told: Told::new(setup, name, agent),
                spec,
                model: model.map(|(_, model)| model.clone()),
            };
            agents.insert(name.clone(), configured);
        }
        Ok(ConfiguredAgents {
            agents,
            project: project_kinds(&setup.workspace),
            limits: wanted.limits,
            script: wanted.script,
        })
    }

    /// The agent that was chosen, or why it cannot be run.
    pub(super) fn chosen(&self, setup: &Setup, args: &AgentArgs) -> Result<AgentProfile, Fail> {
        let (name, _) = setup.agent(args.agent.as_deref())?;
        let agent = self.agents.get(name).ok_or_else(|| unknown(name))?;
        if let (None, Err(problem)) = (&self.script, &agent.model) {
            return Err(Fail::usage(problem.clone()));
        }
        let engine = self.engine(agent);
        let engine = engine.map_err(|error| Fail::usage(engine_problem(&error)))?;
        Ok(self.of(agent, engine))
    }

    fn engine(&self, agent: &Configured) -> Result<Arc<dyn Engine>, EngineError> {
        match (&self.script, &agent.model) {
            (Some(script), _) => Ok(Arc::clone(script)),
            (None, Ok(model)) => model.open(),
            (None, Err(why)) => Err(EngineError::Config(why.to_string())),
        }
    }

    fn of(&self, agent: &Configured, engine: Arc<dyn Engine>) -> AgentProfile {
        AgentProfile {
            spec: agent.spec.clone(),
            engine,
            instructions: agent.told.now(),
            project: self.project.clone(),
            limits: self.limits,
        }
    }
}

/// Says where a file is.
fn handed_over(file: OutgoingFile) -> Result<(), String> {
    let _still = spinner::still();
    let path = file.path.display().to_string();
    let caption = file.caption.map_or(String::new(), |it| format!(": {it}"));
    let line = format!("file {}{}", printable(&path), printable(&caption));
    note(styled(BOLD, line));
    Ok(())
}

fn unknown(name: &str) -> Fail {
    Fail::usage(Problem::error(
        "unknown_agent",
        format!("there is no agent `{name}`"),
    ))
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
