//! A server as a capability key: what it offered last is known without starting it, and calls
//! reach it through the pipeline like any other.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ambit_core::descriptor::CapabilityDescriptor;
use ambit_core::id::Kind;
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
use crate::shipped::Shipped;
use crate::spec::Sharing;
use crate::status::ServerState;

/// How long a server that failed its first look is left alone by commands that come after.
const LEFT_ALONE: Duration = Duration::from_secs(60);

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
    /// What it lists as far as anybody knew before it was first asked.
    shipped: Option<Shipped>,
}

impl McpResolver {
    /// A key with what the cache knows of its server. Nothing is started.
    pub fn new(server: Arc<McpServer>, cache: &DescriptorCache, pins: Arc<dyn PinStore>) -> Self {
        let (source, identity) = (server.spec().source(), server.spec().cached_as());
        let descriptors = cache.source(&source, &identity);
        let failed = match descriptors {
            Some(_) => None,
            None => cache.failure(&source, &identity, SystemTime::now()),
        };
        let failed = failed.filter(|(_, age)| *age < LEFT_ALONE);
        let seen = Seen {
            descriptors,
            unavailable: failed.map(|(why, age)| {
                let seconds = age.as_secs();
                format!("{why} (tried {seconds} s ago; `ambit ls --refresh` tries again now)")
            }),
        };
        McpResolver {
            server,
            pins,
            seen: Mutex::new(seen),
            shipped: None,
        }
    }

    /// The same for a server whose tools came with the program: they are offered before it was
    /// ever started, and what it lists then is held against them.
    pub fn shipped(
        server: Arc<McpServer>,
        cache: &DescriptorCache,
        pins: Arc<dyn PinStore>,
        shipped: Shipped,
    ) -> Self {
        let mut resolver = Self::new(server, cache, pins);
        resolver.shipped = Some(shipped);
        let seen = resolver.seen.get_mut();
        if seen.descriptors.is_none() {
            let spec = resolver.server.spec();
            let manifests = shipped.table(spec).manifests;
            let put = cache.put_source(&spec.source(), &spec.cached_as(), &manifests);
            // Without a cache its definitions could not be found again.
            if let Ok(descriptors) = put {
                seen.descriptors = Some(descriptors.into_iter().map(Arc::new).collect());
                seen.unavailable = None;
            }
        }
        resolver
    }

    /// The server a session's calls go to. A session resolves a key once, so this is its own for
    /// as long as it lives, where it is not to be shared.
    fn for_session(&self) -> Arc<McpServer> {
        match self.server.spec().sharing {
            Sharing::Shared => Arc::clone(&self.server),
            Sharing::PerSession => self.server.another(),
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

    /// Takes in what another process saw of the server meanwhile.
    pub fn reload(&self, cache: &DescriptorCache) {
        let spec = self.server.spec();
        if let Some(descriptors) = cache.source(&spec.source(), &spec.cached_as()) {
            self.seen.lock().descriptors = Some(descriptors);
        }
    }

    /// Whether it should be connected to find out. One that failed a moment ago is left alone.
    pub fn is_due(&self) -> bool {
        let seen = self.seen.lock();
        seen.descriptors.is_none() && seen.unavailable.is_none()
    }

    /// Asks the server what it offers, connecting if need be, judges it against what was accepted,
    /// and remembers it. How many tools there are is the answer.
    pub async fn refresh(&self, cache: &DescriptorCache) -> Result<usize, Arc<McpError>> {
        let listed = self.server.listed().await;
        let taken_in = listed.and_then(|table| self.take_in(&table, cache).map_err(Arc::new));
        self.note(taken_in, cache)
    }

    /// The same, within a time: after that it counts as failed.
    pub async fn refresh_within(
        &self,
        deadline: Duration,
        cache: &DescriptorCache,
    ) -> Result<usize, Arc<McpError>> {
        let ended = timeout(deadline, self.refresh(cache)).await;
        ended.unwrap_or_else(|_| {
            let late = McpError::ConnectTimeout {
                server: self.server.spec().name.clone(),
                after: deadline,
            };
            self.note(Err(Arc::new(late)), cache)
        })
    }

    /// In this order: what is to be held back is known before it is offered anywhere.
    fn take_in(
        &self,
        table: &Table,
        cache: &DescriptorCache,
    ) -> Result<Vec<CapabilityDescriptor>, McpError> {
        let spec = self.server.spec();
        if let Some(shipped) = self.shipped
            && self.pins.accepted(&spec.name)?.is_none()
        {
            let expected = shipped.table(spec).definitions(spec);
            judge(&*self.pins, &spec.name, expected, spec.new_tools)?;
        }
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
        cache: &DescriptorCache,
    ) -> Result<usize, Arc<McpError>> {
        let mut seen = self.seen.lock();
        match offered {
            Ok(descriptors) => {
                let tools = descriptors.iter().filter(|it| it.kind == Kind::Tool);
                let count = tools.count();
                *seen = Seen {
                    descriptors: Some(descriptors.into_iter().map(Arc::new).collect()),
                    unavailable: None,
                };
                Ok(count)
            }
            Err(error) => {
                let why = error.to_string();
                let spec = self.server.spec();
                // If it cannot be remembered, the next command tries again.
                let (source, identity) = (spec.source(), spec.cached_as());
                let _ = cache.put_failure(&source, &identity, &why, SystemTime::now());
                seen.unavailable = Some(why);
                Err(error)
            }
        }
    }
}

/// Connects every server nothing is known of and that did not fail a moment ago, all at once and each for its own time at most, so
/// that a slow one delays nobody. `progress` hears of each as it ends.
pub async fn refresh_missing(
    resolvers: &[Arc<McpResolver>],
    cache: &DescriptorCache,
    deadline: Duration,
    progress: impl Fn(&str, &Result<usize, Arc<McpError>>),
) {
    let progress = &progress;
    let due = resolvers.iter().filter(|it| it.is_due());
    join_all(due.map(|resolver| async move {
        let ended = resolver.refresh_within(deadline, cache).await;
        progress(&resolver.server.spec().name, &ended);
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
            source: self.server.spec().source(),
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
            None => Resolution::Ready(Arc::new(McpExecutor(self.for_session()))),
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
