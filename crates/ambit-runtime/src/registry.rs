//! Which capability keys exist, and what an agent's `capabilities` object brings: the outer
//! bound of what that agent may ever have. Not listed means not there.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_core::grant::{self, Grant, GrantProblem, ResolverDescriptor};
use ambit_core::id::{CapabilityId, is_owner};
use ambit_core::suggest::suggest;
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::executor::CapabilityExecutor;
use crate::resolver::{CapabilityResolver, Offer, Resolution, ResolverContext, describe};

/// What to do with a key nobody registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownCapabilities {
    /// It is a problem.
    #[default]
    Error,
    /// It is skipped, and that is recorded.
    Skip,
}

/// A resolver that cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RegisterError {
    /// Somebody else has the key.
    #[error("capability `{0}` is registered already")]
    Taken(String),
    /// The key cannot stand in an id.
    #[error("`{0}` cannot be a capability key (letters, digits, `-` and single `_`)")]
    BadKey(String),
}

/// A granted key that brought nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The key.
    pub key: String,
    /// Why.
    pub reason: String,
}

/// A granted key and what it brought.
#[derive(Clone)]
pub struct Granted {
    /// The key.
    pub key: String,
    /// The capabilities, in id order.
    pub ids: Vec<CapabilityId>,
    /// Runs them.
    pub executor: Arc<dyn CapabilityExecutor>,
    /// How much of what was granted that is.
    pub extent: Extent,
}

/// How much of what a key offers an agent has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All its grant says.
    Whole,
    /// What its config or its place leaves of that.
    Narrowed,
}

/// An agent's `capabilities`, resolved.
#[derive(Clone, Default)]
pub struct Resolved {
    /// What it has.
    pub granted: Vec<Granted>,
    /// What it was given and does not have.
    pub skipped: Vec<Skipped>,
}

/// An agent's `capabilities`, checked and not yet resolved.
#[derive(Clone, Debug, Default)]
pub struct CheckedGrants {
    /// What fits.
    pub grants: Vec<Grant>,
    /// Unknown keys that config says to skip.
    pub skipped: Vec<Skipped>,
}

/// All resolvers by key. Registering one is all that is needed to make a capability grantable.
#[derive(Default)]
pub struct CapabilityRegistry {
    resolvers: RwLock<BTreeMap<String, Arc<dyn CapabilityResolver>>>,
}

impl CapabilityRegistry {
    /// Makes a key grantable, at any time.
    pub fn register(&self, resolver: Arc<dyn CapabilityResolver>) -> Result<(), RegisterError> {
        let key = resolver.key().to_owned();
        if !is_owner(&key) {
            return Err(RegisterError::BadKey(key));
        }
        let mut resolvers = self.resolvers.write();
        if resolvers.contains_key(&key) {
            return Err(RegisterError::Taken(key));
        }
        resolvers.insert(key, resolver);
        Ok(())
    }

    /// Every key, its tools and its config schema, without starting anything.
    pub fn known_capabilities(&self) -> Vec<ResolverDescriptor> {
        self.resolvers
            .read()
            .values()
            .map(|it| describe(it.as_ref()))
            .collect()
    }

    /// What every key can bring, without starting anything.
    pub fn offers(&self) -> Vec<(String, Offer)> {
        self.resolvers
            .read()
            .iter()
            .map(|(key, it)| (key.clone(), it.offer()))
            .collect()
    }

    /// Why a key cannot serve anybody now, if so.
    pub fn unavailable(&self, key: &str) -> Option<String> {
        self.resolvers.read().get(key)?.unavailable()
    }

    /// Checks an agent's `capabilities` object or list against what is known. All problems are
    /// reported, not only the first.
    pub fn check(
        &self,
        capabilities: &Value,
        unknown: UnknownCapabilities,
    ) -> Result<CheckedGrants, Vec<GrantProblem>> {
        let entries = grant::entries(capabilities).map_err(|problem| vec![problem])?;
        let resolvers = self.resolvers.read();
        let mut checked = CheckedGrants::default();
        let mut problems = Vec::new();
        for (key, config) in entries {
            let Some(resolver) = resolvers.get(&key) else {
                let suggestions = suggest(&key, resolvers.keys().map(String::as_str));
                match unknown {
                    UnknownCapabilities::Skip => checked.skipped.push(Skipped {
                        reason: format!("no capability `{key}` is known here"),
                        key,
                    }),
                    UnknownCapabilities::Error => {
                        problems.push(GrantProblem::UnknownCapability { key, suggestions })
                    }
                }
                continue;
            };
            let offer = describe(resolver.as_ref());
            match (grant::check(&offer, &config), offer.unseen) {
                (Ok(grant), _) => checked.grants.push(grant),
                // Whether it has these tools nobody can say; that takes nothing else away.
                (Err(found), Some(reason)) if found.iter().all(is_unknown_tool) => {
                    checked.skipped.push(Skipped { key, reason });
                }
                (Err(found), _) => problems.extend(found),
            }
        }
        if problems.is_empty() {
            Ok(checked)
        } else {
            Err(problems)
        }
    }

    /// Makes checked grants callable. A resolver that returns nothing or fails takes only its own
    /// capability away.
    pub async fn resolve(&self, checked: CheckedGrants, context: &ResolverContext) -> Resolved {
        let mut resolved = Resolved {
            granted: Vec::new(),
            skipped: checked.skipped,
        };
        for Grant { key, ids, config } in checked.grants {
            let resolver = self.resolvers.read().get(&key).cloned();
            let resolution = match resolver {
                Some(resolver) => resolver.resolve(&config, context).await,
                None => Ok(Resolution::Nothing {
                    reason: "it is no longer registered".to_owned(),
                }),
            };
            match resolution {
                Ok(Resolution::Only {
                    executor,
                    ids: left,
                }) => {
                    let ids = ids.into_iter().filter(|it| left.contains(it)).collect();
                    resolved.granted.push(Granted {
                        key,
                        ids,
                        executor,
                        extent: Extent::Narrowed,
                    });
                }
                Ok(Resolution::Ready(executor)) => resolved.granted.push(Granted {
                    key,
                    ids,
                    executor,
                    extent: Extent::Whole,
                }),
                Ok(Resolution::Nothing { reason }) => {
                    resolved.skipped.push(Skipped { key, reason })
                }
                Err(error) => resolved.skipped.push(Skipped {
                    key,
                    reason: error.message,
                }),
            }
        }
        resolved
    }
}

fn is_unknown_tool(problem: &GrantProblem) -> bool {
    matches!(problem, GrantProblem::UnknownTool { .. })
}
