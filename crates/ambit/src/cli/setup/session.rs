//! How a session of a configured agent is opened.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ambit_core::manifest::ChannelFeature;
use ambit_core::permission::{Mode, Rules};
use ambit_runtime::discovery::DiscoverySettings;
use ambit_runtime::resolver::{Callbacks, ResolverContext};
use ambit_runtime::session::SessionSpec;

use crate::cli::args::AgentArgs;
use crate::cli::fail::Fail;
use crate::config::Agent;
use crate::places::CONFIG_NAME;

use super::Setup;

impl Setup {
    /// How a session is opened for an agent.
    pub(crate) fn session(
        &self,
        args: &AgentArgs,
        channel: BTreeSet<ChannelFeature>,
    ) -> Result<SessionSpec, Fail> {
        let (name, agent) = self.agent(args.agent.as_deref())?;
        Ok(SessionSpec {
            agent: name.to_owned(),
            capabilities: agent.capabilities.to_value(),
            unknown: self.loaded.config.unknown_capabilities_of(agent),
            mode: self.mode(args, agent),
            rules: self.rules(agent),
            channel,
            // Bounds of a projection do not bind whoever calls by name.
            discovery: DiscoverySettings {
                budget: None,
                limit: None,
                ..self.discovery()
            },
            exposure: Default::default(),
            asker: Default::default(),
            agent_dir: self.agent_dir(name),
            workspace: self.workspace.clone(),
            control_paths: self.control_paths(),
            callbacks: Callbacks {
                notify: Some(self.builtins().notices().notify()),
                ..Callbacks::default()
            },
            within: None,
        })
    }

    /// For whom capabilities are resolved where somebody only looks: nothing is written, and
    /// nobody is spoken to.
    pub(crate) fn looking(&self, agent: &str) -> ResolverContext {
        ResolverContext {
            agent: agent.to_owned(),
            agent_dir: self.agent_dir(agent),
            workspace: self.workspace.clone(),
            asked_by: Vec::new(),
            thread: None,
            control_paths: Vec::new(),
            callbacks: Callbacks::default(),
        }
    }

    /// How turns are selected.
    pub(crate) fn discovery(&self) -> DiscoverySettings {
        let discovery = &self.loaded.config.discovery;
        DiscoverySettings {
            budget: Some(discovery.budget),
            limit: Some(discovery.limit),
            pins: discovery.pin.clone(),
            excludes: discovery.exclude.clone(),
            weights: discovery.weights,
        }
    }

    /// The mode that holds. A flag may loosen what a config says: it is typed by the person.
    pub(crate) fn mode(&self, args: &AgentArgs, agent: &Agent) -> Mode {
        args.mode
            .unwrap_or_else(|| self.loaded.config.mode_of(agent))
    }

    /// The rules that hold for an agent.
    pub(super) fn rules(&self, agent: &Agent) -> Rules {
        let config = &self.loaded.config;
        let everything = config.permissions.and(&agent.permissions);
        Rules::layered(config.user_permissions.rules(), everything.rules())
    }

    /// What no capability may write: configs, skills, and everything of Ambit's own.
    pub(super) fn control_paths(&self) -> Vec<PathBuf> {
        let own = [
            self.places.config_file().parent(),
            Some(self.places.state()),
            Some(self.places.data()),
        ];
        let mut paths: Vec<PathBuf> = own.into_iter().flatten().map(Path::to_owned).collect();
        paths.extend(self.loaded.files().map(Path::to_owned));
        paths.extend(self.skill_roots().iter().map(|it| it.path().to_owned()));
        // Also where a config would be found if somebody wrote one.
        paths.extend(self.workspace.ancestors().map(|it| it.join(CONFIG_NAME)));
        paths
    }
}
