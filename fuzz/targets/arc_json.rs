//! No bytes may make the reader panic, hang or pass its own limits; pieces of
//! any size must say the same; and what is passed on never allows more than
//! what was read.
#![no_main]

use std::io::Read;

use rutter_arc::{
    Consent, Entry, JsonWriter, Judge, Limits, Reader, Receipt, Whole, pointer, policy,
};
use rutter_finding::Finding;
use rutter_page::Own;

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

type Outcome = (Vec<Entry<'static>>, Vec<Finding>, Result<Receipt, String>);

fn read(input: impl Read) -> Outcome {
    let (mut entries, mut findings) = (Vec::new(), Vec::new());
    let mut judge = Judge::new(None);
    let result = (|| {
        let mut reader = Reader::new(input, LIMITS);
        while let Some(entry) = reader.visit(&mut findings, |entry, idx, sink| {
            judge.see(&entry, idx, sink);
            entry.own()
        })? {
            entries.push(entry);
        }
        let receipt = reader.finish(&mut findings)?;
        judge.finish(&receipt, Whole::Sitemap, &mut findings);
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
        assert!(entry.ai_tags.len() <= rutter_arc::MOST_TAGS);
        let line = entry.to_json();
        let again = Entry::from_json(&line).expect("what we write we read");
        assert!(entry.consent() <= again.consent());
        assert_eq!(again.to_json(), line);
        if entry.consent() == Consent::Given {
            assert_eq!(entry.ai_indexable, Some(true));
        }
    }
    if let Ok(Receipt { head, is_foreign: false, .. }) = result {
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
    drop(policy::Policy::read(bytes, &mut findings));
    drop(pointer::read(bytes, &mut findings));
});
