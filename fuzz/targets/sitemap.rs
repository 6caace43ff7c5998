//! No bytes may make the reader panic, hang or pass its limits; how the bytes
//! arrive changes nothing; and what was read can be written and read again.
#![no_main]

use std::io::{BufRead, BufReader};

use rutter_finding::Finding;
use rutter_signpost::sitemap::{Item, Limits, Push, Reader, UrlsetWriter, is_sitemap};

const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    urls: 100,
    depth: 8,
    loc: 200,
    text: 4096,
    attributes: 16,
    alternates: 8,
    extensions: 8,
};

fn read(input: impl BufRead) -> (Vec<Item>, Vec<Finding>, Option<String>) {
    let mut reader = Reader::new(input, LIMITS);
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
    assert!(items.iter().filter(|item| !matches!(item, Item::Foreign(_))).count() <= 100);
    // Byte by byte costs more; one input in four.
    if bytes.len() % 4 == 0 {
        let slow = read(BufReader::with_capacity(1, bytes));
        assert_eq!((&items, &findings, &error), (&slow.0, &slow.1, &slow.2));
    }
    let mut writer = UrlsetWriter::new(Vec::new(), &[]).unwrap();
    let mut entries = Vec::new();
    for item in items {
        if let Item::Url(entry) = item {
            assert!(entry.loc.chars().count() <= LIMITS.loc && !entry.loc.is_empty());
            assert_eq!(writer.push(&entry).unwrap(), Push::Taken);
            entries.push(entry);
        }
    }
    let written = writer.finish().unwrap();
    let (again, _, error) = read(written.as_slice());
    assert_eq!(error, None, "{}", String::from_utf8_lossy(&written));
    assert_eq!(again.len(), entries.len(), "{}", String::from_utf8_lossy(&written));
});
