//! The key in the system's keyring: Keychain on macOS, the Secret Service on Linux.

use std::path::Path;

use age::secrecy::ExposeSecret;
use age::secrecy::zeroize::Zeroizing;
use age::x25519::Identity;
use keyring::v1::{Entry, Error};

use super::store::SecretsError;

const SERVICE: &str = "ambit";

/// The name a key goes by: the directory of the secrets it opens, so that two homes do not
/// share one.
#[derive(Clone, Debug)]
pub(super) struct Account(String);

impl Account {
    pub(super) fn of(directory: &Path) -> Account {
        Account(format!("key to {}", directory.display()))
    }

    pub(super) fn read(&self) -> Result<Option<Identity>, SecretsError> {
        match Entry::new(SERVICE, &self.0).and_then(|it| it.get_password()) {
            Ok(text) => {
                let identity = Zeroizing::new(text).trim().parse().ok();
                identity.map(Some).ok_or_else(|| self.invalid())
            }
            Err(Error::NoEntry) => Ok(None),
            Err(Error::BadEncoding(_) | Error::BadDataFormat(..)) => Err(self.invalid()),
            Err(error) => Err(unreachable(&error)),
        }
    }

    pub(super) fn keep(&self, identity: &Identity) -> Result<(), SecretsError> {
        let key = identity.to_string();
        Entry::new(SERVICE, &self.0)
            .and_then(|it| it.set_password(key.expose_secret()))
            .map_err(|error| unreachable(&error))
    }

    fn invalid(&self) -> SecretsError {
        SecretsError::KeyInvalid {
            place: format!("keyring entry {SERVICE}, {}", self.0),
        }
    }
}

fn unreachable(error: &Error) -> SecretsError {
    SecretsError::KeyringUnreachable(error.to_string())
}
