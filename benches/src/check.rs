//! Measures checking a site: time compared with its first build, with and without the state of
//! that build, and memory.

use std::fs;
use std::path::{Path, PathBuf};

use rutter_check::{
    BuiltPage, CheckOptions, RestrictionReason, SiteBase, SiteCheckOptions, check_folder,
};
use rutter_finding::{Severity, Strictness};
use rutter_page::Timestamp;

use crate::build::{MEMORY, fresh_copy, pages};
use crate::table::{Job, Table, role, seconds};

/// Maximum time of a check relative to the first build, without the state and with it.
const GOALS: [f64; 2] = [1.25, 5.0];

/// Checks a built folder; returns the number of pages.
pub(crate) fn check_site(site: &Path, state: Option<&Path>) -> anyhow::Result<u64> {
    let known = state.map(rutter_site::load_cached_pages).transpose()?.unwrap_or_default();
    let page = |one: rutter_site::CachedPage| {
        let closed = one.is_closed().then_some(RestrictionReason::Away);
        let known = BuiltPage {
            url: one.url.into(),
            source: one.source.0,
            line: one.line,
            twin: one.twin,
            title: one.title.into(),
            closed,
            coverage: one.coverage,
            findings: Vec::new(),
        };
        known.with_findings(one.findings)
    };
    let judging = SiteCheckOptions {
        check_options: CheckOptions {
            mode: Strictness::Strict,
            now: Timestamp::from_unix_seconds(1_780_100_000),
            ..CheckOptions::default()
        },
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        ..SiteCheckOptions::default()
    };
    let home = SiteBase::parse("https://docs.example.org/");
    let outcome = check_folder(site, home, known.into_iter().map(page).collect(), &judging)?;
    // Findings about the pages are expected; findings about generated files are not.
    let findings = outcome.file_reports.iter().flat_map(|one| one.report.findings());
    let is_ours = |code: &str| !code.starts_with("HT");
    let n_errors = findings
        .filter(|(severity, it)| *severity == Severity::Error && is_ours(it.rule.code))
        .count();
    anyhow::ensure!(n_errors == 0, "{n_errors} errors in what we built ourselves");
    Ok(outcome.pages)
}

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(from: &Path, n_rounds: usize) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench/check");
    fs::create_dir_all(&folder)?;
    let (site, state) = (folder.join("site"), folder.join("state"));
    let pages = pages(from)?;
    let n_bytes: u64 = pages.iter().map(|(_, n_bytes)| n_bytes).sum();
    println!("{} pages, {:.1} MB", pages.len(), n_bytes as f64 / 1e6);
    let mut jobs: Vec<Job<'_>> = vec![
        (
            "first build",
            Box::new(|| {
                fresh_copy(from, &site)?;
                drop(fs::remove_dir_all(&state));
                role("build", &[&site, &state])
            }),
        ),
        ("check", Box::new(|| role("check", &[&site]))),
        ("check, state at hand", Box::new(|| role("check", &[&site, &state]))),
    ];
    let mut table = Table::new(n_rounds);
    let runs = table.rotate(&mut jobs)?;
    drop(jobs);
    let [first, bare, known] = runs.as_slice() else { anyhow::bail!("three jobs") };
    let [without, with] = GOALS;
    table.compare("check", bare, "first build", &seconds(first), (without, None));
    table.compare("check, state at hand", known, "first build", &seconds(first), (with, None));
    table.print(n_bytes);
    table.remember_peak("check", bare);
    table.remember_peak("check, state at hand", known);
    table.print_peaks("at most", MEMORY);
    anyhow::ensure!(table.missed == 0, "{} goals missed", table.missed);
    Ok(())
}
