//! The search index of a marketplace, brought up to date source by source, when somebody searches
//! and not before: most processes never do.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::catalog::CatalogSnapshot;
use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::digest::Digest;
use ambit_core::id::Kind;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::search::{Embedder, SearchDocument, SearchIndex};

/// The index, and what it was made from.
pub(crate) struct Indexed {
    index: Arc<SearchIndex>,
    catalog: Option<Digest>,
    sources: BTreeMap<String, Digest>,
}

impl Indexed {
    /// Of nothing yet.
    pub(crate) fn new(embedder: Option<&Arc<dyn Embedder>>) -> Self {
        let index = embedder.map_or_else(SearchIndex::default, |it| {
            SearchIndex::with_embedder(Arc::clone(it))
        });
        Indexed {
            index: Arc::new(index),
            catalog: None,
            sources: BTreeMap::new(),
        }
    }

    /// The index of a catalog. Only sources that changed are read again.
    pub(crate) fn of(
        &mut self,
        catalog: &CatalogSnapshot,
        definition: impl Fn(&Digest) -> Option<Arc<CapabilityManifest>>,
    ) -> Arc<SearchIndex> {
        if self.catalog == Some(catalog.digest()) {
            return Arc::clone(&self.index);
        }
        let mut sources: BTreeMap<&str, Vec<&Arc<CapabilityDescriptor>>> = BTreeMap::new();
        for entry in catalog.iter() {
            sources
                .entry(entry.source.as_str())
                .or_default()
                .push(entry);
        }
        let mut index = SearchIndex::clone(&self.index);
        for gone in self
            .sources
            .keys()
            .filter(|it| !sources.contains_key(it.as_str()))
        {
            index = index.without_source(gone);
        }
        let mut seen = BTreeMap::new();
        let mut changed = Vec::new();
        for (name, entries) in sources {
            let digest =
                Digest::of_fields(entries.iter().map(|it| it.digest.as_bytes().as_slice()));
            if self.sources.get(name) != Some(&digest) {
                let found = entries.iter().filter_map(|it| definition(&it.digest));
                changed.push((
                    name.to_owned(),
                    found.map(|it| document(&it)).collect::<Vec<_>>(),
                ));
            }
            seen.insert(name.to_owned(), digest);
        }
        self.index = Arc::new(index.with_sources(changed));
        self.sources = seen;
        self.catalog = Some(catalog.digest());
        Arc::clone(&self.index)
    }
}

/// What search knows of a capability.
fn document(manifest: &CapabilityManifest) -> SearchDocument {
    let tags = manifest.tags.iter().map(|it| it.as_str().to_owned());
    let document = SearchDocument {
        name: manifest.id.name().to_owned(),
        title: manifest.title.clone(),
        description: manifest.description.clone(),
        tags: tags
            .chain(manifest.hints.keywords.iter().cloned())
            .collect(),
        pack: manifest.id.owner().to_owned(),
        pack_summary: manifest.pack_summary.clone(),
        body: manifest.search_text.clone(),
        ..SearchDocument::new(manifest.id.clone())
    };
    match manifest.id.kind() {
        // All skills take the same arguments, which say nothing about any of them.
        Kind::Skill => document,
        _ => document.with_input_schema(&manifest.input_schema),
    }
}
