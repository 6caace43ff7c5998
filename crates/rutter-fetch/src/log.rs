//! Log of a client: one record for each request, pause, redirect and refusal.
//!
//! A client writes a [`FetchRecord`] to the [`FetchLog`] of its environment. URLs in records
//! contain no secrets.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rutter_page::Timestamp;

use crate::error::{RequestRefusal, RobotsReason};

/// One record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRecord {
    /// The time of day.
    pub at: Timestamp,
    /// The monotonic time, see [`Clock::monotonic`](crate::Clock::monotonic).
    pub monotonic: Duration,
    /// The host that the event concerns.
    pub host: String,
    /// What happened.
    pub event: FetchEvent,
}

/// An event of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchEvent {
    /// A request was sent.
    Sent {
        /// The URL, without secrets.
        url: String,
        /// How long the client delayed the request to respect the limits of the host.
        waited: Duration,
    },
    /// A response was received, with its body.
    Received {
        /// The URL of the request, without secrets.
        url: String,
        /// The status code.
        status: u16,
        /// Bytes of the body on the wire.
        bytes: u64,
    },
    /// No response was received, or its body was not complete.
    Failed {
        /// The URL of the request, without secrets.
        url: String,
        /// The reason.
        why: String,
        /// Bytes of the body on the wire.
        bytes: u64,
    },
    /// All requests to the host are paused.
    Paused {
        /// How long.
        wait: Duration,
        /// The status that asked for the pause; `None` after a broken connection.
        status: Option<u16>,
    },
    /// A redirect was followed.
    Redirected {
        /// The URL that redirected.
        from: String,
        /// The URL in `Location`.
        to: String,
    },
    /// A policy forbade a request.
    Refused {
        /// The URL, without secrets.
        url: String,
        /// The reason.
        why: RequestRefusal,
    },
    /// The robots.txt of a host was evaluated.
    Robots {
        /// The URL of robots.txt, without secrets.
        url: String,
        /// Why everything is disallowed; `None` if the file or its absence allows something.
        closed: Option<RobotsReason>,
    },
    /// A host other than the site's own was contacted for the site for the first time (D13).
    NewHost {
        /// The host of the site.
        site: String,
    },
    /// A partial download was resumed.
    Resumed {
        /// The offset of the first byte that was requested.
        at: u64,
    },
}

/// Receives the records of a client. Writing a record cannot fail.
pub trait FetchLog: fmt::Debug + Send + Sync {
    /// Writes one record.
    fn record(&self, record: FetchRecord);
}

/// Discards all records.
impl FetchLog for () {
    fn record(&self, _record: FetchRecord) {}
}

/// Stores all records, for tests and short runs.
impl FetchLog for Mutex<Vec<FetchRecord>> {
    fn record(&self, record: FetchRecord) {
        self.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}
