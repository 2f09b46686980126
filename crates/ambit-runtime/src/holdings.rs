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
use crate::registry::{Granted, Resolved, Skipped, UnknownCapabilities};
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
    /// Kept from one look to the next: a key is resolved once in a session's life.
    by_key: BTreeMap<String, Arc<dyn CapabilityExecutor>>,
}

impl Holdings {
    /// Those of what is held that hand out placeholders.
    pub(crate) fn fillers(&self) -> Vec<Arc<dyn SecretFiller>> {
        self.by_key.values().filter_map(|it| it.filler()).collect()
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
        let mut settled: Vec<Granted> = Vec::new();
        checked.grants.retain(|grant| {
            let Some(executor) = before.by_key.get(&grant.key) else {
                return true;
            };
            settled.push(Granted {
                key: grant.key.clone(),
                ids: grant.ids.clone(),
                executor: Arc::clone(executor),
            });
            false
        });
        let Resolved { granted, skipped } = registry.resolve(checked, &self.context).await;
        settled.extend(granted);
        let catalog = market.catalog();
        let mut holdings = Holdings {
            skipped,
            ..Holdings::default()
        };
        for grant in settled {
            // An id that another key's definition holds is judged by that definition; running it
            // here would be running what nobody judged.
            let own = |id: &CapabilityId| {
                catalog
                    .get(id)
                    .is_none_or(|it| key_of(&it.source) == grant.key)
            };
            let ids = grant.ids.into_iter().filter(own);
            holdings
                .executors
                .extend(ids.map(|id| (id, Arc::clone(&grant.executor))));
            holdings.by_key.insert(grant.key, grant.executor);
        }
        Ok(holdings)
    }
}
