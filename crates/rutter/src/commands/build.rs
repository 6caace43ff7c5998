//! `rutter build`: adds machine-readable layers to a built site.
//!
//! Input: the arguments and settings. Output: the layers, and a summary as text or JSON. Findings
//! are printed while pages are read.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rutter_build::{BuildEvents, BuildSummary, CollectionSize, ExcludedPage, TwinPolicy};
use rutter_extract::{CoverageTally, PageCoverage};
use rutter_finding::{Finding, Rule, Severity, Strictness};
use serde_json::{Value, json};

use crate::commands::{self, counted, format_bytes, now};
use crate::config::{self, flags::Flags};
use crate::exit::Exit;
use crate::output::{Output, Verbosity};
use crate::plan::{BuildOptions, make_plan};
use crate::published_site;

/// Maximum number of findings printed for each rule, unless `--verbose` is given.
const SHOWN_PER_RULE: u64 = 3;

/// Minimum number of pages of a site that is read with a progress bar.
const MIN_PAGES_FOR_PROGRESS: usize = 500;

/// Maximum number of excluded pages that the JSON document lists; its key `excluded` counts all
/// excluded pages.
const MOST_EXCLUDED: usize = 10_000;

/// Arguments of `rutter build`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "The options that name a setting can also be set in rutter.toml, or \
    as an environment variable: --base-url as RUTTER_BASE_URL. The command line takes precedence \
    over variables, and variables over rutter.toml.")]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    flags: Flags,
    /// Settings file to read
    ///
    /// Default: rutter.toml in a parent folder of the site, else in the current folder or one of
    /// its parents, up to the root of the repository. Without a file, all settings have their
    /// defaults.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    asked: BuildOptions,
    /// Return exit code 1 if pages or files have warnings or errors
    ///
    /// By default, the exit code is 0 if the build was completed.
    #[arg(long)]
    strict: bool,
    /// Print the summary as JSON
    ///
    /// The file docs/schemas/build.schema.json describes the keys of the document.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &BuildArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let config = config::load(&args.flags, args.config.as_deref(), &config::environment)?;
    for message in config::misspelt(std::env::vars_os().map(|(name, _)| name)) {
        out.warn(message);
    }
    // Print the name of a settings file that is not in the current folder.
    if let Some(file) = config.file.as_ref().filter(|file| file.as_os_str() != config::FILE) {
        out.say(format_args!("reading settings from {}", file.display()));
    }
    let mut settled = make_plan(config, &args.asked, now()?)?;
    for remark in &settled.remarks {
        out.say(remark);
    }
    for warning in &settled.warnings {
        out.warn(format_args!("warning: {warning}"));
    }
    // This guard keeps the folder of fetched files until the build has finished.
    let _previous = published_site::fetch_previous(&mut settled.plan, &mut |text| out.say(text))?;
    let mut progress_bar = BuildProgress::new(out);
    let result = rutter_build::build(&settled.plan, &mut progress_bar);
    let excluded = std::mem::take(&mut progress_bar.excluded);
    let n_grave = progress_bar.finish();
    let outcome = result?;
    let time = start.elapsed();
    if args.json {
        let mut document = document(&outcome, time);
        document["excluded_pages"] = Value::Array(excluded);
        writeln!(out.data(), "{document:#}")?;
    } else {
        let out_folder = settled.plan.out.as_deref();
        out.summary().write_all(table(&outcome, out_folder, time).as_bytes())?;
    }
    if let Some(out_folder) = &settled.plan.out
        && !commands::serve::finds(out_folder, &settled.plan.state)
    {
        let (folder, state) = (out_folder.display(), settled.plan.state.display());
        out.say(format_args!(
            "state kept in {state}; to serve the site, run `rutter serve {folder} --state {state}`"
        ));
    }
    let is_clean = n_grave == 0 && outcome.failed == 0;
    // The published files of unreadable sources are out of date.
    let is_stale = outcome.unreadable != 0;
    Ok(if is_stale || (args.strict && !is_clean) { Exit::Findings } else { Exit::Clean })
}

/// Prints progress and findings while a site is built.
struct BuildProgress<'o> {
    out: &'o mut Output,
    bar: Option<ProgressBar>,
    verbose: bool,
    /// Number of findings of each rule; notes are counted only if they are printed.
    counts: BTreeMap<&'static str, (&'static Rule, u64)>,
    n_notes: u64,
    n_grave: u64,
    /// The first excluded pages, for the JSON document.
    excluded: Vec<Value>,
}

impl<'o> BuildProgress<'o> {
    fn new(out: &'o mut Output) -> Self {
        let verbose = out.verbosity() == Verbosity::Verbose;
        let (counts, excluded) = (BTreeMap::new(), Vec::new());
        Self { out, bar: None, verbose, counts, n_notes: 0, n_grave: 0, excluded }
    }

    fn say(&mut self, text: &str) {
        let out = &mut *self.out;
        match &self.bar {
            Some(bar) => bar.suspend(|| out.say(text)),
            None => out.say(text),
        }
    }

    fn warn(&mut self, text: &str) {
        let out = &mut *self.out;
        match &self.bar {
            Some(bar) => bar.suspend(|| out.warn(text)),
            None => out.warn(text),
        }
    }

    /// Prints how many findings were not shown, and returns the number of warnings and errors.
    fn finish(mut self) -> u64 {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        for (rule, n) in std::mem::take(&mut self.counts).into_values() {
            if SHOWN_PER_RULE < n && !self.verbose {
                let more = n - SHOWN_PER_RULE;
                self.warn(&format!("{more} more of {} {}: {}", rule.code, rule.name, rule.title));
            }
        }
        if 0 < self.n_notes && !self.verbose {
            let notes = counted(self.n_notes, "note");
            self.say(&format!("{notes} not shown; use -v to print them"));
        }
        self.n_grave
    }
}

impl BuildEvents for BuildProgress<'_> {
    fn finding(&mut self, place: &str, finding: &Finding) {
        // A build reports the findings of a rule that applies only to strict checks as notes.
        let severity = finding.rule.severity(Strictness::Lenient).unwrap_or(Severity::Note);
        if severity == Severity::Note {
            self.n_notes += 1;
            if !self.verbose {
                return;
            }
        } else {
            self.n_grave += 1;
        }
        let (_, n) = self.counts.entry(finding.rule.code).or_insert((finding.rule, 0));
        *n += 1;
        if *n <= SHOWN_PER_RULE || self.verbose {
            let mut line = Vec::new();
            let place = rutter_finding::visible(place);
            rutter_check::format::concise::write_finding(&mut line, &place, severity, finding)
                .expect("memory takes everything");
            self.warn(String::from_utf8_lossy(&line).trim_end());
        }
    }

    fn message(&mut self, message: &str) {
        // A quiet run prints messages, too: a message may say why a state was not used.
        self.warn(message);
    }

    fn excluded(&mut self, page: &ExcludedPage<'_>) {
        if self.verbose {
            let name = rutter_finding::visible(page.page);
            let source = rutter_finding::visible(page.source);
            self.warn(&format!("{name}: excluded: {} ({source})", page.reason));
        }
        if self.excluded.len() < MOST_EXCLUDED {
            let ExcludedPage { page, reason, source } = *page;
            self.excluded.push(json!({ "page": page, "reason": reason, "source": source }));
        }
    }

    fn progress(&mut self, done: usize, of: usize) {
        if self.bar.is_none() {
            let is_watched = io::stderr().is_terminal() && self.out.verbosity() == Verbosity::Full;
            if of < MIN_PAGES_FOR_PROGRESS || !is_watched {
                return;
            }
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}")
                .expect("the template is fixed");
            self.bar = Some(ProgressBar::new(of as u64).with_style(style).with_message("pages"));
        }
        let Some(bar) = &self.bar else { return };
        bar.set_length(of as u64);
        bar.set_position(done as u64);
        if of <= done {
            bar.finish_and_clear();
        }
    }
}

/// Returns the summary as text: rows of a label and a sentence, then the collections by section.
fn table(outcome: &BuildSummary, folder: Option<&Path>, time: Duration) -> String {
    let mut rows = vec![vec![
        "pages".to_owned(),
        format!(
            "{} published ({} new, {} changed, {} removed since the last build)",
            outcome.pages, outcome.new, outcome.changed, outcome.removed
        ),
    ]];
    let mut row = |name: &str, text: String| rows.push(vec![name.to_owned(), text]);
    if 0 < outcome.read_differently {
        let pages = counted(outcome.read_differently, "changed page");
        row("", format!("{pages} with an unchanged source: extracted differently than before"));
    }
    if 0 < outcome.judged {
        let pages = counted(outcome.judged, "page");
        row("", format!("{pages} checked again for visibility, content and dates unchanged"));
    }
    let n_excluded: u64 = outcome.excluded.iter().map(|excluded| excluded.pages).sum();
    if 0 < n_excluded {
        let reasons = outcome.excluded.iter().filter(|excluded| 0 < excluded.pages);
        let reasons: Vec<String> =
            reasons.map(|excluded| format!("{} {}", excluded.pages, excluded.reason)).collect();
        row("excluded", format!("{} ({})", counted(n_excluded, "page"), reasons.join(", ")));
    }
    if !outcome.password_pages.is_empty() {
        let names = outcome.password_pages.iter().map(|name| rutter_finding::visible(name));
        let names = names.collect::<Vec<_>>().join(", ");
        row(
            "",
            format!("password form as main content: {names}; `approved` in [arc] publishes them"),
        );
    }
    if let Some(folder) = folder.filter(|_| 0 < outcome.closed) {
        let pages = counted(outcome.closed, "page");
        let names: Vec<String> =
            outcome.closed_pages.iter().map(|name| rutter_finding::visible(name)).collect();
        let is_all = names.len() as u64 == outcome.closed;
        let more = if is_all { "" } else { ", …" };
        row("login", format!("{pages} for users with a login only: {}{more}", names.join(", ")));
        row(
            "",
            format!(
                "{} contains their HTML: serve it only with a server that checks tokens",
                folder.display()
            ),
        );
    }
    if 0 < outcome.failed {
        row("failed", format!("{} could not be read", counted(outcome.failed, "file")));
    }
    if 0 < outcome.unreadable {
        let places = outcome.unreadable;
        row(
            "unreadable",
            format!("{places} folders or files; their previously published files were kept"),
        );
    }
    for (name, text) in coverage_rows(&outcome.coverage) {
        row(name, text);
    }
    row("input", format!("{} of source files", format_bytes(outcome.source_bytes)));
    let files = if outcome.is_unchanged() {
        "all files are up to date".to_owned()
    } else {
        format!("{} written, {} deleted", counted(outcome.written, "file"), outcome.deleted)
    };
    row("output", files);
    if outcome.is_without_twins {
        let most = TwinPolicy::MOST;
        row("twins", format!("not written for more than {most} pages; use --twins on"));
    }
    row("time", format!("{:.2} s", time.as_secs_f64()));
    let mut text = aligned(&rows);
    if !outcome.sections.is_empty() {
        let head = ["section", "pages", "new snapshot", "new delta"].map(str::to_owned);
        let sections = outcome.sections.iter().map(|section| {
            let delta = section.delta.map(|made| {
                let removed = match section.removed {
                    0 => String::new(),
                    n => format!(", {n} removed"),
                };
                format!("{} ({}{removed})", format_bytes(made.bytes), counted(made.pages, "page"))
            });
            let snapshot = section.snapshot.map(|made| format_bytes(made.bytes));
            let none = || "none".to_owned();
            vec![
                rutter_finding::visible(&section.name),
                section.pages.to_string(),
                snapshot.unwrap_or_else(none),
                delta.unwrap_or_else(none),
            ]
        });
        let rows: Vec<Vec<String>> = [head.to_vec()].into_iter().chain(sections).collect();
        text.push('\n');
        text.push_str(&aligned(&rows));
    }
    text
}

/// Returns the rows about content coverage: the mean, and the pages with the lowest coverage.
fn coverage_rows(tally: &CoverageTally) -> Vec<(&'static str, String)> {
    let Some(mean) = tally.mean() else { return Vec::new() };
    let pages = counted(tally.pages(), "page");
    let percent = 100.0 * mean;
    let mut rows =
        vec![("coverage", format!("{percent:.1} % of the main text extracted (mean of {pages})"))];
    for PageCoverage { page, coverage } in tally.worst() {
        let largest = coverage.largest.as_ref().map(ToString::to_string).unwrap_or_default();
        let (page, largest) = (rutter_finding::visible(page), rutter_finding::visible(&largest));
        let percent = 100.0 * coverage.share();
        rows.push(("", format!("{percent:.1} % of {page}, without {largest}")));
    }
    rows
}

/// Formats rows as aligned columns.
fn aligned(rows: &[Vec<String>]) -> String {
    let mut widths = Vec::new();
    for row in rows {
        for (idx, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(idx) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Returns the summary as JSON. `version` changes with each incompatible change.
fn document(outcome: &BuildSummary, time: Duration) -> Value {
    let made = |made: CollectionSize| json!({ "pages": made.pages, "bytes": made.bytes });
    let excluded: Vec<Value> = outcome
        .excluded
        .iter()
        .map(|excluded| json!({ "reason": excluded.reason, "pages": excluded.pages }))
        .collect();
    let sections: Vec<Value> = outcome
        .sections
        .iter()
        .map(|section| {
            json!({
                "name": section.name,
                "pages": section.pages,
                "snapshot": section.snapshot.map(made),
                "delta": section.delta.map(made),
                "removed": section.removed,
            })
        })
        .collect();
    let findings: BTreeMap<&str, u64> = outcome.findings.iter().copied().collect();
    json!({
        "version": 1,
        "pages": outcome.pages,
        "new": outcome.new,
        "changed": outcome.changed,
        "removed": outcome.removed,
        "read_differently": outcome.read_differently,
        "read": outcome.read,
        "judged": outcome.judged,
        "excluded": excluded,
        "closed": outcome.closed,
        "failed": outcome.failed,
        "unreadable": outcome.unreadable,
        "source_bytes": outcome.source_bytes,
        "sections": sections,
        "learned": outcome.learned,
        "written": outcome.written,
        "deleted": outcome.deleted,
        "is_without_twins": outcome.is_without_twins,
        "coverage": rutter_check::format::json::coverage(&outcome.coverage),
        "findings": findings,
        "seconds": time.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use rutter_build::{ExclusionCount, SectionSummary};

    use super::*;

    fn outcome() -> BuildSummary {
        BuildSummary {
            pages: 15,
            new: 1,
            changed: 2,
            removed: 1,
            excluded: vec![
                ExclusionCount { reason: "noindex", pages: 2 },
                ExclusionCount { reason: "needs a login", pages: 1 },
            ],
            source_bytes: 51_333,
            sections: vec![SectionSummary {
                name: "docs".to_owned(),
                pages: 9,
                snapshot: None,
                delta: Some(CollectionSize { pages: 2, bytes: 2_468 }),
                removed: 1,
            }],
            written: 7,
            findings: vec![("HT002", 4)],
            ..BuildSummary::default()
        }
    }

    #[test]
    fn summary_has_pages_files_and_collections() {
        let wanted = "\
pages     15 published (1 new, 2 changed, 1 removed since the last build)
excluded  3 pages (2 noindex, 1 needs a login)
input     50.13 KiB of source files
output    7 files written, 0 deleted
time      0.25 s

section  pages  new snapshot  new delta
docs     9      none          2.41 KiB (2 pages, 1 removed)
";
        assert_eq!(table(&outcome(), None, Duration::from_millis(250)), wanted);
    }

    #[test]
    fn summary_reports_that_site_is_too_large_for_twins() {
        let outcome = BuildSummary { is_without_twins: true, ..outcome() };
        let text = table(&outcome, None, Duration::from_millis(250));
        let row = "twins     not written for more than 100000 pages; use --twins on\n";
        assert!(text.contains(row), "{text}");
        assert_eq!(document(&outcome, Duration::ZERO)["is_without_twins"], true);
    }

    #[test]
    fn summary_warns_about_folder_with_pages_that_need_a_login() {
        let names = ["a.html", "b.html", "c.html"].map(str::to_owned).to_vec();
        let outcome = BuildSummary { closed: 4, closed_pages: names, ..outcome() };
        let text = table(&outcome, Some(Path::new("public")), Duration::ZERO);
        let rows = "\
login     4 pages for users with a login only: a.html, b.html, c.html, …
          public contains their HTML: serve it only with a server that checks tokens
";
        assert!(text.contains(rows), "{text}");
        // The site's folder contained the HTML of the closed pages before the build.
        assert!(!table(&outcome, None, Duration::ZERO).contains("tokens"));
        assert_eq!(document(&outcome, Duration::ZERO)["closed"], 4);
    }

    #[test]
    fn json_has_the_facts_of_the_summary() {
        let document = document(&outcome(), Duration::from_millis(250));
        assert_eq!(document["version"], 1);
        assert_eq!(document["excluded"][0], json!({ "reason": "noindex", "pages": 2 }));
        assert_eq!(document["sections"][0]["delta"]["bytes"], 2_468);
        assert_eq!(document["sections"][0]["snapshot"], Value::Null);
        assert_eq!(document["findings"]["HT002"], 4);
    }
}
