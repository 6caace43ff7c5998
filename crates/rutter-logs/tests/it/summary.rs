//! What people, programs and reports get to see of a log.

use rutter_finding::{Mode, Report};
use rutter_logs::summary::{json, svg, text};
use rutter_logs::{Collections, Filter, Settings, Summary, Tally, parse};
use rutter_page::Timestamp;

fn harbour() -> Vec<u8> {
    std::fs::read(crate::fixture("report/harbour.log")).unwrap()
}

fn summary(bytes: &[u8], settings: Settings, filter: Filter) -> Summary {
    let mut tally = Tally::new(settings, filter);
    for record in crate::records(bytes) {
        tally.see(&record);
    }
    tally.finish()
}

fn shown(summary: &Summary) -> String {
    let mut out = Vec::new();
    text::write(&mut out, summary).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn ours_tables_for_people() {
    let summary = summary(&harbour(), Settings::USUAL, Filter::default());
    insta::assert_snapshot!(shown(&summary));
}

#[test]
fn ours_a_document_for_programs() {
    let summary = summary(&harbour(), Settings::USUAL, Filter::default());
    let mut out = Vec::new();
    json::write(&mut out, &summary, &Report::new(Mode::Lenient)).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn ours_a_chart() {
    let summary = summary(&harbour(), Settings::USUAL, Filter::default());
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
                // Nothing is fetched and nothing runs.
                assert!(!matches!(start.name().as_ref(), "script" | "image" | "a" | "use"));
            }
            _ => {}
        }
    }
    // One for the chart and one for each part of a bar.
    assert_eq!(n_titles, 1 + chart.matches("<rect class=\"g").count() - legend_parts(&chart));
}

fn legend_parts(chart: &str) -> usize {
    chart.matches("y=\"44\" width=\"12\"").count()
}

#[test]
fn ours_an_empty_log_has_a_summary_too() {
    let summary = summary(b"", Settings::USUAL, Filter::default());
    insta::assert_snapshot!(format!("{}{}", shown(&summary), svg::chart(&summary)));
}

#[test]
fn ours_more_agents_than_bars_are_named_together() {
    let mut log = String::new();
    for agent in rutter_logs::agents::all().iter().take(30) {
        log.push_str(
            "192.0.2.1 - - [01/May/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"",
        );
        log.push_str(agent.name);
        log.push_str("/1.0\"\n");
    }
    let summary = summary(log.as_bytes(), Settings::USUAL, Filter::default());
    assert_eq!(summary.agents.len(), 30);
    assert!(svg::chart(&summary).contains(">and 10 more with 10 requests<"));
}

#[test]
fn ours_filters_leave_out_the_rest() {
    let time = |text: &str| Some(Timestamp::parse(text).unwrap());
    let all = summary(&harbour(), Settings::USUAL, Filter::default());
    for (filter, wanted) in [
        (Filter { since: time("2026-05-02T00:00:00Z"), ..Filter::default() }, 16),
        (Filter { until: time("2026-05-02T00:00:00Z"), ..Filter::default() }, 22),
        // The first request came at this very moment.
        (Filter { since: time("2026-05-01T10:00:00Z"), ..Filter::default() }, 38),
        (Filter { until: time("2026-05-01T10:00:00Z"), ..Filter::default() }, 0),
        (Filter { agent: Some("gptbot".into()), ..Filter::default() }, 19),
        (Filter { agent: Some("Googlebot".into()), ..Filter::default() }, 2),
        (Filter { agent: Some("browser".into()), ..Filter::default() }, 4),
        (Filter { agent: Some("nobody".into()), ..Filter::default() }, 0),
    ] {
        let some = summary(&harbour(), Settings::USUAL, filter.clone());
        assert_eq!((some.requests, some.left_out), (wanted, all.requests - wanted), "{filter:?}");
    }
}

/// Answers that were read again in vain, of a log written in short:
/// second, client, target, status, bytes.
fn again(rows: &[(i64, &str, &str, u16, u64)]) -> (u64, u64) {
    let mut tally = Tally::new(Settings { window: 100, ..Settings::USUAL }, Filter::default());
    for (seconds, client, target, status, bytes) in rows {
        let line = format!(
            "{{\"time\":\"{}\",\"client\":\"{client}\",\"method\":\"GET\",\"target\":\"{target}\",\
             \"status\":{status},\"bytes\":{bytes},\"user_agent\":\"GPTBot/1.2\"}}",
            Timestamp::from_unix_seconds(*seconds).unwrap()
        );
        tally.see(&parse(line.as_bytes()).unwrap());
    }
    let savings = tally.finish().savings;
    (savings.again, savings.again_bytes)
}

#[test] // SCP-206
fn ours_what_was_read_again_in_vain() {
    let (a, b) = ("192.0.2.1", "192.0.2.2");
    // Once, twice, three times.
    assert_eq!(again(&[(0, a, "/", 200, 10)]), (0, 0));
    assert_eq!(again(&[(0, a, "/", 200, 10), (9, a, "/", 200, 10)]), (1, 10));
    assert_eq!(
        again(&[(0, a, "/", 200, 10), (9, a, "/", 200, 10), (19, a, "/", 200, 10)]),
        (2, 20)
    );
    // Another size, client, target; too late; no bytes; no full answer.
    assert_eq!(again(&[(0, a, "/", 200, 10), (9, a, "/", 200, 11)]), (0, 0));
    assert_eq!(again(&[(0, a, "/", 200, 10), (9, b, "/", 200, 10)]), (0, 0));
    assert_eq!(again(&[(0, a, "/", 200, 10), (9, a, "/?", 200, 10)]), (0, 0));
    assert_eq!(again(&[(0, a, "/", 200, 10), (100, a, "/", 200, 10)]), (1, 10));
    assert_eq!(again(&[(0, a, "/", 200, 10), (101, a, "/", 200, 10)]), (0, 0));
    assert_eq!(again(&[(0, a, "/", 200, 0), (9, a, "/", 200, 0)]), (0, 0));
    assert_eq!(again(&[(0, a, "/", 404, 10), (9, a, "/", 200, 10)]), (0, 0));
    assert_eq!(again(&[(0, a, "/", 206, 10), (9, a, "/", 206, 10)]), (0, 0));
    // Who asked once is believed to ask.
    assert_eq!(again(&[(0, a, "/", 200, 10), (9, a, "/", 304, 0), (19, a, "/", 200, 10)]), (0, 0));
}

#[test]
fn ours_what_collections_would_have_saved() {
    // GPTBot took 16 pages of 149,607 bytes on two days; the snapshot has 6,000.
    let seen = summary(&harbour(), Settings::USUAL, Filter::default());
    let collected = seen.savings.collections.unwrap();
    assert_eq!((collected.files, collected.size), (1, 6000));
    assert_eq!((collected.readers, collected.requests, collected.bytes), (1, 14, 137_607));
    // Told: three files, so large that they are no gain.
    let told = |files, bytes| {
        let collections = Some(Collections { files, bytes });
        let settings = Settings { collections, ..Settings::USUAL };
        summary(&harbour(), settings, Filter::default()).savings.collections.unwrap()
    };
    assert_eq!(told(3, 100_000).readers, 0);
    assert_eq!(told(8, 1000).readers, 0);
    assert_eq!((told(3, 10_000).requests, told(3, 10_000).bytes), (10, 129_607));
    // Known also where whoever fetched it is left out.
    let alone = Filter { agent: Some("GPTBot".into()), ..Filter::default() };
    let alone = summary(&harbour(), Settings::USUAL, alone).savings.collections;
    assert_eq!(alone, Some(collected));
    // Not known.
    let text = String::from_utf8(harbour()).unwrap();
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("snapshot")).collect();
    let without = summary(without.join("\n").as_bytes(), Settings::USUAL, Filter::default());
    assert_eq!(without.savings.collections, None);
}

#[test]
fn ours_what_does_not_fit_is_said() {
    let settings = Settings { fetches: 4, readers: 1, ..Settings::USUAL };
    let summary = summary(&harbour(), settings, Filter::default());
    assert!(0 < summary.dropped.fetches && 0 < summary.dropped.readers);
    assert_eq!(summary.savings.again, 0);
    let text = shown(&summary);
    assert_eq!(text.matches("Forgotten for want of room").count(), 2, "{text}");
}
