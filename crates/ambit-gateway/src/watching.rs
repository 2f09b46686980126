//! One resource somebody wants news of. It ends with whoever wanted it, however they go.

use std::sync::Arc;

use ambit_core::observation::ErrorAnswer;
use ambit_runtime::provider::{Provider, ProviderNews};
use tokio::runtime::Handle;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// Watched until it is dropped.
pub(crate) struct Watching {
    provider: Arc<dyn Provider>,
    uri: String,
}

impl Watching {
    /// Asks a provider to tell of a resource, and what it tells.
    pub(crate) async fn begin(
        provider: Arc<dyn Provider>,
        uri: &str,
    ) -> Result<(Self, Updates), ErrorAnswer> {
        let news = provider.news();
        provider.watch(uri).await?;
        let uri = uri.to_owned();
        let updates = Updates {
            news,
            uri: uri.clone(),
        };
        Ok((Watching { provider, uri }, updates))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let (provider, uri) = (Arc::clone(&self.provider), std::mem::take(&mut self.uri));
        runtime.spawn(async move {
            if let Err(error) = provider.unwatch(&uri).await {
                tracing::debug!(error = error.message, uri, "its server still tells of it");
            }
        });
    }
}

/// The news of one resource.
pub(crate) struct Updates {
    news: Receiver<ProviderNews>,
    uri: String,
}

impl Updates {
    /// Waits until it has another content; nothing once its provider is gone.
    pub(crate) async fn next(&mut self) -> Option<&str> {
        loop {
            match self.news.recv().await {
                Ok(ProviderNews::ResourceUpdated(it)) if it == self.uri => return Some(&self.uri),
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
