//! The sitemap reader never panics, hangs or exceeds its limits; the size of pieces changes nothing;
//! and entries can be written and read again.
#![no_main]

use std::io::{BufRead, BufReader};

use rutter_finding::Finding;
use rutter_sitemap::{SitemapItem, SitemapLimits, PushOutcome, SitemapReader, UrlsetWriter, is_sitemap};

const LIMITS: SitemapLimits = SitemapLimits {
    bytes: 1 << 20,
    urls: 100,
    depth: 8,
    loc: 200,
    text: 4096,
    attributes: 16,
    alternates: 8,
    extensions: 8,
};

fn read(input: impl BufRead) -> (Vec<SitemapItem>, Vec<Finding>, Option<String>) {
    let mut reader = SitemapReader::new(input, LIMITS);
    let (mut items, mut findings) = (Vec::new(), Vec::new());
    let error = loop {
        match reader.next(&mut findings) {
            Ok(Some(item)) => items.push(item),
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert!(matches!(reader.next(&mut findings), Ok(None)));
    (items, findings, error)
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    is_sitemap(bytes);
    let (items, findings, error) = read(bytes);
    assert!(items.iter().filter(|item| !matches!(item, SitemapItem::Foreign(_))).count() <= 100);
    // Byte by byte costs more; one input in four.
    if bytes.len() % 4 == 0 {
        let slow = read(BufReader::with_capacity(1, bytes));
        assert_eq!((&items, &findings, &error), (&slow.0, &slow.1, &slow.2));
    }
    let mut writer = UrlsetWriter::new(Vec::new(), &[]).unwrap();
    let mut entries = Vec::new();
    for item in items {
        if let SitemapItem::Url(entry) = item {
            assert!(entry.loc.chars().count() <= LIMITS.loc && !entry.loc.is_empty());
            assert_eq!(writer.push(&entry).unwrap(), PushOutcome::Written);
            entries.push(entry);
        }
    }
    let written = writer.finish().unwrap();
    let (again, _, error) = read(written.as_slice());
    assert_eq!(error, None, "{}", String::from_utf8_lossy(&written));
    assert_eq!(again.len(), entries.len(), "{}", String::from_utf8_lossy(&written));
});
