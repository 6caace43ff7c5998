//! Checks the SPXI vectors: documents and small sites.
//!
//! Every `conformance/vectors/spxi/files/*.expect.json` is a case, and every
//! folder of `conformance/vectors/spxi/sites` is one; a new case is a new file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_check::{CheckOptions, SiteCheckOptions, check_folder};
use rutter_finding::Strictness;
use rutter_page::Timestamp;
use rutter_report::{FileKind, FileReport};
use rutter_spxi::{SemanticIndex, read_index};
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

fn judge(called: &str, bytes: &[u8], mode: Strictness) -> FileReport {
    judged(called, bytes, &CheckOptions { mode, ..CheckOptions::default() })
}

/// Returns every finding with its place in report order.
fn places(file_report: &FileReport) -> Value {
    let all = file_report.report.findings();
    all.map(|(_, it)| json!([it.rule.code, it.place.to_string()])).collect()
}

/// Each expectation lists the clauses that its case proves; `cargo xtask clauses`
/// counts them.
#[test]
fn checks_every_spxi_vector_as_expected() {
    let cases = expectations("spxi");
    assert!(60 <= cases.len(), "the suite has only {} cases", cases.len());
    let judge = |expected: &Value, mode| {
        let input = bytes(expected["file"].as_str().unwrap());
        judge(expected["called"].as_str().unwrap(), &input, mode)
    };
    assert_outcomes("spxi", |expected, mode| said(&judge(expected, mode), mode, "entities"));
    for (name, expected) in &cases {
        assert_eq!(places(&judge(expected, Strictness::Strict)), expected["places"], "{name}");
    }
}

#[test] // SPX-063, D75
fn reads_every_json_ld_form_as_the_same_index() {
    let read = |file: &str| -> SemanticIndex { read_index(&bytes(file), &mut ()).unwrap() };
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
fn detects_spxi_documents_by_content() {
    for (file, kind) in [
        ("whole.jsonld", FileKind::SpxiIndex),
        ("shape-vocabulary.jsonld", FileKind::SpxiIndex),
        ("shape-addresses.jsonld", FileKind::SpxiIndex),
        ("root-list.jsonld", FileKind::SpxiIndex),
        ("packet.jsonld", FileKind::SpxiPacket),
        ("packet-other-form.jsonld", FileKind::SpxiPacket),
    ] {
        assert_eq!(judge("some.json", &bytes(file), Strictness::Strict).kind, kind, "{file}");
    }
    let pointer = br#"{"@context":"https://schema.org","@type":"Dataset","name":"ARC Sitemap",
        "distribution":[{"@type":"DataDownload","encodingFormat":"application/json",
        "contentUrl":"https://lights.example/arc-sitemap.json"}]}"#;
    assert_eq!(judge("some.jsonld", pointer, Strictness::Strict).kind, FileKind::Arc);
    let mentions = String::from_utf8(bytes("whole.jsonld")).unwrap();
    let mentions = mentions.replace("Lights of the sound", "ARC Sitemap");
    assert_eq!(
        judge("some.jsonld", mentions.as_bytes(), Strictness::Strict).kind,
        FileKind::SpxiIndex
    );
    let sitemap = br#"{"arc_sitemap_version":"2.1","pages":[{"url":"https://lights.example/",
        "ai_summary":"about \"spxi:hasEntity\""}]}"#;
    assert_eq!(judge("some.json", sitemap, Strictness::Strict).kind, FileKind::Arc);
}

#[test] // SPX-064 SPX-066 SPX-070 SPX-071
fn checks_every_spxi_site_as_expected() {
    let cases = sites();
    assert!(20 <= cases.len(), "the suite has only {} sites", cases.len());
    let mut wrong = String::new();
    for (path, expected) in cases {
        let now = Timestamp::parse(expected["given"]["now"].as_str().unwrap()).unwrap();
        let check_options =
            CheckOptions { mode: Strictness::Strict, now: Some(now), ..CheckOptions::default() };
        let check_options =
            SiteCheckOptions { check_options, threads: 1, ..SiteCheckOptions::default() };
        let outcome = check_folder(&path.join("site"), None, Vec::new(), &check_options).unwrap();
        for file_report in outcome.file_reports {
            let wanted = expected["findings"].get(&file_report.name).cloned().unwrap_or(json!([]));
            let all = file_report.report.findings().map(|(_, it)| it);
            // The suite only expects findings of these layers.
            let own = all.filter(|it| !["XL", "SE", "HT"].contains(&it.rule.layer()));
            let said: Value = own.map(|it| json!([it.rule.code, it.place.to_string()])).collect();
            if said != wanted {
                let name = path.file_name().unwrap().to_string_lossy();
                let file = &file_report.name;
                writeln!(wrong, "{name} {file}\n  expected {wanted}\n  judged   {said}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The rule needs a very large file; the tests of the reader cover it.
const ELSEWHERE: [&str; 1] = ["SX003"];

#[test]
fn every_spxi_rule_has_a_vector() {
    let mut text: String = expectations("spxi").values().map(Value::to_string).collect();
    text.extend(sites().values().map(Value::to_string));
    assert_rules_have_vectors("SX", &text, &ELSEWHERE);
}

/// Checks a folder.
fn judge_folder(dir: &Path) -> Vec<FileReport> {
    let check_options = CheckOptions { mode: Strictness::Strict, ..CheckOptions::default() };
    let check_options =
        SiteCheckOptions { check_options, threads: 1, ..SiteCheckOptions::default() };
    check_folder(dir, None, Vec::new(), &check_options).unwrap().file_reports
}

#[test] // C08, D65
fn distinguishes_unchecked_rules() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(
        vectors().join("sites/good/site/spxi-index.jsonld"),
        dir.path().join("spxi-index.jsonld"),
    )
    .unwrap();
    let file_reports = judge_folder(dir.path());
    let index = file_reports.iter().find(|one| one.name == "spxi-index.jsonld").unwrap();
    let found = index.report.findings().find(|(_, it)| it.rule.code == "SX090").unwrap();
    assert!(found.1.detail.contains("pages"), "{}", found.1.detail);
    // Without pages no file is reported as missing.
    assert!(!index.report.counts().contains_key("SX091"));
}

#[test]
fn no_url_leads_outside_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("site");
    fs::create_dir(&dir).unwrap();
    fs::write(outer.path().join("secret.html"), "<p>secret").unwrap();
    fs::write(dir.join("index.html"), "<p>home").unwrap();
    let good = String::from_utf8(bytes("whole.jsonld")).unwrap();
    for address in ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "/a/..%5c..%5csecret"] {
        fs::write(dir.join("spxi-index.jsonld"), good.replace("/north\"", &format!("{address}\"")))
            .unwrap();
        let file_reports = judge_folder(&dir);
        let index = file_reports.iter().find(|one| one.name == "spxi-index.jsonld").unwrap();
        assert!(index.report.counts().contains_key("SX091"), "{address}");
    }
}
