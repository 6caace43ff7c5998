//! TLS configuration from PEM files, for HTTP/2 and HTTP/1.1 (ALPN).
//!
//! Rejects: versions before TLS 1.2, files over 1 MiB.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// Maximum size of a PEM file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Paths of the certificate and its key.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate chain, starting with the server's certificate.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Why TLS could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// A file contains no certificate or no key. The message does not repeat its content.
    #[error("{} contains no PEM {}", .0.display(), .1)]
    Pem(PathBuf, &'static str),
    /// The certificate and the key do not match, or are not supported.
    #[error("cannot use the certificate and its key")]
    Use(#[source] rustls::Error),
}

impl TlsFiles {
    pub(crate) fn load(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let read = |path: &PathBuf| {
            let failed = |error| TlsError::Io(path.clone(), error);
            if MAX_BYTES < std::fs::metadata(path).map_err(failed)?.len() {
                return Err(failed(io::ErrorKind::FileTooLarge.into()));
            }
            std::fs::read(path).map_err(failed)
        };
        let (certificate, key) = (read(&self.certificate)?, read(&self.key)?);
        let chain: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_slice_iter(&certificate).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| TlsError::Pem(self.certificate.clone(), "certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(&key)
            .map_err(|_| TlsError::Pem(self.key.clone(), "key"))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Use)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(TlsError::Use)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}
