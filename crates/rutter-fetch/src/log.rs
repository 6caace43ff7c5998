//! Log of a client: one record for each request, pause, redirect and refusal.
//!
//! A client writes a [`FetchRecord`] to the [`FetchLog`] of its environment. URLs in records
//! contain no secrets.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rutter_page::Timestamp;
use tracing::{debug, info};

use crate::error::{RequestRefusal, RobotsReason};

/// One record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRecord {
    /// Time of day of the event.
    pub at: Timestamp,
    /// Monotonic time of the event, see [`Clock::monotonic`](crate::Clock::monotonic).
    pub monotonic: Duration,
    /// The host that the event concerns.
    pub host: String,
    /// The event.
    pub event: FetchEvent,
}

/// An event of a client, such as a sent request or a pause.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchEvent {
    /// A request was sent.
    Sent {
        /// The URL, without secrets.
        url: String,
        /// How long the client delayed the request, because of the delay or a pause of the host.
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
        /// Length of the pause.
        wait: Duration,
        /// Status code with which the host asked for the pause; `None` after a broken connection.
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
    /// The robots.txt of an origin was fetched and evaluated, or could not be fetched.
    Robots {
        /// The URL of robots.txt, without secrets.
        url: String,
        /// Why all URLs are disallowed; `None` if robots.txt exists, or if its absence allows all
        /// URLs.
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

impl FetchEvent {
    /// Emits this event as a diagnostic event.
    pub(crate) fn trace(&self, host: &str) {
        match self {
            Self::Sent { url, waited } => debug!(%url, ?waited, "request sent"),
            Self::Received { url, status, bytes } => {
                debug!(%url, status, bytes, "response received");
            }
            Self::Failed { url, why, bytes } => debug!(%url, why, bytes, "request failed"),
            Self::Paused { wait, status } => info!(host, ?wait, status, "host paused"),
            Self::Redirected { from, to } => debug!(%from, %to, "redirect followed"),
            Self::Refused { url, why } => info!(%url, why = why.to_string(), "request refused"),
            Self::Robots { url, closed: None } => debug!(%url, "robots.txt evaluated"),
            Self::Robots { url, closed: Some(reason) } => {
                info!(%url, reason = reason.to_string(), "robots.txt disallows all URLs");
            }
            Self::NewHost { site } => info!(host, %site, "contacting a host of another name"),
            Self::Resumed { at } => debug!(host, at, "download resumed"),
        }
    }
}

/// Receives the log records of a client.
pub trait FetchLog: fmt::Debug + Send + Sync {
    /// Receives one record. An implementation must handle its own errors.
    fn record(&self, record: FetchRecord);
}

/// This log discards all records.
impl FetchLog for () {
    fn record(&self, _record: FetchRecord) {}
}

/// This log stores all records in memory, for tests and short runs.
impl FetchLog for Mutex<Vec<FetchRecord>> {
    fn record(&self, record: FetchRecord) {
        self.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}
