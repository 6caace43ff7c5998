//! Counters for monitoring, and their Prometheus text format.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Statuses with a counter of their own.
const STATUSES: [u16; 19] =
    [200, 206, 301, 304, 308, 400, 401, 403, 404, 405, 408, 412, 413, 414, 416, 429, 431, 500, 503];

/// Why the server closed a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutReason {
    /// There are too many connections.
    Full,
    /// The client network has too many connections.
    Address,
    /// The head took too long.
    Head,
    /// The connection was idle for too long.
    Idle,
    /// The client read nothing for too long.
    Stall,
    /// TLS failed.
    Tls,
    /// The received bytes are not a valid request.
    Broken,
}

const CUTS: [(&str, CutReason); 7] = [
    ("full", CutReason::Full),
    ("address", CutReason::Address),
    ("head", CutReason::Head),
    ("idle", CutReason::Idle),
    ("stall", CutReason::Stall),
    ("tls", CutReason::Tls),
    ("broken", CutReason::Broken),
];

/// Counters since the start.
#[derive(Debug, Default)]
pub struct Metrics {
    statuses: [AtomicU64; STATUSES.len()],
    other: AtomicU64,
    bytes: AtomicU64,
    from_memory: AtomicU64,
    connections: AtomicI64,
    accepted: AtomicU64,
    cuts: [AtomicU64; CUTS.len()],
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
    loaded_ahead: AtomicU64,
}

impl Metrics {
    pub(crate) fn answered(&self, status: u16) {
        let at = STATUSES.iter().position(|known| *known == status);
        let counter = at.and_then(|at| self.statuses.get(at)).unwrap_or(&self.other);
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn sent(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn cached(&self) {
        self.from_memory.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn opened(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn closed(&self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn cut(&self, why: CutReason) {
        let at = CUTS.iter().position(|(_, known)| *known == why);
        if let Some(counter) = at.and_then(|at| self.cuts.get(at)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn reloaded(&self, is_fine: bool) {
        let counter = if is_fine { &self.reloads } else { &self.failed_reloads };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the loading of a catalog that is not in force yet, such as the one of a running
    /// publication.
    pub(crate) fn loaded_ahead(&self) {
        self.loaded_ahead.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of responses with a status.
    pub fn count(&self, status: u16) -> u64 {
        let at = STATUSES.iter().position(|known| *known == status);
        at.and_then(|at| self.statuses.get(at)).map_or(0, |n| n.load(Ordering::Relaxed))
    }

    /// Returns the number of open connections.
    pub fn open_connections(&self) -> i64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns all counters in the Prometheus text format.
    pub fn text(&self) -> String {
        let mut out = String::with_capacity(4096);
        let mut family = |name: &str, kind: &str, help: &str, rows: &[(String, i128)]| {
            write!(out, "# HELP rutter_{name} {help}\n# TYPE rutter_{name} {kind}\n")
                .expect("writing to a string cannot fail");
            for (labels, n) in rows {
                writeln!(out, "rutter_{name}{labels} {n}")
                    .expect("writing to a string cannot fail");
            }
        };
        let load = |n: &AtomicU64| i128::from(n.load(Ordering::Relaxed));
        let one = |n: i128| [(String::new(), n)];
        let mut rows: Vec<(String, i128)> = STATUSES
            .iter()
            .zip(&self.statuses)
            .map(|(status, n)| (format!("{{status=\"{status}\"}}"), load(n)))
            .collect();
        rows.push(("{status=\"other\"}".to_owned(), load(&self.other)));
        family("requests_total", "counter", "Requests answered, by status.", &rows);
        family("sent_bytes_total", "counter", "Bytes of bodies sent.", &one(load(&self.bytes)));
        let hits = one(load(&self.from_memory));
        family("memory_answers_total", "counter", "Responses made without opening a file.", &hits);
        let open = one(i128::from(self.open_connections()));
        family("connections", "gauge", "Open connections.", &open);
        family("connections_total", "counter", "Connections accepted.", &one(load(&self.accepted)));
        let rows: Vec<(String, i128)> = CUTS
            .iter()
            .zip(&self.cuts)
            .map(|((name, _), n)| (format!("{{why=\"{name}\"}}"), load(n)))
            .collect();
        family(
            "connections_cut_total",
            "counter",
            "Connections closed by the server, by reason.",
            &rows,
        );
        let rows = [
            ("{result=\"done\"}".to_owned(), load(&self.reloads)),
            ("{result=\"failed\"}".to_owned(), load(&self.failed_reloads)),
            ("{result=\"ahead\"}".to_owned(), load(&self.loaded_ahead)),
        ];
        family(
            "reloads_total",
            "counter",
            "Reloads of served.json, tokens and certificates.",
            &rows,
        );
        out
    }
}

/// Formats the number of lost log lines.
pub(crate) fn lost_text(n: u64) -> String {
    let name = "rutter_log_lines_lost_total";
    format!("# HELP {name} Lines that the access log lost.\n# TYPE {name} counter\n{name} {n}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-206 ARC-065
    fn counts_events() {
        let metrics = Metrics::default();
        for status in [200, 200, 429, 418] {
            metrics.answered(status);
        }
        metrics.sent(7);
        metrics.opened();
        metrics.cut(CutReason::Head);
        let text = metrics.text();
        for line in [
            "rutter_requests_total{status=\"200\"} 2",
            "rutter_requests_total{status=\"429\"} 1",
            "rutter_requests_total{status=\"other\"} 1",
            "rutter_sent_bytes_total 7",
            "rutter_connections 1",
            "rutter_connections_cut_total{why=\"head\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        // Each metric is described once.
        let names: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
        assert_eq!(names.len(), 7);
        assert_eq!((metrics.count(200), metrics.open_connections()), (2, 1));
    }
}
