//! Findings of a build about input that it can handle.

use std::fmt::Write as _;
use std::fs;

use rutter_build::{SourceKind, TwinPolicy};

use crate::site::{BASE, RecordedEvents, Site, page};

fn line(path: &str, text: &str) -> String {
    format!(
        "{{\"url\":\"{BASE}{path}\",\"title\":\"Tides\",\"description\":\"When the water is high.\",\
         \"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}\n"
    )
}

/// Builds from JSON Lines.
fn built(lines: &str) -> (Site, RecordedEvents) {
    let mut site = Site::new();
    let file = site.path("pages.jsonl");
    fs::write(&file, lines).unwrap();
    let (_, events) = site
        .build_with(|plan| {
            plan.site = file;
            plan.source = SourceKind::Lines;
            plan.layers.twins = TwinPolicy::Off;
        })
        .unwrap();
    (site, events)
}

fn codes(events: &RecordedEvents) -> Vec<&'static str> {
    events.findings.iter().map(|found| found.1).collect()
}

#[cfg(unix)]
#[test] // D30
fn reports_file_name_that_cannot_be_a_url() {
    let mut site = Site::of(2);
    site.put("docs/high\u{7}water.html", &page("Home", "High water", "It is at noon."));
    std::os::unix::fs::symlink("docs", site.path("site/papers")).unwrap();
    let (outcome, events) = site.build_with(|_| {}).unwrap();
    assert_eq!(outcome.pages, 3);
    let odd = codes(&events).into_iter().filter(|code| *code == "BD004").count();
    assert_eq!(odd, 2, "{:?}", events.findings);
}

#[test] // SCP-180
fn does_not_compress_what_readers_would_reject_as_a_bomb() {
    let text = "high water ".repeat(400_000);
    let (site, events) = built(&line("tides", &text));
    assert!(codes(&events).contains(&"BD009"), "{:?}", events.findings);
    let offers = site.sitemap().1;
    assert!(offers.iter().all(|offer| offer.url.ends_with(".scp")), "{offers:?}");
}

#[test] // SCP-004
fn reports_line_with_unknown_block_type() {
    let wrong =
        line("low", "Low water is at six.").replace("\"type\":\"text\"", "\"type\":\"chart\"");
    let (_, events) = built(&(line("high", "High water is at noon.") + &wrong));
    assert!(codes(&events).contains(&"BD011"), "{:?}", events.findings);
}

#[test] // D63
fn reports_that_a_large_site_has_no_yaml() {
    let long = "a".repeat(1900);
    let mut lines = String::new();
    for n in 0..4500 {
        write!(lines, "{}", line(&format!("{n}-{long}"), "High water is at noon.")).unwrap();
    }
    let (site, events) = built(&lines);
    assert_eq!(events.codes("arc-sitemap.yaml"), ["BD014"], "{:?}", events.findings);
    assert!(!site.path("out/arc-sitemap.yaml").exists());
    assert!(site.path("out/arc-sitemap.json").exists());
}

#[test] // SCP-077 SCP-080
fn every_layer_uses_the_url_in_the_collection() {
    let (site, _) = built(&line("a|b c", "High water is at noon."));
    assert!(site.ledger().contains(&format!("{BASE}a%7Cb%20c\t")), "{}", site.ledger());
    for (name, bytes) in crate::site::files(&site.path("out")) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("a|b"), "{name}: {text}");
    }
    let sitemap = fs::read_to_string(site.path("out/sitemap.xml")).unwrap();
    assert!(sitemap.contains("a%7Cb%20c</loc>"), "{sitemap}");
}
