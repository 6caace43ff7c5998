//! Access logs: who reads a site for AI, what they read, and what was odd.
//!
//! ```text
//! bytes ─→ Reader ─→ Merged ─→ Record ─┬→ Tally ─→ Summary ─→ text, json, svg
//!                                      └→ Watch ─→ findings
//! ```
//!
//! A [`Record`] is one request; [`parse`] reads it from a line of nginx,
//! Apache, Caddy or of our own server, which writes with [`Record::to_json`]
//! or [`Record::to_combined`]. [`agents`] knows programs by their user agent,
//! [`artefact`] knows what a path is. A [`Tally`] counts, a [`Watch`] looks
//! for what the specifications ask a server to look for; both take one record
//! after the other, so a running server can use them too.
//!
//! Refuses: to hold more than its settings allow, however long the log is; to
//! look up addresses; and to say that an agent is who it says it is.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

pub mod agents;
pub mod artefact;
mod bounded;
mod merge;
mod parse;
mod read;
mod record;
pub mod rules;
pub mod summary;
mod tally;
mod watch;

pub use artefact::Artefact;
pub use merge::{Input, Merged};
pub use parse::{Broken, parse};
pub use read::{Item, Limits, Reader};
pub use record::Record;
pub use summary::Summary;
pub use tally::{Collections, Filter, Settings, Tally};
pub use watch::{Thresholds, Watch, household};
