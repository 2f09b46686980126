//! TLS by certificate files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// A certificate and its key, ready to be shown to clients.
#[derive(Clone)]
pub struct Tls(pub(crate) TlsAcceptor);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or nothing of the kind is in it.
    #[error("`{}` cannot be used", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: pem::Error,
    },
    /// There is no certificate in the file.
    #[error("`{}` has no certificate in it", .0.display())]
    Empty(PathBuf),
    /// Certificate and key do not go together, or are of no use.
    #[error("the certificate cannot be used with this key")]
    Pair(#[source] rustls::Error),
}

impl Tls {
    /// From a certificate chain and a key, both PEM.
    pub fn load(chain: &Path, key: &Path) -> Result<Self, TlsError> {
        let file = |path: &Path, source| TlsError::File {
            path: path.to_owned(),
            source,
        };
        let certificates = CertificateDer::pem_file_iter(chain)
            .and_then(|it| it.collect::<Result<Vec<_>, _>>())
            .map_err(|source| file(chain, source))?;
        if certificates.is_empty() {
            return Err(TlsError::Empty(chain.to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(|source| file(key, source))?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Pair)?
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .map_err(TlsError::Pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls(TlsAcceptor::from(Arc::new(config))))
    }
}
