//! What a JSON-LD processor that is not ours makes of the vectors.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

use std::fs;
use std::path::{Path, PathBuf};

use oxjsonld::JsonLdParser;
use rutter_spxi::{Given, judge_index, read_index};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/spxi")
}

fn file(path: &str) -> Vec<u8> {
    fs::read(vectors().join(path)).unwrap()
}

/// The statements of a document, sorted.
fn statements(bytes: &[u8]) -> Vec<String> {
    let quads = JsonLdParser::new().for_slice(bytes);
    let mut lines: Vec<String> = quads.map(|quad| format!("{} .", quad.unwrap())).collect();
    lines.sort();
    lines
}

/// The same, with objects that have no address of their own all alike.
fn nameless(bytes: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> = statements(bytes)
        .into_iter()
        .map(|line| {
            let words = line.split(' ').map(|it| if it.starts_with("_:") { "_:b" } else { it });
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    lines.sort();
    lines
}

#[test] // SPX-063, SPX-009
fn spec_a_processor_finds_the_statements_we_expect() {
    let input = file("processor/small.jsonld");
    let expected = String::from_utf8(file("processor/small.nq")).unwrap();
    let mut expected: Vec<&str> = expected.lines().collect();
    expected.sort_unstable();
    assert_eq!(statements(&input), expected);
    let judged = judge_index(&input, &Given::default(), &mut ()).unwrap();
    assert_eq!(judged.n_statements, Some(expected.len()));
    // What we read from it says the same.
    assert_eq!(judged.index.entities[0].name.as_deref(), Some("North \"Nor\" Light"));
    assert_eq!(judged.index.entities[0].bdr, Some(0.4));
    assert_eq!(judged.index.surfaces[0].name.as_deref(), Some("North Light"));
}

/// Our normaliser takes these shapes for the same; so does a processor.
#[test] // SPX-063, D75
fn spec_a_processor_sees_the_same_in_every_shape() {
    let whole = file("files/whole.jsonld");
    let expected = nameless(&whole);
    assert!(30 < expected.len());
    for shape in [
        "prefixes",
        "vocabulary",
        "addresses",
        "list-of-contexts",
        "inner-context",
        "graph",
        "single-values",
        "null",
        "order",
    ] {
        let bytes = file(&format!("files/shape-{shape}.jsonld"));
        assert_eq!(nameless(&bytes), expected, "{shape}");
        let (one, other) = (read_index(&bytes, &mut ()), read_index(&whole, &mut ()));
        assert_eq!(one.unwrap(), other.unwrap(), "{shape}");
    }
}
