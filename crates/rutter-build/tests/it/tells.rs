//! What a build tells of input that it copes with.

use std::fmt::Write as _;
use std::fs;

use rutter_build::{Source, Twins};

use crate::site::{BASE, Heard, Site, page};

fn line(path: &str, text: &str) -> String {
    format!(
        "{{\"url\":\"{BASE}{path}\",\"title\":\"Tides\",\"description\":\"When the water is high.\",\
         \"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}\n"
    )
}

/// Builds from lines.
fn built(lines: &str) -> (Site, Heard) {
    let mut site = Site::new();
    let file = site.path("pages.jsonl");
    fs::write(&file, lines).unwrap();
    let (_, heard) = site
        .build_with(|plan| {
            plan.site = file;
            plan.source = Source::Lines;
            plan.layers.twins = Twins::Off;
        })
        .unwrap();
    (site, heard)
}

fn codes(heard: &Heard) -> Vec<&'static str> {
    heard.findings.iter().map(|found| found.1).collect()
}

#[cfg(unix)]
#[test] // D30
fn ours_a_file_whose_name_is_no_address_is_told() {
    let mut site = Site::of(2);
    site.put("docs/high\u{7}water.html", &page("Home", "High water", "It is at noon."));
    std::os::unix::fs::symlink("docs", site.path("site/papers")).unwrap();
    let (outcome, heard) = site.build_with(|_| {}).unwrap();
    assert_eq!(outcome.pages, 3);
    let odd = codes(&heard).into_iter().filter(|code| *code == "BD004").count();
    assert_eq!(odd, 2, "{:?}", heard.findings);
}

#[test] // SCP-180
fn spec_what_would_look_like_a_bomb_is_not_compressed() {
    let text = "high water ".repeat(400_000);
    let (site, heard) = built(&line("tides", &text));
    assert!(codes(&heard).contains(&"BD009"), "{:?}", heard.findings);
    let offers = site.sitemap().1;
    assert!(offers.iter().all(|offer| offer.url.ends_with(".scp")), "{offers:?}");
}

#[test] // SCP-004
fn spec_a_line_with_a_block_that_nobody_knows_is_told() {
    let wrong =
        line("low", "Low water is at six.").replace("\"type\":\"text\"", "\"type\":\"chart\"");
    let (_, heard) = built(&(line("high", "High water is at noon.") + &wrong));
    assert!(codes(&heard).contains(&"BD011"), "{:?}", heard.findings);
}

#[test] // D63
fn ours_a_large_site_has_no_yaml_and_is_told_so() {
    let long = "a".repeat(1900);
    let mut lines = String::new();
    for n in 0..4500 {
        write!(lines, "{}", line(&format!("{n}-{long}"), "High water is at noon.")).unwrap();
    }
    let (site, heard) = built(&lines);
    assert_eq!(heard.codes("arc-sitemap.yaml"), ["BD014"], "{:?}", heard.findings);
    assert!(!site.path("out/arc-sitemap.yaml").exists());
    assert!(site.path("out/arc-sitemap.json").exists());
}

#[test] // SCP-077 SCP-080
fn every_layer_names_a_page_of_json_lines_by_the_uri_in_the_collection() {
    let (site, _) = built(&line("a|b c", "High water is at noon."));
    assert!(site.ledger().contains(&format!("{BASE}a%7Cb%20c\t")), "{}", site.ledger());
    for (name, bytes) in crate::site::files(&site.path("out")) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("a|b"), "{name}: {text}");
    }
    let sitemap = fs::read_to_string(site.path("out/sitemap.xml")).unwrap();
    assert!(sitemap.contains("a%7Cb%20c</loc>"), "{sitemap}");
}
