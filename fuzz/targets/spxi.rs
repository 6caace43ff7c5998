//! No bytes may make the readers, the judge or the processor behind it panic or
//! hang; reader and judge see the same index; what is read can be written, and
//! reads back as the same data; every finding points at a place that exists.
#![no_main]

use rutter_finding::{Finding, Place};
use rutter_spxi::{
    Asked, Given, IndexWriter, Kept, judge_index, judge_packet, read_index, read_packet,
};

/// Whether a pointer leads somewhere, or to a member that is missing.
fn leads(document: &serde_json::Value, place: &Place) -> bool {
    place.pointer.contains('…') || document.pointer(&place.pointer).is_some()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut findings: Vec<Finding> = Vec::new();
    let judged = judge_index(bytes, &Given::default(), &mut findings);
    let read = read_index(bytes, &mut ());
    assert_eq!(read.is_ok(), judged.is_ok());
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(document) = serde_json::from_slice::<serde_json::Value>(text) {
        for finding in &findings {
            assert!(leads(&document, &finding.place), "{finding:?}");
        }
    }
    if let (Ok(read), Ok(judged)) = (read, judged) {
        assert_eq!(read, judged.index);
        let written = IndexWriter::new(read.clone()).finish(read.modified);
        if written.kept == Kept::Everything {
            let again = read_index(&written.bytes, &mut ()).expect("what we write we read");
            assert_eq!(again.entities.len(), read.entities.len());
            assert_eq!(again.surfaces, read.surfaces);
            assert_eq!(again.kernel, read.kernel);
            for (one, other) in again.entities.iter().zip(&read.entities) {
                assert_eq!(one.negative_tags, other.negative_tags);
                assert_eq!(one.markers, other.markers);
                assert_eq!(one.bdr, other.bdr);
                assert_eq!(one.collisions, other.collisions);
            }
        }
    }
    let asked = Asked::default();
    let packet = judge_packet(bytes, &asked, &Given::default(), &mut ());
    assert_eq!(read_packet(bytes, &asked, &mut ()), packet);
});
