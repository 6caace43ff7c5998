//! What follows an answer to its end: counters, the access log, and the
//! connection, which must know whether it is still busy.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime};

use http::header::{HeaderName, REFERER, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Version};

use crate::access::{Access, AccessSink};
use crate::metrics::Metrics;

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
pub(crate) type Sinks = Arc<[Arc<dyn AccessSink>]>;

/// Tells everybody when an answer is over.
pub(crate) struct Report {
    metrics: Arc<Metrics>,
    note: Option<Box<Note>>,
    _flight: Option<Flight>,
}

struct Note {
    access: Access,
    start: Instant,
    sinks: Sinks,
}

impl Report {
    pub(crate) fn new(
        metrics: &Arc<Metrics>,
        sinks: &Sinks,
        parts: &Parts,
        client: Option<IpAddr>,
        flight: Option<Flight>,
    ) -> Self {
        // Nobody listens: nothing is copied.
        let note = (!sinks.is_empty()).then(|| {
            Box::new(Note {
                access: access(parts, client),
                start: Instant::now(),
                sinks: Arc::clone(sinks),
            })
        });
        Self { metrics: Arc::clone(metrics), note, _flight: flight }
    }

    pub(crate) fn answered(&mut self, status: u16, token_name: Option<&str>) {
        self.metrics.answered(status);
        if let Some(note) = &mut self.note {
            note.access.status = status;
            note.access.token_name = token_name.map(str::to_owned);
        }
    }

    /// Bytes of the body that were taken.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.metrics.sent(bytes);
        if let Some(note) = &mut self.note {
            note.access.bytes = bytes;
        }
    }
}

/// Whoever left before there was an answer is on record too, with status 499
/// as nginx has it.
const LEFT: u16 = 499;

impl Drop for Report {
    fn drop(&mut self) {
        if let Some(note) = self.note.take() {
            let Note { mut access, start, sinks } = *note;
            if access.status == 0 {
                access.status = LEFT;
            }
            access.duration = start.elapsed();
            tell(&sinks, &access);
        }
    }
}

pub(crate) fn tell(sinks: &Sinks, access: &Access) {
    for sink in sinks.iter() {
        sink.access(access);
    }
}

/// A record of something that was no request.
pub(crate) fn broken(client: IpAddr, status: u16) -> Access {
    Access {
        time: SystemTime::now(),
        client,
        token_name: None,
        method: "-".to_owned(),
        target: "-".to_owned(),
        version: "-",
        status,
        bytes: 0,
        referer: None,
        user_agent: None,
        duration: std::time::Duration::ZERO,
    }
}

fn access(parts: &Parts, client: Option<IpAddr>) -> Access {
    let version = match parts.version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    };
    let target = parts.uri.path_and_query().map_or("*", |target| target.as_str());
    Access {
        method: parts.method.as_str().to_owned(),
        target: target.to_owned(),
        version,
        referer: text(&parts.headers, &REFERER),
        user_agent: text(&parts.headers, &USER_AGENT),
        ..broken(client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), 0)
    }
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}
