//! The SPXI layer of the example site: judged with everything beside it, and
//! expanded by a JSON-LD processor that is not ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use oxjsonld::JsonLdParser;
use rutter_check::{Judging, SpxiFolder, check_spxi_folder};
use rutter_extract::Options;
use rutter_finding::Mode;
use rutter_page::{PageUrl, Timestamp};
use rutter_spxi::MarkerStatus;
use rutter_survival::{Markers, Places};

use crate::{root, run, stage};

/// The example with its settings and entities, built.
fn built() -> tempfile::TempDir {
    let folder = stage();
    let said = run(
        "cp -r examples/harbour examples/rutter.toml examples/entities target/ && \
         rutter build target/harbour --out target/public --inject --strict",
        folder.path(),
    );
    assert!(said.contains("files "), "{said}");
    folder
}

/// Statuses of markers on a page.
fn look(bytes: &[u8], markers: &[String]) -> Vec<MarkerStatus> {
    let url = PageUrl::parse("https://harbour.example/").unwrap();
    let seen = rutter_extract::html(bytes, &Options::new(url, now()));
    let ids: Vec<usize> = (0..markers.len()).collect();
    let places = Places { visible: &seen.shown_text(), ..Places::default() };
    Markers::new(markers.iter().map(String::as_str)).look(&ids, &places)
}

fn now() -> Timestamp {
    Timestamp::parse("2026-11-01T00:00:00Z").unwrap()
}

#[test] // SPX-001 SPX-003 SPX-004 SPX-009 SPX-010 SPX-012 SPX-013 SPX-063 to SPX-071
fn spec_the_example_has_nothing_a_strict_judge_complains_about() {
    let folder = built();
    let dir = folder.path().join("target/public");
    let judging = Judging { mode: Mode::Strict, now: Some(now()), ..Judging::default() };
    let spxi = SpxiFolder { dir: &dir, types: &[], markers: Some(&look) };
    let judgements = check_spxi_folder(&spxi, &judging).unwrap();
    // Index and three packets, and what lies beside them.
    assert!(4 <= judgements.len());
    let mut said = String::new();
    for judgement in &judgements {
        for (severity, finding) in judgement.report.findings() {
            said.push_str(&format!(
                "{} {severity:?} {} {}\n",
                judgement.name, finding.rule.code, finding.place.pointer
            ));
        }
    }
    insta::assert_snapshot!(said);
}

#[test] // SPX-063 SPX-051
fn spec_another_processor_reads_the_same_statements() {
    let folder = built();
    let bytes = fs::read(folder.path().join("target/public/spxi-index.jsonld")).unwrap();
    let quads = JsonLdParser::new().for_slice(&bytes).map(|quad| quad.unwrap().to_string());
    let found: Vec<String> = quads.collect();
    let path = root().join("crates/rutter/tests/spxi/harbour.nq");
    let wanted = fs::read_to_string(&path).unwrap();
    let wanted: Vec<String> =
        wanted.lines().map(|line| line.trim_end_matches([' ', '.']).to_owned()).collect();
    assert_eq!(named(&found), named(&wanted));
}

/// Statements with nodes that have no address called by what is said of them,
/// so that it does not matter what a processor calls them.
fn named(quads: &[String]) -> BTreeSet<String> {
    let mut said: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for quad in quads {
        if let Some((node, rest)) = quad.split_once(' ').filter(|(node, _)| node.starts_with("_:"))
        {
            said.entry(node).or_default().insert(rest);
        }
    }
    let mut out: BTreeSet<String> = quads.iter().cloned().collect();
    for (node, rest) in &said {
        let name = format!("({})", rest.iter().copied().collect::<Vec<_>>().join("; "));
        out = out.iter().map(|quad| rename(quad, node, &name)).collect();
    }
    out
}

fn rename(quad: &str, node: &str, name: &str) -> String {
    let is_node = |part: &&str| *part == node;
    let mut parts: Vec<&str> = quad.splitn(3, ' ').collect();
    for part in &mut parts {
        if is_node(part) {
            *part = name;
        }
    }
    parts.join(" ")
}
