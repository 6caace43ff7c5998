//! Unusual clients are reported while the server runs.

use rutter_logs::OddClientThresholds;

use crate::client::{Running, put, wait_for};

const PAGES: &[(&str, &[u8])] = &[("a.html", b"a"), ("b.html", b"b"), ("c.html", b"c")];

fn watched(pages: u64) -> Running {
    Running::new(PAGES, |settings| {
        let usual = OddClientThresholds::DEFAULT;
        settings.watch = Some(OddClientThresholds { pages, has_collections: true, ..usual });
    })
}

fn wait_for_records(running: &Running, n: usize) {
    wait_for("all records", || running.records.0.lock().unwrap().len() == n);
}

#[test] // SCP-206 ARC-065
fn reports_page_by_page_reading_despite_collections() {
    let running = watched(3);
    for page in ["/a.html", "/a.html", "/b.html", "/c.html", "/c.html"] {
        let answer = running.ask("GET", page, &[("User-Agent", "GPTBot/1.2")]);
        assert_eq!(answer.status, 200);
    }
    wait_for("a finding", || !running.records.1.lock().unwrap().is_empty());
    wait_for_records(&running, 5);
    let found = running.records.1.lock().unwrap().clone();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("LG001: `127.0.0.1` as GPTBot: 3 pages in "), "{found:?}");
    let is_counted = |line: &str| running.site.metrics_text().lines().any(|found| found == line);
    wait_for("5 requests", || is_counted("rutter_agent_requests_total{agent=\"GPTBot\"} 5"));
    assert!(is_counted("rutter_odd_clients_total{rule=\"LG001\"} 1"));
}

#[test] // SCP-206
fn reports_nothing_below_the_thresholds() {
    let running = watched(4);
    for page in ["/a.html", "/b.html", "/c.html"] {
        assert_eq!(running.get(page).status, 200);
    }
    let is_counted = || running.site.metrics_text().contains("{class=\"unknown\"} 3\n");
    wait_for("3 requests", is_counted);
    assert_eq!(*running.records.1.lock().unwrap(), [""; 0]);
}

#[test] // SCP-206 ARC-065
fn reports_clients_that_ignore_429() {
    let running = Running::new(PAGES, |settings| {
        let every = std::time::Duration::from_mins(10);
        settings.rate = Some(rutter_serve::RateLimit { every, burst: 1 });
        settings.watch =
            Some(OddClientThresholds { early: 2, grace: -1, ..OddClientThresholds::DEFAULT });
    });
    for wanted in [200, 429, 429, 429] {
        assert_eq!(running.get("/a.html").status, wanted);
    }
    wait_for("a finding", || !running.records.1.lock().unwrap().is_empty());
    let found = running.records.1.lock().unwrap().clone();
    assert!(found[0].starts_with("LG002: `127.0.0.1` as unknown: 2 requests before"), "{found:?}");
    wait_for_records(&running, 4);
    let waits: Vec<Option<u64>> =
        running.records.0.lock().unwrap().iter().map(|record| record.retry_after).collect();
    assert!(waits[0].is_none() && waits[1].is_some_and(|wait| 500 < wait), "{waits:?}");
}

#[test]
fn knows_collections_from_the_catalog() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join("public/a.html"), b"a");
    let served = concat!(
        r#"{"version":2,"base":"https://harbour.example/","files":[{"path":"scp/all.scp.gz","#,
        r#""type":"application/scp","coding":"gzip","cache":"snapshot"}]}"#
    );
    put(&folder.path().join("state/served.json"), served.as_bytes());
    let change = |settings: &mut rutter_serve::SiteSettings| {
        settings.watch = Some(OddClientThresholds { pages: 1, ..OddClientThresholds::DEFAULT });
    };
    let running = Running::start(folder, change, None);
    assert_eq!(running.get("/a.html").status, 200);
    wait_for("a finding", || !running.records.1.lock().unwrap().is_empty());
    assert!(running.records.1.lock().unwrap()[0].starts_with("LG001"));
}
