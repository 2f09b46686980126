//! From the process's surroundings to a marketplace: the only place that wires adapters together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ambit_builtins::store::Store;
use ambit_builtins::{Builtins, OpenJournal};
use ambit_core::digest::Digest;
use ambit_core::intent::InputLimit;
use ambit_core::manifest::ChannelFeature;
use ambit_core::permission::{Mode, Rules};
use ambit_core::pipeline::CallLimits;
use ambit_core::redact::Redactor;
use ambit_core::search::Embedder;
use ambit_mcp::{PinStore, TokenStore};
use ambit_runtime::approver::Approver;
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::discovery::DiscoverySettings;
use ambit_runtime::hook::{CommandHook, Hook};
use ambit_runtime::journal::Journal;
use ambit_runtime::marketplace::{CapabilityMarketplace, MarketplaceParts};
use ambit_runtime::registry::CapabilityRegistry;
use ambit_runtime::resolver::{Callbacks, Offer};
use ambit_runtime::results::ResultStore;
use ambit_runtime::session::SessionSpec;
use ambit_skills::resolver::SkillsResolver;
use ambit_skills::root::{SkillRoot, standard_roots};
use ambit_skills::scan::{SkillSet, scan};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::browser::{self, Browser, Start, UsedBy};
use crate::cli::args::AgentArgs;
use crate::cli::configured::ConfiguredAgents;
use crate::cli::eval::read_model;
use crate::cli::fail::Fail;
use crate::cli::printer::{GOOD, Printer, WARN, counted, note, styled};
use crate::config::{self, Agent, Inputs, Loaded, Problem, Spot};
use crate::follow::{Elsewhere, keep_up};
use crate::keys;
use crate::places::{CONFIG_NAME, Places, private_directory};
use crate::secrets::{Logins, SecretStore};
use crate::servers::Servers;
use crate::trust::{ProjectTrust, TrustStore};
use crate::written::WrittenSkills;

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

    /// The configured servers, with what was seen of each.
    pub(crate) fn servers(&self, cache: &DescriptorCache) -> Servers {
        let pins: Arc<dyn PinStore> = Arc::clone(&self.trust) as _;
        let servers = Servers::new(
            &self.loaded.config.mcp_servers,
            &self.workspace,
            cache,
            &pins,
            &self.tokens,
        );
        let start = Start::found(std::env::var_os("PATH").as_deref());
        let texts = std::env::vars_os();
        let texts = texts.filter_map(|(a, b)| Some((a.into_string().ok()?, b.into_string().ok()?)));
        let variables = browser::variables(texts);
        let mut agents = self.loaded.config.agents.values();
        let used_by = match agents.any(|it| it.capabilities.0.contains_key(browser::KEY)) {
            true => UsedBy::Agents,
            false => UsedBy::Nobody,
        };
        let workspace = &self.workspace;
        let browser = Browser::new(start, used_by, workspace, variables, cache, &pins);
        servers.with_browser(browser)
    }

    /// Connects servers nothing is known of, with a line for each.
    fn see(&self, servers: &Servers, cache: &DescriptorCache) -> Result<(), Fail> {
        if self.tell_unseen(servers) {
            self.handle()?.block_on(servers.see(cache, seen));
        }
        Ok(())
    }

    /// Says which servers nothing is known of; whether there are any.
    fn tell_unseen(&self, servers: &Servers) -> bool {
        let unseen = servers.unseen();
        if !unseen.is_empty() {
            note(format!(
                "looking at {}, of which nothing is known yet",
                unseen.join(", ")
            ));
        }
        !unseen.is_empty()
    }

    /// Which capability keys exist here.
    pub(crate) fn registry(&self, servers: &Servers) -> CapabilityRegistry {
        self.registry_of(servers, &self.written_skills(), None)
    }

    fn registry_of(
        &self,
        servers: &Servers,
        skills: &Written,
        journal: Option<&Journal>,
    ) -> CapabilityRegistry {
        let registry = CapabilityRegistry::default();
        let taken = &self.loaded.config.mcp_servers;
        let builtins = self.builtins_with(skills, journal).resolvers().into_iter();
        builtins
            .filter(|it| !taken.contains_key(it.key()))
            .for_each(|it| register(&registry, it));
        register(&registry, Arc::clone(&skills.resolver) as _);
        servers.resolvers().for_each(|it| register(&registry, it));
        registry
    }

    /// All skills, those that agents write among them.
    fn written_skills(&self) -> Written {
        let agents = self.agents_dir();
        let resolver = Arc::new(SkillsResolver::with_agents(self.skills(), agents.clone()));
        Written {
            written: Arc::new(WrittenSkills::new(Arc::clone(&resolver), &agents)),
            resolver,
        }
    }

    /// The built-in capabilities, on what this workspace keeps.
    pub(crate) fn builtins(&self) -> Builtins {
        self.builtins_with(&self.written_skills(), None)
    }

    fn builtins_with(&self, skills: &Written, journal: Option<&Journal>) -> Builtins {
        Builtins {
            journal: Some(self.recorded(journal)),
            vault: Some(Arc::new(SecretStore::open(&self.places))),
            skills: Some(Arc::clone(&skills.written) as _),
            agents: Some(Arc::new(ConfiguredAgents)),
            ..Builtins::new(self.store())
        }
    }

    fn agents_dir(&self) -> PathBuf {
        self.store().folder().join("agents")
    }

    /// Where an agent keeps what is its own in this workspace.
    pub(crate) fn agent_dir(&self, name: &str) -> PathBuf {
        self.agents_dir().join(name)
    }

    /// What was recorded. Where this process writes it, through whoever does.
    fn recorded(&self, journal: Option<&Journal>) -> OpenJournal {
        if let Some(journal) = journal.cloned() {
            return Arc::new(move || journal.reader().map(Some));
        }
        let path = self.places.journal();
        Arc::new(move || match path.exists() {
            true => Journal::open_read_only(&path).map(Some),
            false => Ok(None),
        })
    }

    /// What built-in capabilities keep for this workspace.
    pub(crate) fn store(&self) -> Arc<Store> {
        Store::at(&self.places.workspace(&self.workspace))
    }

    fn skill_roots(&self) -> Vec<SkillRoot> {
        let config_home = self.places.config_file().parent().and_then(Path::parent);
        match (self.places.home(), config_home) {
            (Some(home), Some(config_home)) => standard_roots(home, config_home, &self.workspace),
            _ => Vec::new(),
        }
    }

    /// The skills of all roots.
    pub(crate) fn skills(&self) -> SkillSet {
        scan(&self.skill_roots())
    }

    /// What ranks by meaning, where a model is configured.
    fn embedder(&self, registry: &CapabilityRegistry) -> Result<Option<Arc<dyn Embedder>>, Fail> {
        let Some(folder) = &self.loaded.config.discovery.model else {
            return Ok(None);
        };
        let model = read_model(folder)?;
        let texts: Vec<String> = registry
            .offers()
            .into_iter()
            .flat_map(|(_, offer)| match offer {
                Offer::Declared(manifests) => manifests
                    .into_iter()
                    .map(|it| it.description)
                    .collect::<Vec<_>>(),
                Offer::Seen { descriptors, .. } => {
                    descriptors.iter().map(|it| it.summary.clone()).collect()
                }
            })
            .collect();
        Ok(Some(Arc::new(
            model.weighted_by(texts.iter().map(String::as_str)),
        )))
    }

    /// What was seen of the catalog last.
    pub(crate) fn cache(&self) -> Result<DescriptorCache, Fail> {
        // Secrets are kept beside it, so the folder is private whoever comes first. Where nothing
        // can be kept it is slower, but not wrong.
        match private_directory(self.places.data())
            .map(|()| DescriptorCache::open(&self.places.catalog()))
        {
            Ok(Ok(cache)) => Ok(cache),
            Ok(Err(_)) | Err(_) => Ok(DescriptorCache::in_memory()?),
        }
    }

    /// A marketplace on a journal.
    pub(crate) fn market(
        &self,
        journal: Journal,
        approver: Arc<dyn Approver>,
    ) -> Result<Arc<CapabilityMarketplace>, Fail> {
        let cache = self.cache()?;
        let servers = self.servers(&cache);
        self.see(&servers, &cache)?;
        self.market_of(&servers, cache, journal, approver)
    }

    /// The same for clients that stay. It keeps up with its servers for as long as the runtime is
    /// there.
    pub(crate) fn serving_market(
        &self,
        journal: Journal,
        approver: Arc<dyn Approver>,
    ) -> Result<(Arc<CapabilityMarketplace>, Arc<Servers>), Fail> {
        let cache = self.cache()?;
        let servers = Arc::new(self.servers(&cache));
        let skills = self.written_skills();
        let market = self.market_with(&servers, &skills, cache, journal, approver)?;
        self.tell_unseen(&servers);
        self.keep_up(&servers, &market, skills)?;
        Ok((market, servers))
    }

    fn keep_up(
        &self,
        servers: &Arc<Servers>,
        market: &Arc<CapabilityMarketplace>,
        skills: Written,
    ) -> Result<(), Fail> {
        let elsewhere = Elsewhere {
            trust: Arc::clone(&self.trust),
            skills: skills.written,
        };
        self.handle()?
            .block_on(keep_up(servers, market, elsewhere, seen));
        Ok(())
    }

    /// The same for an agent at work: servers nothing is known of are looked at before it begins.
    pub(crate) fn working_market(
        &self,
        journal: Journal,
        approver: Arc<dyn Approver>,
    ) -> Result<(Arc<CapabilityMarketplace>, Arc<Servers>), Fail> {
        let cache = self.cache()?;
        let servers = Arc::new(self.servers(&cache));
        self.see(&servers, &cache)?;
        let skills = self.written_skills();
        let market = self.market_with(&servers, &skills, cache, journal, approver)?;
        self.keep_up(&servers, &market, skills)?;
        Ok((market, servers))
    }

    /// A marketplace on a journal, with what is known of the servers now.
    pub(crate) fn market_of(
        &self,
        servers: &Servers,
        cache: DescriptorCache,
        journal: Journal,
        approver: Arc<dyn Approver>,
    ) -> Result<Arc<CapabilityMarketplace>, Fail> {
        self.market_with(servers, &self.written_skills(), cache, journal, approver)
    }

    fn market_with(
        &self,
        servers: &Servers,
        skills: &Written,
        cache: DescriptorCache,
        journal: Journal,
        approver: Arc<dyn Approver>,
    ) -> Result<Arc<CapabilityMarketplace>, Fail> {
        let config = &self.loaded.config;
        let registry = self.registry_of(servers, skills, Some(&journal));
        let embedder = self.embedder(&registry)?;
        let market = CapabilityMarketplace::new(MarketplaceParts {
            registry,
            cache,
            journal,
            approver,
            hooks: config
                .hooks
                .iter()
                .map(|it| command_hook(it, &self.workspace))
                .collect(),
            redactor: self.redactor.clone(),
            limits: CallLimits {
                input: InputLimit {
                    bytes: as_usize(config.limits.input_bytes),
                    ..CallLimits::default().input
                },
                call: config.limits.call,
                approval: config.limits.approval,
                result_bytes: as_usize(config.limits.result_bytes),
            },
            results: ResultStore::new(self.places.results()),
            embedder,
        });
        skills.written.offered_on(&market);
        Ok(market)
    }

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
    fn rules(&self, agent: &Agent) -> Rules {
        let config = &self.loaded.config;
        let everything = config.permissions.and(&agent.permissions);
        Rules::layered(config.user_permissions.rules(), everything.rules())
    }

    /// What no capability may write: configs, skills, and everything of Ambit's own.
    fn control_paths(&self) -> Vec<PathBuf> {
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

/// A file, and what it would say.
pub(crate) struct Instead<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

/// Skills as they are offered, and as agents write them.
struct Written {
    resolver: Arc<SkillsResolver>,
    written: Arc<WrittenSkills>,
}

/// What became of looking at a server.
pub(crate) fn seen(name: &str, seen: Result<usize, String>) {
    note(match seen {
        Ok(tools) => format!(
            "  {} {name}: {}",
            styled(GOOD, "ok"),
            counted(tools, "tool", "tools")
        ),
        Err(error) => format!("  {} {name}: {error}", styled(WARN, "no")),
    });
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

fn register(
    registry: &CapabilityRegistry,
    resolver: Arc<dyn ambit_runtime::resolver::CapabilityResolver>,
) {
    // `taken_names` came first, so nothing is registered twice.
    if let Err(error) = registry.register(resolver) {
        tracing::warn!(%error, "a capability was left out");
    }
}

fn command_hook(hook: &config::Hook, workspace: &Path) -> Arc<dyn Hook> {
    Arc::new(CommandHook {
        name: hook.name.clone(),
        stage: hook.when,
        command: hook.command.clone(),
        directory: workspace.to_owned(),
        timeout: hook.timeout(),
        only: hook.only.clone().unwrap_or_default(),
    })
}

fn as_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Where the command was typed.
pub(crate) fn working_directory() -> Result<PathBuf, Fail> {
    std::env::current_dir().map_err(|error| {
        let message = format!("the working directory cannot be used: {error}");
        Fail::usage(Problem::error("no_directory", message).hint("change to one that exists"))
    })
}
