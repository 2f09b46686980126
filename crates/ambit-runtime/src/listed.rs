//! All definitions of a turn, one after the other. A list of thousands is written once and seldom
//! read again; what it was written from need not stay.

use ambit_core::id::CapabilityId;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::projection::defined;
use ambit_core::wire::is_injection;

use crate::discovery::Exposure;
use crate::session::Session;

impl Session {
    /// Looks at every tool defined to the model this turn, with the name it goes by: the tools of a
    /// [`Session::projection`], in the same order, without keeping any of them.
    pub fn each_tool(&self, mut look: impl FnMut(&CapabilityId, &str, &CapabilityManifest)) {
        let scope = &self.scope;
        let visible = self.visible();
        let catalog = scope.market.catalog();
        let is_dispatched = scope.bounds().exposure == Exposure::Dispatched;
        for (id, name) in defined(&visible) {
            if is_dispatched && !is_injection(id) {
                continue;
            }
            let found = catalog.get(id);
            let found = found.and_then(|it| scope.market.definition_in_passing(&it.digest));
            if let Some(manifest) = found {
                look(id, name, &scope.shown(id, manifest));
            }
        }
    }
}
