//! What follows an answer to its end: counters, the access log, and the
//! connection, which must know whether it is still busy.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use http::header::{HeaderName, REFERER, RETRY_AFTER, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Response, Version};
use rutter_logs::Record;
use rutter_page::Timestamp;

use crate::access::{AccessSink, cut, without_secrets};
use crate::date::LATEST;
use crate::metrics::Metrics;
use crate::monitor::Monitor;
use crate::site::now;

/// What a connection's guard wants to know of the requests on it.
#[derive(Debug)]
pub(crate) struct Activity {
    opened: Instant,
    in_flight: AtomicUsize,
    requests: AtomicUsize,
    /// When the last request began or ended, in milliseconds since `opened`.
    last: AtomicU64,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self {
            opened: Instant::now(),
            in_flight: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            last: AtomicU64::new(0),
        }
    }

    pub(crate) fn begin(self: &Arc<Self>) -> Flight {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.touch();
        Flight(Arc::clone(self))
    }

    fn touch(&self) {
        let since = self.opened.elapsed().as_millis();
        self.last.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn is_busy(&self) -> bool {
        0 < self.in_flight.load(Ordering::Relaxed)
    }

    pub(crate) fn is_new(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn opened(&self) -> Instant {
        self.opened
    }

    /// When the last request began or ended.
    pub(crate) fn last(&self) -> Instant {
        self.opened + std::time::Duration::from_millis(self.last.load(Ordering::Relaxed))
    }
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Flight(Arc<Activity>);

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.touch();
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Who is told of each request.
pub(crate) struct Listeners {
    pub(crate) sinks: Vec<Arc<dyn AccessSink>>,
    pub(crate) monitor: Option<Monitor>,
}

impl Listeners {
    fn is_empty(&self) -> bool {
        self.sinks.is_empty() && self.monitor.is_none()
    }

    /// Tells everybody of a request, and what it shows about its client.
    pub(crate) fn tell(&self, record: &Record<'_>) {
        for sink in &self.sinks {
            sink.access(record);
        }
        let findings = self.monitor.as_ref().map(|monitor| monitor.see(record));
        for finding in findings.into_iter().flatten() {
            for sink in &self.sinks {
                sink.odd(&finding);
            }
        }
    }
}

/// Tells everybody when an answer is over.
pub(crate) struct Report {
    metrics: Arc<Metrics>,
    note: Option<Box<Note>>,
    _flight: Option<Flight>,
}

struct Note {
    record: Record<'static>,
    start: Instant,
    listeners: Arc<Listeners>,
}

impl Report {
    pub(crate) fn new(
        metrics: &Arc<Metrics>,
        listeners: &Arc<Listeners>,
        parts: &Parts,
        client: Option<IpAddr>,
        flight: Option<Flight>,
    ) -> Self {
        // Nobody listens: nothing is copied.
        let note = (!listeners.is_empty()).then(|| {
            Box::new(Note {
                record: record(parts, client),
                start: Instant::now(),
                listeners: Arc::clone(listeners),
            })
        });
        Self { metrics: Arc::clone(metrics), note, _flight: flight }
    }

    pub(crate) fn answered<B>(&mut self, response: &Response<B>, token: Option<&str>) {
        let status = response.status().as_u16();
        self.metrics.answered(status);
        if let Some(note) = &mut self.note {
            let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            note.record.status = status;
            note.record.retry_after = wait.and_then(|seconds| seconds.parse().ok());
            note.record.token = token.map(|token| token.to_owned().into());
        }
    }

    /// Bytes of the body that were taken.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.metrics.sent(bytes);
        if let Some(note) = &mut self.note {
            note.record.bytes = bytes;
        }
    }
}

/// Whoever left before there was an answer is on record too, with status 499
/// as nginx has it.
const LEFT: u16 = 499;

impl Drop for Report {
    fn drop(&mut self) {
        if let Some(note) = self.note.take() {
            let Note { mut record, start, listeners } = *note;
            if record.status == 0 {
                record.status = LEFT;
            }
            record.duration = Some(start.elapsed());
            listeners.tell(&record);
        }
    }
}

/// A record of something that was no request.
pub(crate) fn broken(client: IpAddr, status: u16) -> Record<'static> {
    let time = Timestamp::from_unix_seconds(now().min(LATEST)).expect("it has a form");
    Record::new(time, client.to_string(), status)
}

fn record(parts: &Parts, client: Option<IpAddr>) -> Record<'static> {
    let protocol = match parts.version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    };
    let target = parts.uri.path_and_query().map_or("*", |target| target.as_str());
    Record {
        method: cut(parts.method.as_str()).to_owned().into(),
        target: without_secrets(target).into(),
        protocol: protocol.into(),
        referer: text(&parts.headers, &REFERER).map(|text| without_secrets(&text).into()),
        user_agent: text(&parts.headers, &USER_AGENT).map(|text| cut(&text).to_owned().into()),
        ..broken(client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), 0)
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<std::borrow::Cow<'h, str>> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()))
}
