//! The YAML reader never panics, hangs or exceeds its limits; and its result can be written and read
//! again as the same data.
#![no_main]

use rutter_arc::{ArcError, ArcEntry, ArcDocumentKind, SitemapHeader, Limits, YamlWriter, open_sitemap};
use rutter_finding::Finding;
use rutter_page::IntoOwned;

const LIMITS: Limits =
    Limits { bytes: 1 << 20, pages: 50, entry: 1 << 16, head: 1 << 16, depth: 20 };

fn read(bytes: &[u8]) -> Result<(SitemapHeader, Vec<ArcEntry<'static>>), ArcError> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut reader = open_sitemap(bytes, ArcDocumentKind::Yaml, LIMITS)?;
    let mut entries = Vec::new();
    while let Some(entry) = reader.next(&mut findings, |entry| entry.into_owned())? {
        entries.push(entry);
    }
    let receipt = reader.finish(&mut findings)?;
    if receipt.is_foreign {
        entries.clear();
    }
    Ok((receipt.head, entries))
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok((head, entries)) = read(bytes) else { return };
    let mut writer = YamlWriter::new(Vec::new(), &head).expect("memory takes everything");
    for entry in &entries {
        writer.push(entry).expect("memory takes everything");
    }
    let Some(text) = writer.finish().expect("memory takes everything") else { return };
    let (_, again) = read(&text).expect("what we write we read");
    assert_eq!(entries.len(), again.len());
    for (entry, again) in entries.iter().zip(&again) {
        assert_eq!(entry.url.as_str(), again.url.as_str());
        assert_eq!(entry.ai_summary, again.ai_summary);
        assert_eq!(entry.ai_tags, again.ai_tags);
        assert!(entry.consent() <= again.consent());
    }
});
