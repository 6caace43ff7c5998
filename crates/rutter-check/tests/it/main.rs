//! The public conformance vectors, judged by us.
//!
//! Every `conformance/vectors/scp/files/*.expect.json` is a case; a new case is
//! a new pair of files.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod arc;
mod examples;
mod formats;
mod sites;
mod sizes;
mod spxi;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_check::{Judgement, Judging, Subject, check, registry};
use rutter_finding::{Mode, Verdict};
use rutter_page::Timestamp;
use rutter_scp::Kind;
use rutter_scp::advert::Collection;
use serde_json::{Value, json};

/// The folder of a public suite.
fn suite(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors").join(name)
}

fn vectors() -> PathBuf {
    suite("scp/files")
}

/// The cases of a suite, by the names of their expectations.
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

/// Fails where an outcome is not what the case expects of its mode.
fn assert_outcomes(suite: &str, outcome: impl Fn(&Value, Mode) -> Value) {
    let mut wrong = String::new();
    for (name, expected) in &expectations(suite) {
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

/// Fails where a rule of a layer is named by no case of a suite, and is not
/// among those that are tested elsewhere.
fn assert_rules_have_vectors(layer: &str, text: &str, elsewhere: &[&str]) {
    for rule in registry::all().iter().filter(|rule| rule.code.starts_with(layer)) {
        let is_covered = text.contains(rule.code) || elsewhere.contains(&rule.code);
        assert!(is_covered, "no vector names {} {}", rule.code, rule.name);
    }
}

/// What a judgement says in the words of the suites; `entries` is what they
/// call what was read.
fn said(judgement: &Judgement, mode: Mode, entries: &str) -> Value {
    if let Some(rule) = judgement.refused {
        return json!({ "verdict": "rejected", "reason": rule.code });
    }
    let verdict = match judgement.verdict() {
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    };
    let codes: Vec<_> = judgement.report.counts().keys().collect();
    let mut said = json!({ "verdict": verdict, "findings": codes });
    if let Some(n) = judgement.entries.filter(|_| mode == Mode::Lenient) {
        said[entries] = n.into();
    }
    said
}

/// Judges bytes under a name.
fn judged(name: &str, bytes: &[u8], judging: &Judging) -> Judgement {
    let open = || {
        let input: Box<dyn std::io::Read + Send> = Box::new(std::io::Cursor::new(bytes.to_vec()));
        Ok((input, Some(bytes.len() as u64)))
    };
    check(&Subject { name: name.to_owned(), open: &open }, judging).unwrap()
}

fn judging(mode: Mode, given: &Value) -> Judging {
    let time = |value: &Value| value.as_str().map(|text| Timestamp::parse(text).unwrap());
    Judging {
        mode,
        now: time(&given["now"]),
        advert: given.get("advert").map(advertised),
        ..Judging::default()
    }
}

/// An advert with the attributes of the case and, for the others, values that
/// agree with every file of the suite that gives an advert.
fn advertised(advert: &Value) -> Collection {
    let file: &Value = &advert["file"];
    let text = |name: &str| advert[name].as_str().or_else(|| file[name].as_str());
    let time = |name: &str| text(name).map(|text| Timestamp::parse(text).unwrap());
    let number = |name: &str| advert[name].as_u64().or_else(|| file[name].as_u64()).unwrap();
    let kind = match (text("type").unwrap(), time("since")) {
        ("delta", since) => Kind::Delta { since: since.or(time("generated")).unwrap() },
        _ => Kind::Snapshot,
    };
    Collection {
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

/// Judges a file and says what came of it in the words of the suite.
fn outcome(expected: &Value, mode: Mode) -> Value {
    let path = vectors().join(expected["file"].as_str().unwrap());
    let bytes = fs::read(path).unwrap();
    let mut given = expected["given"].clone();
    if let Some(advert) = given.get_mut("advert") {
        advert["file"] = facts(&bytes);
    }
    let judgement = judge(&bytes, &judging(mode, &given));
    let mut said = said(&judgement, mode, "pages");
    if mode == Mode::Lenient && judgement.refused.is_none() {
        let tally = judgement.receipt.unwrap().tally;
        said["pages"] = tally.pages.into();
        said["skipped"] = tally.skipped.into();
    }
    said
}

/// What an honest advert of this file would say.
fn facts(bytes: &[u8]) -> Value {
    let judgement = judge(bytes, &Judging::default());
    let receipt = judgement.receipt.unwrap();
    json!({
        "section": receipt.header.section,
        "type": receipt.header.kind.name(),
        "generated": receipt.header.generated,
        "since": receipt.header.kind.since(),
        "pages": receipt.tally.pages + receipt.tally.skipped,
        "size": bytes.len(),
    })
}

fn judge(bytes: &[u8], judging: &Judging) -> Judgement {
    judged("vector", bytes, judging)
}

/// The clauses that a case proves stand in its expectation; `cargo xtask
/// clauses` counts them there.
#[test]
fn spec_every_vector_gets_its_verdict() {
    let n_cases = expectations("scp").len();
    assert!(80 <= n_cases, "the suite has only {n_cases} cases");
    assert_outcomes("scp", outcome);
}

/// These need a bomb, a giant or a slow machine; tests of the reader have them.
/// The last three speak of sitemaps.
const ELSEWHERE: [&str; 10] =
    ["SC005", "SC006", "SC019", "SC027", "SC043", "SC044", "SC067", "SC068", "SC069", "SC070"];

#[test]
fn ours_every_reading_rule_has_a_vector() {
    let text: String = expectations("scp").values().map(Value::to_string).collect();
    assert_rules_have_vectors("SC", &text, &ELSEWHERE);
}

#[test] // SCP-110 D17 D19
fn ours_adverts_of_a_sitemap_are_judged() {
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
    let judgement = judge(text.as_bytes(), &Judging::default());
    assert_eq!(judgement.kind, rutter_check::Kind::Sitemap);
    assert_eq!(judgement.entries, Some(1));
    let findings: Vec<_> = judgement
        .report
        .findings()
        .map(|(_, finding)| (finding.rule.code, finding.place.line.unwrap()))
        .collect();
    assert_eq!(findings, [("SC067", 3), ("SC069", 4), ("SC068", 5)]);
}

#[test] // SCP-120 D22
fn reports_times_of_adverts_that_readers_have_to_guess() {
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
        let judgement = judge(text.as_bytes(), &Judging::default());
        let counts = judgement.report.counts();
        let wanted = if is_proper { None } else { Some(&3) };
        assert_eq!(counts.get("SC034"), wanted, "{time}: {counts:?}");
    }
}

#[test]
fn reads_a_list_of_urls_as_a_sitemap_whatever_its_name() {
    let text = "\u{feff}# pages\nhttps://h.example/\nhttps://h.example/a\n/relative\n";
    for name in ["urls.txt", "sitemap-posts.txt", "public/pages.txt"] {
        let judgement = judged(name, text.as_bytes(), &Judging::default());
        assert_eq!(judgement.kind, rutter_check::Kind::Sitemap, "{name}");
        assert_eq!(judgement.entries, Some(2), "{name}");
        let codes: Vec<_> = judgement.report.counts().keys().copied().collect();
        assert_eq!(codes, ["SM027", "SM028"], "{name}");
    }
}

#[test] // SPX-039
fn reports_relative_entries_of_a_sitemap_as_errors() {
    let text = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
        <url><loc>/tides</loc></url><url><loc>https://h.example/</loc></url></urlset>";
    let strict = Judging { mode: Mode::Strict, ..Judging::default() };
    let judgement = judged("sitemap.xml", text.as_bytes(), &strict);
    assert_eq!(judgement.report.counts().keys().copied().collect::<Vec<_>>(), ["SM013"]);
    assert_eq!(judgement.verdict(), Verdict::Rejected);
}
