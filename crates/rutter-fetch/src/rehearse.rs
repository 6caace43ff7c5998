//! For tests, here and in the crates above: a clock moved by hand, names by a
//! table, and a switchboard that leads public addresses to loopback servers
//! and keeps count of every connection.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rutter_page::Timestamp;
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::clock::{Clock, Pending};
use crate::means::{Dial, Resolve};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A clock that stands still until somebody moves it, or until somebody waits.
#[derive(Debug, Clone)]
pub struct ManualClock {
    moment: watch::Sender<Duration>,
    /// Time of day at moment 0.
    day: Arc<Mutex<Timestamp>>,
    /// How often somebody began to wait with a deadline.
    armed: Arc<AtomicU64>,
}

impl ManualClock {
    /// A clock that shows this time of day.
    pub fn new(day: Timestamp) -> Self {
        Self {
            moment: watch::Sender::new(Duration::ZERO),
            day: Arc::new(Mutex::new(day)),
            armed: Arc::default(),
        }
    }

    /// Moves on.
    pub fn advance(&self, by: Duration) {
        self.moment.send_modify(|moment| *moment += by);
    }

    /// How often somebody began to wait with a deadline: a server that moves
    /// the clock does so after its client has begun to wait.
    pub fn armed(&self) -> u64 {
        self.armed.load(Ordering::SeqCst)
    }

    /// Sets the time of day without moving on, as people and servers do.
    pub fn set_day(&self, now: Timestamp) {
        let passed = i64::try_from(self.moment().as_secs()).unwrap_or(i64::MAX);
        *locked(&self.day) = now.plus_seconds(-passed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let nanos = i128::try_from(self.moment().as_nanos()).unwrap_or(i128::MAX);
        let day = *locked(&self.day);
        Timestamp::from_nanos(day.as_nanos() + nanos).unwrap_or(day)
    }

    fn moment(&self) -> Duration {
        *self.moment.borrow()
    }

    fn deadline(&self, moment: Duration) -> Pending<'static, ()> {
        let mut receiver = self.moment.subscribe();
        let armed = Arc::clone(&self.armed);
        Box::pin(async move {
            armed.fetch_add(1, Ordering::SeqCst);
            // A clock that is gone cannot reach the moment any more.
            if receiver.wait_for(|now| moment <= *now).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn wait(&self, moment: Duration) -> Pending<'static, ()> {
        let sender = self.moment.clone();
        Box::pin(async move {
            sender.send_modify(|now| *now = moment.max(*now));
            // Let others see the new time before we go on.
            tokio::task::yield_now().await;
        })
    }
}

/// Answers to come; `None` is a failure.
type Answers = VecDeque<Option<Vec<IpAddr>>>;

/// Names by a table. Each answer may come once or for ever.
#[derive(Debug, Clone, Default)]
pub struct Names {
    table: Arc<Mutex<BTreeMap<String, Answers>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Names {
    /// Adds an answer; the last one of a name is given again and again.
    /// An empty list is a failure.
    pub fn add(&self, name: &str, addresses: &[&str]) -> &Self {
        let addresses: Vec<IpAddr> =
            addresses.iter().filter_map(|address| address.parse().ok()).collect();
        let answer = (!addresses.is_empty()).then_some(addresses);
        locked(&self.table).entry(name.to_owned()).or_default().push_back(answer);
        self
    }

    /// Every name that was asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        locked(&self.asked).clone()
    }
}

impl Resolve for Names {
    fn resolve(&self, name: &str) -> Pending<'static, io::Result<Vec<IpAddr>>> {
        locked(&self.asked).push(name.to_owned());
        let mut table = locked(&self.table);
        let answer = table.get_mut(name).and_then(|answers| {
            if answers.len() < 2 { answers.front().cloned() } else { answers.pop_front() }
        });
        let answer = answer.flatten().ok_or_else(|| io::Error::other("no such name"));
        Box::pin(std::future::ready(answer))
    }
}

/// Leads addresses to loopback servers and counts.
#[derive(Debug, Clone, Default)]
pub struct Switchboard {
    lines: Arc<Mutex<BTreeMap<SocketAddr, SocketAddr>>>,
    dialled: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Switchboard {
    /// Leads `from` to `to`; whatever is led nowhere is refused.
    pub fn lead(&self, from: &str, to: SocketAddr) -> &Self {
        if let Ok(from) = from.parse() {
            locked(&self.lines).insert(from, to);
        }
        self
    }

    /// Leads `from` nowhere any more.
    pub fn cut(&self, from: &str) {
        if let Ok(from) = from.parse() {
            locked(&self.lines).remove(&from);
        }
    }

    /// Every address that was dialled, in order, also those that lead nowhere.
    pub fn dialled(&self) -> Vec<SocketAddr> {
        locked(&self.dialled).clone()
    }
}

impl Dial for Switchboard {
    fn dial(&self, address: SocketAddr) -> Pending<'static, io::Result<TcpStream>> {
        locked(&self.dialled).push(address);
        let to = locked(&self.lines).get(&address).copied();
        Box::pin(async move {
            let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
            TcpStream::connect(to.ok_or_else(refused)?).await
        })
    }
}
