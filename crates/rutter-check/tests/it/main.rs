//! Checks the public conformance vectors.
//!
//! Every `conformance/vectors/scp/files/*.expect.json` is a case; a new case is
//! a new pair of files.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod arc;
mod coverage;
mod examples;
mod sites;
mod sizes;
mod spxi;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_check::{CheckOptions, CheckTarget, check, rule_tables};
use rutter_finding::{Strictness, Verdict};
use rutter_page::Timestamp;
use rutter_report::{FileKind, FileReport};
use rutter_scp::CollectionKind;
use rutter_scp::advert::AdvertisedCollection;
use serde_json::{Value, json};

/// Returns the folder of a public suite.
fn suite(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors").join(name)
}

fn vectors() -> PathBuf {
    suite("scp/files")
}

/// Returns the cases of a suite by name.
fn expectations(name: &str) -> BTreeMap<String, Value> {
    let mut cases = BTreeMap::new();
    for entry in fs::read_dir(suite(name).join("files")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".expect.json") {
            cases.insert(name, serde_json::from_slice(&fs::read(&path).unwrap()).unwrap());
        }
    }
    cases
}

/// Fails if an outcome differs from the expectation of the case.
fn assert_outcomes(suite: &str, outcome: impl Fn(&Value, Strictness) -> Value) {
    let mut wrong = String::new();
    for (name, expected) in &expectations(suite) {
        for (mode, key) in [(Strictness::Lenient, "lenient"), (Strictness::Strict, "strict")] {
            let said = outcome(expected, mode);
            if said != expected[key] {
                writeln!(wrong, "{name} {key}\n  expected {}\n  judged   {said}", expected[key])
                    .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Fails if a rule of a layer occurs in no case of a suite and is not in the list
/// of rules that are tested elsewhere.
fn assert_rules_have_vectors(layer: &str, text: &str, elsewhere: &[&str]) {
    for rule in rule_tables().into_iter().flatten().filter(|rule| rule.code.starts_with(layer)) {
        let is_covered = text.contains(rule.code) || elsewhere.contains(&rule.code);
        assert!(is_covered, "no vector names {} {}", rule.code, rule.name);
    }
}

/// Returns a report in the format of the suites; `entries` is their name for the
/// number of entries.
fn said(file_report: &FileReport, mode: Strictness, entries: &str) -> Value {
    if let Some(rule) = file_report.refused {
        return json!({ "verdict": "rejected", "reason": rule.code });
    }
    let verdict = match file_report.verdict() {
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    };
    let codes: Vec<_> = file_report.report.counts().keys().collect();
    let mut said = json!({ "verdict": verdict, "findings": codes });
    if let Some(n) = file_report.entries.filter(|_| mode == Strictness::Lenient) {
        said[entries] = n.into();
    }
    said
}

/// Checks bytes under a name.
fn judged(name: &str, bytes: &[u8], check_options: &CheckOptions) -> FileReport {
    let open = || {
        let input: Box<dyn std::io::Read + Send> = Box::new(std::io::Cursor::new(bytes.to_vec()));
        Ok((input, Some(bytes.len() as u64)))
    };
    check(&CheckTarget { name: name.to_owned(), open: &open }, check_options).unwrap()
}

fn check_options(mode: Strictness, given: &Value) -> CheckOptions {
    let time = |value: &Value| value.as_str().map(|text| Timestamp::parse(text).unwrap());
    CheckOptions {
        mode,
        now: time(&given["now"]),
        advert: given.get("advert").map(advertised),
        ..CheckOptions::default()
    }
}

/// Returns an `scp:` element with the attributes of the case, and defaults that match
/// the files of the suite.
fn advertised(advert: &Value) -> AdvertisedCollection {
    let file: &Value = &advert["file"];
    let text = |name: &str| advert[name].as_str().or_else(|| file[name].as_str());
    let time = |name: &str| text(name).map(|text| Timestamp::parse(text).unwrap());
    let number = |name: &str| advert[name].as_u64().or_else(|| file[name].as_u64()).unwrap();
    let kind = match (text("type").unwrap(), time("since")) {
        ("delta", since) => CollectionKind::Delta { since: since.or(time("generated")).unwrap() },
        _ => CollectionKind::Snapshot,
    };
    AdvertisedCollection {
        section: text("section").unwrap().to_owned(),
        kind,
        period: None,
        url: "https://harbour.example/collection".to_owned(),
        generated: time("generated").unwrap(),
        expires: time("generated").unwrap(),
        pages: number("pages"),
        size: number("size"),
        checksum: None,
    }
}

/// Checks a file and returns the outcome in the format of the suite.
fn outcome(expected: &Value, mode: Strictness) -> Value {
    let path = vectors().join(expected["file"].as_str().unwrap());
    let bytes = fs::read(path).unwrap();
    let mut given = expected["given"].clone();
    if let Some(advert) = given.get_mut("advert") {
        advert["file"] = facts(&bytes);
    }
    let file_report = judge(&bytes, &check_options(mode, &given));
    let mut said = said(&file_report, mode, "pages");
    if mode == Strictness::Lenient && file_report.refused.is_none() {
        let tally = file_report.receipt.unwrap().tally;
        said["pages"] = tally.pages.into();
        said["skipped"] = tally.skipped.into();
    }
    said
}

/// Returns the values of a correct `scp:` element for this file.
fn facts(bytes: &[u8]) -> Value {
    let file_report = judge(bytes, &CheckOptions::default());
    let receipt = file_report.receipt.unwrap();
    json!({
        "section": receipt.header.section,
        "type": receipt.header.kind.name(),
        "generated": receipt.header.generated,
        "since": receipt.header.kind.since(),
        "pages": receipt.tally.pages + receipt.tally.skipped,
        "size": bytes.len(),
    })
}

fn judge(bytes: &[u8], check_options: &CheckOptions) -> FileReport {
    judged("vector", bytes, check_options)
}

/// Each expectation lists the clauses that its case proves; `cargo xtask clauses`
/// counts them.
#[test]
fn checks_every_vector_as_expected() {
    let n_cases = expectations("scp").len();
    assert!(80 <= n_cases, "the suite has only {n_cases} cases");
    assert_outcomes("scp", outcome);
}

/// Rules that need a decompression bomb, a very large file or a slow machine; the tests
/// of the reader cover them. The last three are about sitemaps.
const ELSEWHERE: [&str; 10] =
    ["SC005", "SC006", "SC019", "SC027", "SC043", "SC044", "SC067", "SC068", "SC069", "SC070"];

#[test]
fn every_reader_rule_has_a_vector() {
    let text: String = expectations("scp").values().map(Value::to_string).collect();
    assert_rules_have_vectors("SC", &text, &ELSEWHERE);
}

#[test] // SCP-110 D17 D19
fn checks_scp_elements_of_a_sitemap() {
    let advert = |pages: &str| {
        format!(
            "<s:collection section='docs' type='snapshot' url='https://h.example/a.scp' \
             generated='2026-05-01T00:00:00Z' expires='2026-06-01T00:00:00Z' pages='{pages}' size='9'/>\n"
        )
    };
    let text = format!(
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' \
         xmlns:s='https://scp-protocol.org/schemas/sitemap/1.0'>\n{}{}{}<s:parade/>\n\
         <url><loc>https://h.example/</loc></url></urlset>",
        advert("5"),
        advert("-1"),
        advert("5"),
    );
    let file_report = judge(text.as_bytes(), &CheckOptions::default());
    assert_eq!(file_report.kind, FileKind::Sitemap);
    assert_eq!(file_report.entries, Some(1));
    let findings: Vec<_> = file_report
        .report
        .findings()
        .map(|(_, finding)| (finding.rule.code, finding.place.line.unwrap()))
        .collect();
    assert_eq!(findings, [("SC067", 3), ("SC069", 4), ("SC068", 5)]);
}

#[test] // SCP-120 D22
fn reports_ambiguous_times_in_scp_elements() {
    for (time, is_proper) in [
        ("2026-05-01T00:00:00Z", true),
        ("2026-05-01T02:00:00+02:00", true),
        ("2026-05-01", false),
        ("2026-05-01 00:00:00Z", false),
        ("2026-05-01T00:00:00", false),
    ] {
        let text = format!(
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' \
             xmlns:s='https://scp-protocol.org/schemas/sitemap/1.0'>\n\
             <s:delta section='docs' period='daily' url='https://h.example/a.scp' since='{time}' \
             generated='{time}' expires='{time}' pages='5' size='9'/>\n\
             <url><loc>https://h.example/</loc></url></urlset>"
        );
        let file_report = judge(text.as_bytes(), &CheckOptions::default());
        let counts = file_report.report.counts();
        let wanted = if is_proper { None } else { Some(&3) };
        assert_eq!(counts.get("SC034"), wanted, "{time}: {counts:?}");
    }
}

#[test]
fn reads_a_list_of_urls_as_a_sitemap_whatever_its_name() {
    let text = "\u{feff}# pages\nhttps://h.example/\nhttps://h.example/a\n/relative\n";
    for name in ["urls.txt", "sitemap-posts.txt", "public/pages.txt"] {
        let file_report = judged(name, text.as_bytes(), &CheckOptions::default());
        assert_eq!(file_report.kind, FileKind::Sitemap, "{name}");
        assert_eq!(file_report.entries, Some(2), "{name}");
        let codes: Vec<_> = file_report.report.counts().keys().copied().collect();
        assert_eq!(codes, ["SM027", "SM028"], "{name}");
    }
}

#[test] // SPX-039
fn reports_relative_entries_of_a_sitemap_as_errors() {
    let text = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
        <url><loc>/tides</loc></url><url><loc>https://h.example/</loc></url></urlset>";
    let strict = CheckOptions { mode: Strictness::Strict, ..CheckOptions::default() };
    let file_report = judged("sitemap.xml", text.as_bytes(), &strict);
    assert_eq!(file_report.report.counts().keys().copied().collect::<Vec<_>>(), ["SM013"]);
    assert_eq!(file_report.verdict(), Verdict::Rejected);
}
