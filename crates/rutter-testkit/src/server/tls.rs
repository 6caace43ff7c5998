//! Valid and invalid TLS certificates for tests.
//!
//! The certificates are valid for a hundred years from November 2026; a test of an expired
//! certificate sets its clock to a later time.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::ServerStream;

/// Returns the certificate authority of the valid certificates, in DER.
pub fn authority() -> CertificateDer<'static> {
    certificate(include_bytes!("../../fixtures/tls/ca.pem"))
}

/// Certificate that the test server presents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerCertificate {
    /// A valid certificate of `harbour.example`, `cdn.harbour.example`, `localhost` and 127.0.0.1.
    Good,
    /// A certificate of another host, `elsewhere.example`.
    Other,
    /// A self-signed certificate of `harbour.example`.
    SelfSigned,
}

pub(super) type TlsConfig = Arc<ServerConfig>;

fn certificate(pem: &[u8]) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem).expect("the fixture is a valid certificate")
}

impl ServerCertificate {
    pub(super) fn config(self) -> TlsConfig {
        let pem: &[u8] = match self {
            Self::Good => include_bytes!("../../fixtures/tls/good.pem"),
            Self::Other => include_bytes!("../../fixtures/tls/other.pem"),
            Self::SelfSigned => include_bytes!("../../fixtures/tls/self.pem"),
        };
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("../../fixtures/tls/leaf.key"))
            .expect("our own key can be read");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the usual versions are known")
            .with_no_client_auth()
            .with_single_cert(vec![certificate(pem)], key)
            .expect("certificate and key belong together");
        Arc::new(config)
    }
}

pub(super) fn accept(stream: TcpStream, config: TlsConfig) -> io::Result<Box<dyn ServerStream>> {
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    Ok(Box::new(StreamOwned::new(connection, stream)))
}
