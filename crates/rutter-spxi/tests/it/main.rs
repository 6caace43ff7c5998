//! Tests on the public vectors with an independent JSON-LD processor, and tests of survival.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod drown;
mod hostile;
mod shapes;
mod site;
mod survive;
mod systems;

use std::fs;
use std::path::{Path, PathBuf};

use oxjsonld::JsonLdParser;
use rutter_spxi::{CheckInput, check_index, read_index};

/// A folder of fixtures of survival.
fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

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

/// The same, with all blank nodes treated as equal.
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
fn processor_finds_the_expected_statements() {
    let input = file("processor/small.jsonld");
    let expected = String::from_utf8(file("processor/small.nq")).unwrap();
    let mut expected: Vec<&str> = expected.lines().collect();
    expected.sort_unstable();
    assert_eq!(statements(&input), expected);
    let judged = check_index(&input, &CheckInput::default(), &mut ()).unwrap();
    assert_eq!(judged.n_statements, Some(expected.len()));
    // The index read by this crate has the same content.
    assert_eq!(judged.index.entities[0].name.as_deref(), Some("North \"Nor\" Light"));
    assert_eq!(judged.index.entities[0].bdr, Some(0.4));
    assert_eq!(judged.index.surfaces[0].name.as_deref(), Some("North Light"));
}

/// This crate reads these forms as equal; so does a processor.
#[test] // SPX-063, D75
fn processor_reads_the_same_from_every_form() {
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
