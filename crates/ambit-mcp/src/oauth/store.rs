//! Where logins are kept. A port: this crate does not know where secrets are.

use parking_lot::Mutex;
use thiserror::Error;

use super::login::Login;

/// Logins cannot be read or kept.
#[derive(Clone, Debug, Error)]
#[error("logins cannot be used: {0}")]
pub struct TokenStoreError(pub String);

/// Keeps logins, one for each issuer and resource. Everything here may wait for a disk.
pub trait TokenStore: Send + Sync {
    /// Every login there is.
    fn all(&self) -> Result<Vec<Login>, TokenStoreError>;

    /// Keeps a login in place of any other for its resource: a server that moved to another
    /// issuer has no use for what the first one issued.
    fn keep(&self, login: &Login) -> Result<(), TokenStoreError>;

    /// Forgets the login of this issuer for this resource. Says whether there was one.
    fn forget(&self, issuer: &str, resource: &str) -> Result<bool, TokenStoreError>;

    /// No other process renews anything until what is returned is dropped.
    fn lock(&self) -> Result<Box<dyn Send>, TokenStoreError>;

    /// The login for an address: of those whose resource it is part of, the closest.
    fn find(&self, url: &str) -> Result<Option<Login>, TokenStoreError> {
        let all = self.all()?.into_iter().filter(|it| it.covers(url));
        Ok(all.max_by_key(|it| it.resource.len()))
    }
}

/// Logins of this process only.
#[derive(Default)]
pub struct MemoryTokens(Mutex<Vec<Login>>);

impl TokenStore for MemoryTokens {
    fn all(&self) -> Result<Vec<Login>, TokenStoreError> {
        Ok(self.0.lock().clone())
    }

    fn keep(&self, login: &Login) -> Result<(), TokenStoreError> {
        let mut logins = self.0.lock();
        logins.retain(|it| it.resource != login.resource);
        logins.push(login.clone());
        Ok(())
    }

    fn forget(&self, issuer: &str, resource: &str) -> Result<bool, TokenStoreError> {
        let mut logins = self.0.lock();
        let before = logins.len();
        logins.retain(|it| (it.issuer.as_str(), it.resource.as_str()) != (issuer, resource));
        Ok(logins.len() < before)
    }

    /// There is no other process to keep away.
    fn lock(&self) -> Result<Box<dyn Send>, TokenStoreError> {
        Ok(Box::new(()))
    }
}
