//! The store: a JSON map, encrypted as a whole, replaced as a whole.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use age::DecryptError;
use age::secrecy::zeroize::Zeroizing;
use age::x25519::Identity;
use ambit_builtins::secrets::Vault;
use thiserror::Error;

use super::key::KeySource;
use super::{SecretValue, is_name};
use crate::places::{Places, private_directory};

/// Secrets cannot be read or kept.
#[derive(Debug, Error)]
pub enum SecretsError {
    /// Not a name a secret can have.
    #[error("`{0}` cannot name a secret: use letters, digits, `_`, `.`, `-`, at most 64")]
    BadName(String),
    /// There are secrets, and the key to them is not there.
    #[error("the key to `{}` is missing", path.display())]
    KeyMissing {
        /// The secrets.
        path: PathBuf,
    },
    /// Others could have read the key.
    #[error("the key `{}` can be read by others (mode {mode:03o})", path.display())]
    KeyExposed {
        /// The key.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Where the key should be is something else.
    #[error("`{place}` is not a key")]
    KeyInvalid {
        /// The file, or the keyring's entry.
        place: String,
    },
    /// The key may be in the system's keyring, and that does not answer.
    #[error("the system's keyring cannot be reached: {0}")]
    KeyringUnreachable(String),
    /// The secrets were encrypted to another key.
    #[error("`{}` was encrypted to another key", path.display())]
    WrongKey {
        /// The secrets.
        path: PathBuf,
    },
    /// The secrets cannot be decrypted or are not what they should be.
    #[error("`{}` is damaged", path.display())]
    Damaged {
        /// The secrets.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl SecretsError {
    pub(super) fn io(path: &Path, source: io::Error) -> SecretsError {
        SecretsError::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            SecretsError::KeyMissing { .. } => Some(
                "bring the key back from a backup, or delete `secrets.age` to begin anew"
                    .to_owned(),
            ),
            SecretsError::KeyExposed { path, .. } => Some(format!(
                "run `chmod 600 {}`, and renew your secrets if someone else may have read it",
                path.display()
            )),
            SecretsError::KeyInvalid { .. } | SecretsError::WrongKey { .. } => {
                Some("bring the right key back from a backup".to_owned())
            }
            SecretsError::Damaged { .. } => {
                Some("bring the file back from a backup; nothing was changed".to_owned())
            }
            SecretsError::KeyringUnreachable(_) => {
                Some("unlock it, or run from a desktop session".to_owned())
            }
            SecretsError::BadName(_) | SecretsError::Io { .. } => None,
        }
    }
}

/// The user's secrets.
#[derive(Clone, Debug)]
pub struct SecretStore {
    directory: PathBuf,
    store: PathBuf,
    /// Where the key may be, in the order of looking; a new one is made in the last that can.
    keys: Vec<KeySource>,
}

impl Vault for SecretStore {
    fn has(&self, name: &str) -> Result<bool, String> {
        self.get(name).map(|it| it.is_some()).map_err(told)
    }

    fn value(&self, name: &str) -> Result<Option<String>, String> {
        let value = self.get(name).map_err(told)?;
        Ok(value.map(|it| it.expose().to_owned()))
    }
}

/// An error with what to do about it.
fn told(error: SecretsError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

pub(super) type Secrets = BTreeMap<String, SecretValue>;

impl SecretStore {
    /// The store at the user's place. Nothing is made before something is set.
    pub fn open(places: &Places) -> SecretStore {
        let file = KeySource::File(places.secrets_key());
        #[cfg(feature = "os-keyring")]
        let keys = vec![
            file,
            KeySource::Keyring(super::keyring::Account::of(places.data())),
        ];
        #[cfg(not(feature = "os-keyring"))]
        let keys = vec![file];
        SecretStore::with_keys(places, keys)
    }

    pub(super) fn with_keys(places: &Places, keys: Vec<KeySource>) -> SecretStore {
        SecretStore {
            directory: places.data().to_owned(),
            store: places.secrets(),
            keys,
        }
    }

    /// Keeps a secret, replacing one of the same name.
    pub fn set(&self, name: &str, value: SecretValue) -> Result<(), SecretsError> {
        if !is_name(name) {
            return Err(SecretsError::BadName(name.to_owned()));
        }
        let (_lock, identity, mut secrets) = self.begin()?;
        secrets.insert(name.to_owned(), value);
        self.write(&identity, &secrets)
    }

    /// A secret, if there is one of this name.
    pub fn get(&self, name: &str) -> Result<Option<SecretValue>, SecretsError> {
        if !is_name(name) {
            return Ok(None);
        }
        Ok(self.read()?.1.remove(name))
    }

    /// The names, in order.
    pub fn names(&self) -> Result<Vec<String>, SecretsError> {
        let names = self.read()?.1.into_keys();
        Ok(names.filter(|it| is_name(it)).collect())
    }

    /// Forgets a secret. Says whether there was one.
    pub fn remove(&self, name: &str) -> Result<bool, SecretsError> {
        if !is_name(name) || !self.store.exists() {
            return Ok(false);
        }
        let (_lock, identity, mut secrets) = self.begin()?;
        if secrets.remove(name).is_none() {
            return Ok(false);
        }
        self.write(&identity, &secrets)?;
        Ok(true)
    }

    /// Everything, whatever its name.
    pub(super) fn everything(&self) -> Result<Secrets, SecretsError> {
        Ok(self.read()?.1)
    }

    /// Changes everything at once.
    pub(super) fn change(&self, change: impl FnOnce(&mut Secrets)) -> Result<(), SecretsError> {
        let (_lock, identity, mut secrets) = self.begin()?;
        change(&mut secrets);
        self.write(&identity, &secrets)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Begins a change: nobody else changes anything before the lock is dropped.
    fn begin(&self) -> Result<(File, Identity, Secrets), SecretsError> {
        let path = self.directory.join("secrets.lock");
        let lock = || -> io::Result<File> {
            private_directory(&self.directory)?;
            let file = OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o600)
                .open(&path)?;
            file.lock()?;
            Ok(file)
        };
        let lock = lock().map_err(|source| SecretsError::io(&path, source))?;
        let (identity, secrets) = self.read()?;
        let identity = match identity {
            Some(identity) => identity,
            None => self.create_key()?,
        };
        Ok((lock, identity, secrets))
    }

    fn find_key(&self) -> Result<Option<Identity>, SecretsError> {
        for source in &self.keys {
            if let Some(identity) = source.read()? {
                return Ok(Some(identity));
            }
        }
        Ok(None)
    }

    fn create_key(&self) -> Result<Identity, SecretsError> {
        let mut last = SecretsError::KeyMissing {
            path: self.store.clone(),
        };
        for source in self.keys.iter().rev() {
            match source.create() {
                Err(error @ SecretsError::KeyringUnreachable(_)) => last = error,
                other => return other,
            }
        }
        Err(last)
    }

    fn read(&self) -> Result<(Option<Identity>, Secrets), SecretsError> {
        let encrypted = match fs::read(&self.store) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(SecretsError::io(&self.store, error)),
        };
        let path = || self.store.clone();
        match (encrypted, self.find_key()) {
            (None, Ok(identity)) => Ok((identity, Secrets::new())),
            // It holds no key to anything: there is nothing to open.
            (None, Err(SecretsError::KeyringUnreachable(_))) => Ok((None, Secrets::new())),
            (_, Err(error)) => Err(error),
            (Some(_), Ok(None)) => Err(SecretsError::KeyMissing { path: path() }),
            (Some(encrypted), Ok(Some(identity))) => {
                let plain = age::decrypt(&identity, &encrypted).map_err(|error| match error {
                    DecryptError::NoMatchingKeys => SecretsError::WrongKey { path: path() },
                    _ => SecretsError::Damaged { path: path() },
                })?;
                let plain = Zeroizing::new(plain);
                let secrets = serde_json::from_slice(&plain)
                    .map_err(|_| SecretsError::Damaged { path: path() })?;
                Ok((Some(identity), secrets))
            }
        }
    }

    fn write(&self, identity: &Identity, secrets: &Secrets) -> Result<(), SecretsError> {
        let exposed: BTreeMap<&str, &str> = secrets
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose()))
            .collect();
        let write = || -> io::Result<()> {
            let plain = Zeroizing::new(serde_json::to_vec(&exposed)?);
            let encrypted =
                age::encrypt(&identity.to_public(), &plain).map_err(io::Error::other)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
            file.write_all(&encrypted)?;
            file.as_file().sync_all()?;
            file.persist(&self.store).map_err(|it| it.error)?;
            File::open(&self.directory)?.sync_all()
        };
        write().map_err(|source| SecretsError::io(&self.store, source))
    }
}
