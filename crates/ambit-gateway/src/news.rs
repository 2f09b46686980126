//! Telling a client that lists and resources changed: one of the session era just so, one of the
//! stateless era on the stream it asked for that.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use ambit_core::id::CapabilityId;
use ambit_runtime::provider::{Provider, ProviderNews};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, SelectAll};
use parking_lot::Mutex;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RoleServer, SubscriptionContext, SubscriptionSink};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::front::{Changes, Front};
use crate::map;

/// Tells a client of the session era which lists to read again.
pub(crate) async fn tell(client: &Peer<RoleServer>, changes: Changes) {
    let told = async {
        if changes.tools {
            client.notify_tool_list_changed().await?;
        }
        if changes.prompts {
            client.notify_prompt_list_changed().await?;
        }
        if changes.resources {
            client.notify_resource_list_changed().await?;
        }
        Ok::<_, rmcp::ServiceError>(())
    };
    if let Err(error) = told.await {
        tracing::debug!(%error, "the client was not told of its new lists");
    }
}

/// What one client of the session era listens to.
#[derive(Default)]
pub(crate) struct Subscriptions {
    following: Mutex<Option<DropGuard>>,
    watched: Arc<Mutex<BTreeSet<String>>>,
    client: Mutex<Option<Peer<RoleServer>>>,
}

impl Subscriptions {
    /// From now on the client hears of lists that change.
    pub(crate) fn follow(&self, front: Weak<Front>, client: Peer<RoleServer>) {
        let end = CancellationToken::new();
        *self.following.lock() = Some(end.clone().drop_guard());
        *self.client.lock() = Some(client.clone());
        let Some(mut moved) = front.upgrade().map(|it| it.market().moved()) else {
            return;
        };
        let following = async move {
            while moved.changed().await.is_ok() {
                let Some(front) = front.upgrade() else {
                    return;
                };
                tell(&client, front.catch_up().await).await;
            }
        };
        tokio::spawn(async move {
            tokio::select! {
                () = end.cancelled() => {}
                () = following => {}
            }
        });
    }

    /// From now on the client hears when this resource changes.
    pub(crate) async fn add(&self, front: &Arc<Front>, uri: &str) -> Result<(), ErrorData> {
        let provider = provider_of(front, uri).ok_or_else(|| map::no_such_resource(uri))?;
        if !self.watched.lock().insert(uri.to_owned()) {
            return Ok(());
        }
        let mut news = provider.news();
        if let Err(error) = provider.watch(uri).await {
            self.watched.lock().remove(uri);
            return Err(map::error_data(error));
        }
        let Some(client) = self.client.lock().clone() else {
            return Ok(());
        };
        let (watched, uri) = (Arc::downgrade(&self.watched), uri.to_owned());
        tokio::spawn(async move {
            loop {
                let heard = news.recv().await;
                let still = watched.upgrade().is_some_and(|it| it.lock().contains(&uri));
                match heard {
                    _ if !still => return,
                    Ok(ProviderNews::ResourceUpdated(it)) if it == uri => {
                        let params = ResourceUpdatedNotificationParam::new(it);
                        if client.notify_resource_updated(params).await.is_err() {
                            return;
                        }
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
        Ok(())
    }

    /// No longer.
    pub(crate) async fn remove(&self, front: &Arc<Front>, uri: &str) {
        if self.watched.lock().remove(uri)
            && let Some(provider) = provider_of(front, uri)
            && let Err(error) = provider.unwatch(uri).await
        {
            tracing::debug!(
                error = error.message,
                "the server still tells of a resource"
            );
        }
    }
}

/// Whose resource is at an address.
fn provider_of(front: &Front, uri: &str) -> Option<Arc<dyn Provider>> {
    front.provider(&resource_at(front, uri)?)
}

fn resource_at(front: &Front, uri: &str) -> Option<CapabilityId> {
    front.resource_at(uri)
}

/// Tells a client of the stateless era what it asked for, until it goes.
pub(crate) async fn listen(
    front: &Arc<Front>,
    subscription: SubscriptionContext,
) -> Result<(), ErrorData> {
    let sink = subscription.sink();
    let mut moved = front.market().moved();
    let mut seen = front.snapshot();
    let watched = subscription.accepted().resource_subscriptions.clone();
    let watched: BTreeSet<String> = watched.into_iter().flatten().collect();
    let mut updates = updates(front, &watched).await;
    let telling = async {
        loop {
            tokio::select! {
                changed = moved.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    front.catch_up().await;
                    let now = front.snapshot();
                    let changes = now.changes_since(&seen);
                    seen = now;
                    if tell_stream(sink, changes).await.is_err() {
                        return;
                    }
                }
                Some(uri) = updates.next() => {
                    if !watched.contains(&uri) {
                        continue;
                    }
                    if sink.notify_resource_updated(uri).await.is_err() {
                        return;
                    }
                }
            }
        }
    };
    tokio::select! {
        () = subscription.cancelled() => {}
        () = telling => {}
    }
    for uri in &watched {
        if let Some(provider) = provider_of(front, uri) {
            let _ = provider.unwatch(uri).await;
        }
    }
    Ok(())
}

async fn tell_stream(
    sink: &SubscriptionSink,
    changes: Changes,
) -> Result<(), rmcp::service::SubscriptionSendError> {
    if changes.tools {
        sink.notify_tool_list_changed().await?;
    }
    if changes.prompts {
        sink.notify_prompt_list_changed().await?;
    }
    if changes.resources {
        sink.notify_resource_list_changed().await?;
    }
    Ok(())
}

/// Addresses of watched resources that changed, from every provider that has one.
async fn updates(
    front: &Front,
    watched: &BTreeSet<String>,
) -> SelectAll<BoxStream<'static, String>> {
    let mut names = BTreeSet::new();
    let mut all = SelectAll::new();
    for uri in watched {
        let Some(provider) = provider_of(front, uri) else {
            continue;
        };
        if names.insert(provider.name().to_owned()) {
            let updated = stream::unfold(provider.news(), |mut news| async move {
                loop {
                    match news.recv().await {
                        Ok(ProviderNews::ResourceUpdated(uri)) => return Some((uri, news)),
                        Ok(ProviderNews::Changed) | Err(RecvError::Lagged(_)) => {}
                        Err(RecvError::Closed) => return None,
                    }
                }
            });
            all.push(updated.boxed());
        }
        if let Err(error) = provider.watch(uri).await {
            tracing::debug!(error = error.message, "a resource is not watched");
        }
    }
    all
}
