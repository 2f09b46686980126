//! Configured MCP servers as capability keys.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ambit_core::digest::Digest;
use ambit_mcp::{
    McpResolver, McpServer, PinStore, ServerSpec, ServerState, TokenStore, Transport,
    refresh_missing,
};
use ambit_runtime::cache::DescriptorCache;
use ambit_runtime::resolver::{
    CapabilityResolver, Offer, Resolution, ResolveError, ResolverContext,
};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::browser::{self, Browser};
use crate::config;
use crate::secrets::SecretValue;

/// How long a server may take to say what it offers, the first time.
const FIRST_SIGHT: Duration = Duration::from_secs(20);

const DISABLED: &str = "it is disabled in ambit.json";

/// The servers of a configuration.
#[derive(Clone, Default)]
pub struct Servers {
    connectable: Vec<Arc<McpResolver>>,
    disabled: Vec<Arc<Disabled>>,
    browser: Option<Arc<Browser>>,
}

impl Servers {
    /// With what the cache knows of each. Nothing is started.
    pub fn new(
        servers: &BTreeMap<String, config::McpServer>,
        workspace: &Path,
        cache: &DescriptorCache,
        pins: &Arc<dyn PinStore>,
        tokens: &Arc<dyn TokenStore>,
    ) -> Self {
        let mut all = Servers::default();
        for (name, server) in servers {
            match spec(name, server, workspace) {
                Some(spec) if !server.disabled => {
                    let server = McpServer::with_tokens(spec, Arc::clone(tokens));
                    let resolver = McpResolver::new(server, cache, Arc::clone(pins));
                    all.connectable.push(Arc::new(resolver));
                }
                _ => all.disabled.push(Arc::new(Disabled(name.clone()))),
            }
        }
        all
    }

    /// With the browser, unless somebody calls a server of their own that.
    #[must_use]
    pub fn with_browser(mut self, browser: Browser) -> Self {
        let own = self
            .connectable
            .iter()
            .map(|it| it.server().spec().name.as_str());
        let mut names = own.chain(self.disabled.iter().map(|it| it.0.as_str()));
        if !names.any(|it| it == browser::KEY) {
            self.browser = Some(Arc::new(browser));
        }
        self
    }

    /// The browser, if it is nobody's own.
    pub fn browser(&self) -> Option<&Browser> {
        self.browser.as_deref()
    }

    /// All that can say that something of theirs changed.
    pub fn followed(&self) -> impl Iterator<Item = &Arc<McpResolver>> {
        let browser = self.browser.iter().map(|it| it.server());
        self.connectable.iter().chain(browser)
    }

    /// As resolvers.
    pub fn resolvers(&self) -> impl Iterator<Item = Arc<dyn CapabilityResolver>> {
        let connectable = self
            .connectable
            .iter()
            .map(|it| Arc::clone(it) as Arc<dyn CapabilityResolver>);
        let disabled = self
            .disabled
            .iter()
            .map(|it| Arc::clone(it) as Arc<dyn CapabilityResolver>);
        let browser = self
            .browser
            .iter()
            .map(|it| Arc::clone(it) as Arc<dyn CapabilityResolver>);
        connectable.chain(disabled).chain(browser)
    }

    /// Where each stands, in a word.
    pub fn states(&self) -> Vec<(String, &'static str)> {
        let state = |it: &Arc<McpResolver>| match it.server().status().state {
            ServerState::NotConnected => "not_connected",
            ServerState::Connecting => "connecting",
            ServerState::Connected => "connected",
            ServerState::LeftAlone { .. } => "left_alone",
        };
        let connectable = self.connectable.iter();
        let connectable = connectable.map(|it| (it.server().spec().name.clone(), state(it)));
        let disabled = self.disabled.iter().map(|it| (it.0.clone(), "disabled"));
        connectable.chain(disabled).collect()
    }

    /// Those nothing is known of yet, unless they failed a moment ago.
    pub fn unseen(&self) -> Vec<&str> {
        let unseen = self.connectable.iter().filter(|it| it.is_due());
        unseen.map(|it| it.server().spec().name.as_str()).collect()
    }

    /// Those that can be connected.
    pub fn connectable(&self) -> &[Arc<McpResolver>] {
        &self.connectable
    }

    /// Connects those nothing is known of, all at once. `progress` hears of each as it ends: how
    /// many tools it brings, or what is wrong. May run beside a marketplace that was made without
    /// waiting for it; `CapabilityMarketplace::refresh` takes in what came of it.
    pub async fn see(
        &self,
        cache: &DescriptorCache,
        progress: impl Fn(&str, Result<usize, String>),
    ) {
        refresh_missing(&self.connectable, cache, FIRST_SIGHT, |name, seen| {
            progress(
                name,
                seen.as_ref().map(|it| *it).map_err(ToString::to_string),
            );
        })
        .await;
    }

    /// Takes in what another process saw of them. Nothing is started.
    pub fn reload(&self, cache: &DescriptorCache) {
        self.followed().for_each(|it| it.reload(cache));
    }

    /// Asks every server again what it offers.
    pub async fn see_again(
        &self,
        cache: &DescriptorCache,
        progress: impl Fn(&str, Result<usize, String>),
    ) {
        let progress = &progress;
        let browser = self.browser.iter().filter(|it| it.is_wanted());
        let all = self.connectable.iter().chain(browser.map(|it| it.server()));
        let asked = all.map(|it| async move {
            let seen = it.refresh_within(FIRST_SIGHT, cache).await;
            let seen = seen.map_err(|error| error.to_string());
            progress(&it.server().spec().name, seen);
        });
        futures_util::future::join_all(asked).await;
    }
}

/// What a server is, as far as the cache is concerned; nothing where the entry says neither
/// command nor url.
pub fn identity(name: &str, server: &config::McpServer) -> Option<Digest> {
    spec(name, server, Path::new("")).map(|it| it.cached_as())
}

/// How a configured server is reached; nothing where the entry says neither command nor url.
fn spec(name: &str, server: &config::McpServer, workspace: &Path) -> Option<ServerSpec> {
    let exposed = |values: &BTreeMap<String, SecretValue>| {
        values
            .iter()
            .map(|(name, value)| (name.clone(), value.expose().to_owned()))
            .collect()
    };
    let transport = match (&server.command, &server.url) {
        (Some(command), _) => Transport::Stdio {
            command: command.clone(),
            args: server.args.clone(),
            env: exposed(&server.env),
            cwd: Some(
                server
                    .cwd
                    .as_ref()
                    .map_or_else(|| workspace.to_owned(), |it| workspace.join(it)),
            ),
        },
        (None, Some(url)) => Transport::Http {
            url: url.clone(),
            headers: exposed(&server.headers),
        },
        (None, None) => return None,
    };
    let settings = &server.settings;
    Some(ServerSpec {
        name: name.to_owned(),
        transport,
        timeouts: settings.timeouts(),
        concurrency: settings.concurrency(),
        provenance: server.provenance(),
        sharing: settings.sharing(),
        new_tools: server.new_tools(),
        naming: settings.names,
        effects: settings.effects(),
    })
}

/// A server that is configured and switched off.
struct Disabled(String);

#[async_trait]
impl CapabilityResolver for Disabled {
    fn key(&self) -> &str {
        &self.0
    }

    fn summary(&self) -> &str {
        "A disabled MCP server."
    }

    fn offer(&self) -> Offer {
        Offer::Seen {
            source: format!("mcp:{}", self.0),
            descriptors: Vec::new(),
            unavailable: Some(DISABLED.to_owned()),
            quarantined: BTreeMap::new(),
        }
    }

    fn config_schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn resolve(&self, _: &Value, _: &ResolverContext) -> Result<Resolution, ResolveError> {
        Ok(Resolution::Nothing {
            reason: DISABLED.to_owned(),
        })
    }
}
