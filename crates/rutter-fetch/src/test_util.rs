//! Test doubles for the parts of an [`Environment`](crate::Environment): a manual clock, a fake
//! resolver, and a fake network. The network maps public addresses to loopback servers and records
//! every connection.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rutter_page::Timestamp;
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::clock::{BoxFuture, Clock};
use crate::environment::{ConnectionDialer, HostResolver};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A clock that advances only when a test advances it, or when a client waits.
#[derive(Debug, Clone)]
pub struct ManualClock {
    moment: watch::Sender<Duration>,
    /// Time of day at monotonic time 0.
    day: Arc<Mutex<Timestamp>>,
    /// Number of futures that [`Clock::deadline`] has returned.
    armed: Arc<AtomicU64>,
}

impl ManualClock {
    /// Creates a clock with this time of day at monotonic time 0.
    pub fn new(day: Timestamp) -> Self {
        Self {
            moment: watch::Sender::new(Duration::ZERO),
            day: Arc::new(Mutex::new(day)),
            armed: Arc::default(),
        }
    }

    /// Advances the monotonic time and the time of day.
    pub fn advance(&self, by: Duration) {
        self.moment.send_modify(|moment| *moment += by);
    }

    /// Returns how many deadlines clients have started. A test server waits for this number to
    /// increase before it advances the clock, so that the client is already waiting.
    pub fn armed(&self) -> u64 {
        self.armed.load(Ordering::SeqCst)
    }

    /// Sets the time of day without changing the monotonic time.
    pub fn set_day(&self, now: Timestamp) {
        let passed = i64::try_from(self.monotonic().as_secs()).unwrap_or(i64::MAX);
        *lock(&self.day) = now.plus_seconds(-passed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let nanos = i128::try_from(self.monotonic().as_nanos()).unwrap_or(i128::MAX);
        let day = *lock(&self.day);
        Timestamp::from_nanos(day.as_nanos() + nanos).unwrap_or(day)
    }

    fn monotonic(&self) -> Duration {
        *self.moment.borrow()
    }

    fn deadline(&self, moment: Duration) -> BoxFuture<'static, ()> {
        let mut receiver = self.moment.subscribe();
        let armed = Arc::clone(&self.armed);
        Box::pin(async move {
            armed.fetch_add(1, Ordering::SeqCst);
            // After the clock is dropped, the deadline is never reached.
            if receiver.wait_for(|now| moment <= *now).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn sleep_until(&self, moment: Duration) -> BoxFuture<'static, ()> {
        let sender = self.moment.clone();
        Box::pin(async move {
            sender.send_modify(|now| *now = moment.max(*now));
            // Let other tasks run with the new time.
            tokio::task::yield_now().await;
        })
    }
}

/// The results that a fake resolver returns for a name, in order; `None` is a failure.
type ResolverAnswers = VecDeque<Option<Vec<IpAddr>>>;

/// A resolver with a table of names. It returns each result of a name once, and the last result
/// repeatedly.
#[derive(Debug, Clone, Default)]
pub struct FakeResolver {
    table: Arc<Mutex<BTreeMap<String, ResolverAnswers>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl FakeResolver {
    /// Adds a result for a name; an empty list makes the resolution fail.
    pub fn add(&self, name: &str, addresses: &[&str]) -> &Self {
        let addresses: Vec<IpAddr> =
            addresses.iter().filter_map(|address| address.parse().ok()).collect();
        let answer = (!addresses.is_empty()).then_some(addresses);
        lock(&self.table).entry(name.to_owned()).or_default().push_back(answer);
        self
    }

    /// Returns all names that clients asked the resolver for, in order.
    pub fn asked(&self) -> Vec<String> {
        lock(&self.asked).clone()
    }
}

impl HostResolver for FakeResolver {
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        lock(&self.asked).push(name.to_owned());
        let mut table = lock(&self.table);
        let answer = table.get_mut(name).and_then(|answers| {
            if answers.len() < 2 { answers.front().cloned() } else { answers.pop_front() }
        });
        let answer = answer.flatten().ok_or_else(|| io::Error::other("no such name"));
        Box::pin(std::future::ready(answer))
    }
}

/// A dialer for tests: maps addresses to loopback servers and records connections.
#[derive(Debug, Clone, Default)]
pub struct FakeNetwork {
    lines: Arc<Mutex<BTreeMap<SocketAddr, SocketAddr>>>,
    dialed: Arc<Mutex<Vec<SocketAddr>>>,
}

impl FakeNetwork {
    /// Maps the address `from` to the loopback server `to`. A connection to an address without a
    /// server is refused.
    pub fn route(&self, from: &str, to: SocketAddr) -> &Self {
        if let Ok(from) = from.parse() {
            lock(&self.lines).insert(from, to);
        }
        self
    }

    /// Removes the server of the address `from`, so that connections to it are refused.
    pub fn cut(&self, from: &str) {
        if let Ok(from) = from.parse() {
            lock(&self.lines).remove(&from);
        }
    }

    /// Returns all addresses that clients tried to connect to, in order.
    pub fn dialed(&self) -> Vec<SocketAddr> {
        lock(&self.dialed).clone()
    }
}

impl ConnectionDialer for FakeNetwork {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        lock(&self.dialed).push(address);
        let to = lock(&self.lines).get(&address).copied();
        Box::pin(async move {
            let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
            TcpStream::connect(to.ok_or_else(refused)?).await
        })
    }
}
