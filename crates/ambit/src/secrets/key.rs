//! The key: an age identity in a file only its owner may read, or in the system's keyring.
//!
//! A new key goes into the keyring where one can be reached, else into the file. Reading looks
//! at the file first, so a key put there by hand wins. A keyring that cannot be reached may
//! hold the key: whoever needs it is told so, and no other key is made in its stead.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use age::secrecy::ExposeSecret;
use age::secrecy::zeroize::Zeroizing;
use age::x25519::Identity;

use super::store::SecretsError;

const HEADER: &str = "# The key to secrets.age. Without it, what is in there is lost.\n";

/// Where a key is kept.
#[derive(Clone, Debug)]
pub(super) enum KeySource {
    /// A file.
    File(PathBuf),
    /// The system's keyring, under this account.
    #[cfg(feature = "os-keyring")]
    Keyring(super::keyring::Account),
}

impl KeySource {
    /// The key, if there is one here and nobody else may read it.
    pub(super) fn read(&self) -> Result<Option<Identity>, SecretsError> {
        match self {
            KeySource::File(path) => read(path),
            #[cfg(feature = "os-keyring")]
            KeySource::Keyring(account) => account.read(),
        }
    }

    /// Makes a key here, where there is none.
    pub(super) fn create(&self) -> Result<Identity, SecretsError> {
        let identity = Identity::generate();
        match self {
            KeySource::File(path) => {
                keep(path, &identity).map_err(|source| SecretsError::io(path, source))?;
            }
            #[cfg(feature = "os-keyring")]
            KeySource::Keyring(account) => account.keep(&identity)?,
        }
        Ok(identity)
    }
}

fn read(path: &Path) -> Result<Option<Identity>, SecretsError> {
    let io = |source| SecretsError::io(path, source);
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(SecretsError::KeyExposed {
            path: path.to_owned(),
            mode,
        });
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(io)?);
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let identity = match (lines.next(), lines.next()) {
        (Some(line), None) => line.parse().ok(),
        _ => None,
    };
    identity.map(Some).ok_or_else(|| SecretsError::KeyInvalid {
        place: path.display().to_string(),
    })
}

fn keep(path: &Path, identity: &Identity) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    // Whole or not at all, and private from its first moment: a temporary file is.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(HEADER.as_bytes())?;
    file.write_all(identity.to_string().expose_secret().as_bytes())?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|it| it.error)?;
    fs::File::open(directory)?.sync_all()
}
