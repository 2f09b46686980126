//! The key file: an age identity only its owner may read.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use age::secrecy::ExposeSecret;
use age::secrecy::zeroize::Zeroizing;
use age::x25519::Identity;

use super::store::SecretsError;

const HEADER: &str = "# The key to secrets.age. Without it, what is in there is lost.\n";

/// The key, if there is one and nobody else may read it.
pub(super) fn read(path: &Path) -> Result<Option<Identity>, SecretsError> {
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
        path: path.to_owned(),
    })
}

/// Makes a key where there is none.
pub(super) fn create(path: &Path) -> Result<Identity, SecretsError> {
    let identity = Identity::generate();
    let directory = path.parent().unwrap_or(Path::new("."));
    let write = || -> io::Result<()> {
        // Whole or not at all, and private from its first moment: a temporary file is.
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(HEADER.as_bytes())?;
        file.write_all(identity.to_string().expose_secret().as_bytes())?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path).map_err(|it| it.error)?;
        fs::File::open(directory)?.sync_all()
    };
    write().map_err(|source| SecretsError::io(path, source))?;
    Ok(identity)
}
