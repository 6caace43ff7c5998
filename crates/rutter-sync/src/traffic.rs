//! Counts the requests and bytes of one sync, to all hosts.
//!
//! The client reports every request to its log ([`CountingLog`]), which adds the request to
//! the task-local counter of the sync that sent it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rutter_fetch::{FetchEvent, FetchLog, FetchRecord};

tokio::task_local! {
    static TALLY: Arc<TrafficCounter>;
}

/// Number of requests and bytes of one sync so far.
#[derive(Debug, Default)]
pub(crate) struct TrafficCounter {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl TrafficCounter {
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

/// Runs a future and adds its requests to `traffic`.
pub(crate) async fn counted<T>(traffic: &Arc<TrafficCounter>, run: impl Future<Output = T>) -> T {
    TALLY.scope(Arc::clone(traffic), run).await
}

/// A log that counts requests and passes each record to another log.
#[derive(Debug)]
pub(crate) struct CountingLog(pub(crate) Arc<dyn FetchLog>);

impl FetchLog for CountingLog {
    fn record(&self, record: FetchRecord) {
        if matches!(record.event, FetchEvent::Sent { .. }) {
            // Requests outside of a sync are not counted.
            let add =
                |traffic: &Arc<TrafficCounter>| traffic.requests.fetch_add(1, Ordering::Relaxed);
            TALLY.try_with(add).ok();
        }
        self.0.record(record);
    }
}
