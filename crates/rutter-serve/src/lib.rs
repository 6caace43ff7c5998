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
//! Rejects: paths outside the root, request bodies, methods except GET and HEAD, ambiguous
//! requests, and clients that exceed a limit.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod accept;
mod access;
mod announced;
mod answer;
mod body;
mod catalog;
mod charset;
mod compress;
mod condition;
mod connection;
mod date;
mod facts;
mod generations;
mod guard;
mod kind;
mod limiter;
mod limits;
mod log;
mod metrics;
mod monitor;
mod network;
mod partner;
mod path;
mod refusal;
mod report;
mod representation;
mod resolve;
mod response_cache;
mod revoke;
mod root_dir;
mod screen;
mod server;
mod service;
mod settings;
mod signals;
mod site;
mod tls;
mod token;

pub use access::AccessSink;
pub use answer::ResponseFuture;
pub use body::Body;
pub use catalog::CatalogError;
pub use limits::raise_file_limit;
pub use log::{AccessLogFormat, LogWriter};
pub use metrics::Metrics;
pub use network::{Network, NetworkError};
pub use path::is_served;
pub use revoke::revoke_token;
pub use server::{ListenConfig, ReloadError, ServeError, Server, ServerHandle};
pub use service::{EitherBody, LayeredSite, PeerAddress, SiteLayer};
pub use settings::{
    CacheLifetimes, ForwardingHeader, Limits, RateLimit, SiteSettings, TrustedProxies,
    UnknownAccess,
};
pub use signals::SignalEvent;
pub use site::{AccessSummary, RestrictionSource, Site, SiteError};
pub use tls::{TlsError, TlsFiles};
pub use token::{Grant, NewToken, Scope, TokenError, Tokens, create_token, parse_rate};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
