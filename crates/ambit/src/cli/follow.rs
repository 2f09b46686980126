//! What a person accepts in another process while this one serves.

use std::sync::Arc;
use std::time::Duration;

use ambit_runtime::marketplace::CapabilityMarketplace;

use crate::servers::Servers;
use crate::trust::TrustStore;

/// How soon an answer given elsewhere counts here.
const SOON: Duration = Duration::from_secs(1);

/// Takes in what other processes saw of servers and what was accepted of it, for as long as it is
/// polled. A session notices by itself that its catalog has changed.
pub(crate) async fn follow(
    trust: Arc<TrustStore>,
    servers: Servers,
    market: Arc<CapabilityMarketplace>,
) {
    let mut seen = trust.revision().ok();
    loop {
        tokio::time::sleep(SOON).await;
        let now = trust.revision().ok();
        if now != seen {
            seen = now;
            servers.reload(market.cache());
            market.refresh();
        }
    }
}
