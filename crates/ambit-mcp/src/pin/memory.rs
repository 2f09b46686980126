//! Pins for as long as the process lives: for tests, and for programs that keep none.

use std::collections::BTreeMap;

use ambit_core::id::CapabilityId;
use ambit_core::quarantine::Quarantine;
use parking_lot::Mutex;

use super::{Accepted, Definition, Held, Judged, PinError, PinStore};

/// Pins in memory.
#[derive(Default)]
pub struct MemoryPins(Mutex<BTreeMap<String, ServerPins>>);

#[derive(Default)]
struct ServerPins {
    /// In the order they were accepted.
    accepted: Vec<(CapabilityId, Definition)>,
    held: Vec<Held>,
}

impl MemoryPins {
    /// A person accepts what is held back of a capability.
    pub fn accept(&self, id: &CapabilityId) {
        for server in self.0.lock().values_mut() {
            let (now, still) = server.held.drain(..).partition(|it| it.id == *id);
            let accepted: Vec<Held> = now;
            server.held = still;
            let accepted = accepted.into_iter().map(|it| (it.id, it.definition));
            server.accepted.extend(accepted);
        }
    }
}

impl PinStore for MemoryPins {
    fn accepted(&self, server: &str) -> Result<Option<Accepted>, PinError> {
        let servers = self.0.lock();
        Ok(servers.get(server).map(|it| {
            let mut accepted = Accepted::new();
            for (id, definition) in &it.accepted {
                let digests = accepted.entry(id.clone()).or_default();
                digests.insert(definition.digest());
            }
            accepted
        }))
    }

    fn last_accepted(&self, id: &CapabilityId) -> Result<Option<Definition>, PinError> {
        let servers = self.0.lock();
        let mut pins = servers.values().flat_map(|it| it.accepted.iter().rev());
        Ok(pins.find(|it| it.0 == *id).map(|it| it.1.clone()))
    }

    fn held(&self, server: &str) -> Result<BTreeMap<CapabilityId, Quarantine>, PinError> {
        let servers = self.0.lock();
        let held = servers.get(server).into_iter().flat_map(|it| &it.held);
        Ok(held
            .map(|it| (it.id.clone(), it.quarantine.clone()))
            .collect())
    }

    fn record(&self, server: &str, judged: &Judged) -> Result<(), PinError> {
        let mut servers = self.0.lock();
        let server = servers.entry(server.to_owned()).or_default();
        server.accepted.extend(judged.pinned.iter().cloned());
        server.held = judged.held.clone();
        Ok(())
    }
}
