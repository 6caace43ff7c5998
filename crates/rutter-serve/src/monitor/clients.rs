//! Monitors requests: counts AI agents and detects unusual clients (SCP "Monitoring", ARC E.12).
//!
//! Input: the records of `report.rs`. Output: counters for `/metrics`, findings for the sinks.
//! Memory is bounded by the table of agents and by the clients in [`OddClientThresholds`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use rutter_finding::Finding;
use rutter_logs::agents::{ClientClass, recognize};
use rutter_logs::{AccessRecord, ClientMonitor, OddClientThresholds};

/// Counts agents and monitors clients.
#[derive(Debug)]
pub(crate) struct TrafficMonitor(Mutex<MonitorState>);

#[derive(Debug)]
struct MonitorState {
    watch: ClientMonitor,
    /// Requests of known AI agents, and of each class of clients.
    agents: BTreeMap<&'static str, u64>,
    classes: BTreeMap<&'static str, u64>,
    odd: BTreeMap<&'static str, u64>,
}

impl TrafficMonitor {
    pub(crate) fn new(thresholds: OddClientThresholds) -> Self {
        Self(Mutex::new(MonitorState {
            watch: ClientMonitor::new(thresholds),
            agents: BTreeMap::new(),
            classes: BTreeMap::new(),
            odd: BTreeMap::new(),
        }))
    }

    /// Records that the site has collections, so that clients need not fetch it page by page.
    pub(crate) fn expect_collections(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).watch.expect_collections();
    }

    /// Records a request and returns the findings about its client.
    pub(crate) fn observe(&self, record: &AccessRecord<'_>) -> Vec<Finding> {
        let known = recognize(record.user_agent.as_deref().unwrap_or_default());
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.class == ClientClass::Ai {
            *inner.agents.entry(known.name()).or_default() += 1;
        }
        *inner.classes.entry(known.class.name()).or_default() += 1;
        let findings = inner.watch.observe(record);
        for finding in &findings {
            *inner.odd.entry(finding.rule.code).or_default() += 1;
        }
        findings
    }

    /// Returns the counters in the Prometheus text format.
    pub(crate) fn text(&self) -> String {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        let mut family = |name: &str, label: &str, help: &str, rows: &BTreeMap<&str, u64>| {
            write!(out, "# HELP rutter_{name} {help}\n# TYPE rutter_{name} counter\n")
                .expect("writing to a string cannot fail");
            for (value, n) in rows {
                writeln!(out, "rutter_{name}{{{label}=\"{value}\"}} {n}")
                    .expect("writing to a string cannot fail");
            }
        };
        family("agent_requests_total", "agent", "Requests of AI agents, by name.", &inner.agents);
        family("client_requests_total", "class", "Requests, by kind of client.", &inner.classes);
        family("odd_clients_total", "rule", "Unusual clients, by rule.", &inner.odd);
        out
    }
}

#[cfg(test)]
mod tests {
    use rutter_page::Timestamp;

    use super::*;

    #[test] // SCP-206 ARC-065
    fn counts_agents_and_reports_unusual_clients() {
        let monitor = TrafficMonitor::new(OddClientThresholds {
            pages: 3,
            has_collections: true,
            ..OddClientThresholds::DEFAULT
        });
        let time = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
        let codes: Vec<&str> = (0..6)
            .flat_map(|n| {
                monitor.observe(&AccessRecord {
                    method: "GET".into(),
                    target: format!("/{n}").into(),
                    user_agent: Some("Mozilla/5.0 (compatible; GPTBot/1.2)".into()),
                    ..AccessRecord::new(time, "192.0.2.1", 200)
                })
            })
            .map(|finding| finding.rule.code)
            .collect();
        assert_eq!(codes, ["LG001"]);
        monitor.observe(&AccessRecord::new(time, "192.0.2.2", 200));
        let text = monitor.text();
        for line in [
            "rutter_agent_requests_total{agent=\"GPTBot\"} 6",
            "rutter_client_requests_total{class=\"ai\"} 6",
            "rutter_client_requests_total{class=\"unknown\"} 1",
            "rutter_odd_clients_total{rule=\"LG001\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
