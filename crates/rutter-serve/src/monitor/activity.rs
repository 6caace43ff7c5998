//! The activity of a connection: its running requests, and the side that each of them waits for.
//!
//! The timeouts of a connection depend on its activity.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::monitor::metrics::CutReason;

/// The activity of a connection, on which its timeouts depend.
#[derive(Debug)]
pub(crate) struct ConnectionActivity {
    opened: Instant,
    in_flight: AtomicUsize,
    /// Requests that wait for the server, not for the client: hashing, disk reads, throttling.
    waiting_for_server: AtomicUsize,
    requests: AtomicUsize,
    /// When the last request began or ended, in milliseconds since `opened`.
    last: AtomicU64,
    /// State shared by the responses of an HTTP/2 connection.
    shared: Option<SharedStreams>,
    /// Why the connection was closed.
    cut: OnceLock<CutReason>,
}

/// State shared by the responses of one connection.
#[derive(Debug, Default)]
struct SharedStreams {
    /// When bytes of a body were last sent.
    taken: AtomicU64,
    /// Number of buffered bytes of files.
    lent: AtomicUsize,
}

impl ConnectionActivity {
    pub(crate) fn new() -> Self {
        Self {
            opened: Instant::now(),
            in_flight: AtomicUsize::new(0),
            waiting_for_server: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            last: AtomicU64::new(0),
            shared: None,
            cut: OnceLock::new(),
        }
    }

    /// Creates the activity of an HTTP/2 connection.
    pub(crate) fn shared() -> Self {
        Self { shared: Some(SharedStreams::default()), ..Self::new() }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Records that bytes of a body were sent.
    pub(crate) fn took(&self) {
        if let Some(share) = &self.shared {
            share.taken.store(self.elapsed(), Ordering::Relaxed);
        }
    }

    /// Returns when bytes of a body were last sent.
    pub(crate) fn taken(&self) -> Instant {
        let taken = self.shared.as_ref().map_or(0, |share| share.taken.load(Ordering::Relaxed));
        self.opened + Duration::from_millis(taken)
    }

    /// Reserves bytes for a buffer; returns `false` if the limit would be exceeded.
    pub(crate) fn try_lend(&self, bytes: usize, most: usize) -> bool {
        let Some(share) = &self.shared else { return false };
        if share.lent.fetch_add(bytes, Ordering::Relaxed) + bytes <= most {
            return true;
        }
        share.lent.fetch_sub(bytes, Ordering::Relaxed);
        false
    }

    /// Releases the bytes of a buffer.
    pub(crate) fn give_back(&self, bytes: usize) {
        if let Some(share) = &self.shared {
            share.lent.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn set_cut(&self, why: CutReason) {
        self.cut.get_or_init(|| why);
    }

    /// Returns why the connection was closed.
    pub(crate) fn cut(&self) -> Option<CutReason> {
        self.cut.get().copied()
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn begin(self: &Arc<Self>) -> ActiveRequest {
        self.waiting_for_server.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.touch();
        ActiveRequest { activity: Arc::clone(self), turn: AwaitedSide::Server }
    }

    fn touch(&self) {
        self.last.store(self.elapsed(), Ordering::Relaxed);
    }

    pub(crate) fn is_busy(&self) -> bool {
        0 < self.in_flight.load(Ordering::Relaxed)
    }

    /// Returns whether a response waits for the client to read it.
    pub(crate) fn is_waiting_for_client(&self) -> bool {
        self.waiting_for_server.load(Ordering::Relaxed) < self.in_flight.load(Ordering::Relaxed)
    }

    pub(crate) fn is_new(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn opened(&self) -> Instant {
        self.opened
    }

    /// Returns when the last request began or ended.
    pub(crate) fn last(&self) -> Instant {
        self.opened + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }
}

/// Which side a response waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AwaitedSide {
    Server,
    Client,
}

/// A request whose response has not ended.
#[derive(Debug)]
pub(crate) struct ActiveRequest {
    activity: Arc<ConnectionActivity>,
    turn: AwaitedSide,
}

impl ActiveRequest {
    /// Returns the activity of the connection if it has parallel responses.
    pub(crate) fn shared(&self) -> Option<&Arc<ConnectionActivity>> {
        Some(&self.activity).filter(|activity| activity.is_shared())
    }

    pub(crate) fn set_waiting_for(&mut self, turn: AwaitedSide) {
        if self.turn == turn {
            return;
        }
        self.turn = turn;
        match turn {
            AwaitedSide::Server => self.activity.waiting_for_server.fetch_add(1, Ordering::Relaxed),
            AwaitedSide::Client => {
                // The client's timeout starts now.
                self.activity.touch();
                self.activity.waiting_for_server.fetch_sub(1, Ordering::Relaxed)
            }
        };
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.activity.touch();
        self.activity.in_flight.fetch_sub(1, Ordering::Relaxed);
        if self.turn == AwaitedSide::Server {
            self.activity.waiting_for_server.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
