//! HTTP server on the loopback interface that sends exactly the replies that a test defines, valid
//! or not.
//!
//! Each path has a list of [`Reply`]s; every request is recorded with its time on the clock of the
//! test. The server uses plain threads and its own HTTP/1.1 code, because a server library cannot
//! send invalid replies.

mod reply;
mod tls;

pub use reply::{Fault, Framing, Reply};
pub use tls::{ServerCertificate, authority};

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The clock of a test, with the functions that the server needs.
#[derive(Clone)]
pub struct TestClock {
    /// Returns the current time of the test.
    pub now: Arc<dyn Fn() -> Duration + Send + Sync>,
    /// Advances the time of the test by this duration.
    pub advance: Arc<dyn Fn(Duration) + Send + Sync>,
    /// Returns how often the client has started to wait with a deadline. The server advances the
    /// time only after the client started such a wait, so that no test depends on a race.
    pub armed: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl fmt::Debug for TestClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestClock({:?})", (self.now)())
    }
}

/// Request that the test server received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRequest {
    /// Time when the head of the request was complete.
    pub moment: Duration,
    /// Time when the reply was sent or aborted; `None` before that.
    pub done: Option<Duration>,
    /// Method of the request, such as `GET`.
    pub method: String,
    /// Request target as the client sent it.
    pub target: String,
    /// Path and query of the request target.
    pub path: String,
    /// Header fields of the request, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Number of the connection that carried the request, counted from 0.
    pub connection: usize,
}

impl RecordedRequest {
    /// Returns the value of a header field of the request.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the host name of the `Host` field, without the port.
    pub fn host(&self) -> &str {
        self.header("host").unwrap_or_default().split(':').next().unwrap_or_default()
    }
}

type ReplyHandler = Box<dyn Fn(&RecordedRequest) -> Reply + Send>;

enum RouteScript {
    List(VecDeque<Reply>),
    Function(ReplyHandler),
}

struct ServerState {
    clock: TestClock,
    routes: Mutex<BTreeMap<String, RouteScript>>,
    fallback: Mutex<Reply>,
    seen: Mutex<Vec<RecordedRequest>>,
    streams: Mutex<BTreeMap<usize, TcpStream>>,
    n_connections: AtomicUsize,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    is_over: AtomicBool,
}

/// A server on a free loopback port; stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<ServerState>,
    listener: Option<JoinHandle<()>>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({})", self.address)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Starts a server without TLS.
    pub fn start(clock: TestClock) -> Self {
        Self::listen(clock, None)
    }

    /// Starts a server with TLS.
    pub fn start_tls(clock: TestClock, identity: ServerCertificate) -> Self {
        Self::listen(clock, Some(identity))
    }

    fn listen(clock: TestClock, identity: Option<ServerCertificate>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(ServerState {
            clock,
            routes: Mutex::default(),
            fallback: Mutex::new(Reply::status(404)),
            seen: Mutex::default(),
            streams: Mutex::default(),
            n_connections: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let config = identity.map(ServerCertificate::config);
        let ours = Arc::clone(&shared);
        let listener = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ours.is_over.load(Ordering::SeqCst) {
                    break;
                }
                let (shared, config) = (Arc::clone(&ours), config.clone());
                thread::spawn(move || {
                    // The result is ignored, because a client that disconnects must not fail the
                    // test.
                    drop(shared.serve(stream, config));
                });
            }
        });
        Self { address, shared, listener: Some(listener) }
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the replies of a path. The server sends the replies in order and then repeats the last
    /// one. `/path` applies to all hosts, `host/path` to one host.
    pub fn route(&self, place: &str, replies: impl Into<Vec<Reply>>) -> &Self {
        let list = RouteScript::List(VecDeque::from(replies.into()));
        locked(&self.shared.routes).insert(place.to_owned(), list);
        self
    }

    /// Sets a function that computes the reply of a path from the request.
    pub fn route_by(
        &self,
        place: &str,
        handler: impl Fn(&RecordedRequest) -> Reply + Send + 'static,
    ) -> &Self {
        let function = RouteScript::Function(Box::new(handler));
        locked(&self.shared.routes).insert(place.to_owned(), function);
        self
    }

    /// Sets the reply of all paths that have no route; the default is status 404.
    pub fn fallback(&self, reply: Reply) -> &Self {
        *locked(&self.shared.fallback) = reply;
        self
    }

    /// Returns all requests that the server has received so far.
    pub fn seen(&self) -> Vec<RecordedRequest> {
        locked(&self.shared.seen).clone()
    }

    /// Returns the paths of all requests that the server has received so far, in order.
    pub fn paths(&self) -> Vec<String> {
        locked(&self.shared.seen).iter().map(|seen| seen.path.clone()).collect()
    }

    /// Returns the number of connections that the server has accepted so far.
    pub fn n_connections(&self) -> usize {
        self.shared.n_connections.load(Ordering::SeqCst)
    }

    /// Returns the maximum number of requests that were processed at the same time.
    pub fn most_at_once(&self) -> usize {
        self.shared.most_at_once.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        for stream in locked(&self.shared.streams).values() {
            drop(stream.shutdown(Shutdown::Both));
        }
        // A new connection wakes the listener thread, which then stops.
        drop(TcpStream::connect(self.address));
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
    }
}

/// Byte stream of a connection, with or without TLS.
pub(crate) trait ServerStream: Read + Write {}
impl<T: Read + Write> ServerStream for T {}

impl ServerState {
    fn serve(&self, stream: TcpStream, config: Option<tls::TlsConfig>) -> io::Result<()> {
        let connection = self.n_connections.fetch_add(1, Ordering::SeqCst);
        locked(&self.streams).insert(connection, stream.try_clone()?);
        let served = self.answer(stream, config, connection);
        // The map holds a second handle of the connection, which would keep it open.
        locked(&self.streams).remove(&connection);
        served
    }

    fn answer(
        &self,
        stream: TcpStream,
        config: Option<tls::TlsConfig>,
        connection: usize,
    ) -> io::Result<()> {
        let raw = stream.try_clone()?;
        let mut wire: Box<dyn ServerStream> = match config {
            None => Box::new(stream),
            Some(config) => tls::accept(stream, config)?,
        };
        while let Some(mut seen) = read_head(wire.as_mut())? {
            seen.connection = connection;
            seen.moment = (self.clock.now)();
            let armed = (self.clock.armed)();
            let at = {
                let mut all = locked(&self.seen);
                all.push(seen.clone());
                all.len() - 1
            };
            let n = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(n, Ordering::SeqCst);
            let reply = self.reply(&seen);
            let sent = reply.send(wire.as_mut(), &raw, &self.clock, &seen, armed);
            self.at_once.fetch_sub(1, Ordering::SeqCst);
            if let Some(seen) = locked(&self.seen).get_mut(at) {
                seen.done = Some((self.clock.now)());
            }
            if !sent? {
                break;
            }
        }
        Ok(())
    }

    fn reply(&self, seen: &RecordedRequest) -> Reply {
        let mut routes = locked(&self.routes);
        let bare = seen.path.split('?').next().unwrap_or_default();
        let host = seen.host();
        let places = [
            format!("{host}{}", seen.path),
            format!("{host}{bare}"),
            seen.path.clone(),
            bare.to_owned(),
        ];
        for place in places {
            match routes.get_mut(&place) {
                Some(RouteScript::List(list)) if 1 < list.len() => {
                    return list.pop_front().expect("there is more than one");
                }
                Some(RouteScript::List(list)) => {
                    if let Some(reply) = list.front() {
                        return reply.clone();
                    }
                }
                Some(RouteScript::Function(function)) => return function(seen),
                None => {}
            }
        }
        locked(&self.fallback).clone()
    }
}

/// Reads the head of a request; returns `None` if the client closed the connection.
fn read_head(wire: &mut dyn ServerStream) -> io::Result<Option<RecordedRequest>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match wire.read(&mut byte) {
            Ok(0) => return Ok(None),
            Ok(_) => head.extend(byte),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default().to_owned();
    let path = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/").to_owned(),
        None => target.clone(),
    };
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let (moment, connection) = (Duration::ZERO, 0);
    Ok(Some(RecordedRequest { moment, done: None, method, target, path, headers, connection }))
}
