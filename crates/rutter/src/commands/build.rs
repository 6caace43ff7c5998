//! `rutter build`: adds machine-readable layers to a built site.
//!
//! Input: the arguments and settings. Output: the layers, and a summary as text or JSON. Findings
//! are printed while pages are read.

mod summary;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use rutter_build::{BuildEvents, ExcludedPage};
use rutter_finding::{Finding, Rule, Severity, Strictness};
use serde_json::{Value, json};

use self::summary::{document, table};
use crate::commands::{self, counted, now};
use crate::config::{self, flags::Flags};
use crate::exit::ExitStatus;
use crate::output::{Detail, Output, Verbosity};
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

pub(crate) fn run(args: &BuildArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
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
    Ok(if is_stale || (args.strict && !is_clean) {
        ExitStatus::Findings
    } else {
        ExitStatus::Clean
    })
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
        let verbose = out.detail() == Detail::Complete;
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
            rutter_report::format::concise::write_finding(&mut line, &place, severity, finding)
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
