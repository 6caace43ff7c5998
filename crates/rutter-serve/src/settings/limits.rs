//! Limits of resources and of the request rate, with their defaults.

use std::time::Duration;

/// A request rate with a burst size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    /// Interval after which one more request is allowed.
    pub every: Duration,
    /// Number of requests that are allowed at once.
    pub burst: u32,
}

impl RateLimit {
    /// 50 requests per second with bursts of 500, which a polite crawler does not reach.
    pub const DEFAULT: Self = Self { every: Duration::from_millis(20), burst: 500 };
}

/// Resource limits, with defaults in [`Limits::DEFAULT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Limits of connections and of the requests on them.
    pub connection: ConnectionLimits,
    /// How long a cached response is used before its files are checked for changes.
    pub recheck: Duration,
    /// Maximum size of a file that is kept in memory, in bytes.
    pub small: u64,
    /// Size of the response cache in bytes.
    pub cache: usize,
    /// Maximum number of clients in the rate limiter.
    pub clients: usize,
    /// Maximum number of entries in one response of the partner API.
    pub entries: usize,
    /// Maximum length of a line of the private store, in bytes.
    pub line: usize,
}

impl Limits {
    /// The default limits.
    pub const DEFAULT: Self = Self {
        connection: ConnectionLimits::DEFAULT,
        recheck: Duration::from_millis(100),
        small: 128 << 10,
        cache: 16 << 20,
        clients: 65_536,
        entries: 1000,
        line: 16 << 20,
    };
}

/// Limits of connections, with defaults in [`ConnectionLimits::DEFAULT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Maximum number of open connections.
    pub total: usize,
    /// Maximum number of open connections of one address (IPv6: of one /64).
    pub per_address: usize,
    /// Maximum length of a request line in bytes; longer lines get status 414.
    pub request_line: usize,
    /// Maximum size of a request head in bytes; larger heads get status 431.
    pub head: usize,
    /// Maximum number of header fields of a request; requests with more get status 431.
    pub fields: usize,
    /// Maximum time for a request head, from its first byte to its last, and for the TLS handshake.
    pub head_time: Duration,
    /// How long a connection may be idle between requests.
    pub idle: Duration,
    /// How long a client may leave a response unread.
    pub stall: Duration,
    /// How long shutdown waits for running responses.
    pub drain: Duration,
}

impl ConnectionLimits {
    /// The default limits of connections.
    pub const DEFAULT: Self = Self {
        total: 4096,
        per_address: 256,
        request_line: 8 << 10,
        head: 16 << 10,
        fields: 100,
        head_time: Duration::from_secs(10),
        idle: Duration::from_mins(1),
        stall: Duration::from_secs(30),
        drain: Duration::from_secs(10),
    };
}
