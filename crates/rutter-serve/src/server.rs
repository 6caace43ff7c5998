//! Sockets, threads and shutdown of the server.
//!
//! One task accepts connections. Each worker thread handles requests of any connection. Connection
//! limits are checked on accept, before any other work.

pub(crate) mod connection;
pub(crate) mod file_limit;
pub(crate) mod signals;
pub(crate) mod tls;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use rutter_logs::AccessRecord;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::rustls::ServerConfig;

use crate::admission::client_address::client_network;
use crate::monitor::metrics::CutReason;
use crate::monitor::report;
use crate::reload::failure::SiteError;
use crate::server::connection::{ConnectionContext, stopped};
use crate::server::tls::{TlsError, TlsFiles};
use crate::site::Site;

/// Length of the accept queue.
const BACKLOG: i32 = 4096;

/// Pause after a failed accept, for example with too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Blocking threads per worker.
const BLOCKING: usize = 8;

/// How often an idle server checks for changed files.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Logged status of a connection that was closed without a response, as in nginx.
const CLOSED_WITHOUT_RESPONSE: u16 = 444;

/// Addresses, TLS and threads of a server.
#[derive(Debug, Clone)]
pub struct ListenConfig {
    /// Address of the site.
    pub address: SocketAddr,
    /// Address of `/metrics`; `None` disables it.
    pub metrics: Option<SocketAddr>,
    /// Certificate and key; `None` for plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Worker threads.
    pub workers: usize,
}

impl ListenConfig {
    /// Returns a configuration with plain HTTP and one worker per core.
    pub fn new(address: SocketAddr) -> Self {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        Self { address, metrics: None, tls: None, workers }
    }
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Another process uses the address.
    #[error("{0} is already in use")]
    InUse(SocketAddr),
    /// Listening on the address failed.
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// Threads or runtimes could not be started.
    #[error("cannot start a worker thread")]
    Worker(#[from] io::Error),
    /// TLS could not be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Why a reload failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// The site could not be reloaded.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// The certificates could not be reloaded.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Both failed.
    #[error("{0}; {1}")]
    Both(Box<SiteError>, Box<TlsError>),
}

/// A server with bound sockets that does not accept connections yet.
pub struct Server {
    site: Site,
    listening: ListenConfig,
    listener: TcpListener,
    metrics: Option<TcpListener>,
    tls: Option<Arc<RwLock<Arc<ServerConfig>>>>,
    stop: watch::Sender<bool>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("listening", &self.listening).finish_non_exhaustive()
    }
}

/// Stops or reloads a server, from any thread.
#[derive(Clone)]
pub struct ServerHandle {
    site: Site,
    tls: Option<(TlsFiles, Arc<RwLock<Arc<ServerConfig>>>)>,
    stop: watch::Sender<bool>,
}

impl fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

impl ServerHandle {
    /// Stops the server: it accepts no new connections and completes running responses within the
    /// drain time.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Reloads `served.json`, tokens and certificates. If a file cannot be read, its previous
    /// version stays in force.
    pub fn reload(&self) -> Result<(), ReloadError> {
        let site = self.site.reload();
        match (site, self.reload_tls()) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(error), Ok(())) => Err(error.into()),
            (Ok(()), Err(error)) => Err(error.into()),
            (Err(one), Err(other)) => Err(ReloadError::Both(Box::new(one), Box::new(other))),
        }
    }

    fn reload_tls(&self) -> Result<(), TlsError> {
        let Some((files, place)) = &self.tls else { return Ok(()) };
        let loaded = files.load();
        self.site.0.metrics.reloaded(loaded.is_ok());
        *place.write().unwrap_or_else(PoisonError::into_inner) = loaded?;
        Ok(())
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    use socket2::{Domain, Protocol, Socket, Type};
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => ServeError::InUse(address),
        _ => ServeError::Listen(address, error),
    };
    let make = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        // The address of a server that has just stopped can be bound again.
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    make().map_err(failed)
}

impl Server {
    /// Binds the sockets and reads the certificates.
    pub fn bind(site: Site, listening: ListenConfig) -> Result<Self, ServeError> {
        let tls = match &listening.tls {
            Some(files) => Some(Arc::new(RwLock::new(files.load()?))),
            None => None,
        };
        let listener = listen(listening.address)?;
        let metrics = listening.metrics.map(listen).transpose()?;
        let (stop, _) = watch::channel(false);
        Ok(Self { site, listening, listener, metrics, tls, stop })
    }

    /// Returns the bound address; with port 0 the system chooses one.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the address of `/metrics`.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Returns a handle for stopping and reloading.
    pub fn handle(&self) -> ServerHandle {
        let tls = self.listening.tls.clone().zip(self.tls.clone());
        ServerHandle { site: self.site.clone(), tls, stop: self.stop.clone() }
    }

    /// Serves until stopped, then waits for running responses.
    pub fn run(self) -> Result<(), ServeError> {
        let n_workers = self.listening.workers.max(1);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(n_workers)
            .thread_name("worker")
            .enable_all()
            .max_blocking_threads(BLOCKING * n_workers)
            .thread_keep_alive(Duration::from_secs(5))
            .build()?;
        let result = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            if let Some(metrics) = self.metrics {
                let metrics = tokio::net::TcpListener::from_std(metrics)?;
                tokio::spawn(connection::serve_metrics(metrics, self.site.clone()));
            }
            tokio::spawn(check_for_changes(self.site.clone()));
            let context =
                ConnectionContext { site: self.site, tls: self.tls, stop: self.stop.subscribe() };
            let mut connections = JoinSet::new();
            accept(&listener, &context, &mut connections).await;
            drop(listener);
            drain(connections, context.site.0.settings.limits.connection.drain).await;
            Ok::<(), io::Error>(())
        });
        // `shutdown_background` does not wait for file reads that are still running.
        runtime.shutdown_background();
        Ok(result?)
    }
}

/// Checks at intervals for a new build and new tokens, so that changes take effect without
/// requests.
async fn check_for_changes(site: Site) {
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let site = site.clone();
        // The check may read a large file, so it runs on a blocking thread.
        drop(tokio::task::spawn_blocking(move || site.check_for_changes(site.clock())).await);
    }
}

/// Open connections, in total and per client network.
#[derive(Debug, Default)]
struct ConnectionCounts {
    n: AtomicUsize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// The permission for one connection. Dropping the permit releases it.
struct ConnectionPermit {
    site: Site,
    shared: Arc<ConnectionCounts>,
    client_network: Option<IpAddr>,
}

impl ConnectionPermit {
    /// Returns a permit, or the limit that was reached.
    fn take(site: &Site, shared: &Arc<ConnectionCounts>, peer: IpAddr) -> Result<Self, CutReason> {
        let limits = &site.0.settings.limits.connection;
        if limits.total <= shared.n.load(Ordering::Relaxed) {
            return Err(CutReason::Full);
        }
        // The limit per address does not apply to trusted proxies.
        let client_network = (!site.0.settings.proxies.trusts(peer)).then(|| client_network(peer));
        if let Some(client_network) = client_network {
            let mut table = shared.by_address.lock().unwrap_or_else(PoisonError::into_inner);
            let n = table.entry(client_network).or_insert(0);
            if limits.per_address <= *n {
                return Err(CutReason::Address);
            }
            *n += 1;
        }
        shared.n.fetch_add(1, Ordering::Relaxed);
        site.0.metrics.opened();
        Ok(Self { site: site.clone(), shared: Arc::clone(shared), client_network })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.site.0.metrics.closed();
        self.shared.n.fetch_sub(1, Ordering::Relaxed);
        let Some(client_network) = self.client_network else { return };
        let mut table = self.shared.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n) = table.get_mut(&client_network) {
            *n -= 1;
            if *n == 0 {
                table.remove(&client_network);
            }
        }
    }
}

/// Accepts connections until the server is stopped.
async fn accept(
    listener: &tokio::net::TcpListener,
    context: &ConnectionContext,
    connections: &mut JoinSet<()>,
) {
    let (site, shared) = (&context.site, Arc::new(ConnectionCounts::default()));
    let mut stop = context.stop.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = stopped(&mut stop) => return,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let peer = peer.ip();
        match ConnectionPermit::take(site, &shared, peer) {
            Ok(permit) => {
                let context = context.clone();
                connections.spawn(async move {
                    connection::serve(stream, peer, context).await;
                    drop(permit);
                });
            }
            Err(cut) => refuse(&stream, peer, context, cut),
        }
    }
}

/// Rejects a connection, with a response if it can be sent without waiting. On a TLS port no
/// response is sent, because the client expects a TLS handshake.
fn refuse(stream: &TcpStream, peer: IpAddr, context: &ConnectionContext, cut: CutReason) {
    let site = &context.site;
    site.0.metrics.cut(cut);
    if site.0.settings.limits.connection.total == 0 {
        return;
    }
    if context.tls.is_some() {
        site.0.listeners.notify(&report::broken(peer, CLOSED_WITHOUT_RESPONSE));
        return;
    }
    let status = if cut == CutReason::Address { 429 } else { 503 };
    let text: &[u8] = if cut == CutReason::Address {
        b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 10\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    } else {
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    };
    drop(stream.try_write(text));
    site.0.metrics.answered(status);
    let record = AccessRecord { retry_after: Some(10), ..report::broken(peer, status) };
    site.0.listeners.notify(&record);
}

/// Waits for running responses, at most for `time`.
async fn drain(mut connections: JoinSet<()>, time: Duration) {
    let rest = async { while connections.join_next().await.is_some() {} };
    // The remaining connections are closed when their set is dropped.
    drop(tokio::time::timeout(time, rest).await);
}
