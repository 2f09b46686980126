//! Being told that a resource changed: a subscription in the session era, a stream of its own in
//! the stateless one.

#![expect(
    deprecated,
    reason = "subscribing is of the session era, which is spoken here"
)]

use std::collections::BTreeMap;

use parking_lot::Mutex;
use rmcp::model::{SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams};
use rmcp::service::ServiceError;
use tokio_util::sync::DropGuard;

use crate::connection::Connection;
use crate::listener::listen;

/// What one connection is told of; the guard ends a stream.
#[derive(Default)]
pub(crate) struct Watching(Mutex<BTreeMap<String, Option<DropGuard>>>);

impl Connection {
    /// From now on the server tells of a resource. It is asked once.
    pub(crate) async fn watch(&self, uri: &str) -> Result<(), ServiceError> {
        let end = self.about().stateless.then(|| self.end().child_token());
        let guard = end.clone().map(|it| it.drop_guard());
        {
            let mut watching = self.watching().0.lock();
            if watching.contains_key(uri) {
                return Ok(());
            }
            watching.insert(uri.to_owned(), guard);
        }
        let peer = self.peer().clone();
        if let Some(end) = end {
            let filter = SubscriptionFilter::builder().resource_subscription(uri);
            tokio::spawn(listen(peer, filter.build(), self.news().clone(), end));
            return Ok(());
        }
        let asked = peer.subscribe(SubscribeRequestParams::new(uri)).await;
        if asked.is_err() {
            self.watching().0.lock().remove(uri);
        }
        asked
    }

    /// No longer.
    pub(crate) async fn unwatch(&self, uri: &str) -> Result<(), ServiceError> {
        let watched = self.watching().0.lock().remove(uri);
        match watched {
            Some(None) => {
                let params = UnsubscribeRequestParams::new(uri);
                self.peer().unsubscribe(params).await
            }
            // Its stream ends with the guard.
            Some(Some(_)) | None => Ok(()),
        }
    }
}
