//! One polite request: robots.txt, pace, validators, redirects, resume, and an
//! address check where the connection is made.
//!
//! ```text
//! Request ─→ check ─→ robots.txt ─→ turn of the host ─→ resolve ─→ check ─→ dial ─→ TLS
//!    ↑         (scheme, host, port)   (pace, pauses)                                │
//!    └───────── redirect ←─ head ←──────────────────────────────────────────────────┘
//!                            └─→ body ─→ memory or spool ─→ Fetched
//! ```
//!
//! [`Client::fetch`] is the door. Everything that reaches out of the process
//! is handed in as [`Means`]: time, names, connections, a log. HTTP/1.1 only:
//! one connection to a host at a time has no use for more.
//!
//! Refuses: addresses that are not public, plain http without leave, redirects
//! to where it was not checked, to decode what comes (see [`decode`]), and to
//! read the environment.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod address;
mod attempt;
mod client;
mod clock;
mod connect;
pub mod decode;
mod endless;
mod error;
mod exchange;
pub mod header;
mod log;
mod means;
mod pace;
mod probe;
mod proxy;
mod redact;
#[cfg(feature = "rehearse")]
pub mod rehearse;
mod request;
mod robots;
mod signs;
mod spool;
mod target;
mod what;

pub use address::{Forbidden, Guard};
pub use client::{Client, MOST_HOPS, Settings};
pub use clock::{Clock, Pending, SystemClock};
pub use error::{BadAnswer, Cause, FetchError, NetworkFault, Phase, Refused, RobotsReason};
pub use exchange::Fields;
pub use header::Validators;
pub use log::{Event, Log, Record};
pub use means::{Dial, Means, Resolve, SystemDialer, SystemResolver};
pub use pace::{FIRST_BACKOFF, LONGEST_DELAY};
pub use probe::Probe;
pub use proxy::{Proxies, ProxyError};
pub use redact::{redacted, shown};
pub use request::{Body, Fetched, Hop, Method, Request};
pub use robots::{RobotsFile, RobotsRules};
pub use rustls::pki_types::CertificateDer;
pub use target::{Hosts, Ports};
pub use url::Url;
pub use what::{Deadlines, Sizes, What};
