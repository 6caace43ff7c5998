//! Error types of a fetch, which a caller can match on.
//!
//! [`FetchError`] contains the URL. [`FailureCause`] says whether a policy, the network, the
//! response or the disk caused the failure. Error messages contain no secrets of URLs.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use rutter_finding::{Classify, ErrorClass};
use rutter_page::Timestamp;

use crate::address_policy::BlockedAddress;

/// Why one URL could not be fetched.
#[derive(Debug, thiserror::Error)]
#[error("{url}")]
pub struct FetchError {
    /// The URL that failed, without secrets; after redirects, the last URL of the chain.
    pub url: String,
    /// Why the request failed.
    #[source]
    pub cause: FailureCause,
}

/// The reason of a [`FetchError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FailureCause {
    /// A policy forbids the request, so no request was sent to this URL.
    #[error(transparent)]
    Refused(#[from] RequestRefusal),
    /// The network or the server failed.
    #[error(transparent)]
    Network(#[from] NetworkFault),
    /// The server sent a response that cannot be used.
    #[error(transparent)]
    Response(#[from] BadResponse),
    /// The host must not be contacted before a later time.
    #[error("the host allows no requests before {until}")]
    RetryLater {
        /// When the next request to the host may be sent.
        until: Timestamp,
        /// The status code with which the host asked for the pause; `None` if the client decided
        /// the pause.
        status: Option<u16>,
    },
    /// The file for the body could not be opened or written.
    #[error("cannot write the spool file")]
    Spool(#[source] io::Error),
}

impl Classify for FailureCause {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Refused(_) => ErrorClass::Policy,
            Self::Response(_) => ErrorClass::Integrity,
            Self::Network(_) | Self::RetryLater { .. } => ErrorClass::Network,
            Self::Spool(_) => ErrorClass::Internal,
        }
    }
}

impl Classify for FetchError {
    fn class(&self) -> ErrorClass {
        self.cause.class()
    }
}

/// Why a policy forbids a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestRefusal {
    /// The scheme is neither http nor https.
    #[error("scheme {0} is not supported")]
    Scheme(String),
    /// Plain http is not allowed by the settings.
    #[error("plain http is not allowed")]
    PlainHttp,
    /// A redirect leads from https to http.
    #[error("redirect from https to http is not allowed")]
    Downgrade,
    /// The URL contains a user name or a password.
    #[error("the URL contains a user name or password")]
    Credentials,
    /// The URL has no host.
    #[error("the URL has no host")]
    NoHost,
    /// The URL cannot be written into an HTTP request.
    #[error("the URL cannot be used in an HTTP request")]
    Form,
    /// The port is not allowed by [`PortPolicy`](crate::PortPolicy).
    #[error(
        "port {0} is blocked: only 80, 443 and ports from 1024 that no other protocol uses are allowed"
    )]
    Port(u16),
    /// The host is not allowed by [`HostPolicy`](crate::HostPolicy).
    #[error("host {0} does not belong to the site")]
    Host(String),
    /// The host has an address that [`AddressPolicy`](crate::AddressPolicy) blocks.
    #[error("host {host} is blocked: {forbidden}")]
    Address {
        /// The host name or address as written in the URL.
        host: String,
        /// The blocked address and the reason.
        forbidden: BlockedAddress,
    },
    /// Only the proxy can resolve the name, so its addresses cannot be checked.
    #[error("cannot resolve {0} locally, and the proxy is not trusted to resolve names")]
    Unseen(String),
    /// robots.txt disallows the URL.
    #[error("robots.txt forbids the URL: {0}")]
    Robots(RobotsReason),
    /// The host asks for a longer delay than [`MAX_CRAWL_DELAY`](crate::MAX_CRAWL_DELAY).
    #[error(
        "the host asks for {} s between requests; the maximum is {} s",
        .0.as_secs(), crate::MAX_CRAWL_DELAY.as_secs()
    )]
    TooSlow(Duration),
}

/// Why robots.txt disallows a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RobotsReason {
    /// A rule of robots.txt disallows the URL.
    #[error("line {line} has the rule `Disallow: {}`", rutter_finding::visible(pattern))]
    Rule {
        /// Line number of the rule, counted from 1.
        line: u64,
        /// Pattern of the rule.
        pattern: String,
    },
    /// robots.txt cannot be fetched, so all URLs are disallowed (RFC 9309, section 2.3.1.4).
    #[error("robots.txt cannot be fetched: {0}")]
    Unreachable(String),
}

/// A failure of the network or of the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFault {
    /// The host name cannot be resolved.
    #[error("cannot resolve {0}")]
    Resolve(String, #[source] io::Error),
    /// The connection was not established.
    #[error("cannot connect to {0}")]
    Connect(IpAddr, #[source] io::Error),
    /// The certificate is not valid, or the TLS handshake failed (SCP-162).
    #[error("cannot establish a TLS connection: {0}")]
    Tls(String),
    /// The port seems to use another protocol than TLS, such as plain http.
    #[error("cannot establish a TLS connection: {0}")]
    NotTls(String),
    /// A phase of the request exceeded its timeout.
    #[error("{}", timeout_message(*.0, *.1))]
    Timeout(RequestPhase, Duration),
    /// The connection was lost before the response was complete.
    #[error("connection lost: {0}")]
    Broken(String),
    /// The body ended before its announced length.
    #[error("response ended after {got} of {} bytes", .wanted.map_or("unknown".to_owned(), |n| n.to_string()))]
    Cut {
        /// Number of bytes that were received.
        got: u64,
        /// Number of bytes that were announced; `None` if the length was not announced.
        wanted: Option<u64>,
    },
    /// The proxy failed or rejected the connection.
    #[error("cannot connect through the proxy: {0}")]
    Proxy(String),
}

fn timeout_message(phase: RequestPhase, limit: Duration) -> String {
    let seconds = limit.as_secs();
    match phase {
        RequestPhase::Crawl => {
            format!("the body arrived at less than 1 KiB/s for {seconds} s")
        }
        phase => format!("{} took longer than {seconds} s", phase.name()),
    }
}

/// A phase of a request that has a timeout of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestPhase {
    /// Resolving the host name.
    Resolve,
    /// Opening a TCP connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Waiting for the response head.
    Headers,
    /// Waiting for the next bytes of the body.
    Idle,
    /// Receiving a body that arrives below the minimum speed.
    Crawl,
    /// The whole request.
    Whole,
}

impl RequestPhase {
    /// Returns the name of the phase in error messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolve => "resolving the host name",
            Self::Connect => "connecting",
            Self::Tls => "the TLS handshake",
            Self::Headers => "waiting for the response head",
            Self::Idle => "waiting for the next piece of the body",
            Self::Crawl => "the body",
            Self::Whole => "the request",
        }
    }
}

/// Why a response cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadResponse {
    /// The head is not valid HTTP, or is too large.
    #[error("cannot read the response head: {0}")]
    Head(String),
    /// The body is larger than allowed for this kind of file.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// Maximum size of the body, in bytes.
        limit: u64,
    },
    /// The chain of redirects is longer than allowed.
    #[error("the server sent more than {0} redirects")]
    TooManyRedirects(usize),
    /// A redirect leads back to a URL of its own chain.
    #[error("the redirects form a loop")]
    RedirectLoop,
    /// A redirect has no valid `Location`.
    #[error("the redirect has no usable Location: {0}")]
    Location(String),
    /// Status 304 in response to a request without conditions.
    #[error("status 304 in response to a request without conditions")]
    NotModified,
    /// The status or the `Content-Range` does not fit the range that was requested.
    #[error("unexpected partial response: {0}")]
    Range(String),
}

impl FailureCause {
    /// Returns whether no connection to the host could be made.
    pub(crate) fn is_connect_failure(&self) -> bool {
        match self {
            Self::Network(NetworkFault::Connect(..)) => true,
            Self::Network(NetworkFault::Timeout(phase, _)) => *phase == RequestPhase::Connect,
            _ => false,
        }
    }

    /// Returns whether a later run can resume the partial body.
    pub(crate) fn is_resumable(&self) -> bool {
        let is_late = matches!(self, Self::Network(NetworkFault::Timeout(..)));
        is_late || matches!(self, Self::RetryLater { .. }) || self.is_transient()
    }

    /// Returns whether a retry may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            // Retries do not repair a certificate or a name that does not exist.
            Self::Network(
                NetworkFault::Tls(_) | NetworkFault::NotTls(_) | NetworkFault::Resolve(..),
            ) => false,
            // A server that is too slow is not tried again in this run.
            Self::Network(NetworkFault::Timeout(RequestPhase::Whole | RequestPhase::Crawl, _)) => {
                false
            }
            Self::Network(_) => true,
            _ => false,
        }
    }
}
