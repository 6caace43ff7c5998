//! Opens a connection to an origin: resolves the name, checks the addresses, connects, and does the
//! TLS handshake.
//!
//! A name is resolved once per connection, and the client connects only to an address that it has
//! checked. If one address of a name is blocked, the name is refused.
//!
//! Rejects: invalid certificates, and names that only a proxy can resolve, unless the settings
//! trust the proxy.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use crate::address_policy::AddressPolicy;
use crate::clock::Clock;
use crate::environment::Environment;
use crate::error::{BadResponse, FailureCause, NetworkFault, RequestPhase, RequestRefusal};
use crate::proxy::{Proxies, Proxy};
use crate::resource_kind::Timeouts;
use crate::target::Origin;

/// Maximum size of a response head in bytes, and maximum number of its header fields.
const MAX_HEAD_BYTES: usize = 64 << 10;
const MAX_HEADER_FIELDS: usize = 256;

trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// An open HTTP/1.1 connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) origin: Origin,
    pub(crate) sender: SendRequest<Empty<Bytes>>,
    /// Whether requests go to a proxy and must contain the absolute URL.
    pub(crate) uses_absolute_form: bool,
    /// The value of `Proxy-Authorization`, if requests go to a proxy.
    pub(crate) authorization: Option<String>,
    /// Monotonic time of the last use.
    pub(crate) used: Duration,
    driver: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Opens connections with the settings of a client.
#[derive(Debug)]
pub(crate) struct Connector {
    pub(crate) environment: Environment,
    pub(crate) address_policy: AddressPolicy,
    pub(crate) proxies: Proxies,
    pub(crate) trust_proxy: bool,
    pub(crate) timeouts: Timeouts,
    /// Root certificates that are trusted in addition to those of the operating system.
    pub(crate) roots: Vec<CertificateDer<'static>>,
    pub(crate) tls: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Connector {
    /// Connects to an origin, through a proxy if one is set.
    pub(crate) async fn connect(&self, origin: &Origin) -> Result<Connection, FailureCause> {
        let proxy = self.proxies.for_origin(origin);
        let addresses = self.addresses(origin, proxy.is_some()).await?;
        let mut authorization = None;
        let stream: Box<dyn ByteStream> = match proxy {
            None => self.dial(&addresses, origin.port).await?,
            Some(proxy) => {
                let mut stream = self.dial(&self.proxy_addresses(proxy).await?, proxy.port).await?;
                if origin.is_https {
                    let tunnel = tunnel(&mut stream, origin, proxy);
                    self.with_timeout(RequestPhase::Connect, self.timeouts.tls, tunnel).await??;
                } else {
                    authorization.clone_from(&proxy.authorization);
                }
                stream
            }
        };
        let stream: Box<dyn ByteStream> = if origin.is_https {
            let config = self.tls_config()?;
            let name = origin.host.trim_start_matches('[').trim_end_matches(']').to_owned();
            let fault = |error: String| FailureCause::from(NetworkFault::Tls(error));
            let name = ServerName::try_from(name).map_err(|error| fault(error.to_string()))?;
            let handshake = TlsConnector::from(config).connect(name, stream);
            let handshake =
                self.with_timeout(RequestPhase::Tls, self.timeouts.tls, handshake).await?;
            Box::new(handshake.map_err(|error| handshake_fault(&error, origin.port))?)
        } else {
            stream
        };
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(MAX_HEAD_BYTES)
            .max_headers(MAX_HEADER_FIELDS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| protocol_failure(&error))?;
        // `send_request` returns errors of the connection, so they are ignored here.
        let driver = tokio::spawn(async move { drop(connection.await) });
        Ok(Connection {
            origin: origin.clone(),
            sender,
            uses_absolute_form: proxy.is_some() && !origin.is_https,
            authorization,
            used: self.environment.clock.monotonic(),
            driver,
        })
    }

    /// Returns all addresses of the origin; an error if one of them is blocked.
    async fn addresses(
        &self,
        origin: &Origin,
        uses_absolute_form: bool,
    ) -> Result<Vec<IpAddr>, FailureCause> {
        let addresses = match origin.literal() {
            Some(address) => vec![address],
            None => match self.resolve(&origin.host).await {
                Ok(addresses) => addresses,
                Err(_) if uses_absolute_form && self.trust_proxy => return Ok(Vec::new()),
                Err(_) if uses_absolute_form => {
                    return Err(RequestRefusal::Unseen(origin.host.clone()).into());
                }
                Err(fault) => return Err(fault),
            },
        };
        for &address in &addresses {
            self.address_policy.check(address).map_err(|forbidden| RequestRefusal::Address {
                host: origin.host.clone(),
                forbidden,
            })?;
        }
        Ok(addresses)
    }

    /// Resolves the name of a proxy. The address of a proxy is not checked, because the operator
    /// chose the proxy, and proxies often have private addresses.
    async fn proxy_addresses(&self, proxy: &Proxy) -> Result<Vec<IpAddr>, FailureCause> {
        match proxy.host.parse() {
            Ok(address) => Ok(vec![address]),
            Err(_) => self.resolve(&proxy.host).await,
        }
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, FailureCause> {
        let found = self.environment.resolver.resolve(name);
        let found = self.with_timeout(RequestPhase::Resolve, self.timeouts.resolve, found).await?;
        let fault = |error| FailureCause::from(NetworkFault::Resolve(name.to_owned(), error));
        let mut addresses = found.map_err(fault)?;
        if addresses.is_empty() {
            return Err(fault(std::io::Error::other("the name has no address")));
        }
        let mut seen = std::collections::BTreeSet::new();
        addresses.retain(|address| seen.insert(*address));
        Ok(addresses)
    }

    /// Connects to the first address that accepts a connection.
    async fn dial(
        &self,
        addresses: &[IpAddr],
        port: u16,
    ) -> Result<Box<dyn ByteStream>, FailureCause> {
        let mut fault = None;
        for &address in addresses {
            let dial = self.environment.dialer.dial(SocketAddr::new(address, port));
            match self.with_timeout(RequestPhase::Connect, self.timeouts.connect, dial).await {
                Ok(Ok(stream)) => return Ok(Box::new(stream)),
                Ok(Err(error)) => fault = Some(NetworkFault::Connect(address, error).into()),
                Err(late) => fault = Some(late),
            }
        }
        let none = || NetworkFault::Proxy("the name has no address".to_owned()).into();
        Err(fault.unwrap_or_else(none))
    }

    /// Runs a future; returns an error if it is not complete within the time limit of its phase.
    pub(crate) async fn with_timeout<T>(
        &self,
        phase: RequestPhase,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, FailureCause> {
        let clock = &self.environment.clock;
        let late = clock.deadline(clock.monotonic().saturating_add(limit));
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = late => Err(NetworkFault::Timeout(phase, limit).into()),
        }
    }

    fn tls_config(&self) -> Result<Arc<ClientConfig>, FailureCause> {
        let made = self.tls.get_or_init(|| {
            make_tls(&self.roots, Arc::clone(&self.environment.clock)).map(Arc::new)
        });
        made.clone().map_err(|fault| NetworkFault::Tls(fault).into())
    }
}

/// Classifies a failed TLS handshake: the port does not use TLS, or the handshake itself failed.
fn handshake_fault(error: &std::io::Error, port: u16) -> NetworkFault {
    use rustls::{Error, InvalidMessage};
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            NetworkFault::NotTls(format!("port {port} does not use TLS"))
        }
        None if is_closed(error.kind()) => NetworkFault::NotTls(format!(
            "the server closed the connection during the handshake; port {port} may not use TLS"
        )),
        _ => NetworkFault::Tls(error.to_string()),
    }
}

/// Returns whether the error says that the server closed the connection. The kind of the error depends
/// on whether the client was reading or writing at that moment.
fn is_closed(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

/// Builds the TLS configuration: root certificates of the system and of the settings, TLS 1.2 and
/// 1.3.
fn make_tls(
    extra: &[CertificateDer<'static>],
    clock: Arc<dyn Clock>,
) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    for certificate in extra {
        roots.add(certificate.clone()).map_err(|error| error.to_string())?;
    }
    // System certificates that cannot be parsed are skipped.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("the system has no trusted root certificates".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config =
        ClientConfig::builder_with_details(provider, Arc::new(ClockTimeProvider(clock)))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Passes the client's clock to rustls, which compares it with the validity of certificates.
#[derive(Debug)]
struct ClockTimeProvider(Arc<dyn Clock>);

impl TimeProvider for ClockTimeProvider {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().unix_seconds()).ok()?;
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}

/// Opens a tunnel through a proxy with CONNECT.
async fn tunnel(
    stream: &mut Box<dyn ByteStream>,
    origin: &Origin,
    proxy: &Proxy,
) -> Result<(), NetworkFault> {
    let place = format!("{}:{}", origin.host, origin.port);
    let mut request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n");
    if let Some(authorization) = &proxy.authorization {
        request.push_str("Proxy-Authorization: ");
        request.push_str(authorization);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    let fault = |error: &std::io::Error| NetworkFault::Proxy(error.to_string());
    stream.write_all(request.as_bytes()).await.map_err(|error| fault(&error))?;
    let mut head = Vec::new();
    // Read the head byte by byte, because the bytes after it belong to the tunnel.
    while !head.ends_with(b"\r\n\r\n") {
        if MAX_HEAD_BYTES <= head.len() {
            return Err(NetworkFault::Proxy("the response head is too long".to_owned()));
        }
        head.push(stream.read_u8().await.map_err(|error| fault(&error))?);
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split(' ');
    let is_http = words.next().is_some_and(|word| word.starts_with("HTTP/1."));
    if is_http && words.next() == Some("200") {
        return Ok(());
    }
    Err(NetworkFault::Proxy(format!("the response starts with {}", rutter_finding::quoted(&line))))
}

/// Converts an error of hyper to a failure cause.
pub(crate) fn protocol_failure(error: &hyper::Error) -> FailureCause {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    if error.is_parse() {
        return BadResponse::Head(text).into();
    }
    NetworkFault::Broken(text).into()
}
