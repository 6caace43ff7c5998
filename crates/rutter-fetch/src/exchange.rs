//! One question and its answer, on one connection.
//!
//! The body goes to memory or to a [`Spool`], counted and hashed as it comes
//! off the wire; nothing is decoded here.

use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response};
use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::connect::{Connector, Link, fault_of};
use crate::error::{BadAnswer, Cause, NetworkFault, Phase, Refused};
use crate::header::{self, ContentRange, Freshness, Validators};
use crate::request::Method;
use crate::spool::Spool;
use crate::target::Target;
use crate::what::What;

/// A connection that was idle for longer is not used again.
const LONGEST_IDLE: Duration = Duration::from_secs(30);
/// A body that brings fewer bytes per second is given up after a while.
const LEAST_SPEED: u64 = 1024;

/// Whether a part of a body came at the minimum rate.
pub(crate) fn is_fast_enough(n_bytes: u64, took: Duration) -> bool {
    0 < n_bytes && LEAST_SPEED.saturating_mul(took.as_secs()) <= n_bytes
}

/// What an answer says about itself: the fields we care about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields {
    /// `Content-Type` as it was sent.
    pub content_type: Option<String>,
    /// `Content-Encoding` as it was sent.
    pub content_encoding: Option<String>,
    /// `Content-Length`.
    pub length: Option<u64>,
    /// `Cache-Control` and `Expires`.
    pub freshness: Freshness,
    /// `Date`, as seconds are told.
    pub date: Option<Timestamp>,
    /// `Link`, one value each.
    pub links: Vec<String>,
    /// `X-Robots-Tag`, one value each.
    pub robots_tags: Vec<String>,
    /// `Content-Signal`, one value each.
    pub content_signals: Vec<String>,
}

impl Fields {
    /// The media type without parameters, in lower case; empty where unknown.
    pub fn media_type(&self) -> String {
        self.content_type.as_deref().map(header::media_type).unwrap_or_default()
    }

    /// The charset the head names.
    pub fn charset(&self) -> Option<String> {
        header::charset(self.content_type.as_deref()?)
    }
}

/// What `Content-Range` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RangeField {
    /// It is not there.
    Absent,
    /// It cannot be read.
    Bad,
    /// This.
    Says(ContentRange),
}

/// The head of an answer.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) fields: Fields,
    pub(crate) validators: Validators,
    pub(crate) location: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) range: RangeField,
    /// Whether the connection is free without a body being read.
    pub(crate) is_bare: bool,
    /// Whether the body says itself where it ends.
    pub(crate) is_chunked: bool,
    pub(crate) is_multipart: bool,
}

impl Head {
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
                etag: text("etag").as_deref().and_then(header::etag),
                last_modified: text("last-modified")
                    .filter(|date| header::http_date(date).is_some()),
            },
            location: text("location"),
            retry_after: text("retry-after").and_then(|text| header::retry_after(&text, now)),
            range: match text("content-range") {
                None => RangeField::Absent,
                Some(text) => ContentRange::parse(&text).map_or(RangeField::Bad, RangeField::Says),
            },
            is_bare: match response.status().as_u16() {
                // A length may be that of the page, or of a body that comes.
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
            fields: Fields {
                content_type,
                content_encoding: joined(headers, "content-encoding"),
                length: text("content-length").and_then(|text| header::number(&text)),
                freshness: Freshness::parse(control.as_deref(), text("expires").as_deref(), now),
                date: text("date").and_then(|text| header::http_date(&text)),
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

/// Where a body goes.
#[derive(Debug)]
pub(crate) enum Sink<'s> {
    /// To memory.
    Memory(Vec<u8>),
    /// To a file.
    Spool(&'s mut Spool),
}

/// Bytes that are made room for because somebody promised them.
const MOST_EXPECTED: u64 = 16 << 20;

impl Sink<'_> {
    /// Memory for so many bytes. What is promised is made room for at once:
    /// room that grows with what comes is up to three times as much for a
    /// while.
    pub(crate) fn memory(expected: u64) -> Self {
        let room = usize::try_from(expected.min(MOST_EXPECTED)).unwrap_or(0);
        Self::Memory(Vec::with_capacity(room))
    }
}

/// What became of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Bytes of this answer.
    pub(crate) n_bytes: u64,
    /// Hash of them, where they went to memory.
    pub(crate) digest: [u8; 32],
    /// Whether reading stopped at the limit, which only robots.txt may.
    pub(crate) is_cut: bool,
}

/// How much of a body is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) what: What,
    /// Bytes that may still come.
    pub(crate) most: u64,
    /// The moment at which everything must be over.
    pub(crate) end: Duration,
    pub(crate) whole: Duration,
}

impl Connector {
    /// Sends a question; gives the head of the answer, the body unread.
    /// `None` where an old connection turned out to be gone: it is nobody's
    /// fault, and the question may be asked again when it is its turn.
    pub(crate) async fn ask(
        &self,
        target: &Target,
        method: Method,
        fields: &[(HeaderName, String)],
        idle: Option<Link>,
    ) -> Result<Option<(Head, Response<Incoming>, Link)>, Cause> {
        let clock = &self.means.clock;
        let old = idle.filter(|link| {
            link.origin == target.origin
                && !link.sender.is_closed()
                && clock.moment().saturating_sub(link.used) < LONGEST_IDLE
        });
        // Lets the connection notice bytes that nobody asked for: they would
        // be taken for the answer to this question.
        tokio::task::yield_now().await;
        if let Some(mut link) = old.filter(|link| !link.sender.is_closed()) {
            match self.send(&mut link, target, method, fields).await {
                Ok(response) => {
                    return Ok(Some((Head::read(&response, clock.now()), response, link)));
                }
                // The server had closed it meanwhile; a new one will tell.
                Err(Cause::Network(NetworkFault::Broken(_))) => return Ok(None),
                Err(cause) => return Err(cause),
            }
        }
        let mut link = self.connect(&target.origin).await?;
        let response = self.send(&mut link, target, method, fields).await?;
        Ok(Some((Head::read(&response, clock.now()), response, link)))
    }

    async fn send(
        &self,
        link: &mut Link,
        target: &Target,
        method: Method,
        fields: &[(HeaderName, String)],
    ) -> Result<Response<Incoming>, Cause> {
        let url = &target.url;
        let place = match (link.is_by_proxy, url.query()) {
            (true, _) => url.as_str().to_owned(),
            (false, None) => url.path().to_owned(),
            (false, Some(query)) => format!("{}?{query}", url.path()),
        };
        let request = match method {
            Method::Get => Request::get(place),
            Method::Head => Request::head(place),
        };
        let mut request = request.header("host", target.origin.authority());
        for (name, value) in fields {
            request = request.header(name, value);
        }
        if let Some(authorization) = &link.authorization {
            let mut value = HeaderValue::from_str(authorization).map_err(|_| Refused::Form)?;
            value.set_sensitive(true);
            request = request.header("proxy-authorization", value);
        }
        let request = request.body(Empty::<Bytes>::new()).map_err(|_| Refused::Form)?;
        let answer = async {
            link.sender.ready().await?;
            link.sender.send_request(request).await
        };
        let answer = self.within(Phase::Headers, self.deadlines.headers, answer).await?;
        answer.map_err(|error| fault_of(&error))
    }

    /// Reads a body to its end.
    pub(crate) async fn take_body(
        &self,
        mut body: Incoming,
        sink: &mut Sink<'_>,
        reading: Reading,
        wanted: Option<u64>,
    ) -> Result<Taken, Cause> {
        let clock = &self.means.clock;
        let may_cut = reading.what == What::Robots;
        let too_large = || BadAnswer::TooLarge { limit: reading.what.sizes().wire };
        if wanted.is_some_and(|wanted| reading.most < wanted) && !may_cut {
            return Err(too_large().into());
        }
        let mut hash = Sha256::new();
        let mut got: u64 = 0;
        let (mut window, mut in_window) = (clock.moment(), 0);
        loop {
            let now = clock.moment();
            if reading.end <= now {
                return Err(NetworkFault::Deadline(Phase::Whole, reading.whole).into());
            }
            let idle = self.deadlines.idle.min(reading.end.saturating_sub(now));
            let frame = match self.within(Phase::Idle, idle, body.frame()).await {
                Err(_) if idle < self.deadlines.idle => {
                    return Err(NetworkFault::Deadline(Phase::Whole, reading.whole).into());
                }
                frame => frame?,
            };
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|error| {
                if error.is_parse() {
                    return fault_of(&error);
                }
                NetworkFault::Cut { got, wanted }.into()
            })?;
            let Ok(mut piece) = frame.into_data() else { continue };
            let left = reading.most - got;
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
                Sink::Memory(memory) => {
                    hash.update(&piece);
                    memory.extend_from_slice(&piece);
                }
                Sink::Spool(spool) => spool.write(&piece).map_err(Cause::Spool)?,
            }
            if is_over {
                return Ok(Taken { n_bytes: got, digest: hash.finalize().into(), is_cut: true });
            }
            let crawl = self.deadlines.crawl;
            if crawl <= clock.moment().saturating_sub(window) {
                if in_window < LEAST_SPEED * crawl.as_secs() {
                    return Err(NetworkFault::Deadline(Phase::Crawl, crawl).into());
                }
                (window, in_window) = (clock.moment(), 0);
            }
        }
        Ok(Taken { n_bytes: got, digest: hash.finalize().into(), is_cut: false })
    }
}
