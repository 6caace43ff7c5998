//! HTTP client that fetches one URL at a time; obeys robots.txt, delays and address rules.
//!
//! [`Client::fetch`] checks the URL, obeys robots.txt, waits for the host's delay, checks every
//! address before it connects, follows redirects, and writes the body to memory or to a file.
//!
//! ```text
//! Request ─→ check URL ─→ robots.txt ─→ wait for host ─→ resolve ─→ check ─→ dial ─→ TLS
//!    ↑    (scheme, host, port)       (delay, pauses)                                  │
//!    └─────── redirect ←─ response head ←─────────────────────────────────────────────┘
//!                              └─→ body ─→ memory or spool file ─→ FetchedResponse
//! ```
//!
//! The caller passes clock, resolver, dialer and log as an [`Environment`]. The client uses only
//! HTTP/1.1, because one connection to a host at a time gains nothing from HTTP/2.
//!
//! Rejects: addresses that are not public, plain http unless the settings allow it, redirects to
//! URLs that fail the checks. The client does not decompress bodies (see [`decode`]) and does not
//! read environment variables.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod address_policy;
mod attempt;
mod client;
mod clock;
mod connect;
pub mod decode;
mod environment;
mod error;
mod exchange;
pub mod header;
mod log;
mod pace;
mod page_title;
mod probe;
mod proxy;
mod redact;
mod redirect_history;
mod request;
mod resource_kind;
mod response_class;
mod robots;
mod spool;
mod target;
#[cfg(feature = "test-util")]
pub mod test_util;

pub use address_policy::{AddressPolicy, BlockedAddress};
pub use client::{Client, ClientSettings, MAX_REDIRECTS};
pub use clock::{BoxFuture, Clock, SystemClock};
pub use environment::{ConnectionDialer, Environment, HostResolver, SystemDialer, SystemResolver};
pub use error::{
    BadResponse, FailureCause, FetchError, NetworkFault, RequestPhase, RequestRefusal, RobotsReason,
};
pub use exchange::ResponseFields;
pub use header::Validators;
pub use log::{FetchEvent, FetchLog, FetchRecord};
pub use pace::{FIRST_BACKOFF, MAX_CRAWL_DELAY};
pub use probe::MissingPageProbe;
pub use proxy::{Proxies, ProxyError};
pub use redact::{redact, redact_url};
pub use request::{FetchedResponse, RedirectHop, Request, RequestMethod, ResponseBody};
pub use resource_kind::{ResourceKind, SizeLimits, Timeouts};
pub use robots::{RobotsFile, RobotsRules};
pub use rustls::pki_types::CertificateDer;
pub use target::{HostPolicy, PortPolicy};
pub use url::Url;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
