//! Keeping up with servers while clients stay: those nothing is known of are looked at without
//! holding anybody up for long, one that says its lists changed is asked for them again, and what a
//! person accepts in another process counts here. All of it ends with the marketplace.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use ambit_mcp::McpResolver;
use ambit_runtime::marketplace::CapabilityMarketplace;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::servers::Servers;
use crate::trust::TrustStore;
use crate::written::WrittenSkills;

/// How long clients wait for servers nothing is known of. Whoever is later is told of as a change.
const PATIENCE: Duration = Duration::from_secs(3);
/// How soon an answer given elsewhere counts here.
const SOON: Duration = Duration::from_secs(1);
/// Servers that change several lists say so several times.
const SETTLING: Duration = Duration::from_millis(50);

/// What other processes change.
pub struct Elsewhere {
    /// What persons accept.
    pub trust: Arc<TrustStore>,
    /// Skills agents write.
    pub skills: Arc<WrittenSkills>,
}

impl Elsewhere {
    /// Another value after something was changed.
    fn seen(&self) -> (Option<i64>, Option<SystemTime>) {
        (
            self.trust.written_elsewhere().ok(),
            self.skills.changed_at(),
        )
    }
}

/// Looks at servers nothing is known of, and goes on with that in the background where it takes
/// long; then follows what all of them say. `progress` hears of each first look as it ends.
pub async fn keep_up(
    servers: &Arc<Servers>,
    market: &Arc<CapabilityMarketplace>,
    elsewhere: Elsewhere,
    progress: impl Fn(&str, Result<usize, String>) + Send + Sync + 'static,
) {
    let looking = {
        let (servers, market) = (Arc::clone(servers), Arc::clone(market));
        tokio::spawn(async move {
            let looked_at = |name: &str, seen: Result<usize, String>| {
                progress(name, seen);
                market.refresh();
            };
            servers.see(market.cache(), looked_at).await;
        })
    };
    // Time ran out, or it is done: both are fine.
    let _ = timeout(PATIENCE, looking).await;
    for resolver in servers.followed() {
        let changes = resolver.server().changes();
        let (resolver, market) = (Arc::downgrade(resolver), Arc::downgrade(market));
        tokio::spawn(follow(changes, resolver, market));
    }
    let (servers, market) = (Arc::downgrade(servers), Arc::downgrade(market));
    tokio::spawn(accepted(elsewhere, servers, market));
}

/// Takes in what other processes saw of servers and what was accepted of it. A session notices by
/// itself that its catalog has changed.
async fn accepted(
    elsewhere: Elsewhere,
    servers: Weak<Servers>,
    market: Weak<CapabilityMarketplace>,
) {
    let mut seen = elsewhere.seen();
    loop {
        sleep(SOON).await;
        let (Some(servers), Some(market)) = (servers.upgrade(), market.upgrade()) else {
            return;
        };
        let now = elsewhere.seen();
        if now != seen {
            seen = now;
            servers.reload(market.cache());
            market.refresh();
        }
    }
}

/// Asks a server again whenever it says that something changed, for as long as it is there.
async fn follow(
    mut changes: watch::Receiver<u64>,
    resolver: Weak<McpResolver>,
    market: Weak<CapabilityMarketplace>,
) {
    while changes.changed().await.is_ok() {
        sleep(SETTLING).await;
        changes.mark_unchanged();
        let (Some(resolver), Some(market)) = (resolver.upgrade(), market.upgrade()) else {
            return;
        };
        if let Err(error) = resolver.refresh(market.cache()).await {
            let server = &resolver.server().spec().name;
            tracing::warn!(server, %error, "its new lists could not be read");
        }
        market.refresh();
    }
}
