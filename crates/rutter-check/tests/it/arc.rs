//! The ARC vectors, judged by us and by a validator of JSON Schema.
//!
//! Every `conformance/vectors/arc/files/*.expect.json` is a case; a new case is
//! a new pair of files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_check::{Judgement, Judging, Kind, Subject, check};
use rutter_finding::{Mode, Verdict};
use rutter_page::Timestamp;
use serde_json::{Value, json};

/// The rules that the schema of E.9 knows, too.
const OF_THE_SCHEMA: [&str; 20] = [
    "AR002", "AR008", "AR009", "AR010", "AR011", "AR012", "AR013", "AR014", "AR015", "AR027",
    "AR030", "AR031", "AR032", "AR036", "AR037", "AR038", "AR039", "AR041", "AR043", "AR046",
];

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn expectations() -> BTreeMap<String, Value> {
    let mut cases = BTreeMap::new();
    for entry in fs::read_dir(conformance().join("vectors/arc/files")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".expect.json") {
            cases.insert(name, serde_json::from_slice(&fs::read(&path).unwrap()).unwrap());
        }
    }
    cases
}

fn bytes(expected: &Value) -> Vec<u8> {
    let file = expected["file"].as_str().unwrap();
    fs::read(conformance().join("vectors/arc/files").join(file)).unwrap()
}

fn judge(expected: &Value, mode: Mode) -> Judgement {
    let bytes = bytes(expected);
    let now = expected["given"]["now"].as_str().map(|now| Timestamp::parse(now).unwrap());
    let called = expected["called"].as_str().unwrap_or("vector");
    let open = || {
        let input: Box<dyn std::io::Read + Send> = Box::new(std::io::Cursor::new(bytes.clone()));
        Ok((input, Some(bytes.len() as u64)))
    };
    let judging = Judging { mode, now, ..Judging::default() };
    check(&Subject { name: called.to_owned(), open: &open }, &judging).unwrap()
}

fn outcome(expected: &Value, mode: Mode) -> Value {
    let judgement = judge(expected, mode);
    assert!(matches!(judgement.kind, Kind::Arc | Kind::ArcPolicy), "{}", expected["file"]);
    if let Some(rule) = judgement.refused {
        return json!({ "verdict": "rejected", "reason": rule.code });
    }
    let verdict = match judgement.verdict() {
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    };
    let codes: Vec<_> = judgement.report.counts().keys().collect();
    let mut said = json!({ "verdict": verdict, "findings": codes });
    if let Some(pages) = judgement.entries.filter(|_| mode == Mode::Lenient) {
        said["pages"] = pages.into();
    }
    said
}

/// The clauses that a case proves stand in its expectation; `cargo xtask
/// clauses` counts them there.
#[test]
fn spec_every_arc_vector_gets_its_verdict() {
    let cases = expectations();
    assert!(60 <= cases.len(), "the suite has only {} cases", cases.len());
    let mut wrong = String::new();
    for (name, expected) in &cases {
        for (mode, key) in [(Mode::Lenient, "lenient"), (Mode::Strict, "strict")] {
            let said = outcome(expected, mode);
            if said != expected[key] {
                writeln!(wrong, "{name} {key}\n  expected {}\n  judged   {said}", expected[key])
                    .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test] // ARC-042 ARC-043 ARC-044 ARC-045 ARC-046 ARC-047 ARC-048 ARC-049 ARC-050 ARC-051 ARC-052
fn spec_the_schema_of_e9_agrees() {
    let schema = fs::read(conformance().join("schema/arc-sitemap-2.1.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let validator =
        jsonschema::draft7::options().should_validate_formats(true).build(&schema).unwrap();
    let mut n_compared = 0;
    for (name, expected) in expectations() {
        let Some(wanted) = expected["schema"].as_str() else { continue };
        n_compared += 1;
        let document: Value = serde_json::from_slice(&bytes(&expected)).unwrap();
        let is_valid = validator.is_valid(&document);
        assert_eq!(is_valid, wanted == "valid", "{name}");
        // What the schema refuses we refuse for a reason of the schema, and
        // what we refuse for such a reason it refuses.
        let judgement = judge(&expected, Mode::Strict);
        let codes: Vec<&str> = match judgement.refused {
            Some(rule) => vec![rule.code],
            None => judgement.report.counts().keys().copied().collect(),
        };
        // Members that may restrict a page have a rule of their own; `removed`
        // is ours and not the schema's.
        let is_ours = |code: &&str| {
            OF_THE_SCHEMA.contains(code) || (*code == "AR040" && !name.starts_with("removed"))
        };
        assert_eq!(codes.iter().any(is_ours), !is_valid, "{name} {codes:?}");
        assert!(is_valid || judgement.verdict() == Verdict::Rejected, "{name}");
    }
    assert!(60 <= n_compared, "only {n_compared} were compared");
}

#[test]
fn ours_every_arc_rule_of_files_has_a_vector() {
    // Giants; tests of the reader have them. From 90 on they speak of pages.
    let elsewhere = ["AR004", "AR021", "AR023", "AR072"];
    let text: String = expectations().values().map(Value::to_string).collect();
    let is_file =
        |rule: &&&rutter_finding::Rule| rule.code.starts_with("AR") && rule.code < "AR090";
    for rule in rutter_check::registry::all().iter().filter(is_file) {
        let is_covered = text.contains(rule.code) || elsewhere.contains(&rule.code);
        assert!(is_covered, "no vector names {} {}", rule.code, rule.name);
    }
}

#[test] // ARC-063 C13
fn spec_findings_point_at_the_place_and_hide_the_secret() {
    let cases = expectations();
    let place = |name: &str, code: &str| {
        let judgement = judge(&cases[&format!("{name}.expect.json")], Mode::Strict);
        let found = judgement.report.findings().find(|(_, it)| it.rule.code == code);
        let (_, finding) = found.unwrap();
        (finding.place.pointer.clone(), finding.detail.clone())
    };
    assert_eq!(place("indexable-text-false", "AR037").0, "/pages/0/ai_indexable");
    assert_eq!(place("tag-number", "AR046").0, "/pages/0/ai_tags/1");
    assert_eq!(place("url-twice", "AR035").0, "/pages/1/url");
    assert_eq!(place("field-value", "AR052").0, "/pages/0/ai_snapshot/fields/0");
    let (pointer, detail) = place("secret", "AR056");
    assert_eq!(pointer, "/pages/0/ai_summary");
    assert!(detail.starts_with("AWS access key ") && !detail.contains("AKIA"), "{detail}");
    let (pointer, detail) = place("personal", "AR057");
    assert_eq!(pointer, "/pages/0/ai_snapshot");
    assert_eq!(detail, "1 e-mail address, 1 telephone number");
}
