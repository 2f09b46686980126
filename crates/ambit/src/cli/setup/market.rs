//! A marketplace of what there is: to look at, to serve, to work on.

use std::path::Path;
use std::sync::Arc;

use ambit_core::intent::InputLimit;
use ambit_core::pipeline::CallLimits;
use ambit_runtime::approver::Approver;
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::hook::{CommandHook, Hook};
use ambit_runtime::journal::Journal;
use ambit_runtime::marketplace::{CapabilityMarketplace, MarketplaceParts};
use ambit_runtime::results::ResultStore;

use crate::cli::fail::Fail;
use crate::config::{self};
use crate::follow::{Elsewhere, keep_up};
use crate::servers::Servers;

use super::Setup;
use super::capabilities::{Written, seen};

impl Setup {
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

    pub(super) fn keep_up(
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

    pub(super) fn market_with(
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
}

pub(super) fn command_hook(hook: &config::Hook, workspace: &Path) -> Arc<dyn Hook> {
    Arc::new(CommandHook {
        name: hook.name.clone(),
        stage: hook.when,
        command: hook.command.clone(),
        directory: workspace.to_owned(),
        timeout: hook.timeout(),
        only: hook.only.clone().unwrap_or_default(),
    })
}

pub(super) fn as_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
