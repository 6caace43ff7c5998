//! The SPXI vectors: documents, and small sites.
//!
//! Every `conformance/vectors/spxi/files/*.expect.json` is a case, and every
//! folder of `conformance/vectors/spxi/sites` is one; a new case is a new file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_check::{
    Judgement, Judging, Kind, SiteJudging, SpxiFolder, Subject, check, check_folder,
    check_spxi_folder, registry,
};
use rutter_finding::{Mode, Verdict};
use rutter_page::Timestamp;
use rutter_spxi::{Index, MarkerStatus, read_index};
use serde_json::{Value, json};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/spxi")
}

fn expectations() -> BTreeMap<String, Value> {
    let mut cases = BTreeMap::new();
    for entry in fs::read_dir(vectors().join("files")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".expect.json") {
            cases.insert(name, serde_json::from_slice(&fs::read(&path).unwrap()).unwrap());
        }
    }
    cases
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
    let open = || {
        let input: Box<dyn std::io::Read + Send> = Box::new(std::io::Cursor::new(bytes.to_vec()));
        Ok((input, Some(bytes.len() as u64)))
    };
    let judging = Judging { mode, ..Judging::default() };
    check(&Subject { name: called.to_owned(), open: &open }, &judging).unwrap()
}

fn outcome(judgement: &Judgement, mode: Mode) -> Value {
    if let Some(rule) = judgement.refused {
        return json!({ "verdict": "rejected", "reason": rule.code });
    }
    let verdict = match judgement.verdict() {
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    };
    let codes: Vec<_> = judgement.report.counts().keys().collect();
    let mut said = json!({ "verdict": verdict, "findings": codes });
    if let Some(entities) = judgement.entries.filter(|_| mode == Mode::Lenient) {
        said["entities"] = entities.into();
    }
    said
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
    let cases = expectations();
    assert!(60 <= cases.len(), "the suite has only {} cases", cases.len());
    let mut wrong = String::new();
    for (name, expected) in &cases {
        let input = bytes(expected["file"].as_str().unwrap());
        let called = expected["called"].as_str().unwrap();
        for (mode, key) in [(Mode::Lenient, "lenient"), (Mode::Strict, "strict")] {
            let judgement = judge(called, &input, mode);
            let said = outcome(&judgement, mode);
            if said != expected[key] {
                writeln!(wrong, "{name} {key}\n  expected {}\n  judged   {said}", expected[key])
                    .unwrap();
            }
            let places = places(&judgement);
            if mode == Mode::Strict && places != expected["places"] {
                let expected = &expected["places"];
                writeln!(wrong, "{name}\n  expected {expected}\n  judged   {places}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test] // SPX-063, D75
fn spec_every_shape_reads_as_the_same_index() {
    let read = |file: &str| -> Index { read_index(&bytes(file), &mut ()).unwrap() };
    let mut n_compared = 0;
    for (name, expected) in expectations() {
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

/// A finder of markers that is enough for the pages of the suite.
fn find(page: &[u8], markers: &[String]) -> Vec<MarkerStatus> {
    let text = String::from_utf8_lossy(page);
    let (head, body) = text.split_once("<main").unwrap_or((&text, ""));
    let status = |marker: &String| {
        let near = body.to_lowercase().find(&marker.to_lowercase());
        if body.contains(marker.as_str()) {
            MarkerStatus::Visible
        } else if let Some(at) = near {
            MarkerStatus::Near(body[at..at + marker.len()].to_owned())
        } else if head.contains(marker.as_str()) {
            MarkerStatus::MetaOnly
        } else {
            MarkerStatus::Absent
        }
    };
    markers.iter().map(status).collect()
}

#[test]
fn spec_every_site_gets_its_findings() {
    let cases = sites();
    assert!(20 <= cases.len(), "the suite has only {} sites", cases.len());
    let mut wrong = String::new();
    for (path, expected) in cases {
        let now = Timestamp::parse(expected["given"]["now"].as_str().unwrap()).unwrap();
        let judging = Judging { mode: Mode::Strict, now: Some(now), ..Judging::default() };
        let dir = path.join("site");
        let folder = SpxiFolder { dir: &dir, types: &[], markers: Some(&find) };
        for judgement in check_spxi_folder(&folder, &judging).unwrap() {
            let wanted = expected["findings"].get(&judgement.name).cloned().unwrap_or(json!([]));
            let said = places(&judgement);
            if said != wanted {
                let name = path.file_name().unwrap().to_string_lossy();
                let file = &judgement.name;
                writeln!(wrong, "{name} {file}\n  expected {wanted}\n  judged   {said}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test] // SPX-064 SPX-066 SPX-070 SPX-071
fn spec_a_whole_site_gets_the_same_findings_of_spxi() {
    let mut wrong = String::new();
    for (path, expected) in sites() {
        let now = Timestamp::parse(expected["given"]["now"].as_str().unwrap()).unwrap();
        let judging = Judging { mode: Mode::Strict, now: Some(now), ..Judging::default() };
        let judging = SiteJudging { judging, threads: 1, types: Vec::new() };
        let outcome = check_folder(&path.join("site"), None, Vec::new(), &judging).unwrap();
        for judgement in outcome.judgements {
            let wanted = expected["findings"].get(&judgement.name).cloned().unwrap_or(json!([]));
            let all = judgement.report.findings().map(|(_, it)| it);
            let own = all.filter(|it| it.rule.code.starts_with("SX"));
            let said: Value = own.map(|it| json!([it.rule.code, it.place.to_string()])).collect();
            let is_spxi = matches!(judgement.kind, Kind::SpxiIndex | Kind::SpxiPacket);
            if is_spxi && said != wanted {
                let name = path.file_name().unwrap().to_string_lossy();
                let file = &judgement.name;
                writeln!(wrong, "{name} {file}\n  expected {wanted}\n  judged   {said}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn ours_every_spxi_rule_has_a_vector() {
    // A giant; the reader's own tests have it.
    let elsewhere = ["SX003"];
    let mut text: String = expectations().values().map(Value::to_string).collect();
    text.extend(sites().values().map(Value::to_string));
    for rule in registry::all().iter().filter(|rule| rule.code.starts_with("SX")) {
        let is_covered = text.contains(rule.code) || elsewhere.contains(&rule.code);
        assert!(is_covered, "no vector names {} {}", rule.code, rule.name);
    }
}

#[test] // C08, D65
fn ours_what_nobody_looked_at_is_told_apart() {
    let dir = vectors().join("sites/good/site");
    let folder = SpxiFolder { dir: &dir, types: &[], markers: None };
    let judging = Judging { mode: Mode::Strict, ..Judging::default() };
    let judgements = check_spxi_folder(&folder, &judging).unwrap();
    let index = judgements.first().unwrap();
    let found: Vec<_> = index.report.findings().collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1.rule.code, "SX090");
    assert_eq!(found[0].1.detail, "some markers (rule 4)");
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
        let folder = SpxiFolder { dir: &dir, types: &[], markers: None };
        let judging = Judging { mode: Mode::Strict, ..Judging::default() };
        let judgements = check_spxi_folder(&folder, &judging).unwrap();
        let codes = judgements[0].report.counts();
        assert!(codes.contains_key("SX091"), "{address}");
    }
}
