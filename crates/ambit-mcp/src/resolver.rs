//! A server as a capability key: what it offered last is known without starting it, and calls
//! reach it through the pipeline like any other.

use std::sync::Arc;
use std::time::Duration;

use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::observation::{Failure, Output};
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::executor::{CapabilityExecutor, StartedCall};
use ambit_runtime::provider::Provider;
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use futures_util::future::join_all;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::error::McpError;
use crate::map::Table;
use crate::pin::{PinStore, judge};
use crate::server::McpServer;
use crate::status::ServerState;

const NEVER_SEEN: &str = "it was never connected: `ambit ls --refresh` does that";

/// What is known of a server's tools.
struct Seen {
    /// Nothing is known at all until it was listed once; it may well offer nothing.
    descriptors: Option<Vec<Arc<CapabilityDescriptor>>>,
    /// What went wrong when it was listed last.
    unavailable: Option<String>,
}

/// One server's key.
pub struct McpResolver {
    server: Arc<McpServer>,
    pins: Arc<dyn PinStore>,
    seen: Mutex<Seen>,
}

impl McpResolver {
    /// A key with what the cache knows of its server. Nothing is started.
    pub fn new(server: Arc<McpServer>, cache: &DescriptorCache, pins: Arc<dyn PinStore>) -> Self {
        let spec = server.spec();
        let seen = Seen {
            descriptors: cache.source(&spec.source(), &spec.cached_as()),
            unavailable: None,
        };
        McpResolver {
            server,
            pins,
            seen: Mutex::new(seen),
        }
    }

    /// The server behind it.
    pub fn server(&self) -> &Arc<McpServer> {
        &self.server
    }

    /// Whether it has to be connected before anything is known of it.
    pub fn is_missing(&self) -> bool {
        self.seen.lock().descriptors.is_none()
    }

    /// Asks the server what it offers, connecting if need be, judges it against what was accepted,
    /// and remembers it. How many tools there are is the answer.
    pub async fn refresh(&self, cache: &DescriptorCache) -> Result<usize, Arc<McpError>> {
        let listed = self.server.listed().await;
        self.note(listed.and_then(|table| self.take_in(&table, cache).map_err(Arc::new)))
    }

    /// In this order: what is to be held back is known before it is offered anywhere.
    fn take_in(
        &self,
        table: &Table,
        cache: &DescriptorCache,
    ) -> Result<Vec<CapabilityDescriptor>, McpError> {
        let spec = self.server.spec();
        let definitions = table.definitions(spec);
        judge(&*self.pins, &spec.name, definitions, spec.new_tools)?;
        Ok(cache.put_source(&spec.source(), &spec.cached_as(), &table.manifests)?)
    }

    /// Why it cannot serve at the moment. What went wrong when it was listed is over once it is
    /// connected.
    fn unavailable(&self) -> Option<String> {
        let connected = self.server.status().state == ServerState::Connected;
        let seen = self.seen.lock();
        let failed = seen.unavailable.clone().filter(|_| !connected);
        let never = || seen.descriptors.is_none().then(|| NEVER_SEEN.to_owned());
        failed.or_else(never).or_else(|| self.server.unavailable())
    }

    fn note(
        &self,
        offered: Result<Vec<CapabilityDescriptor>, Arc<McpError>>,
    ) -> Result<usize, Arc<McpError>> {
        let mut seen = self.seen.lock();
        match offered {
            Ok(descriptors) => {
                let count = descriptors.len();
                *seen = Seen {
                    descriptors: Some(descriptors.into_iter().map(Arc::new).collect()),
                    unavailable: None,
                };
                Ok(count)
            }
            Err(error) => {
                seen.unavailable = Some(error.to_string());
                Err(error)
            }
        }
    }
}

/// Connects every server nothing is known of, all at once and each for its own time at most, so
/// that a slow one delays nobody. `progress` hears of each as it ends.
pub async fn refresh_missing(
    resolvers: &[Arc<McpResolver>],
    cache: &DescriptorCache,
    deadline: Duration,
    progress: impl Fn(&str, &Result<usize, Arc<McpError>>),
) {
    let progress = &progress;
    let missing = resolvers.iter().filter(|it| it.is_missing());
    join_all(missing.map(|resolver| async move {
        let name = &resolver.server.spec().name;
        let ended = timeout(deadline, resolver.refresh(cache)).await;
        let ended = ended.unwrap_or_else(|_| {
            resolver.note(Err(Arc::new(McpError::ConnectTimeout {
                server: name.clone(),
                after: deadline,
            })))
        });
        progress(name, &ended);
    }))
    .await;
}

#[async_trait]
impl CapabilityResolver for McpResolver {
    fn key(&self) -> &str {
        &self.server.spec().name
    }

    fn summary(&self) -> &str {
        "A configured MCP server."
    }

    fn offer(&self) -> Offer {
        let descriptors = self.seen.lock().descriptors.clone();
        // Asked for each time: a person may have accepted something in another process.
        let held = self.pins.held(&self.server.spec().name);
        let untold = held.as_ref().err().map(ToString::to_string);
        Offer::Seen {
            descriptors: descriptors.unwrap_or_default(),
            unavailable: untold.or_else(|| self.unavailable()),
            quarantined: held.unwrap_or_default(),
        }
    }

    fn config_schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": false})
    }

    async fn resolve(&self, _: &Value, _: &ResolverContext) -> Result<Resolution, ResolveError> {
        Ok(match self.unavailable().filter(|_| self.is_missing()) {
            Some(reason) => Resolution::Nothing { reason },
            // What is down now may be up when it is called.
            None => Resolution::Ready(Arc::new(McpExecutor(Arc::clone(&self.server)))),
        })
    }
}

/// Runs calls on one server.
struct McpExecutor(Arc<McpServer>);

#[async_trait]
impl CapabilityExecutor for McpExecutor {
    async fn execute(&self, call: StartedCall) -> Result<Output, Failure> {
        let (id, definition) = (call.id().clone(), call.content());
        let conversation = call.conversation().clone();
        if let Some(limit) = self.0.spec().timeouts.call {
            conversation.hurry(limit);
        }
        self.0
            .run(&id, definition, call.into_arguments(), &conversation)
            .await
    }

    fn provider(&self) -> Option<Arc<dyn Provider>> {
        Some(self.0.provider())
    }
}
