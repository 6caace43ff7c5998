//! What was done politely, and what was refused: plain records.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rutter_page::Timestamp;

use crate::error::{Refused, RobotsReason};

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The time of day.
    pub at: Timestamp,
    /// The moment, by the clock that only runs forward.
    pub moment: Duration,
    /// The host it is about.
    pub host: String,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A request was sent.
    Asked {
        /// For what, fit to be shown.
        url: String,
        /// How long it had been held back for the host's sake.
        waited: Duration,
    },
    /// The request was answered, and the body was read.
    Answered {
        /// What was asked for, fit to be shown.
        url: String,
        /// The status.
        status: u16,
        /// Bytes of the body that came over the wire.
        bytes: u64,
    },
    /// There was no answer, or its body did not come to its end.
    Failed {
        /// What was asked for, fit to be shown.
        url: String,
        /// Why.
        why: String,
        /// Bytes of the body that came over the wire.
        bytes: u64,
    },
    /// The whole host is left alone for a while.
    Paused {
        /// How long.
        wait: Duration,
        /// The status that asked for it; `None` after a broken connection.
        status: Option<u16>,
    },
    /// A redirect was followed.
    Redirected {
        /// From where.
        from: String,
        /// To where.
        to: String,
    },
    /// A policy forbade a request.
    Refused {
        /// Which, fit to be shown.
        url: String,
        /// Why.
        why: Refused,
    },
    /// The rules of a host are in force.
    Robots {
        /// Where they come from, fit to be shown.
        url: String,
        /// What the file said; `None` where it has rules.
        closed: Option<RobotsReason>,
    },
    /// A host was asked for the first time on behalf of a site that is known
    /// by another (D13).
    NewHost {
        /// The site.
        site: String,
    },
    /// A download went on where it had stopped.
    Resumed {
        /// At this byte.
        at: u64,
    },
}

/// Takes records; never fails.
pub trait Log: fmt::Debug + Send + Sync {
    /// Takes one record.
    fn record(&self, record: Record);
}

/// Lets records go.
impl Log for () {
    fn record(&self, _record: Record) {}
}

/// Keeps them all: for tests and short runs.
impl Log for Mutex<Vec<Record>> {
    fn record(&self, record: Record) {
        self.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}
