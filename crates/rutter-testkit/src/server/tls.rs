//! Certificates for tests, good and bad, all of them ours and worthless.
//!
//! They begin in November 2026 and last a hundred years; a test that wants an
//! expired one moves its clock.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::Wire;

/// The authority behind the good certificates, in DER.
pub fn authority() -> CertificateDer<'static> {
    certificate(include_bytes!("../../fixtures/tls/ca.pem"))
}

/// Who a server says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// `harbour.example`, `cdn.harbour.example`, `localhost`, 127.0.0.1.
    Good,
    /// `elsewhere.example`.
    Other,
    /// `harbour.example`, vouched for by nobody.
    SelfSigned,
}

pub(super) type Config = Arc<ServerConfig>;

fn certificate(pem: &[u8]) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem).expect("our own certificate can be read")
}

impl Identity {
    pub(super) fn config(self) -> Config {
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

pub(super) fn accept(stream: TcpStream, config: Config) -> io::Result<Box<dyn Wire>> {
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    Ok(Box::new(StreamOwned::new(connection, stream)))
}
