//! The ARC reader never panics, hangs or exceeds its limits; pieces of any size give the same
//! result; and written output never allows more than the input.
#![no_main]

use std::io::Read;

use rutter_arc::{
    Consent, ArcEntry, JsonWriter, SitemapChecker, Limits, ArcReader, ArcReceipt, ExpectedDocument, pointer, policy,
};
use rutter_finding::Finding;
use rutter_page::IntoOwned;

const LIMITS: Limits = Limits { bytes: 1 << 20, pages: 50, entry: 4096, head: 8192, depth: 20 };

/// Gives a few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.1.min(buffer.len()).min(self.0.len());
        buffer[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

type Outcome = (Vec<ArcEntry<'static>>, Vec<Finding>, Result<ArcReceipt, String>);

fn read(input: impl Read) -> Outcome {
    let (mut entries, mut findings) = (Vec::new(), Vec::new());
    let mut judge = SitemapChecker::new(None);
    let result = (|| {
        let mut reader = ArcReader::new(input, LIMITS);
        while let Some(entry) = reader.visit(&mut findings, |entry, idx, sink| {
            judge.check_entry(&entry, idx, sink);
            entry.into_owned()
        })? {
            entries.push(entry);
        }
        let receipt = reader.finish(&mut findings)?;
        judge.finish(&receipt, ExpectedDocument::Sitemap, &mut findings);
        assert_eq!(receipt.pages, entries.len() as u64);
        assert!(receipt.pages + receipt.skipped <= LIMITS.pages);
        Ok::<_, rutter_arc::ArcError>(receipt)
    })();
    (entries, findings, result.map_err(|error| error.to_string()))
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (entries, findings, result) = read(bytes);
    let size = 1 + bytes.len() % 7;
    let (others, other_findings, other) = read(Slow(bytes, size));
    assert_eq!(result.is_ok(), other.is_ok());
    // How much is read before a refusal depends on the pieces.
    if result.is_ok() {
        assert_eq!(entries, others);
        assert_eq!(findings, other_findings);
    }
    for entry in &entries {
        assert!(entry.ai_tags.len() <= rutter_arc::MAX_TAGS);
        let line = entry.to_json();
        let again = ArcEntry::from_json(&line).expect("what we write we read");
        assert!(entry.consent() <= again.consent());
        assert_eq!(again.to_json(), line);
        if entry.consent() == Consent::Given {
            assert_eq!(entry.ai_indexable, Some(true));
        }
    }
    if let Ok(ArcReceipt { head, is_foreign: false, .. }) = result {
        let mut writer = JsonWriter::new(Vec::new(), &head).expect("memory takes everything");
        for entry in &entries {
            writer.push(entry).expect("memory takes everything");
        }
        let text = writer.finish().expect("memory takes everything");
        let again = read(text.as_slice());
        if text.len() < LIMITS.head {
            assert_eq!(again.0.len(), entries.len());
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    drop(policy::ArcPolicy::read(bytes, &mut findings));
    drop(pointer::read(bytes, &mut findings));
});
