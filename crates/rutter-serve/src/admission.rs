//! Admission: which requests the server handles, for whom, and how often.
//!
//! Input: bytes of connections, heads of requests, tokens. Output: the client of a request, or why the
//! request is rejected.

pub(crate) mod client;
pub(crate) mod client_address;
pub(crate) mod error;
pub(crate) mod guard;
pub(crate) mod limiter;
pub(crate) mod request;
pub(crate) mod revoke;
pub(crate) mod screen;
pub(crate) mod token;
