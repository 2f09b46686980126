//! Configured MCP servers as capability keys, by what was seen of them last. Connecting to them
//! is the work of the MCP adapter; without it they are known and unavailable.

use std::sync::Arc;

use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::digest::Digest;
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::config::McpServer;

const NO_CLIENT: &str = "this version has no MCP client yet";
const DISABLED: &str = "it is disabled in ambit.json";

/// A configured server.
pub struct SeenServer {
    name: String,
    seen: Vec<Arc<CapabilityDescriptor>>,
    unavailable: &'static str,
}

impl SeenServer {
    /// What the cache knows of a server.
    pub fn new(name: &str, server: &McpServer, cache: &DescriptorCache) -> Self {
        let seen = cache
            .source(&format!("mcp:{name}"), &identity(server))
            .unwrap_or_default();
        SeenServer {
            name: name.to_owned(),
            seen,
            unavailable: if server.disabled { DISABLED } else { NO_CLIENT },
        }
    }
}

/// What a server is: its program and arguments, or its url. Names of variables count, values do
/// not, so that a new token does not forget everything.
pub fn identity(server: &McpServer) -> Digest {
    let variables: Vec<&String> = server.env.keys().collect();
    Digest::of_json(&json!([server.command, server.args, variables, server.url]))
}

#[async_trait]
impl CapabilityResolver for SeenServer {
    fn key(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        "A configured MCP server."
    }

    fn offer(&self) -> Offer {
        Offer::Seen {
            descriptors: self.seen.clone(),
            unavailable: Some(self.unavailable.to_owned()),
        }
    }

    fn config_schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": false})
    }

    async fn resolve(&self, _: &Value, _: &ResolverContext) -> Result<Resolution, ResolveError> {
        Ok(Resolution::Nothing {
            reason: self.unavailable.to_owned(),
        })
    }
}
