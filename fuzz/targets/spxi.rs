//! SPXI reader, checks and JSON-LD processor never panic or hang; reader and checks see the same
//! index, which can be written and read again; every finding names a place that exists.
#![no_main]

use rutter_finding::{Finding, Place};
use rutter_spxi::{
    PacketSelector, CheckInput, IndexWriter, SurfaceDetail, check_index, check_packet, read_index, read_packet,
};

/// Whether a pointer leads somewhere, or to a member that is missing.
fn leads(document: &serde_json::Value, place: &Place) -> bool {
    place.pointer.contains('…') || document.pointer(&place.pointer).is_some()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut findings: Vec<Finding> = Vec::new();
    let judged = check_index(bytes, &CheckInput::default(), &mut findings);
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
        if written.kept == SurfaceDetail::Everything {
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
    let asked = PacketSelector::default();
    let packet = check_packet(bytes, &asked, &CheckInput::default(), &mut ());
    assert_eq!(read_packet(bytes, &asked, &mut ()), packet);
});
