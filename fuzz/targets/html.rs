//! The extractor never panics or hangs, and never makes an invalid page.
#![no_main]

use rutter_extract::{Limits, ExtractOptions, html, markdown};
use rutter_page::{PageReader, PageLimits, PageUrl, Timestamp};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let url = PageUrl::parse("https://harbour.example/a/page.html").unwrap();
    let options = ExtractOptions {
        limits: Limits { nodes: 400_000, ..Limits::USUAL },
        ..ExtractOptions::new(url, Timestamp::parse("2026-06-01T00:00:00Z").unwrap())
    };
    // The first byte chooses the road.
    let (road, bytes) = bytes.split_first().unwrap_or((&0, bytes));
    let extraction = if *road == b'#' { markdown(bytes, &options) } else { html(bytes, &options) };
    assert_eq!(extraction.page.content.len(), extraction.rich.len());
    drop(extraction.to_markdown());
    drop(extraction.to_text());
    for link in &extraction.links {
        assert!(link.href.starts_with("http"));
        assert!(extraction.visible_text.get(link.text.clone()).is_some());
    }
    for (_, url) in extraction.inline_links() {
        assert!(url.starts_with("http"));
    }
    if extraction.page.content.is_empty() || 1000 < extraction.page.content.len() {
        return;
    }
    let line = extraction.page.to_line();
    let mut findings: Vec<rutter_finding::Finding> = Vec::new();
    let mut judge = PageReader::new(PageLimits::SPEC);
    assert!(judge.read(&line, 1, &mut findings).is_ok());
    assert!(findings.iter().all(|finding| !finding.rule.is_fatal()), "{findings:?}");
});
