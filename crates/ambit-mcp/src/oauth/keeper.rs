//! Hands out the token for one server and keeps it alive. However many calls find it expired or
//! refused, one of them renews it and the others get what it got; a file lock does the same for
//! other processes, whose renewals are taken over.

use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::Url;
use tokio::task::spawn_blocking;

use super::login::Login;
use super::refusal::LoginReason;
use super::renew::{RenewError, renew};
use super::store::{TokenStore, TokenStoreError};

/// What is known of a server's login in this process.
#[derive(Default)]
struct Known {
    login: Option<Login>,
    /// A token that was renewed and refused all the same: renewing it again would not help.
    refused: Option<String>,
    /// What ended the login.
    ended: Option<LoginReason>,
    /// It was renewed and could not be kept: what is in the store is of no use any more.
    unkept: bool,
}

/// The token of one server.
pub(crate) struct Keeper {
    server: Url,
    store: Arc<dyn TokenStore>,
    known: Mutex<Known>,
    renewing: tokio::sync::Mutex<()>,
}

impl Keeper {
    pub(crate) fn new(server: Url, store: Arc<dyn TokenStore>) -> Arc<Self> {
        Arc::new(Keeper {
            server,
            store,
            known: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
        })
    }

    /// Looks for a login, before a connection begins: somebody may have logged in or out.
    pub(crate) async fn look(&self) {
        if self.known.lock().unkept {
            return;
        }
        // Most servers need none; if this one does, it is asked for again and this is told.
        match self.stored().await {
            Ok(login) => self.know(login),
            Err(error) => tracing::debug!(%error, "connecting without a login"),
        }
    }

    /// The token to send, renewed if its time is up. None without a login.
    pub(super) async fn token(self: &Arc<Self>) -> Result<Option<String>, String> {
        let login = self.known.lock().login.clone();
        match login {
            Some(login) if !login.is_fresh() => self.another(Some(&login.access_token)).await,
            login => Ok(login.map(|it| it.access_token)),
        }
    }

    /// Another token than this one, which is expired or was refused. None if a person has to log
    /// in. Goes on when nobody waits any more: half a renewal would lose the login.
    pub(super) async fn another(
        self: &Arc<Self>,
        than: Option<&str>,
    ) -> Result<Option<String>, String> {
        let (this, than) = (Arc::clone(self), than.map(str::to_owned));
        let found = tokio::spawn(async move { this.find_another(than.as_deref()).await });
        found.await.map_err(|error| error.to_string())?
    }

    /// A token got by renewing was refused as well.
    pub(super) fn give_up(&self, token: String) {
        let mut known = self.known.lock();
        known.refused = Some(token);
        known.ended = Some(LoginReason::Refused);
    }

    /// Why a person has to log in.
    pub(crate) fn reason(&self) -> LoginReason {
        let ended = self.known.lock().ended.clone();
        ended.unwrap_or(LoginReason::NeverLoggedIn)
    }

    async fn find_another(self: Arc<Self>, than: Option<&str>) -> Result<Option<String>, String> {
        let _one_at_a_time = self.renewing.lock().await;
        let is_another = |it: &Login| Some(it.access_token.as_str()) != than && it.is_fresh();
        if let Some(login) = self.known.lock().login.as_ref().filter(|it| is_another(it)) {
            return Ok(Some(login.access_token.clone()));
        }
        let store = Arc::clone(&self.store);
        let lock = spawn_blocking(move || store.lock()).await;
        let _one_process = lock
            .map_err(|it| it.to_string())?
            .map_err(|it| it.to_string())?;
        let Some(login) = self.stored().await.map_err(|it| it.to_string())? else {
            self.known.lock().login = None;
            return Ok(None);
        };
        if is_another(&login) {
            let token = login.access_token.clone();
            self.know(Some(login));
            return Ok(Some(token));
        }
        if self.is_refused(&login) {
            return Ok(None);
        }
        match renew(&login, &self.server).await {
            Ok(renewed) => {
                tracing::debug!(issuer = renewed.issuer, "token renewed");
                let token = renewed.access_token.clone();
                self.know(Some(renewed.clone()));
                // Even where it cannot be kept it serves this process.
                let kept = self.on_store(move |it| it.keep(&renewed)).await;
                self.known.lock().unkept = kept.is_err();
                if let Err(error) = kept {
                    tracing::warn!(%error, "a renewed token is lost when this process ends");
                }
                Ok(Some(token))
            }
            Err(RenewError::Over) => {
                let (issuer, resource) = (login.issuer, login.resource);
                let forgotten = self.on_store(move |it| it.forget(&issuer, &resource)).await;
                if let Err(error) = forgotten {
                    tracing::warn!(%error, "an ended login could not be forgotten");
                }
                *self.known.lock() = Known {
                    ended: Some(LoginReason::Ended),
                    ..Known::default()
                };
                Ok(None)
            }
            Err(error @ RenewError::Failed { .. }) => Err(error.to_string()),
        }
    }

    fn is_refused(&self, login: &Login) -> bool {
        let mut known = self.known.lock();
        let is_refused = known.refused.as_ref() == Some(&login.access_token);
        if is_refused {
            known.ended = Some(LoginReason::Refused);
        }
        is_refused
    }

    fn know(&self, login: Option<Login>) {
        let mut known = self.known.lock();
        if login.is_some() {
            known.ended = None;
        }
        known.login = login;
    }

    async fn stored(&self) -> Result<Option<Login>, TokenStoreError> {
        let server = self.server.to_string();
        self.on_store(move |it| it.find(&server)).await
    }

    async fn on_store<T: Send + 'static>(
        &self,
        action: impl FnOnce(&dyn TokenStore) -> Result<T, TokenStoreError> + Send + 'static,
    ) -> Result<T, TokenStoreError> {
        let store = Arc::clone(&self.store);
        let done = spawn_blocking(move || action(&*store)).await;
        done.unwrap_or_else(|error| Err(TokenStoreError(error.to_string())))
    }
}
