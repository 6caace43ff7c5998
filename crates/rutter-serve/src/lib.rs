//! HTTP server for a built site, with correct types, codings, validators, limits and access tokens.
//!
//! A request passes these stages: socket → `GuardedStream` (raw bytes, timeouts) → HTTP
//! parser → [`Site`] (client, rate limit, path) → response cache or root directory → conditions →
//! body. [`Server`] owns the sockets and threads. A program with its own server embeds [`Site`],
//! which is a tower service, or [`Site::layer`].
//!
//! Header fields describe the bytes that are sent: `ETag`, length and date come from the same open
//! file, also while a new build replaces the files. Each request is reported to every
//! [`AccessSink`].
//!
//! Modules, each of which imports only modules before it: `settings`, `clock`, `bounded_map`;
//! `monitor` (counters, access log), `admission` (which requests, for whom, how often), `resolve`
//! (from the path to open files), `respond` (representations, conditions, bodies), `partner` (the
//! partner API), `reload` (new catalogs and tokens), `site` (the way of a request and all state),
//! `server` (sockets and threads).
//!
//! Rejects: paths outside the root, request bodies, methods except GET and HEAD, ambiguous
//! requests, and clients that exceed a limit.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod admission;
mod bounded_map;
mod clock;
mod monitor;
mod partner;
mod reload;
mod resolve;
mod respond;
mod server;
mod settings;
mod site;

pub use admission::revoke::revoke_token;
pub use admission::token::{
    NewToken, TokenError, TokenGrant, TokenScope, Tokens, create_token, parse_rate,
};
pub use monitor::access::AccessSink;
pub use monitor::log::{AccessLogFormat, LogWriter};
pub use monitor::metrics::Metrics;
pub use reload::failure::SiteError;
pub use resolve::catalog::CatalogError;
pub use resolve::path::is_served;
pub use respond::body::Body;
pub use server::file_limit::raise_file_limit;
pub use server::signals::SignalEvent;
pub use server::tls::{TlsError, TlsFiles};
pub use server::{ListenConfig, ReloadError, ServeError, Server, ServerHandle};
pub use settings::{
    CacheLifetimes, ConnectionLimits, ForwardingHeader, Limits, Network, NetworkError, RateLimit,
    SiteSettings, TrustedProxies, UnknownAccess,
};
pub use site::response_future::ResponseFuture;
pub use site::service::{EitherBody, LayeredSite, PeerAddress, SiteLayer};
pub use site::{AccessSummary, RestrictionSource, Site};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
