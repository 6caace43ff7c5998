//! Checks the ARC vectors, and compares the results with a JSON Schema validator.
//!
//! Every `conformance/vectors/arc/files/*.expect.json` is a case; a new case is
//! a new pair of files.

use std::fs;
use std::path::{Path, PathBuf};

use rutter_check::CheckOptions;
use rutter_finding::{Strictness, Verdict};
use rutter_page::Timestamp;
use rutter_report::{FileKind, FileReport};
use serde_json::Value;

use crate::{assert_outcomes, assert_rules_have_vectors, expectations, judged, said};

/// The rules that the schema of appendix E.9 covers too.
const OF_THE_SCHEMA: [&str; 20] = [
    "AR002", "AR008", "AR009", "AR010", "AR011", "AR012", "AR013", "AR014", "AR015", "AR027",
    "AR030", "AR031", "AR032", "AR036", "AR037", "AR038", "AR039", "AR041", "AR043", "AR046",
];

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn bytes(expected: &Value) -> Vec<u8> {
    let file = expected["file"].as_str().unwrap();
    fs::read(conformance().join("vectors/arc/files").join(file)).unwrap()
}

fn judge(expected: &Value, mode: Strictness) -> FileReport {
    let bytes = bytes(expected);
    let now = expected["given"]["now"].as_str().map(|now| Timestamp::parse(now).unwrap());
    let called = expected["called"].as_str().unwrap_or("vector");
    judged(called, &bytes, &CheckOptions { mode, now, ..CheckOptions::default() })
}

fn outcome(expected: &Value, mode: Strictness) -> Value {
    let file_report = judge(expected, mode);
    assert!(
        matches!(file_report.kind, FileKind::Arc | FileKind::ArcPolicy),
        "{}",
        expected["file"]
    );
    said(&file_report, mode, "pages")
}

/// Each expectation lists the clauses that its case proves; `cargo xtask clauses`
/// counts them.
#[test]
fn checks_every_arc_vector_as_expected() {
    let n_cases = expectations("arc").len();
    assert!(60 <= n_cases, "the suite has only {n_cases} cases");
    assert_outcomes("arc", outcome);
}

#[test] // ARC-042 ARC-043 ARC-044 ARC-045 ARC-046 ARC-047 ARC-048 ARC-049 ARC-050 ARC-051 ARC-052
fn agrees_with_schema_of_appendix_e9() {
    let schema = fs::read(conformance().join("schema/arc-sitemap-2.1.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let validator =
        jsonschema::draft7::options().should_validate_formats(true).build(&schema).unwrap();
    let mut n_compared = 0;
    for (name, expected) in expectations("arc") {
        let Some(wanted) = expected["schema"].as_str() else { continue };
        n_compared += 1;
        let document: Value = serde_json::from_slice(&bytes(&expected)).unwrap();
        let is_valid = validator.is_valid(&document);
        assert_eq!(is_valid, wanted == "valid", "{name}");
        // Files that the schema rejects break a rule of the list above, and
        // the reverse.
        let file_report = judge(&expected, Strictness::Strict);
        let codes: Vec<&str> = match file_report.refused {
            Some(rule) => vec![rule.code],
            None => file_report.report.counts().keys().copied().collect(),
        };
        // Members that may restrict a page have a separate rule; `removed`
        // is an extension of Rutter that the schema does not have.
        let is_ours = |code: &&str| {
            OF_THE_SCHEMA.contains(code) || (*code == "AR040" && !name.starts_with("removed"))
        };
        assert_eq!(codes.iter().any(is_ours), !is_valid, "{name} {codes:?}");
        assert!(is_valid || file_report.verdict() == Verdict::Rejected, "{name}");
    }
    assert!(60 <= n_compared, "only {n_compared} were compared");
}

/// Rules that need very large files; the tests of the reader cover them.
const ELSEWHERE: [&str; 4] = ["AR004", "AR021", "AR023", "AR072"];

#[test]
fn every_arc_file_rule_has_a_vector() {
    let text: String = expectations("arc").values().map(Value::to_string).collect();
    // Rules from 90 on are about HTML pages.
    for layer in ["AR00", "AR01", "AR02", "AR03", "AR04", "AR05", "AR06", "AR07", "AR08"] {
        assert_rules_have_vectors(layer, &text, &ELSEWHERE);
    }
}

#[test] // ARC-063 C13
fn findings_have_the_place_and_mask_the_secret() {
    let cases = expectations("arc");
    let place = |name: &str, code: &str| {
        let file_report = judge(&cases[&format!("{name}.expect.json")], Strictness::Strict);
        let found = file_report.report.findings().find(|(_, it)| it.rule.code == code);
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
