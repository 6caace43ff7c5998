//! Why there is no answer, as facts.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use rutter_page::Timestamp;

use crate::address::Forbidden;

/// Why one address could not be fetched.
#[derive(Debug, thiserror::Error)]
#[error("{url}")]
pub struct FetchError {
    /// The address it happened at, fit to be shown: the last hop.
    pub url: String,
    /// What happened.
    #[source]
    pub cause: Cause,
}

/// What happened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// A policy forbids the request; nothing was sent.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The network, or the machine at its other end, did not do its part.
    #[error(transparent)]
    Network(#[from] NetworkFault),
    /// There is an answer, and it cannot be used.
    #[error(transparent)]
    Answer(#[from] BadAnswer),
    /// The host wants to be left alone for now.
    #[error("host asks to be left alone until {until}")]
    Later {
        /// When it may be asked again.
        until: Timestamp,
        /// The status that said so; `None` where we decided.
        status: Option<u16>,
    },
    /// The file for the body could not be written.
    #[error("cannot write the spool")]
    Spool(#[source] io::Error),
}

/// What a policy forbids.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Neither http nor https.
    #[error("scheme {0} is not fetched")]
    Scheme(String),
    /// Plain http, without leave.
    #[error("plain http is not allowed")]
    PlainHttp,
    /// A redirect from https to http.
    #[error("redirect from https to http")]
    Downgrade,
    /// User or password in the address.
    #[error("address carries a user name or password")]
    Credentials,
    /// No host.
    #[error("address has no host")]
    NoHost,
    /// An address no request can be made of.
    #[error("no request can be made of the address")]
    Form,
    /// A port that belongs to something else.
    #[error(
        "port {0} is blocked: only 80, 443 and ports from 1024 that no other protocol uses are allowed"
    )]
    Port(u16),
    /// A host the site may not send us to.
    #[error("host {0} does not belong to the site")]
    Host(String),
    /// An address that is not public.
    #[error("private address: {host}: {forbidden}")]
    Address {
        /// The name or address as it was asked for.
        host: String,
        /// Which of its addresses, and why.
        forbidden: Forbidden,
    },
    /// A proxy would resolve the name, and we cannot see to what.
    #[error("{0} cannot be resolved here, and the proxy is not trusted to")]
    Unseen(String),
    /// robots.txt forbids it.
    #[error("robots.txt forbids it: {0}")]
    Robots(RobotsReason),
    /// The host wants more time between pages than [`LONGEST_DELAY`](crate::LONGEST_DELAY).
    #[error(
        "host asks for {} s between requests; pages are fetched only up to {} s",
        .0.as_secs(), crate::LONGEST_DELAY.as_secs()
    )]
    TooSlow(Duration),
}

/// Why robots.txt forbids an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RobotsReason {
    /// A rule says so.
    #[error("line {line}: Disallow: {}", rutter_finding::visible(pattern))]
    Rule {
        /// Its line.
        line: u64,
        /// Its pattern.
        pattern: String,
    },
    /// The file could not be had, so everything is forbidden (RFC 9309, 2.3.1.4).
    #[error("the file cannot be had: {0}")]
    Unreachable(String),
}

/// What went wrong on the way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFault {
    /// The name has no address.
    #[error("cannot resolve {0}")]
    Resolve(String, #[source] io::Error),
    /// No connection.
    #[error("cannot connect to {0}")]
    Connect(IpAddr, #[source] io::Error),
    /// A certificate or a handshake that is not right (SCP-162).
    #[error("no safe connection: {0}")]
    Tls(String),
    /// The port seems to speak another protocol than TLS, such as plain http.
    #[error("no safe connection: {0}")]
    NotTls(String),
    /// A phase took too long.
    #[error("{}", late(*.0, *.1))]
    Deadline(Phase, Duration),
    /// The connection broke.
    #[error("connection broke: {0}")]
    Broken(String),
    /// Fewer bytes than promised.
    #[error("answer ended after {got} of {} bytes", .wanted.map_or("unknown".to_owned(), |n| n.to_string()))]
    Cut {
        /// What came.
        got: u64,
        /// What was promised.
        wanted: Option<u64>,
    },
    /// The proxy did not do its part.
    #[error("proxy: {0}")]
    Proxy(String),
}

fn late(phase: Phase, limit: Duration) -> String {
    let seconds = limit.as_secs();
    match phase {
        Phase::Crawl => format!("the body came at less than 1 KiB/s for {seconds} s"),
        phase => format!("{} took longer than {seconds} s", phase.name()),
    }
}

/// What takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Finding the address of a name.
    Resolve,
    /// Connecting.
    Connect,
    /// The handshake.
    Tls,
    /// Until the head of the answer is there.
    Headers,
    /// Between two pieces of the body.
    Idle,
    /// A body that comes, but hardly.
    Crawl,
    /// Everything together.
    Whole,
}

impl Phase {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolve => "resolving",
            Self::Connect => "connecting",
            Self::Tls => "the handshake",
            Self::Headers => "the head of the answer",
            Self::Idle => "the next piece of the body",
            Self::Crawl => "the body",
            Self::Whole => "the request",
        }
    }
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadAnswer {
    /// The head cannot be read, or is too large.
    #[error("head of the answer cannot be read: {0}")]
    Head(String),
    /// The body is larger than this kind of file may be.
    #[error("body is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// More hops than are followed.
    #[error("more than {0} redirects")]
    TooManyRedirects(usize),
    /// A redirect to where we have been.
    #[error("redirects go round in a circle")]
    RedirectLoop,
    /// A redirect that names no place.
    #[error("redirect without a usable Location: {0}")]
    Location(String),
    /// 304 although nothing was known.
    #[error("status 304, but nothing was known before")]
    NotModified,
    /// 206 or 416 that fits nothing we asked for.
    #[error("part of a body that was not asked for: {0}")]
    Range(String),
}

impl Cause {
    /// Tells whether nobody was there to be asked.
    pub(crate) fn is_unreached(&self) -> bool {
        match self {
            Self::Network(NetworkFault::Connect(..)) => true,
            Self::Network(NetworkFault::Deadline(phase, _)) => *phase == Phase::Connect,
            _ => false,
        }
    }

    /// Tells whether a body that was begun can be resumed by a later run.
    pub(crate) fn is_resumable(&self) -> bool {
        let is_late = matches!(self, Self::Network(NetworkFault::Deadline(..)));
        is_late || matches!(self, Self::Later { .. }) || self.is_transient()
    }

    /// Tells whether asking again may help.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            // A certificate does not mend itself, nor does a name that is not there.
            Self::Network(
                NetworkFault::Tls(_) | NetworkFault::NotTls(_) | NetworkFault::Resolve(..),
            ) => false,
            // A server that is too slow now is asked again by the next run.
            Self::Network(NetworkFault::Deadline(Phase::Whole | Phase::Crawl, _)) => false,
            Self::Network(_) => true,
            _ => false,
        }
    }
}
