//! Logins to servers, in the same encrypted file as the secrets. Each is kept under the digest of
//! its issuer and resource, a name that `${secret:NAME}` cannot say: a token goes to its resource
//! and nowhere else. Whatever is read or kept here is made known to redaction.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use ambit_core::digest::Digest;
use ambit_core::redact::Redactor;
use ambit_mcp::{Login, TokenStore, TokenStoreError};
use serde_json::json;

use super::{SecretStore, SecretValue, SecretsError};
use crate::places::private_directory;

/// No secret's name has a colon in it.
const PREFIX: &str = "login:";

/// The user's logins.
pub struct Logins {
    store: SecretStore,
    redactor: Redactor,
}

impl Logins {
    /// Beside the user's secrets.
    pub fn new(store: SecretStore, redactor: Redactor) -> Logins {
        Logins { store, redactor }
    }
}

impl TokenStore for Logins {
    fn all(&self) -> Result<Vec<Login>, TokenStoreError> {
        let kept = self.store.everything().map_err(failed)?;
        let logins = kept.iter().filter(|(name, _)| name.starts_with(PREFIX));
        let logins = logins.map(|(_, value)| serde_json::from_str(value.expose()));
        // One of a later version is none of this one's.
        let logins: Vec<Login> = logins.filter_map(Result::ok).collect();
        self.redactor.learn(logins.iter().flat_map(Login::secrets));
        Ok(logins)
    }

    fn keep(&self, login: &Login) -> Result<(), TokenStoreError> {
        self.redactor.learn(login.secrets());
        let text = serde_json::to_string(login).map_err(|it| TokenStoreError(it.to_string()))?;
        let before = self.all()?;
        let before = before.iter().filter(|it| it.resource == login.resource);
        let replaced: Vec<String> = before.map(|it| name(&it.issuer, &it.resource)).collect();
        let change = self.store.change(|secrets| {
            secrets.retain(|name, _| !replaced.contains(name));
            let name = name(&login.issuer, &login.resource);
            secrets.insert(name, SecretValue::new(text));
        });
        change.map_err(failed)
    }

    fn forget(&self, issuer: &str, resource: &str) -> Result<bool, TokenStoreError> {
        let name = name(issuer, resource);
        if !self.store.everything().map_err(failed)?.contains_key(&name) {
            return Ok(false);
        }
        let change = self.store.change(|secrets| {
            secrets.remove(&name);
        });
        change.map_err(failed)?;
        Ok(true)
    }

    fn lock(&self) -> Result<Box<dyn Send>, TokenStoreError> {
        let lock = || -> io::Result<_> {
            private_directory(self.store.directory())?;
            let path = self.store.directory().join("logins.lock");
            let file = OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o600)
                .open(path)?;
            file.lock()?;
            Ok(file)
        };
        let file = lock().map_err(|it| TokenStoreError(it.to_string()))?;
        Ok(Box::new(file))
    }
}

fn name(issuer: &str, resource: &str) -> String {
    format!("{PREFIX}{}", Digest::of_json(&json!([issuer, resource])))
}

fn failed(error: SecretsError) -> TokenStoreError {
    TokenStoreError(match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}
