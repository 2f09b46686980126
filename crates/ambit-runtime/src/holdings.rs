//! What a session holds: the capabilities its agent was granted, and what runs each. Providers
//! come and change while a session lives, so it is looked up again whenever the catalog moved.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::grant::GrantProblem;
use ambit_core::id::CapabilityId;
use serde_json::Value;

use crate::executor::CapabilityExecutor;
use crate::filling::SecretFiller;
use crate::marketplace::{CapabilityMarketplace, key_of};
use crate::registry::{Extent, Granted, Resolved, Skipped, UnknownCapabilities};
use crate::resolver::ResolverContext;

/// What an agent asks for, and where it is.
pub(crate) struct Claim {
    pub(crate) capabilities: Value,
    pub(crate) unknown: UnknownCapabilities,
    pub(crate) context: ResolverContext,
}

/// What came of it.
#[derive(Clone, Default)]
pub(crate) struct Holdings {
    pub(crate) executors: BTreeMap<CapabilityId, Arc<dyn CapabilityExecutor>>,
    pub(crate) skipped: Vec<Skipped>,
    /// Kept from one look to the next: a key is not resolved again without need.
    by_key: BTreeMap<String, Settled>,
}

/// A key that was resolved.
#[derive(Clone)]
struct Settled {
    /// What its grant said then.
    offered: Vec<CapabilityId>,
    granted: Granted,
}

impl Settled {
    /// What there is of it under this grant, unless only its resolver can say.
    fn under(&self, ids: &[CapabilityId]) -> Option<Granted> {
        match self.granted.extent {
            Extent::Whole => Some(Granted {
                ids: ids.to_vec(),
                ..self.granted.clone()
            }),
            // What was left of another offer says nothing about this one.
            Extent::Narrowed => (self.offered == ids).then(|| self.granted.clone()),
        }
    }
}

impl Holdings {
    /// Those of what is held that hand out placeholders.
    pub(crate) fn fillers(&self) -> Vec<Arc<dyn SecretFiller>> {
        self.by_key
            .values()
            .filter_map(|it| it.granted.executor.filler())
            .collect()
    }
}

impl Claim {
    /// Checks and resolves the claim. What was resolved before is not resolved again.
    pub(crate) async fn settle(
        &self,
        market: &CapabilityMarketplace,
        before: &Holdings,
    ) -> Result<Holdings, Vec<GrantProblem>> {
        let registry = market.registry();
        let mut checked = registry.check(&self.capabilities, self.unknown)?;
        let mut offered: BTreeMap<String, Vec<CapabilityId>> = BTreeMap::new();
        let mut settled: Vec<Granted> = Vec::new();
        checked.grants.retain(|grant| {
            offered.insert(grant.key.clone(), grant.ids.clone());
            let before = before.by_key.get(&grant.key);
            let Some(granted) = before.and_then(|it| it.under(&grant.ids)) else {
                return true;
            };
            settled.push(granted);
            false
        });
        let Resolved { granted, skipped } = registry.resolve(checked, &self.context).await;
        settled.extend(granted);
        let catalog = market.catalog();
        let mut holdings = Holdings {
            skipped,
            ..Holdings::default()
        };
        for granted in settled {
            // An id that another key's definition holds is judged by that definition; running it
            // here would be running what nobody judged.
            let own = |id: &&CapabilityId| {
                catalog
                    .get(id)
                    .is_none_or(|it| key_of(&it.source) == granted.key)
            };
            let ids = granted.ids.iter().filter(own);
            holdings
                .executors
                .extend(ids.map(|id| (id.clone(), Arc::clone(&granted.executor))));
            let offered = offered.remove(&granted.key).unwrap_or_default();
            holdings
                .by_key
                .insert(granted.key.clone(), Settled { offered, granted });
        }
        Ok(holdings)
    }
}
