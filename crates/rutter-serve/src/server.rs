//! Sockets, threads and their end.
//!
//! One thread accepts; the workers of one runtime answer, and whichever of them
//! has time takes the next request of any connection: none waits for a worker
//! that the machine lets wait. Limits are kept at the door, before anything is
//! spent on a connection.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use rutter_logs::Record;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::rustls::ServerConfig;

use crate::connection::{self, Context, stopped};
use crate::metrics::Cut;
use crate::network::household;
use crate::report;
use crate::site::{Site, SiteError};
use crate::tls::{TlsError, TlsFiles};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;

/// Pause after a failure to accept, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Threads for each worker that may wait for a disk.
const BLOCKING: usize = 8;

/// How often an idle server looks whether something changed.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Stands in the log for a connection that was closed without a word, as nginx
/// has it.
const UNSAID: u16 = 444;

/// Where and how to listen.
#[derive(Debug, Clone)]
pub struct Listening {
    /// Address of the site.
    pub address: SocketAddr,
    /// Address of `/metrics`; nowhere where there is none.
    pub metrics: Option<SocketAddr>,
    /// Certificate and key; plain HTTP where there are none.
    pub tls: Option<TlsFiles>,
    /// Threads that answer.
    pub workers: usize,
}

impl Listening {
    /// Plain HTTP, a worker for each core.
    pub fn new(address: SocketAddr) -> Self {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        Self { address, metrics: None, tls: None, workers }
    }
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Somebody else listens there.
    #[error("{0} is in use")]
    InUse(SocketAddr),
    /// It cannot be listened there.
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The machine gives no threads or runtimes.
    #[error("cannot start a worker")]
    Worker(#[from] io::Error),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// What can go wrong when everything is read again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// Of the site.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// Of TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Both.
    #[error("{0}; {1}")]
    Both(Box<SiteError>, Box<TlsError>),
}

/// A server that listens, but does not answer yet.
pub struct Server {
    site: Site,
    listening: Listening,
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

/// Stops a server and has it read everything again, from any thread.
#[derive(Clone)]
pub struct Handle {
    site: Site,
    tls: Option<(TlsFiles, Arc<RwLock<Arc<ServerConfig>>>)>,
    stop: watch::Sender<bool>,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

impl Handle {
    /// Ends the server: no new connections, answers under way get their time.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Reads `served.json`, tokens and certificates again; what cannot be read
    /// stays as it was.
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
        // A server that ended a moment ago is not in the way.
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
    pub fn bind(site: Site, listening: Listening) -> Result<Self, ServeError> {
        let tls = match &listening.tls {
            Some(files) => Some(Arc::new(RwLock::new(files.load()?))),
            None => None,
        };
        let listener = listen(listening.address)?;
        let metrics = listening.metrics.map(listen).transpose()?;
        let (stop, _) = watch::channel(false);
        Ok(Self { site, listening, listener, metrics, tls, stop })
    }

    /// The address that was bound; with port 0 the system chose one.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The address of `/metrics`.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// For stopping and reloading.
    pub fn handle(&self) -> Handle {
        let tls = self.listening.tls.clone().zip(self.tls.clone());
        Handle { site: self.site.clone(), tls, stop: self.stop.clone() }
    }

    /// Serves until it is stopped, and waits for answers under way.
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
            tokio::spawn(look_around(self.site.clone()));
            let context = Context { site: self.site, tls: self.tls, stop: self.stop.subscribe() };
            let mut connections = JoinSet::new();
            accept(&listener, &context, &mut connections).await;
            drop(listener);
            drain(connections, context.site.0.settings.limits.drain).await;
            Ok::<(), io::Error>(())
        });
        // Nobody waits for the reading of a file that nobody wants.
        runtime.shutdown_background();
        Ok(result?)
    }
}

/// Looks for a new build and new tokens also while nobody asks.
async fn look_around(site: Site) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let site = site.clone();
        // It may read a large file, and workers have others to answer.
        drop(tokio::task::spawn_blocking(move || site.look_around(site.clock())).await);
    }
}

/// Connections there are, and from where.
#[derive(Debug, Default)]
struct Shared {
    n: AtomicUsize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// The right to one connection, given back with it.
struct Permit {
    site: Site,
    shared: Arc<Shared>,
    household: Option<IpAddr>,
}

impl Permit {
    /// A permit, or why there is none.
    fn take(site: &Site, shared: &Arc<Shared>, peer: IpAddr) -> Result<Self, Cut> {
        let limits = &site.0.settings.limits;
        if limits.connections <= shared.n.load(Ordering::Relaxed) {
            return Err(Cut::Full);
        }
        // A proxy brings everybody's connections.
        let household = (!site.0.settings.proxies.trusts(peer)).then(|| household(peer));
        if let Some(household) = household {
            let mut table = shared.by_address.lock().unwrap_or_else(PoisonError::into_inner);
            let n = table.entry(household).or_insert(0);
            if limits.per_address <= *n {
                return Err(Cut::Address);
            }
            *n += 1;
        }
        shared.n.fetch_add(1, Ordering::Relaxed);
        site.0.metrics.opened();
        Ok(Self { site: site.clone(), shared: Arc::clone(shared), household })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.site.0.metrics.closed();
        self.shared.n.fetch_sub(1, Ordering::Relaxed);
        let Some(household) = self.household else { return };
        let mut table = self.shared.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n) = table.get_mut(&household) {
            *n -= 1;
            if *n == 0 {
                table.remove(&household);
            }
        }
    }
}

/// Takes connections in until the server is to end.
async fn accept(
    listener: &tokio::net::TcpListener,
    context: &Context,
    connections: &mut JoinSet<()>,
) {
    let (site, shared) = (&context.site, Arc::new(Shared::default()));
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
        match Permit::take(site, &shared, peer) {
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

/// Says why, if that is possible at once. Over TLS it is not: nobody there
/// understands plain text, so nobody was told to wait.
fn refuse(stream: &TcpStream, peer: IpAddr, context: &Context, cut: Cut) {
    let site = &context.site;
    site.0.metrics.cut(cut);
    if site.0.settings.limits.connections == 0 {
        return;
    }
    if context.tls.is_some() {
        site.0.listeners.tell(&report::broken(peer, UNSAID));
        return;
    }
    let status = if cut == Cut::Address { 429 } else { 503 };
    let text: &[u8] = if cut == Cut::Address {
        b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 10\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    } else {
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    };
    drop(stream.try_write(text));
    site.0.metrics.answered(status);
    let record = Record { retry_after: Some(10), ..report::broken(peer, status) };
    site.0.listeners.tell(&record);
}

/// Gives what is under way its time.
async fn drain(mut connections: JoinSet<()>, time: Duration) {
    let rest = async { while connections.join_next().await.is_some() {} };
    // Whatever is left is dropped with its set.
    drop(tokio::time::timeout(time, rest).await);
}
