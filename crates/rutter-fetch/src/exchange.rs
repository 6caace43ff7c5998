//! Sends one request on one connection and reads the response.
//!
//! The body is written to memory or to a [`SpoolFile`]. Its bytes are counted and hashed as
//! received, before decompression.

use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response};
use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::connect::{Connection, Connector, protocol_failure};
use crate::error::{BadResponse, FailureCause, NetworkFault, RequestPhase, RequestRefusal};
use crate::header::{self, ContentRange, Freshness, Validators};
use crate::request::RequestMethod;
use crate::resource_kind::ResourceKind;
use crate::spool::SpoolFile;
use crate::target::Target;

/// A connection that was idle for longer is not reused.
const MAX_IDLE: Duration = Duration::from_secs(30);
/// Minimum speed of a body, in bytes per second.
const MIN_BYTES_PER_SECOND: u64 = 1024;

/// Returns whether bytes of a body arrived at the minimum speed or faster.
pub(crate) fn is_fast_enough(n_bytes: u64, took: Duration) -> bool {
    0 < n_bytes && MIN_BYTES_PER_SECOND.saturating_mul(took.as_secs()) <= n_bytes
}

/// The header fields of a response that Rutter uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseFields {
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// `Content-Encoding` as sent.
    pub content_encoding: Option<String>,
    /// `Content-Length`.
    pub length: Option<u64>,
    /// `Cache-Control` and `Expires`.
    pub freshness: Freshness,
    /// `Date`.
    pub date: Option<Timestamp>,
    /// The values of `Link`.
    pub links: Vec<String>,
    /// The values of `X-Robots-Tag`.
    pub robots_tags: Vec<String>,
    /// The values of `Content-Signal`.
    pub content_signals: Vec<String>,
}

impl ResponseFields {
    /// Returns the media type without parameters, in lower case; empty if unknown.
    pub fn media_type(&self) -> String {
        self.content_type.as_deref().map(header::media_type).unwrap_or_default()
    }

    /// Returns the charset in `Content-Type`.
    pub fn charset(&self) -> Option<String> {
        header::charset(self.content_type.as_deref()?)
    }
}

/// The `Content-Range` field of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RangeField {
    /// The field is absent.
    Absent,
    /// The field is present, and its value is not valid.
    Invalid,
    /// The field is present and valid.
    Valid(ContentRange),
}

/// The status and the header fields of a response.
#[derive(Debug)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) fields: ResponseFields,
    pub(crate) validators: Validators,
    pub(crate) location: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) range: RangeField,
    /// Whether the connection can be reused without reading a body.
    pub(crate) is_bare: bool,
    /// Whether the body uses chunked transfer coding.
    pub(crate) is_chunked: bool,
    pub(crate) is_multipart: bool,
}

impl ResponseHead {
    fn read(response: &Response<Incoming>, now: Timestamp) -> Self {
        let headers = response.headers();
        let text = |name: &str| text_of(headers, name);
        let many = |name: &str| {
            let values = headers.get_all(name).iter().take(64);
            values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
        };
        let control = joined(headers, "cache-control");
        let content_type = text("content-type");
        Self {
            status: response.status().as_u16(),
            validators: Validators {
                etag: text("etag").as_deref().and_then(header::parse_etag),
                last_modified: text("last-modified")
                    .filter(|date| header::parse_http_date(date).is_some()),
            },
            location: text("location"),
            retry_after: text("retry-after").and_then(|text| header::parse_retry_after(&text, now)),
            range: match text("content-range") {
                None => RangeField::Absent,
                Some(text) => {
                    ContentRange::parse(&text).map_or(RangeField::Invalid, RangeField::Valid)
                }
            },
            is_bare: match response.status().as_u16() {
                // A length in status 304 may be that of the page, or of a body that follows.
                304 => {
                    let framing = ["content-length", "transfer-encoding"];
                    !framing.into_iter().any(|name| headers.contains_key(name))
                }
                _ => text("content-length").as_deref() == Some("0"),
            },
            is_chunked: joined(headers, "transfer-encoding")
                .is_some_and(|text| text.trim_end().to_ascii_lowercase().ends_with("chunked")),
            is_multipart: content_type
                .as_deref()
                .is_some_and(|text| header::media_type(text) == "multipart/byteranges"),
            fields: ResponseFields {
                content_type,
                content_encoding: joined(headers, "content-encoding"),
                length: text("content-length").and_then(|text| header::number(&text)),
                freshness: Freshness::parse(control.as_deref(), text("expires").as_deref(), now),
                date: text("date").and_then(|text| header::parse_http_date(&text)),
                links: many("link"),
                robots_tags: many("x-robots-tag"),
                content_signals: many("content-signal"),
            },
        }
    }
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn joined(headers: &HeaderMap, name: &str) -> Option<String> {
    let all: Vec<_> = headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Where the body of a response is written.
#[derive(Debug)]
pub(crate) enum BodySink<'s> {
    /// Memory.
    Memory(Vec<u8>),
    /// A spool file.
    Spool(&'s mut SpoolFile),
}

/// Maximum number of bytes that are allocated in advance for an announced length.
const MAX_PREALLOCATION: u64 = 16 << 20;

impl BodySink<'_> {
    /// Creates a sink in memory, with a capacity for the announced length. A buffer that grows
    /// while the body arrives would temporarily need up to three times the memory.
    pub(crate) fn memory(expected: u64) -> Self {
        let capacity = usize::try_from(expected.min(MAX_PREALLOCATION)).unwrap_or(0);
        Self::Memory(Vec::with_capacity(capacity))
    }
}

/// The result of reading a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BodyReceipt {
    /// Number of bytes in the body of this response.
    pub(crate) n_bytes: u64,
    /// Digest of the bytes, if they were written to memory.
    pub(crate) digest: [u8; 32],
    /// Whether the body was cut at the limit, which is allowed only for robots.txt.
    pub(crate) is_cut: bool,
}

/// The limits for reading a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits {
    pub(crate) kind: ResourceKind,
    /// Maximum number of bytes that the body may still have.
    pub(crate) max_bytes: u64,
    /// Monotonic time at which the request must be complete.
    pub(crate) end: Duration,
    pub(crate) whole: Duration,
}

impl Connector {
    /// Sends a request and reads the response head, but not the body. Returns `None` if the reused
    /// connection was already closed; then the caller repeats the request.
    pub(crate) async fn send_request(
        &self,
        target: &Target,
        method: RequestMethod,
        fields: &[(HeaderName, String)],
        idle: Option<Connection>,
    ) -> Result<Option<(ResponseHead, Response<Incoming>, Connection)>, FailureCause> {
        let clock = &self.environment.clock;
        let old = idle.filter(|link| {
            link.origin == target.origin
                && !link.sender.is_closed()
                && clock.monotonic().saturating_sub(link.used) < MAX_IDLE
        });
        // Let the connection task read unexpected bytes of an idle connection. Otherwise they would
        // be mistaken for the response to this request.
        tokio::task::yield_now().await;
        if let Some(mut link) = old.filter(|link| !link.sender.is_closed()) {
            match self.send(&mut link, target, method, fields).await {
                Ok(response) => {
                    return Ok(Some((ResponseHead::read(&response, clock.now()), response, link)));
                }
                // The server had closed the connection; the caller opens a new one.
                Err(FailureCause::Network(NetworkFault::Broken(_))) => return Ok(None),
                Err(cause) => return Err(cause),
            }
        }
        let mut link = self.connect(&target.origin).await?;
        let response = self.send(&mut link, target, method, fields).await?;
        Ok(Some((ResponseHead::read(&response, clock.now()), response, link)))
    }

    async fn send(
        &self,
        link: &mut Connection,
        target: &Target,
        method: RequestMethod,
        fields: &[(HeaderName, String)],
    ) -> Result<Response<Incoming>, FailureCause> {
        let url = &target.url;
        let request_target = match (link.uses_absolute_form, url.query()) {
            (true, _) => url.as_str().to_owned(),
            (false, None) => url.path().to_owned(),
            (false, Some(query)) => format!("{}?{query}", url.path()),
        };
        let request = match method {
            RequestMethod::Get => Request::get(request_target),
            RequestMethod::Head => Request::head(request_target),
        };
        let mut request = request.header("host", target.origin.authority());
        for (name, value) in fields {
            request = request.header(name, value);
        }
        if let Some(authorization) = &link.authorization {
            let mut value =
                HeaderValue::from_str(authorization).map_err(|_| RequestRefusal::Form)?;
            value.set_sensitive(true);
            request = request.header("proxy-authorization", value);
        }
        let request = request.body(Empty::<Bytes>::new()).map_err(|_| RequestRefusal::Form)?;
        let answer = async {
            link.sender.ready().await?;
            link.sender.send_request(request).await
        };
        let answer =
            self.with_timeout(RequestPhase::Headers, self.timeouts.headers, answer).await?;
        answer.map_err(|error| protocol_failure(&error))
    }

    /// Reads a body to its end and writes it to `sink`.
    pub(crate) async fn read_body(
        &self,
        mut body: Incoming,
        sink: &mut BodySink<'_>,
        limits: BodyLimits,
        wanted: Option<u64>,
    ) -> Result<BodyReceipt, FailureCause> {
        let clock = &self.environment.clock;
        let may_cut = limits.kind == ResourceKind::Robots;
        let too_large = || BadResponse::TooLarge { limit: limits.kind.size_limits().wire };
        if wanted.is_some_and(|wanted| limits.max_bytes < wanted) && !may_cut {
            return Err(too_large().into());
        }
        let mut hash = Sha256::new();
        let mut got: u64 = 0;
        let (mut window, mut in_window) = (clock.monotonic(), 0);
        loop {
            let now = clock.monotonic();
            if limits.end <= now {
                return Err(NetworkFault::Timeout(RequestPhase::Whole, limits.whole).into());
            }
            let idle = self.timeouts.idle.min(limits.end.saturating_sub(now));
            let frame = match self.with_timeout(RequestPhase::Idle, idle, body.frame()).await {
                Err(_) if idle < self.timeouts.idle => {
                    return Err(NetworkFault::Timeout(RequestPhase::Whole, limits.whole).into());
                }
                frame => frame?,
            };
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|error| {
                if error.is_parse() {
                    return protocol_failure(&error);
                }
                NetworkFault::Cut { got, wanted }.into()
            })?;
            let Ok(mut piece) = frame.into_data() else { continue };
            let left = limits.max_bytes - got;
            let is_over = left < piece.len() as u64;
            if is_over {
                if !may_cut {
                    return Err(too_large().into());
                }
                piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            }
            got += piece.len() as u64;
            in_window += piece.len() as u64;
            match sink {
                BodySink::Memory(memory) => {
                    hash.update(&piece);
                    memory.extend_from_slice(&piece);
                }
                BodySink::Spool(spool) => spool.write(&piece).map_err(FailureCause::Spool)?,
            }
            if is_over {
                return Ok(BodyReceipt {
                    n_bytes: got,
                    digest: hash.finalize().into(),
                    is_cut: true,
                });
            }
            let crawl = self.timeouts.crawl;
            if crawl <= clock.monotonic().saturating_sub(window) {
                if in_window < MIN_BYTES_PER_SECOND * crawl.as_secs() {
                    return Err(NetworkFault::Timeout(RequestPhase::Crawl, crawl).into());
                }
                (window, in_window) = (clock.monotonic(), 0);
            }
        }
        Ok(BodyReceipt { n_bytes: got, digest: hash.finalize().into(), is_cut: false })
    }
}
