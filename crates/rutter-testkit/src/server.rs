//! A loopback server that does exactly what it is told, however wrong.
//!
//! Each address has a script of [`Reply`]s; every request is written down with
//! the moment it came at, by whatever clock the test uses. Plain threads and
//! HTTP/1.1 by hand, because a proper server would not let itself be broken.

mod reply;
mod tls;

pub use reply::{Fault, Framing, Reply};
pub use tls::{Identity, authority};

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The clock of a test, as far as a server needs it.
#[derive(Clone)]
pub struct Hands {
    /// The moment.
    pub now: Arc<dyn Fn() -> Duration + Send + Sync>,
    /// Moves on.
    pub advance: Arc<dyn Fn(Duration) + Send + Sync>,
    /// How often the client began to wait with a deadline. Time passes only
    /// after it has, so that no fault depends on who is faster.
    pub armed: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl fmt::Debug for Hands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hands({:?})", (self.now)())
    }
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// When its head was complete.
    pub moment: Duration,
    /// When its answer was sent, or given up.
    pub done: Option<Duration>,
    /// Its method.
    pub method: String,
    /// What was asked for, as it was written.
    pub target: String,
    /// Path and query.
    pub path: String,
    /// Its fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Which connection it came on, counted from 0.
    pub connection: usize,
}

impl Seen {
    /// The value of a field.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The host it was meant for, without port.
    pub fn host(&self) -> &str {
        self.header("host").unwrap_or_default().split(':').next().unwrap_or_default()
    }
}

type Handler = Box<dyn Fn(&Seen) -> Reply + Send>;

enum Script {
    List(VecDeque<Reply>),
    Function(Handler),
}

struct Shared {
    hands: Hands,
    routes: Mutex<BTreeMap<String, Script>>,
    fallback: Mutex<Reply>,
    seen: Mutex<Vec<Seen>>,
    streams: Mutex<BTreeMap<usize, TcpStream>>,
    n_connections: AtomicUsize,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    is_over: AtomicBool,
}

/// A server on a port of its own; stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
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
    /// A server without TLS.
    pub fn start(hands: Hands) -> Self {
        Self::listen(hands, None)
    }

    /// A server with TLS.
    pub fn start_tls(hands: Hands, identity: Identity) -> Self {
        Self::listen(hands, Some(identity))
    }

    fn listen(hands: Hands, identity: Option<Identity>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            hands,
            routes: Mutex::default(),
            fallback: Mutex::new(Reply::status(404)),
            seen: Mutex::default(),
            streams: Mutex::default(),
            n_connections: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let config = identity.map(Identity::config);
        let ours = Arc::clone(&shared);
        let listener = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ours.is_over.load(Ordering::SeqCst) {
                    break;
                }
                let (shared, config) = (Arc::clone(&ours), config.clone());
                thread::spawn(move || {
                    // A client that goes away is no failure of a test.
                    drop(shared.serve(stream, config));
                });
            }
        });
        Self { address, shared, listener: Some(listener) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers an address with these replies in turn, the last one for ever.
    /// `/path` is for every host, `host/path` for one.
    pub fn route(&self, place: &str, replies: impl Into<Vec<Reply>>) -> &Self {
        let list = Script::List(VecDeque::from(replies.into()));
        locked(&self.shared.routes).insert(place.to_owned(), list);
        self
    }

    /// Answers an address by what was asked.
    pub fn route_by(
        &self,
        place: &str,
        handler: impl Fn(&Seen) -> Reply + Send + 'static,
    ) -> &Self {
        let function = Script::Function(Box::new(handler));
        locked(&self.shared.routes).insert(place.to_owned(), function);
        self
    }

    /// Answers whatever has no script; 404 where this is not called.
    pub fn fallback(&self, reply: Reply) -> &Self {
        *locked(&self.shared.fallback) = reply;
        self
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        locked(&self.shared.seen).clone()
    }

    /// What was asked for, in order.
    pub fn paths(&self) -> Vec<String> {
        locked(&self.shared.seen).iter().map(|seen| seen.path.clone()).collect()
    }

    /// Connections so far.
    pub fn n_connections(&self) -> usize {
        self.shared.n_connections.load(Ordering::SeqCst)
    }

    /// The most requests that were being answered at the same time.
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
        // Wakes the listener, which then sees that it is over.
        drop(TcpStream::connect(self.address));
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
    }
}

/// A connection, with TLS or without.
pub(crate) trait Wire: Read + Write {}
impl<T: Read + Write> Wire for T {}

impl Shared {
    fn serve(&self, stream: TcpStream, config: Option<tls::Config>) -> io::Result<()> {
        let connection = self.n_connections.fetch_add(1, Ordering::SeqCst);
        locked(&self.streams).insert(connection, stream.try_clone()?);
        let served = self.answer(stream, config, connection);
        // Only the last of its owners closes a connection.
        locked(&self.streams).remove(&connection);
        served
    }

    fn answer(
        &self,
        stream: TcpStream,
        config: Option<tls::Config>,
        connection: usize,
    ) -> io::Result<()> {
        let raw = stream.try_clone()?;
        let mut wire: Box<dyn Wire> = match config {
            None => Box::new(stream),
            Some(config) => tls::accept(stream, config)?,
        };
        while let Some(mut seen) = read_head(wire.as_mut())? {
            seen.connection = connection;
            seen.moment = (self.hands.now)();
            let armed = (self.hands.armed)();
            let at = {
                let mut all = locked(&self.seen);
                all.push(seen.clone());
                all.len() - 1
            };
            let n = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(n, Ordering::SeqCst);
            let reply = self.reply(&seen);
            let sent = reply.send(wire.as_mut(), &raw, &self.hands, &seen, armed);
            self.at_once.fetch_sub(1, Ordering::SeqCst);
            if let Some(seen) = locked(&self.seen).get_mut(at) {
                seen.done = Some((self.hands.now)());
            }
            if !sent? {
                break;
            }
        }
        Ok(())
    }

    fn reply(&self, seen: &Seen) -> Reply {
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
                Some(Script::List(list)) if 1 < list.len() => {
                    return list.pop_front().expect("there is more than one");
                }
                Some(Script::List(list)) => {
                    if let Some(reply) = list.front() {
                        return reply.clone();
                    }
                }
                Some(Script::Function(function)) => return function(seen),
                None => {}
            }
        }
        locked(&self.fallback).clone()
    }
}

/// Reads the head of a request; `None` where the client has no more.
fn read_head(wire: &mut dyn Wire) -> io::Result<Option<Seen>> {
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
    Ok(Some(Seen { moment, done: None, method, target, path, headers, connection }))
}
