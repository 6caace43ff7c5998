//! Tests of the extracted share of main text (D45), measured in a folder and by the
//! build.

use std::path::{Path, PathBuf};

use rutter_check::{
    BuiltPage, CheckOptions, SiteBase, SiteCheckOptions, SiteOutcome, check_folder,
};
use rutter_extract::{Coverage, DroppedPart};
use rutter_finding::{Severity, Strictness};
use rutter_page::{Digest, Timestamp};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/coverage")
}

fn judge(min_coverage: Option<f32>, known: Vec<BuiltPage>) -> SiteOutcome {
    let now = Timestamp::from_unix_seconds(1_793_491_200);
    let check_options = CheckOptions { mode: Strictness::Strict, now, ..CheckOptions::default() };
    let check_options =
        SiteCheckOptions { check_options, threads: 2, min_coverage, ..SiteCheckOptions::default() };
    check_folder(&folder(), SiteBase::parse("https://h.example/"), known, &check_options).unwrap()
}

/// Returns the pages with the finding, and its detail.
fn low(outcome: &SiteOutcome) -> Vec<(String, Severity, String)> {
    let of_page = |one: &rutter_report::FileReport| -> Vec<(String, Severity, String)> {
        let findings = one.report.findings().filter(|(_, finding)| finding.rule.code == "XL089");
        let tell = |(severity, finding): (Severity, &rutter_finding::Finding)| {
            (one.name.clone(), severity, finding.detail.clone())
        };
        findings.map(tell).collect()
    };
    outcome.file_reports.iter().flat_map(of_page).collect()
}

#[test]
fn measures_public_pages_with_main_element_and_lists_the_lowest() {
    let outcome = judge(None, Vec::new());
    assert!(low(&outcome).is_empty());
    // Neither the page without a `<main>` element nor the restricted one.
    assert_eq!(outcome.coverage.pages(), 2);
    let worst = outcome.coverage.worst();
    assert_eq!(worst.iter().map(|it| it.page.as_str()).collect::<Vec<_>>(), ["gate.html"]);
    let mean = f64::from(1.0 + worst[0].coverage.share()) / 2.0;
    assert!((outcome.coverage.mean().unwrap() - mean).abs() < 1e-6);
}

#[test]
fn page_below_minimum_share_is_an_error_with_share_and_largest_part() {
    let outcome = judge(Some(0.95), Vec::new());
    let low_pages = low(&outcome);
    let [(page, severity, detail)] = low_pages.as_slice() else { panic!("{low_pages:?}") };
    assert_eq!((page.as_str(), *severity), ("gate.html", Severity::Error));
    assert!(detail.starts_with("0.") && detail.contains("minimum 0.95"), "{detail}");
    assert!(detail.contains("\"Comments\"") || detail.contains("\"Ada wrote"), "{detail}");
    assert!(low(&judge(Some(0.1), Vec::new())).is_empty());
}

/// Returns the pages of a build, with this coverage of `gate.html`.
fn known(coverage: Option<Coverage>) -> Vec<BuiltPage> {
    let bytes = std::fs::read(folder().join("gate.html")).unwrap();
    vec![BuiltPage {
        url: "https://h.example/gate.html".into(),
        source: Digest::of(&bytes).0,
        line: None,
        twin: None,
        title: "Gate".into(),
        closed: None,
        coverage,
        findings: Vec::new(),
    }]
}

#[test]
fn uses_coverage_of_the_build_for_unchanged_pages() {
    let largest = Some(DroppedPart { place: "p".into(), start: "Once".into() });
    let stored = Coverage { kept: 500, total: 1000, largest };
    let outcome = judge(Some(0.95), known(Some(stored)));
    assert_eq!(outcome.known, 1);
    let low_pages = low(&outcome);
    assert!(low_pages[0].2.starts_with("0.500,") && low_pages[0].2.contains("p: \"Once\""));
}

#[test]
fn coverage_of_a_page_that_an_earlier_version_read_is_unknown() {
    let outcome = judge(Some(0.95), known(None));
    assert_eq!((outcome.known, outcome.coverage.pages()), (1, 1));
    assert!(low(&outcome).is_empty());
    assert!(outcome.coverage.worst().is_empty());
}
