//! Counts the requests of one visit, whichever host they go to.
//!
//! Records of the client pass here on their way to the log; which visit they
//! belong to is known by the task they are made in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rutter_fetch::{Event, Log, Record};

tokio::task_local! {
    static TALLY: Arc<Tally>;
}

/// What one visit cost so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Tally {
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Runs something whose requests are counted here.
pub(crate) async fn counted<T>(tally: &Arc<Tally>, run: impl Future<Output = T>) -> T {
    TALLY.scope(Arc::clone(tally), run).await
}

/// The log of a client whose requests are counted.
#[derive(Debug)]
pub(crate) struct Counting(pub(crate) Arc<dyn Log>);

impl Log for Counting {
    fn record(&self, record: Record) {
        if matches!(record.event, Event::Asked { .. }) {
            // Outside of a visit nobody counts.
            let add = |tally: &Arc<Tally>| tally.requests.fetch_add(1, Ordering::Relaxed);
            TALLY.try_with(add).ok();
        }
        self.0.record(record);
    }
}
