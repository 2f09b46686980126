//! Which capabilities there are: built-in ones, skills and servers, in one registry.

use std::path::Path;
use std::sync::Arc;

use ambit_builtins::store::Store;
use ambit_builtins::{Builtins, OpenJournal};
use ambit_core::search::Embedder;
use ambit_mcp::PinStore;
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::journal::Journal;
use ambit_runtime::registry::CapabilityRegistry;
use ambit_runtime::resolver::Offer;
use ambit_skills::resolver::SkillsResolver;
use ambit_skills::root::{SkillRoot, standard_roots};
use ambit_skills::scan::{SkillSet, scan};

use crate::browser::{self, Browser, Start, UsedBy};
use crate::cli::configured::ConfiguredAgents;
use crate::cli::eval::read_model;
use crate::cli::fail::Fail;
use crate::cli::printer::{GOOD, WARN, counted, note, styled};
use crate::places::private_directory;
use crate::secrets::SecretStore;
use crate::servers::Servers;
use crate::written::WrittenSkills;

use super::Setup;

impl Setup {
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
    pub(super) fn see(&self, servers: &Servers, cache: &DescriptorCache) -> Result<(), Fail> {
        if self.tell_unseen(servers) {
            self.handle()?.block_on(servers.see(cache, seen));
        }
        Ok(())
    }

    /// Says which servers nothing is known of; whether there are any.
    pub(super) fn tell_unseen(&self, servers: &Servers) -> bool {
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

    pub(super) fn registry_of(
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
    pub(super) fn written_skills(&self) -> Written {
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

    pub(super) fn builtins_with(&self, skills: &Written, journal: Option<&Journal>) -> Builtins {
        Builtins {
            journal: Some(self.recorded(journal)),
            vault: Some(Arc::new(SecretStore::open(&self.places))),
            skills: Some(Arc::clone(&skills.written) as _),
            agents: Some(Arc::new(ConfiguredAgents)),
            ..Builtins::new(self.store())
        }
    }

    /// What was recorded. Where this process writes it, through whoever does.
    pub(super) fn recorded(&self, journal: Option<&Journal>) -> OpenJournal {
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

    pub(super) fn skill_roots(&self) -> Vec<SkillRoot> {
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
    pub(super) fn embedder(
        &self,
        registry: &CapabilityRegistry,
    ) -> Result<Option<Arc<dyn Embedder>>, Fail> {
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
}

/// Skills as they are offered, and as agents write them.
pub(super) struct Written {
    pub(super) resolver: Arc<SkillsResolver>,
    pub(super) written: Arc<WrittenSkills>,
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

pub(super) fn register(
    registry: &CapabilityRegistry,
    resolver: Arc<dyn ambit_runtime::resolver::CapabilityResolver>,
) {
    // `taken_names` came first, so nothing is registered twice.
    if let Err(error) = registry.register(resolver) {
        tracing::warn!(%error, "a capability was left out");
    }
}
