//! The SPXI vectors: documents, and small sites.
//!
//! Every `conformance/vectors/spxi/files/*.expect.json` is a case, and every
//! folder of `conformance/vectors/spxi/sites` is one; a new case is a new file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_check::{Judgement, Judging, Kind, SiteJudging, check_folder};
use rutter_finding::Mode;
use rutter_page::Timestamp;
use rutter_spxi::{Index, read_index};
use serde_json::{Value, json};

use crate::{assert_outcomes, assert_rules_have_vectors, expectations, judged, said, suite};

fn vectors() -> PathBuf {
    suite("spxi")
}

fn sites() -> BTreeMap<PathBuf, Value> {
    let folders = fs::read_dir(vectors().join("sites")).unwrap();
    folders
        .map(|entry| {
            let path = entry.unwrap().path();
            let expected = fs::read(path.join("expect.json")).unwrap();
            (path, serde_json::from_slice(&expected).unwrap())
        })
        .collect()
}

fn bytes(file: &str) -> Vec<u8> {
    fs::read(vectors().join("files").join(file)).unwrap()
}

fn judge(called: &str, bytes: &[u8], mode: Mode) -> Judgement {
    judged(called, bytes, &Judging { mode, ..Judging::default() })
}

/// Every finding with its place, in the order it was reported.
fn places(judgement: &Judgement) -> Value {
    let all = judgement.report.findings();
    all.map(|(_, it)| json!([it.rule.code, it.place.to_string()])).collect()
}

/// The clauses that a case proves stand in its expectation; `cargo xtask
/// clauses` counts them there.
#[test]
fn spec_every_spxi_vector_gets_its_verdict_and_places() {
    let cases = expectations("spxi");
    assert!(60 <= cases.len(), "the suite has only {} cases", cases.len());
    let judge = |expected: &Value, mode| {
        let input = bytes(expected["file"].as_str().unwrap());
        judge(expected["called"].as_str().unwrap(), &input, mode)
    };
    assert_outcomes("spxi", |expected, mode| said(&judge(expected, mode), mode, "entities"));
    for (name, expected) in &cases {
        assert_eq!(places(&judge(expected, Mode::Strict)), expected["places"], "{name}");
    }
}

#[test] // SPX-063, D75
fn spec_every_shape_reads_as_the_same_index() {
    let read = |file: &str| -> Index { read_index(&bytes(file), &mut ()).unwrap() };
    let mut n_compared = 0;
    for (name, expected) in expectations("spxi") {
        let Some(same) = expected["same"].as_str() else { continue };
        n_compared += 1;
        let file = expected["file"].as_str().unwrap();
        assert_eq!(read(file), read(&format!("{same}.jsonld")), "{name}");
    }
    assert!(20 <= n_compared, "only {n_compared} were compared");
}

#[test]
fn ours_documents_of_spxi_are_known_by_their_content() {
    for (file, kind) in [
        ("whole.jsonld", Kind::SpxiIndex),
        ("shape-vocabulary.jsonld", Kind::SpxiIndex),
        ("shape-addresses.jsonld", Kind::SpxiIndex),
        ("root-list.jsonld", Kind::SpxiIndex),
        ("packet.jsonld", Kind::SpxiPacket),
        ("packet-other-form.jsonld", Kind::SpxiPacket),
    ] {
        assert_eq!(judge("some.json", &bytes(file), Mode::Strict).kind, kind, "{file}");
    }
    let pointer = br#"{"@context":"https://schema.org","@type":"Dataset","name":"ARC Sitemap",
        "distribution":[{"@type":"DataDownload","encodingFormat":"application/json",
        "contentUrl":"https://lights.example/arc-sitemap.json"}]}"#;
    assert_eq!(judge("some.jsonld", pointer, Mode::Strict).kind, Kind::Arc);
    let mentions = String::from_utf8(bytes("whole.jsonld")).unwrap();
    let mentions = mentions.replace("Lights of the sound", "ARC Sitemap");
    assert_eq!(judge("some.jsonld", mentions.as_bytes(), Mode::Strict).kind, Kind::SpxiIndex);
    let sitemap = br#"{"arc_sitemap_version":"2.1","pages":[{"url":"https://lights.example/",
        "ai_summary":"about \"spxi:hasEntity\""}]}"#;
    assert_eq!(judge("some.json", sitemap, Mode::Strict).kind, Kind::Arc);
}

#[test] // SPX-064 SPX-066 SPX-070 SPX-071
fn spec_every_site_gets_its_findings() {
    let cases = sites();
    assert!(20 <= cases.len(), "the suite has only {} sites", cases.len());
    let mut wrong = String::new();
    for (path, expected) in cases {
        let now = Timestamp::parse(expected["given"]["now"].as_str().unwrap()).unwrap();
        let judging = Judging { mode: Mode::Strict, now: Some(now), ..Judging::default() };
        let judging = SiteJudging { judging, threads: 1, types: Vec::new() };
        let outcome = check_folder(&path.join("site"), None, Vec::new(), &judging).unwrap();
        for judgement in outcome.judgements {
            let wanted = expected["findings"].get(&judgement.name).cloned().unwrap_or(json!([]));
            let all = judgement.report.findings().map(|(_, it)| it);
            // The suite speaks of the layer and what lies beside it, one by one.
            let own = all.filter(|it| !["XL", "SE", "HT"].contains(&it.rule.layer()));
            let said: Value = own.map(|it| json!([it.rule.code, it.place.to_string()])).collect();
            if said != wanted {
                let name = path.file_name().unwrap().to_string_lossy();
                let file = &judgement.name;
                writeln!(wrong, "{name} {file}\n  expected {wanted}\n  judged   {said}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A giant; the reader's own tests have it.
const ELSEWHERE: [&str; 1] = ["SX003"];

#[test]
fn ours_every_spxi_rule_has_a_vector() {
    let mut text: String = expectations("spxi").values().map(Value::to_string).collect();
    text.extend(sites().values().map(Value::to_string));
    assert_rules_have_vectors("SX", &text, &ELSEWHERE);
}

/// Judges a folder as it is.
fn judge_folder(dir: &Path) -> Vec<Judgement> {
    let judging = Judging { mode: Mode::Strict, ..Judging::default() };
    let judging = SiteJudging { judging, threads: 1, types: Vec::new() };
    check_folder(dir, None, Vec::new(), &judging).unwrap().judgements
}

#[test] // C08, D65
fn ours_what_nobody_looked_at_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(
        vectors().join("sites/good/site/spxi-index.jsonld"),
        dir.path().join("spxi-index.jsonld"),
    )
    .unwrap();
    let judgements = judge_folder(dir.path());
    let index = judgements.iter().find(|one| one.name == "spxi-index.jsonld").unwrap();
    let found = index.report.findings().find(|(_, it)| it.rule.code == "SX090").unwrap();
    assert!(found.1.detail.contains("pages"), "{}", found.1.detail);
    // Without any page it is a handful of files: none of them is called missing.
    assert!(!index.report.counts().contains_key("SX091"));
}

#[test]
fn ours_no_address_leaves_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("site");
    fs::create_dir(&dir).unwrap();
    fs::write(outer.path().join("secret.html"), "<p>secret").unwrap();
    fs::write(dir.join("index.html"), "<p>home").unwrap();
    let good = String::from_utf8(bytes("whole.jsonld")).unwrap();
    for address in ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "/a/..%5c..%5csecret"] {
        fs::write(dir.join("spxi-index.jsonld"), good.replace("/north\"", &format!("{address}\"")))
            .unwrap();
        let judgements = judge_folder(&dir);
        let index = judgements.iter().find(|one| one.name == "spxi-index.jsonld").unwrap();
        assert!(index.report.counts().contains_key("SX091"), "{address}");
    }
}
