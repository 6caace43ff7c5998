//! `rutter build`: a built website in, its machine-readable layers beside it.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rutter_build::{ExcludedPage, Listener, Made, Outcome, Twins};
use rutter_finding::{Finding, Mode, Rule, Severity};
use serde_json::{Value, json};

use crate::commands::{self, bytes, counted, now};
use crate::config::{self, flags::Flags};
use crate::exit::Exit;
use crate::output::{Chatter, Output};
use crate::published;
use crate::settle::{Asked, settle};

/// How many findings of a rule are shown, unless all are asked for.
const SHOWN_PER_RULE: u64 = 3;

/// Sites below this size are read before anybody could watch.
const WATCHED_FROM: usize = 500;

/// Most pages that the JSON document names as left out; `excluded` counts all.
const MOST_EXCLUDED: usize = 10_000;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags,
    /// Settings file [default: rutter.toml beside or above the site, or above the current folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    asked: Asked,
    /// End with 1 where something is wrong with pages or files
    #[arg(long)]
    strict: bool,
    /// Show every finding and every excluded page with its reason
    #[arg(long)]
    verbose: bool,
    /// Print what came of it as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let config = config::load(&args.flags, args.config.as_deref(), &config::environment)?;
    for message in config::misspelt(std::env::vars_os().map(|(name, _)| name)) {
        out.warn(message);
    }
    // A file that does not lie where one works is easily forgotten.
    if let Some(file) = config.file.as_ref().filter(|file| file.as_os_str() != config::FILE) {
        out.say(format_args!("settings in {}", file.display()));
    }
    let mut settled = settle(config, &args.asked, now()?)?;
    for remark in &settled.remarks {
        out.say(remark);
    }
    for warning in &settled.warnings {
        out.warn(format_args!("warning: {warning}"));
    }
    // Holds the fetched files until the build is over.
    let _previous = published::fetch_previous(&mut settled.plan, &mut |text| out.say(text))?;
    let mut watch = Watch::new(out, args.verbose);
    let result = rutter_build::build(&settled.plan, &mut watch);
    let excluded = std::mem::take(&mut watch.excluded);
    let n_grave = watch.finish();
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
        out.say(format_args!("state in {state}; `rutter serve {folder} --state {state}` uses it"));
    }
    let is_clean = n_grave == 0 && outcome.failed == 0;
    // What is published is then older than the site.
    let is_stale = outcome.unreadable != 0;
    Ok(if is_stale || (args.strict && !is_clean) { Exit::Findings } else { Exit::Clean })
}

/// Tells whoever watches what happens.
struct Watch<'o> {
    out: &'o mut Output,
    bar: Option<ProgressBar>,
    verbose: bool,
    /// How often each rule was broken, as far as it is spoken of.
    counts: BTreeMap<&'static str, (&'static Rule, u64)>,
    n_notes: u64,
    n_grave: u64,
    /// The first pages that are left out.
    excluded: Vec<Value>,
}

impl<'o> Watch<'o> {
    fn new(out: &'o mut Output, verbose: bool) -> Self {
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

    /// Says what was not shown, and gives the number of warnings and errors.
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
            self.say(&format!("{notes} about pages not shown; --verbose shows them"));
        }
        self.n_grave
    }
}

impl Listener for Watch<'_> {
    fn finding(&mut self, place: &str, finding: &Finding) {
        // What only a judge speaks of is a note to the owner.
        let severity = finding.rule.severity(Mode::Lenient).unwrap_or(Severity::Note);
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

    fn says(&mut self, message: &str) {
        // Among them is why a state was not used.
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
            let is_watched = io::stderr().is_terminal() && self.out.chatter() == Chatter::Full;
            if of < WATCHED_FROM || !is_watched {
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

/// What came of it, for people.
fn table(outcome: &Outcome, folder: Option<&Path>, time: Duration) -> String {
    let mut rows = vec![vec![
        "pages".to_owned(),
        format!(
            "{}: {} new, {} changed, {} removed",
            outcome.pages, outcome.new, outcome.changed, outcome.removed
        ),
    ]];
    let mut row = |name: &str, text: String| rows.push(vec![name.to_owned(), text]);
    if 0 < outcome.read_differently {
        let pages = counted(outcome.read_differently, "page");
        row("", format!("{pages} of the same source read differently than before"));
    }
    let n_excluded: u64 = outcome.excluded.iter().map(|excluded| excluded.pages).sum();
    if 0 < n_excluded {
        let reasons = outcome.excluded.iter().filter(|excluded| 0 < excluded.pages);
        let reasons: Vec<String> =
            reasons.map(|excluded| format!("{} {}", excluded.pages, excluded.reason)).collect();
        row("excluded", format!("{n_excluded}: {}", reasons.join(", ")));
    }
    if !outcome.password_pages.is_empty() {
        let names = outcome.password_pages.iter().map(|name| rutter_finding::visible(name));
        let names = names.collect::<Vec<_>>().join(", ");
        row(
            "",
            format!("{names}: a password form is the main content; `approved` in [arc] publishes"),
        );
    }
    if let Some(folder) = folder.filter(|_| 0 < outcome.closed) {
        let pages = counted(outcome.closed, "page");
        let names: Vec<String> =
            outcome.closed_pages.iter().map(|name| rutter_finding::visible(name)).collect();
        let is_all = names.len() as u64 == outcome.closed;
        let more = if is_all { "" } else { ", …" };
        row(
            "closed",
            format!("{pages} for a login in {}: {}{more}", folder.display(), names.join(", ")),
        );
        row("", "only a server that asks for tokens may show this folder".to_owned());
    }
    if 0 < outcome.failed {
        row("failed", format!("{}, which cannot be read", counted(outcome.failed, "file")));
    }
    if 0 < outcome.unreadable {
        let places = outcome.unreadable;
        row("unreadable", format!("{places} folders or files; their published files are kept"));
    }
    row("source", bytes(outcome.source_bytes));
    let files = if outcome.is_unchanged() {
        "nothing to write".to_owned()
    } else {
        format!("{} written, {} taken away", outcome.written, outcome.deleted)
    };
    row("files", files);
    if outcome.is_without_twins {
        let most = Twins::MOST;
        row("twins", format!("none, as there are more than {most} pages; --twins on makes them"));
    }
    row("time", format!("{:.2} s", time.as_secs_f64()));
    let mut text = aligned(&rows);
    if !outcome.sections.is_empty() {
        let head = ["section", "pages", "snapshot", "delta"].map(str::to_owned);
        let sections = outcome.sections.iter().map(|section| {
            let delta = section.delta.map(|made| {
                let removed = match section.removed {
                    0 => String::new(),
                    n => format!(", {n} removed"),
                };
                format!("{} ({}{removed})", bytes(made.bytes), counted(made.pages, "page"))
            });
            let snapshot = section.snapshot.map(|made| bytes(made.bytes));
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

/// Columns below each other.
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

/// What came of it, for programs. `version` is raised when a program that reads
/// it would misread.
fn document(outcome: &Outcome, time: Duration) -> Value {
    let made = |made: Made| json!({ "pages": made.pages, "bytes": made.bytes });
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
        "findings": findings,
        "seconds": time.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use rutter_build::{Excluded, SectionOutcome};

    use super::*;

    fn outcome() -> Outcome {
        Outcome {
            pages: 15,
            new: 1,
            changed: 2,
            removed: 1,
            excluded: vec![
                Excluded { reason: "noindex", pages: 2 },
                Excluded { reason: "needs a login", pages: 1 },
            ],
            source_bytes: 51_333,
            sections: vec![SectionOutcome {
                name: "docs".to_owned(),
                pages: 9,
                snapshot: None,
                delta: Some(Made { pages: 2, bytes: 2_468 }),
                removed: 1,
            }],
            written: 7,
            findings: vec![("HT002", 4)],
            ..Outcome::default()
        }
    }

    #[test]
    fn ours_a_build_ends_with_a_table() {
        let wanted = "\
pages     15: 1 new, 2 changed, 1 removed
excluded  3: 2 noindex, 1 needs a login
source    50.13 KiB
files     7 written, 0 taken away
time      0.25 s

section  pages  snapshot  delta
docs     9      none      2.41 KiB (2 pages, 1 removed)
";
        assert_eq!(table(&outcome(), None, Duration::from_millis(250)), wanted);
    }

    #[test]
    fn ours_a_site_that_is_too_large_for_twins_says_so() {
        let outcome = Outcome { is_without_twins: true, ..outcome() };
        let text = table(&outcome, None, Duration::from_millis(250));
        let row = "twins     none, as there are more than 100000 pages; --twins on makes them\n";
        assert!(text.contains(row), "{text}");
        assert_eq!(document(&outcome, Duration::ZERO)["is_without_twins"], true);
    }

    #[test]
    fn ours_a_folder_with_pages_for_a_login_is_not_for_every_server() {
        let names = ["a.html", "b.html", "c.html"].map(str::to_owned).to_vec();
        let outcome = Outcome { closed: 4, closed_pages: names, ..outcome() };
        let text = table(&outcome, Some(Path::new("public")), Duration::ZERO);
        let rows = "\
closed    4 pages for a login in public: a.html, b.html, c.html, …
          only a server that asks for tokens may show this folder
";
        assert!(text.contains(rows), "{text}");
        // In the owner's own folder they were before.
        assert!(!table(&outcome, None, Duration::ZERO).contains("tokens"));
        assert_eq!(document(&outcome, Duration::ZERO)["closed"], 4);
    }

    #[test]
    fn ours_programs_get_the_same() {
        let document = document(&outcome(), Duration::from_millis(250));
        assert_eq!(document["version"], 1);
        assert_eq!(document["excluded"][0], json!({ "reason": "noindex", "pages": 2 }));
        assert_eq!(document["sections"][0]["delta"]["bytes"], 2_468);
        assert_eq!(document["sections"][0]["snapshot"], Value::Null);
        assert_eq!(document["findings"]["HT002"], 4);
    }
}
