//! Access logs: which AI agents read a site, what they read, and which clients behave unusually.
//!
//! ```text
//! bytes ─→ LogReader ─→ MergedLogs ─→ AccessRecord ─┬→ Tally ─→ Summary ─→ text, json, svg
//!                                              └→ ClientMonitor ─→ findings
//! ```
//!
//! An [`AccessRecord`] is one request. [`parse`] reads it from a log line of nginx, Apache, Caddy
//! or Rutter's own server, which writes with [`AccessRecord::to_json`] or
//! [`AccessRecord::to_combined`]. [`agents`] recognizes programs by their `User-Agent`,
//! [`artifact`] classifies request paths. A [`AccessTally`] counts requests, and a [`ClientMonitor`]
//! applies the [`rules`]; both take one record at a time, so a running server can use them too.
//!
//! The settings bound the memory of all these types, however long a log is. IP addresses are not
//! looked up in DNS, and the identity of an agent is not verified.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

pub mod agents;
pub mod artifact;
mod bounded;
mod merge;
mod parse;
mod read;
mod record;
pub mod rules;
pub mod summary;
mod tally;
mod watch;

pub use artifact::Artifact;
pub use merge::{LogInput, MergedLogs};
pub use parse::{LineError, parse};
pub use read::{LogItem, LogReader, ReadLimits};
pub use record::AccessRecord;
pub use summary::LogSummary;
pub use tally::{AccessTally, CollectionTotals, RequestFilter, TallySettings};
pub use watch::{ClientMonitor, OddClientThresholds, client_network};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
