//! What `tool_search` says is behind it. A model ignores a search that does not say what could be
//! found; this names the packs an agent has, without listing their tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::id::{CapabilityId, Kind};
use ambit_core::manifest::CapabilityManifest;
use ambit_core::wire::is_injection;

use crate::injection::TOOL_SEARCH;
use crate::session::SessionScope;

/// How long the list may get, in bytes. Around a dozen packs; the rest is told to be there.
const LONGEST: usize = 150;
/// Tokens kept for the list in every budget: no token is shorter than a byte, so this covers it
/// whatever packs are called.
pub(crate) const RESERVED: u32 = 160;

/// Whether this is the capability whose description is extended.
pub(crate) fn is_extended(id: &CapabilityId) -> bool {
    is_injection(id) && id.name() == TOOL_SEARCH
}

impl SessionScope {
    /// A capability's definition as this session shows it.
    pub(crate) fn manifest(&self, id: &CapabilityId) -> Option<Arc<CapabilityManifest>> {
        let catalog = self.market.catalog();
        let manifest = self.market.definition(&catalog.get(id)?.digest)?;
        Some(self.shown(id, manifest))
    }

    /// A definition as this session shows it.
    pub(crate) fn shown(
        &self,
        id: &CapabilityId,
        manifest: Arc<CapabilityManifest>,
    ) -> Arc<CapabilityManifest> {
        if !is_extended(id) {
            return manifest;
        }
        let mut packs: BTreeMap<&str, usize> = BTreeMap::new();
        let bounds = self.bounds();
        for id in bounds
            .granted
            .iter()
            .filter(|it| it.kind() == Kind::Tool && !is_injection(it))
        {
            *packs.entry(id.owner()).or_default() += 1;
        }
        if packs.is_empty() {
            return manifest;
        }
        let mut list = String::new();
        for (pack, tools) in packs {
            let item = format!(
                "{}{pack} ({tools})",
                if list.is_empty() { "" } else { ", " }
            );
            if list.len() + item.len() > LONGEST {
                list.push_str(", …");
                break;
            }
            list.push_str(&item);
        }
        let mut extended = CapabilityManifest::clone(&manifest);
        extended.description = format!("{} Behind it: {list}.", manifest.description);
        Arc::new(extended)
    }
}
