//! The façade: sources in, sessions and calls through, events out.

use std::collections::HashMap;
use std::sync::Arc;

use ambit_core::catalog::{CatalogSnapshot, SourceSnapshot, StoredCatalog};
use ambit_core::digest::Digest;
use ambit_core::granted::Granted;
use ambit_core::id::{CapabilityId, Source};
use ambit_core::loaded::LoadedCapability;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::pipeline::CallLimits;
use ambit_core::redact::Redactor;
use ambit_core::search::{Embedder, SearchIndex};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::approver::Approver;
use crate::cache::DescriptorCache;
use crate::catalog::{CapabilityCatalog, CatalogStep};
use crate::hook::Hook;
use crate::indexed::Indexed;
use crate::injection::{self, INJECTION_SOURCE};
use crate::journal::{Journal, Receipt};
use crate::registry::CapabilityRegistry;
use crate::resolver::Offer;
use crate::results::ResultStore;

/// What a marketplace is made of.
pub struct MarketplaceParts {
    /// Which keys exist.
    pub registry: CapabilityRegistry,
    /// What was seen last time.
    pub cache: DescriptorCache,
    /// Where everything is remembered.
    pub journal: Journal,
    /// Whom to ask.
    pub approver: Arc<dyn Approver>,
    /// Who looks at calls.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Knows what must not be shown or written.
    pub redactor: Redactor,
    /// Bounds of every call.
    pub limits: CallLimits,
    /// Where whole results are kept.
    pub results: ResultStore,
    /// Ranks by meaning beside words, where a model is configured.
    pub embedder: Option<Arc<dyn Embedder>>,
}

/// Everything this process knows and can do.
pub struct CapabilityMarketplace {
    pub(crate) parts: MarketplaceParts,
    catalog: CapabilityCatalog,
    definitions: Mutex<HashMap<Digest, Arc<CapabilityManifest>>>,
    loaded: Mutex<HashMap<Digest, Arc<LoadedCapability>>>,
    /// Objects handed to the journal, and with which append.
    stored: Mutex<HashMap<Digest, Receipt>>,
    indexed: Mutex<Indexed>,
}

impl CapabilityMarketplace {
    /// A marketplace that offers what its registry declares.
    pub fn new(parts: MarketplaceParts) -> Arc<Self> {
        let market = CapabilityMarketplace {
            indexed: Mutex::new(Indexed::new(parts.embedder.as_ref())),
            parts,
            catalog: CapabilityCatalog::default(),
            definitions: Mutex::default(),
            loaded: Mutex::default(),
            stored: Mutex::default(),
        };
        market.offer(INJECTION_SOURCE, injection::manifests());
        market.refresh();
        Arc::new(market)
    }

    /// Which keys exist.
    pub fn registry(&self) -> &CapabilityRegistry {
        &self.parts.registry
    }

    /// What was seen last time.
    pub fn cache(&self) -> &DescriptorCache {
        &self.parts.cache
    }

    /// Where everything is remembered.
    pub fn journal(&self) -> &Journal {
        &self.parts.journal
    }

    /// The catalog as it is now.
    pub fn catalog(&self) -> Arc<CatalogSnapshot> {
        self.catalog.snapshot()
    }

    /// Moves when the catalog does.
    pub fn moved(&self) -> watch::Receiver<u64> {
        self.catalog.moved()
    }

    /// Knows what must not be shown or written.
    pub fn redactor(&self) -> &Redactor {
        &self.parts.redactor
    }

    /// Bounds of every call.
    pub fn limits(&self) -> &CallLimits {
        &self.parts.limits
    }

    /// Where whole results are kept.
    pub fn results(&self) -> &ResultStore {
        &self.parts.results
    }

    /// The number of the catalog's contents, counted across processes.
    pub fn revision(&self) -> u64 {
        let catalog = self.catalog.snapshot();
        // Without a cache, this process's own count.
        self.parts
            .cache
            .revision(&catalog.digest())
            .unwrap_or(catalog.revision())
    }

    /// Takes in what registered resolvers offer now.
    pub fn refresh(&self) {
        let offers = self.parts.registry.offers().into_iter();
        let sources = offers.map(|(key, offer)| match offer {
            Offer::Declared(manifests) => {
                let source = match manifests.first() {
                    Some(first) => source_of(&key, first.id.source()),
                    None => self.emptied(&key),
                };
                SourceSnapshot {
                    unavailable: self.parts.registry.unavailable(&key),
                    ..self.declared(source, manifests)
                }
            }
            Offer::Seen {
                source,
                descriptors,
                unavailable,
                quarantined,
            } => SourceSnapshot {
                source,
                descriptors,
                unavailable,
                quarantined,
            },
        });
        self.push(sources.collect::<Vec<_>>());
    }

    /// The source of a key that brings nothing now: what it brought before is gone with it.
    fn emptied(&self, key: &str) -> String {
        let catalog = self.catalog.snapshot();
        let before = catalog.iter().find(|it| key_of(&it.source) == key);
        before.map_or_else(|| source_of(key, Source::Extension), |it| it.source.clone())
    }

    /// A source that serves says what it offers, in full.
    pub fn offer(&self, source: &str, manifests: Vec<CapabilityManifest>) {
        self.push([self.declared(source.to_owned(), manifests)]);
    }

    /// A source's snapshot, its definitions kept to be found by digest.
    fn declared(&self, source: String, manifests: Vec<CapabilityManifest>) -> SourceSnapshot {
        let mut descriptors = self.parts.cache.describe(&source, &manifests);
        let mut definitions = self.definitions.lock();
        for (manifest, descriptor) in manifests.into_iter().zip(&mut descriptors) {
            definitions.insert(descriptor.digest, Arc::new(manifest));
            // Room for what a session adds to this description.
            if injection::is_extended(&descriptor.id) {
                descriptor.tokens.card += injection::RESERVED;
                descriptor.tokens.full += injection::RESERVED;
            }
        }
        SourceSnapshot {
            source,
            descriptors: descriptors.into_iter().map(Arc::new).collect(),
            unavailable: None,
            quarantined: Default::default(),
        }
    }

    /// Takes in sources' snapshots: whole, light, their definitions to be found by digest.
    pub fn push(&self, sources: impl IntoIterator<Item = SourceSnapshot>) {
        self.catalog.push(sources);
    }

    /// How the catalog changed between two revisions.
    pub(crate) fn steps(&self, after: u64, up_to: u64) -> Vec<CatalogStep> {
        self.catalog.steps(after, up_to)
    }

    /// A capability's definition.
    pub fn definition(&self, digest: &Digest) -> Option<Arc<CapabilityManifest>> {
        if let Some(found) = self.definitions.lock().get(digest) {
            return Some(Arc::clone(found));
        }
        let found = Arc::new(self.parts.cache.definition(digest)?);
        self.definitions.lock().insert(*digest, Arc::clone(&found));
        Some(found)
    }

    /// The same for somebody who looks at it once: what was not at hand is not kept.
    pub(crate) fn definition_in_passing(&self, digest: &Digest) -> Option<Arc<CapabilityManifest>> {
        let kept = self.definitions.lock().get(digest).cloned();
        kept.or_else(|| self.parts.cache.definition(digest).map(Arc::new))
    }

    /// A capability in full, compiled once per definition. Nothing where its definition is not to
    /// be had or its schemas cannot be used: it cannot be called then.
    pub fn load(&self, id: &CapabilityId) -> Option<Arc<LoadedCapability>> {
        let catalog = self.catalog.snapshot();
        let descriptor = catalog.get(id)?;
        if let Some(loaded) = self.loaded.lock().get(&descriptor.digest) {
            return Some(Arc::clone(loaded));
        }
        let manifest = self.definition(&descriptor.digest)?;
        let loaded = Arc::new(LoadedCapability::new(Arc::clone(descriptor), manifest).ok()?);
        self.loaded
            .lock()
            .insert(descriptor.digest, Arc::clone(&loaded));
        Some(loaded)
    }

    /// What a turn's selection looked at, as objects for the journal, unless they are there already.
    pub(crate) fn turn_objects(
        &self,
        catalog: &CatalogSnapshot,
        granted: &Granted,
    ) -> Vec<(Digest, String)> {
        let mut objects = Vec::new();
        if self.missing(&catalog.digest()) {
            let text = serde_json::to_string(&StoredCatalog::from(catalog));
            objects.extend(text.ok().map(|it| (catalog.digest(), it)));
        }
        if self.missing(&granted.digest()) {
            objects.extend(
                serde_json::to_string(granted)
                    .ok()
                    .map(|it| (granted.digest(), it)),
            );
        }
        objects
    }

    /// Everything that can be found now.
    pub fn index(&self) -> Arc<SearchIndex> {
        self.indexed
            .lock()
            .of(&self.catalog.snapshot(), |digest| self.definition(digest))
    }

    /// A definition as an object for the journal, unless it is there already.
    pub(crate) fn definition_object(
        &self,
        capability: &LoadedCapability,
    ) -> Option<(Digest, String)> {
        let digest = capability.descriptor().digest;
        self.missing(&digest)
            .then(|| serde_json::to_string(capability.manifest()).ok())
            .flatten()
            .map(|text| (digest, text))
    }

    /// An object went to the journal with this append.
    pub(crate) fn handed_over(&self, digest: Digest, receipt: &Receipt) {
        self.stored.lock().insert(digest, receipt.clone());
    }

    /// An append that failed stored nothing, so the object is still to be stored.
    fn missing(&self, digest: &Digest) -> bool {
        self.stored.lock().get(digest).is_none_or(Receipt::failed)
    }
}

/// The source behind a key, `local:files`: it comes and goes as a whole.
fn source_of(key: &str, kind: Source) -> String {
    format!("{}:{key}", kind.as_str())
}

/// The key behind a source: the way back from [`source_of`].
pub(crate) fn key_of(source: &str) -> &str {
    source.split_once(':').map_or(source, |(_, key)| key)
}
