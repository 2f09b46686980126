//! Telling a client that lists and resources changed: one of the session era just so, one of the
//! stateless era on the stream it asked for that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use ambit_runtime::provider::Provider;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, SelectAll};
use parking_lot::Mutex;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RoleServer, SubscriptionContext, SubscriptionSink};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::front::{Changes, Front};
use crate::map;
use crate::watching::{Updates, Watching};

/// Tells a client of the session era which lists to read again.
pub(crate) async fn tell(client: &Peer<RoleServer>, changes: Changes) {
    if changes == Changes::default() {
        return;
    }
    // Seldom, and every call has room for it.
    let told = Box::pin(async {
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
    });
    if let Err(error) = told.await {
        tracing::debug!(%error, "the client was not told of its new lists");
    }
}

/// What one client of the session era listens to.
#[derive(Default)]
pub(crate) struct Subscriptions {
    following: Mutex<Option<DropGuard>>,
    watched: Mutex<BTreeMap<String, Watched>>,
    client: Mutex<Option<Peer<RoleServer>>>,
}

/// A resource the client hears of, for as long as this is there.
struct Watched {
    _watching: Watching,
    _telling: DropGuard,
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
    pub(crate) async fn add(&self, front: &Front, uri: &str) -> Result<(), ErrorData> {
        if self.watched.lock().contains_key(uri) {
            return Ok(());
        }
        let provider = provider_of(front, uri).ok_or_else(|| map::no_such_resource(uri))?;
        let begun = Watching::begin(provider, uri).await;
        let (watching, mut updates) = begun.map_err(map::error_data)?;
        let end = CancellationToken::new();
        let watched = Watched {
            _watching: watching,
            _telling: end.clone().drop_guard(),
        };
        self.watched.lock().insert(uri.to_owned(), watched);
        let client = self.client.lock().clone();
        tokio::spawn(async move {
            let telling = async {
                while let (Some(uri), Some(client)) = (updates.next().await, &client) {
                    let params = ResourceUpdatedNotificationParam::new(uri);
                    if client.notify_resource_updated(params).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = end.cancelled() => {}
                () = telling => {}
            }
        });
        Ok(())
    }

    /// No longer.
    pub(crate) fn remove(&self, uri: &str) {
        self.watched.lock().remove(uri);
    }
}

/// Whose resource is at an address.
fn provider_of(front: &Front, uri: &str) -> Option<Arc<dyn Provider>> {
    front.provider(&front.resource_at(uri)?)
}

/// Tells a client of the stateless era what it asked for, until it goes.
pub(crate) async fn listen(
    front: &Arc<Front>,
    subscription: SubscriptionContext,
) -> Result<(), ErrorData> {
    let sink = subscription.sink();
    let mut moved = front.market().moved();
    let mut seen = front.snapshot();
    let wanted = subscription.accepted().resource_subscriptions.clone();
    let wanted: BTreeSet<String> = wanted.into_iter().flatten().collect();
    // Held until the client goes, whichever way it goes.
    let mut watching = Vec::new();
    let mut updates = SelectAll::new();
    for uri in &wanted {
        let Some(provider) = provider_of(front, uri) else {
            continue;
        };
        match Watching::begin(provider, uri).await {
            Ok((watched, updated)) => {
                watching.push(watched);
                updates.push(as_stream(updated));
            }
            Err(error) => tracing::debug!(error = error.message, uri, "it is not watched"),
        }
    }
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

fn as_stream(updates: Updates) -> BoxStream<'static, String> {
    stream::unfold(updates, |mut updates| async move {
        let uri = updates.next().await?.to_owned();
        Some((uri, updates))
    })
    .boxed()
}
