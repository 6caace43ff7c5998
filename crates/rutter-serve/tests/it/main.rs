//! Tests of the server over real sockets, on the loopback address only.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod client;
mod conditions;
mod embed;
mod escape;
mod http2;
mod limits;
mod odd;
mod partner;
mod raw;
mod restricted;
mod serving;
mod swap;
mod threads;
mod tls;
