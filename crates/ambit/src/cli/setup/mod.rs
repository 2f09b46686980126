//! From the process's surroundings to a marketplace: the only place that wires adapters together.

mod capabilities;
mod market;
mod session;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ambit_core::digest::Digest;
use ambit_core::redact::Redactor;
use ambit_mcp::TokenStore;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::cli::fail::Fail;
use crate::cli::printer::Printer;
use crate::config::{self, Agent, Inputs, Loaded, Problem, Spot};
use crate::keys;
use crate::places::Places;
use crate::secrets::{Logins, SecretStore};
use crate::trust::{ProjectTrust, TrustStore};

pub(crate) use capabilities::seen;

/// Everything a command needs to know before it does anything.
pub(crate) struct Setup {
    pub(crate) places: Places,
    pub(crate) loaded: Loaded,
    /// The folder agents work in: the trusted project's, else the current one.
    pub(crate) workspace: PathBuf,
    pub(crate) trust: Arc<TrustStore>,
    /// Logins to servers.
    pub(crate) tokens: Arc<dyn TokenStore>,
    /// Knows the secrets of the configuration and, as they come up, those of logins.
    pub(crate) redactor: Redactor,
    runtime: OnceLock<Runtime>,
    /// Somebody else's, where this is part of something that runs already.
    adopted: OnceLock<Handle>,
}

impl Setup {
    /// Reads the configuration and reports its warnings.
    pub(crate) fn load(trust_project: bool, printer: &Printer) -> Result<Self, Fail> {
        let setup = Self::read(trust_project)?;
        setup
            .loaded
            .warnings
            .iter()
            .for_each(|it| printer.problem(it));
        Ok(setup)
    }

    /// Reads the configuration.
    pub(crate) fn read(trust_project: bool) -> Result<Self, Fail> {
        let trust = TrustStore::open(&Places::from_process()?)?;
        Self::read_with(&|path: &Path, digest: &Digest| match trust_project {
            true => ProjectTrust::Trusted,
            // A store that does not answer has accepted nothing.
            false => trust
                .project_trust(path, digest)
                .unwrap_or(ProjectTrust::Unknown),
        })
    }

    /// Reads the configuration, a project's file as far as it is said to be accepted.
    pub(crate) fn read_with(
        accepted: &dyn Fn(&Path, &Digest) -> ProjectTrust,
    ) -> Result<Self, Fail> {
        Self::read_from(accepted, None)
    }

    /// Reads the configuration as it would be if a file, which is accepted, said something else.
    pub(crate) fn read_instead(instead: &Instead<'_>) -> Result<Self, Fail> {
        let trust = TrustStore::open(&Places::from_process()?)?;
        let accepted = |path: &Path, digest: &Digest| match path == instead.path {
            true => ProjectTrust::Trusted,
            false => trust
                .project_trust(path, digest)
                .unwrap_or(ProjectTrust::Unknown),
        };
        Self::read_from(&accepted, Some((instead.path, instead.text)))
    }

    fn read_from(
        accepted: &dyn Fn(&Path, &Digest) -> ProjectTrust,
        instead: Option<(&Path, &str)>,
    ) -> Result<Self, Fail> {
        let places = Places::from_process()?;
        let directory = working_directory()?;
        let trust = Arc::new(TrustStore::open(&places)?);
        let secrets = SecretStore::open(&places);
        let loaded = config::load(&Inputs {
            places: &places,
            directory: &directory,
            trust: accepted,
            variable: &|name| std::env::var_os(name),
            secret: &|name| secrets.get(name).map_err(|error| error.to_string()),
            instead,
        })?;
        let taken: Vec<Problem> = taken_names(&loaded);
        if !taken.is_empty() {
            return Err(taken.into());
        }
        let project = loaded.project.as_ref().filter(|it| it.is_trusted());
        let workspace = project
            .and_then(|it| it.path.parent())
            .map_or(directory, Path::to_owned);
        let redactor = Redactor::new(loaded.sensitive.iter().map(|it| it.expose()));
        let tokens = Arc::new(Logins::new(secrets, redactor.clone()));
        Ok(Setup {
            tokens,
            redactor,
            places,
            loaded,
            workspace,
            trust,
            runtime: OnceLock::new(),
            adopted: OnceLock::new(),
        })
    }

    /// Where everything asynchronous runs. One for the whole command: a connection belongs to it.
    pub(crate) fn runtime(&self) -> Result<&Runtime, Fail> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let made = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        Ok(self.runtime.get_or_init(|| made))
    }

    /// Connects what is to be connected in a runtime that is there already.
    pub(crate) fn adopt(&self, runtime: Handle) {
        let _ = self.adopted.set(runtime);
    }

    fn handle(&self) -> Result<Handle, Fail> {
        match self.adopted.get() {
            Some(runtime) => Ok(runtime.clone()),
            None => Ok(self.runtime()?.handle().clone()),
        }
    }

    /// Ends what still runs, waiting for it so long at most.
    pub(crate) fn shut_down(self, patience: Duration) {
        if let Some(runtime) = self.runtime.into_inner() {
            runtime.shutdown_timeout(patience);
        }
    }

    /// The chosen agent.
    pub(crate) fn agent(&self, name: Option<&str>) -> Result<(&str, &Agent), Fail> {
        Ok(self.loaded.config.agent(name)?)
    }

    fn agents_dir(&self) -> PathBuf {
        self.store().folder().join("agents")
    }

    /// Where an agent keeps what is its own in this workspace.
    pub(crate) fn agent_dir(&self, name: &str) -> PathBuf {
        self.agents_dir().join(name)
    }
}

/// A file, and what it would say.
pub(crate) struct Instead<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

/// Servers named like a capability that is there already: a grant could mean either.
fn taken_names(loaded: &Loaded) -> Vec<Problem> {
    let own = keys::reserved();
    let servers = loaded.config.mcp_servers.keys();
    servers
        .filter(|name| own.contains(name))
        .map(|name| {
            let place = loaded.place(&format!("/mcpServers/{name}"), Spot::Key);
            Problem::error(
                "name_taken",
                format!("a server cannot be called `{name}`: a built-in capability has that key"),
            )
            .at(place)
            .hint("give the server another name")
        })
        .collect()
}

/// Where the command was typed.
pub(crate) fn working_directory() -> Result<PathBuf, Fail> {
    std::env::current_dir().map_err(|error| {
        let message = format!("the working directory cannot be used: {error}");
        Fail::usage(Problem::error("no_directory", message).hint("change to one that exists"))
    })
}
