//! What a server says unasked: that its tools are not what they were. In the session era it just
//! says so; in the stateless era it tells only who asked for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ServerPeerInfo, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, Peer, RoleClient, ServiceError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Whether the tools of one connection are still those that were listed.
#[derive(Clone)]
pub(crate) struct ListNews {
    changes: watch::Sender<u64>,
    /// How many changes there had been when the tools were listed.
    listed_at: Arc<AtomicU64>,
}

impl ListNews {
    /// For a new connection of a server whose changes are counted in this channel.
    pub(crate) fn new(changes: watch::Sender<u64>) -> Self {
        let count = *changes.borrow();
        ListNews {
            changes,
            listed_at: Arc::new(AtomicU64::new(count)),
        }
    }

    /// How many changes there were.
    pub(crate) fn count(&self) -> u64 {
        *self.changes.borrow()
    }

    /// Whether they changed since they were listed.
    pub(crate) fn is_stale(&self) -> bool {
        self.listed_at.load(Ordering::Acquire) != self.count()
    }

    /// They are listed as they were after so many changes.
    pub(crate) fn listed_at(&self, count: u64) {
        self.listed_at.store(count, Ordering::Release);
    }

    fn raise(&self) {
        self.changes.send_modify(|it| *it += 1);
    }
}

/// What this side is towards a server: it can be told of changes and asked for nothing.
pub(crate) struct Listener(ListNews);

impl Listener {
    pub(crate) fn new(news: ListNews) -> Self {
        Listener(news)
    }
}

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.raise();
    }

    fn get_info(&self) -> ClientConfig {
        let version = env!("CARGO_PKG_VERSION");
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("ambit", version),
        )
    }
}

/// Whether changes are told only to who asks for them.
pub(crate) fn needs_subscription(info: &ServerPeerInfo) -> bool {
    let tells = info
        .capabilities
        .tools
        .as_ref()
        .and_then(|it| it.list_changed);
    !info.protocol_version.has_initialize() && tells == Some(true)
}

/// Asks to be told of changes, and listens until the connection is lost.
pub(crate) async fn subscribe(peer: Peer<RoleClient>, news: ListNews, lost: CancellationToken) {
    let listening = async {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let mut subscription = peer.listen(filter).await?;
        while subscription.next().await?.is_some() {
            news.raise();
        }
        Ok::<_, ServiceError>(())
    };
    tokio::select! {
        () = lost.cancelled() => {}
        ended = listening => if let Err(error) = ended {
            tracing::debug!(%error, "no news of changed tools");
        },
    }
}
