//! What follows an answer to its end: counters, the access log, and the
//! connection, which must know whether it is still busy.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::header::{HeaderName, REFERER, RETRY_AFTER, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Response, Version};
use rutter_logs::Record;
use rutter_page::Timestamp;

use crate::access::{AccessSink, cut, without_secrets, without_tokens};
use crate::date::LATEST;
use crate::metrics::{Cut, Metrics};
use crate::monitor::Monitor;
use crate::site::now;

/// What a connection's guard wants to know of the requests on it.
#[derive(Debug)]
pub(crate) struct Activity {
    opened: Instant,
    in_flight: AtomicUsize,
    /// Of these, answers that wait for us and not for the client: a file is
    /// hashed, a disk is read, a pace is kept.
    ours: AtomicUsize,
    requests: AtomicUsize,
    /// When the last request began or ended, in milliseconds since `opened`.
    last: AtomicU64,
    /// Of a connection with many answers at once (HTTP/2).
    shared: Option<Share>,
    /// Why it was cut.
    cut: OnceLock<Cut>,
}

/// What the answers of one connection have between them.
#[derive(Debug, Default)]
struct Share {
    /// When bytes of a body were last taken, in milliseconds since `opened`.
    taken: AtomicU64,
    /// Bytes of files that wait to be sent.
    lent: AtomicUsize,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self {
            opened: Instant::now(),
            in_flight: AtomicUsize::new(0),
            ours: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            last: AtomicU64::new(0),
            shared: None,
            cut: OnceLock::new(),
        }
    }

    /// For a connection with many answers at once.
    pub(crate) fn shared() -> Self {
        Self { shared: Some(Share::default()), ..Self::new() }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Bytes of a body were taken.
    pub(crate) fn took(&self) {
        if let Some(share) = &self.shared {
            share.taken.store(self.elapsed(), Ordering::Relaxed);
        }
    }

    /// When bytes of a body were last taken.
    pub(crate) fn taken(&self) -> Instant {
        let taken = self.shared.as_ref().map_or(0, |share| share.taken.load(Ordering::Relaxed));
        self.opened + Duration::from_millis(taken)
    }

    /// Whether so many more bytes may wait to be sent; `most` is the limit.
    pub(crate) fn try_lend(&self, bytes: usize, most: usize) -> bool {
        let Some(share) = &self.shared else { return false };
        if share.lent.fetch_add(bytes, Ordering::Relaxed) + bytes <= most {
            return true;
        }
        share.lent.fetch_sub(bytes, Ordering::Relaxed);
        false
    }

    /// Bytes that were lent have been sent.
    pub(crate) fn give_back(&self, bytes: usize) {
        if let Some(share) = &self.shared {
            share.lent.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn set_cut(&self, why: Cut) {
        self.cut.get_or_init(|| why);
    }

    /// Why it was cut.
    pub(crate) fn cut(&self) -> Option<Cut> {
        self.cut.get().copied()
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn begin(self: &Arc<Self>) -> Flight {
        self.ours.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.touch();
        Flight { activity: Arc::clone(self), turn: Turn::Ours }
    }

    fn touch(&self) {
        self.last.store(self.elapsed(), Ordering::Relaxed);
    }

    pub(crate) fn is_busy(&self) -> bool {
        0 < self.in_flight.load(Ordering::Relaxed)
    }

    /// Whether an answer waits for the client to take it.
    pub(crate) fn is_awaited(&self) -> bool {
        self.ours.load(Ordering::Relaxed) < self.in_flight.load(Ordering::Relaxed)
    }

    pub(crate) fn is_new(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn opened(&self) -> Instant {
        self.opened
    }

    /// When the last request began or ended.
    pub(crate) fn last(&self) -> Instant {
        self.opened + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }
}

/// For whom an answer waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Ours,
    Theirs,
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Flight {
    activity: Arc<Activity>,
    turn: Turn,
}

impl Flight {
    pub(crate) fn set_turn(&mut self, turn: Turn) {
        if self.turn == turn {
            return;
        }
        self.turn = turn;
        match turn {
            Turn::Ours => self.activity.ours.fetch_add(1, Ordering::Relaxed),
            Turn::Theirs => {
                // The client's time begins now.
                self.activity.touch();
                self.activity.ours.fetch_sub(1, Ordering::Relaxed)
            }
        };
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.activity.touch();
        self.activity.in_flight.fetch_sub(1, Ordering::Relaxed);
        if self.turn == Turn::Ours {
            self.activity.ours.fetch_sub(1, Ordering::Relaxed);
        }
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
    flight: Option<Flight>,
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
        Self { metrics: Arc::clone(metrics), note, flight }
    }

    pub(crate) fn answered<B>(&mut self, response: &Response<B>, token: Option<&str>) {
        let status = response.status().as_u16();
        self.metrics.answered(status);
        self.set_turn(Turn::Theirs);
        if let Some(note) = &mut self.note {
            let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            note.record.status = status;
            note.record.retry_after = wait.and_then(|seconds| seconds.parse().ok());
            note.record.token = token.map(|token| token.to_owned().into());
        }
    }

    /// Says for whom the answer waits from now on.
    pub(crate) fn set_turn(&mut self, turn: Turn) {
        if let Some(flight) = &mut self.flight {
            flight.set_turn(turn);
        }
    }

    /// The connection, where it has many answers at once.
    pub(crate) fn shared(&self) -> Option<&Arc<Activity>> {
        self.flight.as_ref().map(|flight| &flight.activity).filter(|it| it.is_shared())
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
            // Lines are written in this order, so they stand in that of their times.
            record.time = time();
            listeners.tell(&record);
        }
    }
}

/// A record of something that was no request.
pub(crate) fn broken(client: IpAddr, status: u16) -> Record<'static> {
    Record::new(time(), client.to_string(), status)
}

fn time() -> Timestamp {
    Timestamp::from_unix_seconds(now().min(LATEST)).expect("it has a form")
}

/// A record of a request that was refused before it was one, with as much of
/// its first line as can be told: `GET /path HTTP/1.1`, else all as it came.
pub(crate) fn refused(client: IpAddr, status: u16, line: &[u8]) -> Record<'static> {
    let line = String::from_utf8_lossy(line.trim_ascii());
    let mut parts = line.splitn(3, ' ');
    let (method, target) = (parts.next().unwrap_or_default(), parts.next());
    let protocol = parts.next().filter(|protocol| protocol.starts_with("HTTP/"));
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    let (method, target, protocol) = match target.filter(|_| is_method) {
        Some(target) => (method, target, protocol.unwrap_or_default()),
        None => ("", &*line, ""),
    };
    Record {
        method: cut(method).to_owned().into(),
        target: without_secrets(target).into(),
        protocol: cut(protocol).to_owned().into(),
        ..broken(client, status)
    }
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
        user_agent: text(&parts.headers, &USER_AGENT)
            .map(|text| without_tokens(cut(&text)).into_owned().into()),
        ..broken(client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), 0)
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<std::borrow::Cow<'h, str>> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_a_record_has_the_time_when_the_answer_was_over() {
        #[derive(Default)]
        struct Times(std::sync::Mutex<Vec<Timestamp>>);
        impl AccessSink for Times {
            fn access(&self, record: &Record<'_>) {
                self.0.lock().unwrap().push(record.time);
            }
        }
        let times = Arc::new(Times::default());
        let sinks = vec![Arc::clone(&times) as Arc<dyn AccessSink>];
        let listeners = Arc::new(Listeners { sinks, monitor: None });
        let (parts, ()) = http::Request::get("/").body(()).unwrap().into_parts();
        let before = time();
        let mut report = Report::new(&Arc::default(), &listeners, &parts, None, None);
        // It began long ago.
        let old = Timestamp::parse("1994-11-06T08:49:37Z").unwrap();
        report.note.as_mut().unwrap().record.time = old;
        drop(report);
        assert!(before <= times.0.lock().unwrap()[0]);
    }

    #[test]
    fn ours_what_is_refused_is_on_record_by_its_first_line() {
        let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
        for (line, wanted) in [
            (&b"GET /a?token=hush HTTP/1.1\r"[..], ("GET", "/a?token=***", "HTTP/1.1")),
            (b"GET /aaaa", ("GET", "/aaaa", "")),
            (b"GET /a b HTTP/1.1", ("GET", "/a", "")),
            (b"\x16\x03\x01", ("", "\u{16}\u{3}\u{1}", "")),
            (b"get /a HTTP/1.1", ("", "get /a HTTP/1.1", "")),
            (b"", ("", "", "")),
        ] {
            let record = refused(client, 400, line);
            assert_eq!((&*record.method, &*record.target, &*record.protocol), wanted);
            let line = record.to_combined();
            assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line}");
        }
    }
}
