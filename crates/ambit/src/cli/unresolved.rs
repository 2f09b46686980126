//! Built-in capabilities nobody can use as things are, and why. They are declared all the same:
//! a person should see what there could be.

use std::collections::BTreeMap;

use ambit_runtime::marketplace::CapabilityMarketplace;
use ambit_runtime::registry::{CapabilityRegistry, UnknownCapabilities};
use serde_json::{Value, json};

use crate::browser;
use crate::cli::fail::Fail;
use crate::cli::setup::Setup;

/// One that resolves to nothing.
pub(crate) struct Unresolved {
    /// Why.
    pub(crate) reason: String,
    /// An agent that was granted it nevertheless.
    pub(crate) granted_to: Option<String>,
}

/// Each built-in key that no agent can use: with the config of those that have it, or with none
/// where nobody has it.
pub(crate) fn unresolved(
    setup: &Setup,
    market: &CapabilityMarketplace,
) -> Result<BTreeMap<String, Unresolved>, Fail> {
    let mut found = BTreeMap::new();
    let servers = &setup.loaded.config.mcp_servers;
    // What a server has in its place is the server's.
    for key in ambit_builtins::KEYS
        .iter()
        .chain([&browser::KEY])
        .filter(|it| !servers.contains_key(**it))
    {
        let granted: Vec<(&String, Value)> = setup
            .loaded
            .config
            .agents
            .iter()
            .filter_map(|(name, agent)| {
                let config = agent.capabilities.0.get(*key)?;
                Some((name, Value::Object(config.clone())))
            })
            .collect();
        let nobody = String::new();
        let tried = match granted.is_empty() {
            true => vec![(&nobody, json!({}))],
            false => granted,
        };
        let mut reasons = Vec::new();
        for (agent, config) in &tried {
            let reason = reason(setup, market.registry(), agent, key, config)?;
            reasons.extend(reason.map(|it| ((*agent).clone(), it)));
        }
        if reasons.len() == tried.len()
            && let Some((agent, reason)) = reasons.into_iter().next()
        {
            let granted_to = Some(agent).filter(|it| !it.is_empty());
            found.insert((*key).to_owned(), Unresolved { reason, granted_to });
        }
    }
    Ok(found)
}

/// Why a key brings nothing with this config, if so.
fn reason(
    setup: &Setup,
    registry: &CapabilityRegistry,
    agent: &str,
    key: &str,
    config: &Value,
) -> Result<Option<String>, Fail> {
    // What does not even fit is a problem of the config, and told as such elsewhere.
    let Ok(checked) = registry.check(&json!({ key: config }), UnknownCapabilities::Skip) else {
        return Ok(None);
    };
    let context = setup.looking(agent);
    let resolving = registry.resolve(checked, &context);
    let resolved = setup.runtime()?.block_on(resolving);
    Ok(resolved.skipped.into_iter().next().map(|it| it.reason))
}
