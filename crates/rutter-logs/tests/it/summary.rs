//! The text, JSON and SVG output of a summary.

use rutter_finding::{Report, Strictness};
use rutter_logs::summary::{json, svg, text};
use rutter_logs::{AccessTally, CollectionTotals, LogSummary, RequestFilter, TallySettings, parse};
use rutter_page::Timestamp;

fn harbour() -> Vec<u8> {
    std::fs::read(crate::fixture("report/harbour.log")).unwrap()
}

fn summary(bytes: &[u8], settings: TallySettings, filter: RequestFilter) -> LogSummary {
    let mut tally = AccessTally::new(settings, filter);
    for record in crate::records(bytes) {
        tally.add(&record);
    }
    tally.finish()
}

fn shown(summary: &LogSummary) -> String {
    let mut out = Vec::new();
    text::write(&mut out, summary).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn writes_text() {
    let summary = summary(&harbour(), TallySettings::DEFAULT, RequestFilter::default());
    insta::assert_snapshot!(shown(&summary));
}

#[test]
fn writes_json() {
    let summary = summary(&harbour(), TallySettings::DEFAULT, RequestFilter::default());
    let mut out = Vec::new();
    json::write(&mut out, &summary, &Report::new(Strictness::Lenient)).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn writes_a_chart() {
    let summary = summary(&harbour(), TallySettings::DEFAULT, RequestFilter::default());
    let chart = svg::chart(&summary);
    insta::assert_snapshot!(chart);
    let mut reader = quick_xml::Reader::from_str(&chart);
    reader.config_mut().check_end_names = true;
    let mut n_titles = 0;
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Start(start) => {
                n_titles += usize::from(start.name().as_ref() == "title");
                // The file loads no resources and runs no scripts.
                assert!(!matches!(start.name().as_ref(), "script" | "image" | "a" | "use"));
            }
            _ => {}
        }
    }
    // One title for the chart and one for each part of a bar.
    assert_eq!(n_titles, 1 + chart.matches("<rect class=\"g").count() - legend_parts(&chart));
}

fn legend_parts(chart: &str) -> usize {
    chart.matches("y=\"44\" width=\"12\"").count()
}

#[test]
fn writes_a_summary_of_an_empty_log() {
    let summary = summary(b"", TallySettings::DEFAULT, RequestFilter::default());
    insta::assert_snapshot!(format!("{}{}", shown(&summary), svg::chart(&summary)));
}

#[test]
fn sums_up_agents_without_a_bar() {
    let mut log = String::new();
    for agent in rutter_logs::agents::all().iter().take(30) {
        log.push_str(
            "192.0.2.1 - - [01/May/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"",
        );
        log.push_str(agent.name);
        log.push_str("/1.0\"\n");
    }
    let summary = summary(log.as_bytes(), TallySettings::DEFAULT, RequestFilter::default());
    assert_eq!(summary.agents.len(), 30);
    assert!(svg::chart(&summary).contains(">and 10 more with 10 requests<"));
}

#[test]
fn filters_requests() {
    let time = |text: &str| Some(Timestamp::parse(text).unwrap());
    let all = summary(&harbour(), TallySettings::DEFAULT, RequestFilter::default());
    for (filter, wanted) in [
        (RequestFilter { since: time("2026-05-02T00:00:00Z"), ..RequestFilter::default() }, 16),
        (RequestFilter { until: time("2026-05-02T00:00:00Z"), ..RequestFilter::default() }, 22),
        // The first request has exactly this time.
        (RequestFilter { since: time("2026-05-01T10:00:00Z"), ..RequestFilter::default() }, 38),
        (RequestFilter { until: time("2026-05-01T10:00:00Z"), ..RequestFilter::default() }, 0),
        (RequestFilter { agent: Some("gptbot".into()), ..RequestFilter::default() }, 19),
        (RequestFilter { agent: Some("Googlebot".into()), ..RequestFilter::default() }, 2),
        (RequestFilter { agent: Some("browser".into()), ..RequestFilter::default() }, 4),
        (RequestFilter { agent: Some("unknown-agent".into()), ..RequestFilter::default() }, 0),
    ] {
        let some = summary(&harbour(), TallySettings::DEFAULT, filter.clone());
        assert_eq!(
            (some.requests, some.filtered_out),
            (wanted, all.requests - wanted),
            "{filter:?}"
        );
    }
}

/// Returns the number of repeated downloads of a log in short form: second, client, target, status,
/// bytes.
fn repeated(rows: &[(i64, &str, &str, u16, u64)]) -> (u64, u64) {
    let mut tally = AccessTally::new(
        TallySettings { window: 100, ..TallySettings::DEFAULT },
        RequestFilter::default(),
    );
    for (seconds, client, target, status, bytes) in rows {
        let line = format!(
            "{{\"time\":\"{}\",\"client\":\"{client}\",\"method\":\"GET\",\"target\":\"{target}\",\
             \"status\":{status},\"bytes\":{bytes},\"user_agent\":\"GPTBot/1.2\"}}",
            Timestamp::from_unix_seconds(*seconds).unwrap()
        );
        tally.add(&parse(line.as_bytes()).unwrap());
    }
    let savings = tally.finish().savings;
    (savings.repeated, savings.repeated_bytes)
}

#[test] // SCP-206
fn counts_repeated_downloads() {
    let (a, b) = ("192.0.2.1", "192.0.2.2");
    // One, two and three times.
    assert_eq!(repeated(&[(0, a, "/", 200, 10)]), (0, 0));
    assert_eq!(repeated(&[(0, a, "/", 200, 10), (9, a, "/", 200, 10)]), (1, 10));
    assert_eq!(
        repeated(&[(0, a, "/", 200, 10), (9, a, "/", 200, 10), (19, a, "/", 200, 10)]),
        (2, 20)
    );
    // Another size, client or target; too late; no bytes; not a full response.
    assert_eq!(repeated(&[(0, a, "/", 200, 10), (9, a, "/", 200, 11)]), (0, 0));
    assert_eq!(repeated(&[(0, a, "/", 200, 10), (9, b, "/", 200, 10)]), (0, 0));
    assert_eq!(repeated(&[(0, a, "/", 200, 10), (9, a, "/?", 200, 10)]), (0, 0));
    assert_eq!(repeated(&[(0, a, "/", 200, 10), (100, a, "/", 200, 10)]), (1, 10));
    assert_eq!(repeated(&[(0, a, "/", 200, 10), (101, a, "/", 200, 10)]), (0, 0));
    assert_eq!(repeated(&[(0, a, "/", 200, 0), (9, a, "/", 200, 0)]), (0, 0));
    assert_eq!(repeated(&[(0, a, "/", 404, 10), (9, a, "/", 200, 10)]), (0, 0));
    assert_eq!(repeated(&[(0, a, "/", 206, 10), (9, a, "/", 206, 10)]), (0, 0));
    // A client with a conditional request is assumed to send them.
    assert_eq!(
        repeated(&[(0, a, "/", 200, 10), (9, a, "/", 304, 0), (19, a, "/", 200, 10)]),
        (0, 0)
    );
}

#[test]
fn estimates_savings_by_collections() {
    // GPTBot took 16 pages of 149,607 bytes on two days; the snapshot has 6,000.
    let seen = summary(&harbour(), TallySettings::DEFAULT, RequestFilter::default());
    let collected = seen.savings.collections.unwrap();
    assert_eq!((collected.files, collected.size), (1, 6000));
    assert_eq!((collected.readers, collected.requests, collected.bytes), (1, 14, 137_607));
    // Configured: three files, too large to save anything.
    let reported = |files, bytes| {
        let collections = Some(CollectionTotals { files, bytes });
        let settings = TallySettings { collections, ..TallySettings::DEFAULT };
        summary(&harbour(), settings, RequestFilter::default()).savings.collections.unwrap()
    };
    assert_eq!(reported(3, 100_000).readers, 0);
    assert_eq!(reported(8, 1000).readers, 0);
    assert_eq!((reported(3, 10_000).requests, reported(3, 10_000).bytes), (10, 129_607));
    // Known even if the client that fetched it is excluded.
    let alone = RequestFilter { agent: Some("GPTBot".into()), ..RequestFilter::default() };
    let alone = summary(&harbour(), TallySettings::DEFAULT, alone).savings.collections;
    assert_eq!(alone, Some(collected));
    // Unknown.
    let text = String::from_utf8(harbour()).unwrap();
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("snapshot")).collect();
    let without =
        summary(without.join("\n").as_bytes(), TallySettings::DEFAULT, RequestFilter::default());
    assert_eq!(without.savings.collections, None);
}

#[test]
fn reports_dropped_entries() {
    let settings = TallySettings { fetches: 4, readers: 1, ..TallySettings::DEFAULT };
    let summary = summary(&harbour(), settings, RequestFilter::default());
    assert!(0 < summary.dropped.fetches && 0 < summary.dropped.readers);
    assert_eq!(summary.savings.repeated, 0);
    let text = shown(&summary);
    assert_eq!(text.matches("Dropped to limit memory").count(), 2, "{text}");
}
