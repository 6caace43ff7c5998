//! A built website over HTTP: right types, codings, validators, limits, tokens.
//!
//! The data's way: socket → guard (raw bytes, clocks) → parser → [`Site`] (who
//! asks, how often, where it leads) → shelf or root folder → conditions →
//! body. [`Server`] has the sockets and threads; who has their own embeds the
//! [`Site`], which is a service of tower, or [`Site::layer`].
//!
//! What is said about bytes is found in these bytes: tag, length and date
//! belong to the very file that is sent, also while a build is being swapped
//! in. Each request is a record for every [`AccessSink`].
//!
//! Refuses: every byte from outside the root, bodies, methods but GET and
//! HEAD, requests that two readers could read differently, and clients that
//! take too much of anything.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod accept;
mod access;
mod announced;
mod answer;
mod beneath;
mod body;
mod catalog;
mod charset;
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
mod ready;
mod refusal;
mod report;
mod resolve;
mod revoke;
mod screen;
mod server;
mod service;
mod settings;
mod shelf;
mod signals;
mod site;
mod squeeze;
mod tls;
mod token;

pub use access::AccessSink;
pub use answer::Answering;
pub use body::Body;
pub use catalog::CatalogError;
pub use limits::raise_file_limit;
pub use log::{LogForm, LogWriter};
pub use metrics::Metrics;
pub use network::{Network, NetworkError};
pub use path::is_shown;
pub use revoke::revoke_token;
pub use server::{Handle, Listening, ReloadError, ServeError, Server};
pub use service::{Either, Layered, Peer, SiteLayer};
pub use settings::{Forwarding, Lifetimes, Limits, Proxies, Rate, Settings, Unknown};
pub use signals::Heard;
pub use site::{Closed, ClosedBy, Site, SiteError};
pub use tls::{TlsError, TlsFiles};
pub use token::{Grant, NewToken, Scope, TokenError, Tokens, new_token, rate_of};
