//! `memory`: short facts an agent keeps from one conversation to the next.

mod memories;
mod similar;
#[cfg(test)]
mod tests;
mod tools;

use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Builtins;
use crate::declare::object;
use crate::pack::Pack;
pub(crate) use memories::PART;
use memories::{Limits, Memories};

const KEY: &str = "memory";
const SUMMARY: &str = "Remember facts from one conversation to the next, and find them again.";

static PACK: Pack<Memories> = Pack {
    key: KEY,
    summary: SUMMARY,
    tools: tools::TOOLS,
};

/// The longest text a memory may have. What is longer is a note.
const MOST_CHARACTERS: usize = 4000;
/// A config may allow so many: saving compares with each.
const MOST_ENTRIES: u32 = 10_000;

/// Whose memories an agent works with.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scope {
    /// Its own.
    #[default]
    Agent,
    /// Those of every agent of the workspace that has this scope.
    Shared,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct MemoryConfig {
    scope: Scope,
    max_entries: u32,
    max_characters: usize,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        MemoryConfig {
            scope: Scope::Agent,
            max_entries: 1000,
            max_characters: MOST_CHARACTERS,
        }
    }
}

/// Makes `memory` grantable.
#[derive(Clone)]
pub struct MemoryResolver(pub Builtins);

#[async_trait]
impl CapabilityResolver for MemoryResolver {
    fn key(&self) -> &str {
        KEY
    }

    fn summary(&self) -> &str {
        SUMMARY
    }

    fn offer(&self) -> Offer {
        PACK.offer()
    }

    fn config_schema(&self) -> Value {
        object(
            &[],
            json!({
                "scope": {
                    "type": "string", "enum": ["agent", "shared"], "default": "agent",
                    "description": "Whose memories: the agent's own, or those all agents of the workspace with this scope share.",
                },
                "maxEntries": {
                    "type": "integer", "minimum": 1, "maximum": MOST_ENTRIES, "default": 1000,
                    "description": "At most so many memories. Nothing is dropped: a full memory refuses the next.",
                },
                "maxCharacters": {
                    "type": "integer", "minimum": 20, "maximum": MOST_CHARACTERS,
                    "default": MOST_CHARACTERS,
                    "description": "The longest a memory may be.",
                },
            }),
        )
    }

    async fn resolve(
        &self,
        config: &Value,
        context: &ResolverContext,
    ) -> Result<Resolution, ResolveError> {
        let config = MemoryConfig::deserialize(config).map_err(|error| ResolveError {
            key: KEY.to_owned(),
            message: error.to_string(),
        })?;
        Ok(Resolution::Ready(PACK.executor(Memories {
            store: self.0.store.clone(),
            clock: self.0.clock.clone(),
            agent: context.agent.clone(),
            pool: match config.scope {
                Scope::Agent => Some(context.agent.clone()),
                Scope::Shared => None,
            },
            limits: Limits {
                entries: config.max_entries,
                characters: config.max_characters,
            },
        })))
    }
}
