//! From an origin to a connection: resolve, check, dial, handshake.
//!
//! The address that is checked is the address that is dialled; a name is
//! resolved once for each connection, and one forbidden address among many
//! refuses the name.
//!
//! Refuses: certificates that are not right, whatever the reason; proxies that
//! would look where we cannot, unless they are trusted to.

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

use crate::address::Guard;
use crate::clock::Clock;
use crate::error::{BadAnswer, Cause, NetworkFault, Phase, Refused};
use crate::means::Means;
use crate::proxy::{Proxies, Proxy};
use crate::target::Origin;
use crate::what::Deadlines;

/// The head of an answer may have so many bytes and fields.
const MOST_HEAD: usize = 64 << 10;
const MOST_FIELDS: usize = 256;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection that speaks HTTP/1.1.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) origin: Origin,
    pub(crate) sender: SendRequest<Empty<Bytes>>,
    /// Whether requests go to a proxy and must name the whole address.
    pub(crate) is_by_proxy: bool,
    /// The value of `Proxy-Authorization`, where the proxy reads requests.
    pub(crate) authorization: Option<String>,
    /// When it was used last.
    pub(crate) used: Duration,
    driver: JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Makes connections.
#[derive(Debug)]
pub(crate) struct Connector {
    pub(crate) means: Means,
    pub(crate) guard: Guard,
    pub(crate) proxies: Proxies,
    pub(crate) trust_proxy: bool,
    pub(crate) deadlines: Deadlines,
    /// Certificates that are trusted beside those of the machine.
    pub(crate) roots: Vec<CertificateDer<'static>>,
    pub(crate) tls: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Connector {
    /// Connects to an origin, by a proxy where one is set.
    pub(crate) async fn connect(&self, origin: &Origin) -> Result<Link, Cause> {
        let proxy = self.proxies.of(origin);
        let addresses = self.addresses(origin, proxy.is_some()).await?;
        let mut authorization = None;
        let stream: Box<dyn Stream> = match proxy {
            None => self.dial(&addresses, origin.port).await?,
            Some(proxy) => {
                let mut stream = self.dial(&self.proxy_addresses(proxy).await?, proxy.port).await?;
                if origin.is_https {
                    let tunnel = tunnel(&mut stream, origin, proxy);
                    self.within(Phase::Connect, self.deadlines.tls, tunnel).await??;
                } else {
                    authorization.clone_from(&proxy.authorization);
                }
                stream
            }
        };
        let stream: Box<dyn Stream> = if origin.is_https {
            let config = self.tls_config()?;
            let name = origin.host.trim_start_matches('[').trim_end_matches(']').to_owned();
            let fault = |error: String| Cause::from(NetworkFault::Tls(error));
            let name = ServerName::try_from(name).map_err(|error| fault(error.to_string()))?;
            let handshake = TlsConnector::from(config).connect(name, stream);
            let handshake = self.within(Phase::Tls, self.deadlines.tls, handshake).await?;
            Box::new(handshake.map_err(|error| handshake_fault(&error, origin.port))?)
        } else {
            stream
        };
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(MOST_HEAD)
            .max_headers(MOST_FIELDS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| fault_of(&error))?;
        // What goes wrong on the connection is told to whoever uses it.
        let driver = tokio::spawn(async move { drop(connection.await) });
        Ok(Link {
            origin: origin.clone(),
            sender,
            is_by_proxy: proxy.is_some() && !origin.is_https,
            authorization,
            used: self.means.clock.moment(),
            driver,
        })
    }

    /// Every address of the origin, each of them checked.
    async fn addresses(&self, origin: &Origin, is_by_proxy: bool) -> Result<Vec<IpAddr>, Cause> {
        let addresses = match origin.literal() {
            Some(address) => vec![address],
            None => match self.resolve(&origin.host).await {
                Ok(addresses) => addresses,
                Err(_) if is_by_proxy && self.trust_proxy => return Ok(Vec::new()),
                Err(_) if is_by_proxy => return Err(Refused::Unseen(origin.host.clone()).into()),
                Err(fault) => return Err(fault),
            },
        };
        for &address in &addresses {
            self.guard
                .check(address)
                .map_err(|forbidden| Refused::Address { host: origin.host.clone(), forbidden })?;
        }
        Ok(addresses)
    }

    /// A proxy is the operator's choice and may well be private.
    async fn proxy_addresses(&self, proxy: &Proxy) -> Result<Vec<IpAddr>, Cause> {
        match proxy.host.parse() {
            Ok(address) => Ok(vec![address]),
            Err(_) => self.resolve(&proxy.host).await,
        }
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, Cause> {
        let found = self.means.resolver.resolve(name);
        let found = self.within(Phase::Resolve, self.deadlines.resolve, found).await?;
        let fault = |error| Cause::from(NetworkFault::Resolve(name.to_owned(), error));
        let mut addresses = found.map_err(fault)?;
        if addresses.is_empty() {
            return Err(fault(std::io::Error::other("it has no address")));
        }
        let mut seen = std::collections::BTreeSet::new();
        addresses.retain(|address| seen.insert(*address));
        Ok(addresses)
    }

    /// Tries one address after the other.
    async fn dial(&self, addresses: &[IpAddr], port: u16) -> Result<Box<dyn Stream>, Cause> {
        let mut fault = None;
        for &address in addresses {
            let dial = self.means.dialer.dial(SocketAddr::new(address, port));
            match self.within(Phase::Connect, self.deadlines.connect, dial).await {
                Ok(Ok(stream)) => return Ok(Box::new(stream)),
                Ok(Err(error)) => fault = Some(NetworkFault::Connect(address, error).into()),
                Err(late) => fault = Some(late),
            }
        }
        let none = || NetworkFault::Proxy("it has no address".to_owned()).into();
        Err(fault.unwrap_or_else(none))
    }

    /// Runs something until its time is over.
    pub(crate) async fn within<T>(
        &self,
        phase: Phase,
        most: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, Cause> {
        let clock = &self.means.clock;
        let late = clock.deadline(clock.moment().saturating_add(most));
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = late => Err(NetworkFault::Deadline(phase, most).into()),
        }
    }

    fn tls_config(&self) -> Result<Arc<ClientConfig>, Cause> {
        let made = self
            .tls
            .get_or_init(|| make_tls(&self.roots, Arc::clone(&self.means.clock)).map(Arc::new));
        made.clone().map_err(|fault| NetworkFault::Tls(fault).into())
    }
}

/// Why a handshake failed; tells a port without TLS from a wrong certificate.
fn handshake_fault(error: &std::io::Error, port: u16) -> NetworkFault {
    use rustls::{Error, InvalidMessage};
    use std::io::ErrorKind;
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            NetworkFault::NotTls(format!("port {port} answers without TLS"))
        }
        None if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => {
            NetworkFault::NotTls(format!(
                "the server closed the connection during the handshake; port {port} may not \
                 speak TLS"
            ))
        }
        _ => NetworkFault::Tls(error.to_string()),
    }
}

/// Certificates of the machine and those that were given; TLS 1.2 and 1.3.
fn make_tls(
    extra: &[CertificateDer<'static>],
    clock: Arc<dyn Clock>,
) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    for certificate in extra {
        roots.add(certificate.clone()).map_err(|error| error.to_string())?;
    }
    // A certificate of the machine that cannot be read is not one of ours.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("this machine has no trusted certificates".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_details(provider, Arc::new(ByClock(clock)))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Lets certificates be judged by the clock that was handed in.
#[derive(Debug)]
struct ByClock(Arc<dyn Clock>);

impl TimeProvider for ByClock {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().unix_seconds()).ok()?;
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}

/// Asks a proxy for a tunnel.
async fn tunnel(
    stream: &mut Box<dyn Stream>,
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
    // Byte by byte, because what follows the head belongs to the tunnel.
    while !head.ends_with(b"\r\n\r\n") {
        if MOST_HEAD <= head.len() {
            return Err(NetworkFault::Proxy("its answer has no end".to_owned()));
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
    Err(NetworkFault::Proxy(format!("it answered {}", rutter_finding::quoted(&line))))
}

/// What an error of the protocol means.
pub(crate) fn fault_of(error: &hyper::Error) -> Cause {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    if error.is_parse() {
        return BadAnswer::Head(text).into();
    }
    NetworkFault::Broken(text).into()
}
