//! A marketplace in memory, to put capabilities on and call them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_core::observation::Observation;
use ambit_core::permission::{Mode, Rules};
use ambit_core::pipeline::CallLimits;
use ambit_core::redact::Redactor;
use ambit_runtime::approver::{Approver, NobodyThere};
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::discovery::TurnRequest;
use ambit_runtime::hook::Hook;
use ambit_runtime::journal::{Event, EventFilter, Journal};
use ambit_runtime::marketplace::{CapabilityMarketplace, MarketplaceParts};
use ambit_runtime::registry::{CapabilityRegistry, UnknownCapabilities};
use ambit_runtime::resolver::CapabilityResolver;
use ambit_runtime::results::ResultStore;
use ambit_runtime::session::{Session, SessionSpec};
use ambit_runtime::{CallReport, CallRequest, CancellationToken};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// A marketplace over given resolvers, all granted, in a temporary folder.
pub struct Bench {
    /// The temporary folder; the workspace is inside.
    pub folder: TempDir,
    resolvers: Vec<Arc<dyn CapabilityResolver>>,
    approver: Arc<dyn Approver>,
    hooks: Vec<Arc<dyn Hook>>,
    limits: CallLimits,
    secrets: Vec<String>,
    capabilities: Map<String, Value>,
    journal: Option<Journal>,
    rules: Rules,
    cache: Option<PathBuf>,
}

impl Default for Bench {
    fn default() -> Self {
        Bench {
            folder: tempfile::tempdir().unwrap(),
            resolvers: Vec::new(),
            approver: Arc::new(NobodyThere),
            hooks: Vec::new(),
            limits: CallLimits::default(),
            secrets: Vec::new(),
            capabilities: Map::new(),
            journal: None,
            rules: Rules::default(),
            cache: None,
        }
    }
}

impl Bench {
    /// With a resolver, granted with this config.
    #[must_use]
    pub fn with(mut self, resolver: Arc<dyn CapabilityResolver>, config: Value) -> Self {
        self.capabilities.insert(resolver.key().to_owned(), config);
        self.resolvers.push(resolver);
        self
    }

    /// With somebody to ask.
    #[must_use]
    pub fn asking(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// With a hook.
    #[must_use]
    pub fn hooked(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(hook);
        self
    }

    /// With other limits.
    #[must_use]
    pub fn limited(mut self, limits: CallLimits) -> Self {
        self.limits = limits;
        self
    }

    /// With a value that must not be shown.
    #[must_use]
    pub fn secret(mut self, value: &str) -> Self {
        self.secrets.push(value.to_owned());
        self
    }

    /// With a journal of the test's own.
    #[must_use]
    pub fn journal(mut self, journal: Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// With rules.
    #[must_use]
    pub fn ruled(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// With what was seen before: the descriptor cache in this file.
    #[must_use]
    pub fn cached(mut self, cache: &Path) -> Self {
        self.cache = Some(cache.to_owned());
        self
    }

    /// The marketplace.
    pub fn market(&self) -> Arc<CapabilityMarketplace> {
        let registry = CapabilityRegistry::default();
        for resolver in &self.resolvers {
            registry.register(Arc::clone(resolver)).unwrap();
        }
        CapabilityMarketplace::new(MarketplaceParts {
            registry,
            cache: match &self.cache {
                Some(path) => DescriptorCache::open(path).unwrap(),
                None => DescriptorCache::in_memory().unwrap(),
            },
            journal: self
                .journal
                .clone()
                .unwrap_or_else(|| Journal::in_memory().unwrap()),
            approver: Arc::clone(&self.approver),
            hooks: self.hooks.clone(),
            redactor: Redactor::new(self.secrets.iter().map(String::as_str)),
            limits: self.limits,
            results: ResultStore::new(self.folder.path().join("results")),
            embedder: None,
        })
    }

    /// A session with everything granted and its first turn begun.
    pub async fn session(&self, mode: Mode) -> Session {
        self.session_on(&self.market(), mode).await
    }

    /// The same on a given marketplace.
    pub async fn session_on(&self, market: &Arc<CapabilityMarketplace>, mode: Mode) -> Session {
        let session = market.open_session(self.spec(mode)).await.unwrap();
        session.begin_turn(&TurnRequest::default());
        session
    }

    /// How its sessions are opened.
    pub fn spec(&self, mode: Mode) -> SessionSpec {
        let workspace = self.folder.path().join("workspace");
        std::fs::create_dir_all(&workspace).unwrap();
        SessionSpec {
            agent: "tester".to_owned(),
            capabilities: Value::Object(self.capabilities.clone()),
            unknown: UnknownCapabilities::Error,
            mode,
            rules: self.rules.clone(),
            channel: Default::default(),
            discovery: Default::default(),
            exposure: Default::default(),
            asker: Default::default(),
            agent_dir: self.folder.path().join("agent"),
            workspace,
            control_paths: Vec::new(),
            callbacks: Default::default(),
            within: None,
        }
    }

    /// Calls once in a fresh session.
    pub async fn call(&self, mode: Mode, target: &str, arguments: Value) -> Observation {
        call(&self.session(mode).await, target, arguments)
            .await
            .observation
    }
}

/// Calls in a session.
pub async fn call(session: &Session, target: &str, arguments: Value) -> CallReport {
    session
        .call(
            CallRequest {
                target: target.to_owned(),
                arguments,
            },
            &CancellationToken::new(),
        )
        .await
}

/// Everything a session recorded so far.
pub async fn events(market: &CapabilityMarketplace, session: &Session) -> Vec<Event> {
    market.journal().flush().await.unwrap();
    let filter = EventFilter {
        session: Some(session.id().clone()),
        ..EventFilter::default()
    };
    market.journal().reader().unwrap().events(&filter).unwrap()
}
