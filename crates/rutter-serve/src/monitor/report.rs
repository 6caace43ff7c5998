//! Tracks each request until its response ends: updates the counters and writes the access log.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Instant;

use http::header::{HeaderName, REFERER, RETRY_AFTER, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Response, Version};
use rutter_logs::AccessRecord;
use rutter_page::Timestamp;

use crate::clock::{LATEST, now};
use crate::monitor::access::{AccessSink, cut, redact_secrets, redact_tokens};
use crate::monitor::activity::{ActiveRequest, AwaitedSide, ConnectionActivity};
use crate::monitor::clients::TrafficMonitor;
use crate::monitor::metrics::Metrics;

/// The receivers of access records.
pub(crate) struct RequestObservers {
    pub(crate) sinks: Vec<Arc<dyn AccessSink>>,
    pub(crate) monitor: Option<TrafficMonitor>,
}

impl RequestObservers {
    fn is_empty(&self) -> bool {
        self.sinks.is_empty() && self.monitor.is_none()
    }

    /// Sends a record to all sinks, with the findings about its client.
    pub(crate) fn notify(&self, record: &AccessRecord<'_>) {
        for sink in &self.sinks {
            sink.access(record);
        }
        let findings = self.monitor.as_ref().map(|monitor| monitor.observe(record));
        for finding in findings.into_iter().flatten() {
            for sink in &self.sinks {
                sink.odd(&finding);
            }
        }
    }
}

/// Reports a request when its response ends.
pub(crate) struct RequestReport {
    metrics: Arc<Metrics>,
    note: Option<Box<PendingRecord>>,
    flight: Option<ActiveRequest>,
}

struct PendingRecord {
    record: AccessRecord<'static>,
    start: Instant,
    listeners: Arc<RequestObservers>,
}

impl RequestReport {
    pub(crate) fn new(
        metrics: &Arc<Metrics>,
        listeners: &Arc<RequestObservers>,
        parts: &Parts,
        client: Option<IpAddr>,
        flight: Option<ActiveRequest>,
    ) -> Self {
        // Without receivers, no record is made.
        let note = (!listeners.is_empty()).then(|| {
            Box::new(PendingRecord {
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
        self.set_waiting_for(AwaitedSide::Client);
        if let Some(note) = &mut self.note {
            let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            note.record.status = status;
            note.record.retry_after = wait.and_then(|seconds| seconds.parse().ok());
            note.record.token = token.map(|token| token.to_owned().into());
        }
    }

    /// Sets which side the response waits for.
    pub(crate) fn set_waiting_for(&mut self, turn: AwaitedSide) {
        if let Some(flight) = &mut self.flight {
            flight.set_waiting_for(turn);
        }
    }

    /// Returns the connection's activity if it has parallel responses.
    pub(crate) fn shared(&self) -> Option<&Arc<ConnectionActivity>> {
        self.flight.as_ref().and_then(ActiveRequest::shared)
    }

    /// Records the bytes of the body that were sent.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.metrics.sent(bytes);
        if let Some(note) = &mut self.note {
            note.record.bytes = bytes;
        }
    }
}

/// Logged status of a client that disconnected before the response, as in nginx.
const CLIENT_CLOSED_REQUEST: u16 = 499;

impl Drop for RequestReport {
    fn drop(&mut self) {
        if let Some(note) = self.note.take() {
            let PendingRecord { mut record, start, listeners } = *note;
            if record.status == 0 {
                record.status = CLIENT_CLOSED_REQUEST;
            }
            record.duration = Some(start.elapsed());
            // The record gets the time at which the response ended, so that log lines are in order.
            record.time = time();
            listeners.notify(&record);
        }
    }
}

/// Returns a record of a connection without a valid request.
pub(crate) fn broken(client: IpAddr, status: u16) -> AccessRecord<'static> {
    AccessRecord::new(time(), client.to_string(), status)
}

fn time() -> Timestamp {
    Timestamp::from_unix_seconds(now().min(LATEST))
        .expect("the time is clamped to a supported date")
}

/// Returns a record of a rejected request. If its first line has the form `GET /path HTTP/1.1`, the
/// record contains method, target and protocol, otherwise the line as the target. Secrets are
/// removed.
pub(crate) fn refused(client: IpAddr, status: u16, line: &[u8]) -> AccessRecord<'static> {
    let line = String::from_utf8_lossy(line.trim_ascii());
    let mut parts = line.splitn(3, ' ');
    let (method, target) = (parts.next().unwrap_or_default(), parts.next());
    let protocol = parts.next().filter(|protocol| protocol.starts_with("HTTP/"));
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    let (method, target, protocol) = match target.filter(|_| is_method) {
        Some(target) => (method, target, protocol.unwrap_or_default()),
        None => ("", &*line, ""),
    };
    AccessRecord {
        method: cut(method).to_owned().into(),
        target: redact_secrets(target).into(),
        protocol: cut(protocol).to_owned().into(),
        ..broken(client, status)
    }
}

fn record(parts: &Parts, client: Option<IpAddr>) -> AccessRecord<'static> {
    let protocol = match parts.version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    };
    let target = parts.uri.path_and_query().map_or("*", |target| target.as_str());
    AccessRecord {
        method: cut(parts.method.as_str()).to_owned().into(),
        target: redact_secrets(target).into(),
        protocol: protocol.into(),
        referer: text(&parts.headers, &REFERER).map(|text| redact_secrets(&text).into()),
        user_agent: text(&parts.headers, &USER_AGENT)
            .map(|text| redact_tokens(cut(&text)).into_owned().into()),
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
    fn records_the_time_of_the_end_of_the_response() {
        #[derive(Default)]
        struct Times(std::sync::Mutex<Vec<Timestamp>>);
        impl AccessSink for Times {
            fn access(&self, record: &AccessRecord<'_>) {
                self.0.lock().unwrap().push(record.time);
            }
        }
        let times = Arc::new(Times::default());
        let sinks = vec![Arc::clone(&times) as Arc<dyn AccessSink>];
        let listeners = Arc::new(RequestObservers { sinks, monitor: None });
        let (parts, ()) = http::Request::get("/").body(()).unwrap().into_parts();
        let before = time();
        let mut report = RequestReport::new(&Arc::default(), &listeners, &parts, None, None);
        // The request began long ago.
        let old = Timestamp::parse("1994-11-06T08:49:37Z").unwrap();
        report.note.as_mut().unwrap().record.time = old;
        drop(report);
        assert!(before <= times.0.lock().unwrap()[0]);
    }

    #[test]
    fn records_the_first_line_of_rejected_requests() {
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
