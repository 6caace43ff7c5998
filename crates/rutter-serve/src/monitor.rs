//! Looks at each request as it is answered: which agents come, and who behaves
//! oddly (SCP "Monitoring", ARC E.12).
//!
//! Takes the records of `report.rs`; counts go to `/metrics`, what is odd goes
//! to the sinks. It holds no more than the table of agents and the clients of
//! [`Thresholds`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use rutter_finding::Finding;
use rutter_logs::agents::{Class, recognise};
use rutter_logs::{Record, Thresholds, Watch};

/// Counts agents and watches clients.
#[derive(Debug)]
pub(crate) struct Monitor(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    watch: Watch,
    /// Requests of agents we know that read for AI, and of the other classes.
    agents: BTreeMap<&'static str, u64>,
    classes: BTreeMap<&'static str, u64>,
    odd: BTreeMap<&'static str, u64>,
}

impl Monitor {
    pub(crate) fn new(thresholds: Thresholds) -> Self {
        Self(Mutex::new(Inner {
            watch: Watch::new(thresholds),
            agents: BTreeMap::new(),
            classes: BTreeMap::new(),
            odd: BTreeMap::new(),
        }))
    }

    /// There are collections, so nobody need read page by page.
    pub(crate) fn expect_collections(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).watch.expect_collections();
    }

    /// Takes a request and says what is odd about its client from now on.
    pub(crate) fn see(&self, record: &Record<'_>) -> Vec<Finding> {
        let known = recognise(record.user_agent.as_deref().unwrap_or_default());
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.class == Class::Ai {
            *inner.agents.entry(known.name()).or_default() += 1;
        }
        *inner.classes.entry(known.class.name()).or_default() += 1;
        let findings = inner.watch.see(record);
        for finding in &findings {
            *inner.odd.entry(finding.rule.code).or_default() += 1;
        }
        findings
    }

    /// Everything in the text form of Prometheus.
    pub(crate) fn text(&self) -> String {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        let mut family = |name: &str, label: &str, help: &str, rows: &BTreeMap<&str, u64>| {
            write!(out, "# HELP rutter_{name} {help}\n# TYPE rutter_{name} counter\n")
                .expect("memory takes everything");
            for (value, n) in rows {
                writeln!(out, "rutter_{name}{{{label}=\"{value}\"}} {n}")
                    .expect("memory takes everything");
            }
        };
        family("agent_requests_total", "agent", "Requests of AI agents, by name.", &inner.agents);
        family("client_requests_total", "class", "Requests, by kind of client.", &inner.classes);
        family("odd_clients_total", "rule", "Clients that behaved oddly, by rule.", &inner.odd);
        out
    }
}

#[cfg(test)]
mod tests {
    use rutter_page::Timestamp;

    use super::*;

    #[test] // SCP-206 ARC-065
    fn spec_agents_are_counted_and_odd_clients_told() {
        let monitor =
            Monitor::new(Thresholds { pages: 3, has_collections: true, ..Thresholds::USUAL });
        let time = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
        let codes: Vec<&str> = (0..6)
            .flat_map(|n| {
                monitor.see(&Record {
                    method: "GET".into(),
                    target: format!("/{n}").into(),
                    user_agent: Some("Mozilla/5.0 (compatible; GPTBot/1.2)".into()),
                    ..Record::new(time, "192.0.2.1", 200)
                })
            })
            .map(|finding| finding.rule.code)
            .collect();
        assert_eq!(codes, ["LG001"]);
        monitor.see(&Record::new(time, "192.0.2.2", 200));
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
