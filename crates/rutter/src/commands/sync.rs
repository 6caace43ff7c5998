//! `rutter sync`: keeps a replica of sites, by the cheapest honest way.

mod json;
mod limits;
mod signals;
mod sites;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rutter_fetch::{Cause, Clock as _, NetworkFault, SystemClock, Url, redacted};
use rutter_finding::{FindingSink, Mode, Report as Findings, visible};
use rutter_scp::MassDeletion;
use rutter_store::{Quota, Store};
use rutter_sync::plan::Reason;
use rutter_sync::{
    Audit, Event, Kind, Options, Preview, Proof, Report, VisitError, Visitor, Watcher,
};
use tokio::task::JoinSet;

use crate::commands::discover::NetArgs;
use crate::commands::{bytes, counted, say_findings};
use crate::exit::{Exit, is_damage};
use crate::output::{Output, Progress};
use crate::replica::{Made, StoreArgs};
use crate::rows::{RowArgs, RowFormat, Rows};
use limits::LimitArgs;
use signals::Signals;
use sites::{Named, ScopeArgs, SiteList, sites};

/// Pages that no sitemap lists and that are named in text output.
const SHOWN_UNLISTED: usize = 10;
/// Sites that are visited at the same time.
const AT_ONCE: usize = 64;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Addresses of sites; https:// where no scheme is given
    ///
    /// A path limits the sync to the pages at and below it:
    /// `example.org/docs`.
    #[arg(value_name = "SITE", required_unless_present = "file")]
    sites: Vec<String>,
    /// A file with one site and its settings on each line; `-` for stdin
    ///
    /// Behind a site stand other addresses of the same site and settings:
    /// `alias=ORIGIN`, `pace=SECONDS`, `include=GLOB,...`, `exclude=GLOB,...`,
    /// `language=LANGUAGE,...`, `follow-links`. `#` begins a remark. A line
    /// that cannot be used is reported, and the others are synced. With
    /// --watch the file is read again before each round.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
    /// Say what would be done, and why, and change nothing
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// Verify the replica against the publisher; change no page
    ///
    /// Checks every stored page, then compares each section with the newest
    /// collection of the publisher. Exit code 4 if something differs. Damaged
    /// pages are marked, and the next sync fetches them again.
    #[arg(long, conflicts_with_all = ["watch", "dry_run"])]
    audit: bool,
    /// Repeat every SECONDS until interrupted
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        default_missing_value = "900",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    watch: Option<u64>,
    /// Let more than half of a section's pages go at once
    #[arg(long)]
    allow_mass_delete: bool,
    /// Another address of the same site, whose pages belong to it; remembered.
    /// Goes with exactly one SITE
    #[arg(long, value_name = "ORIGIN")]
    alias: Vec<String>,
    /// Pages that are asked for one by one in a visit, where a site has no
    /// collections
    #[arg(long, value_name = "N", default_value_t = Options::default().most_pages)]
    most_pages: u64,
    /// Pages that one site may have in the replica; a collection with more is
    /// refused
    #[arg(long, value_name = "N", default_value_t = Quota::USUAL.pages)]
    quota_pages: u64,
    /// Bytes that the pages of one site may fill; those beyond keep no words
    #[arg(long, value_name = "BYTES", default_value_t = Quota::USUAL.bytes)]
    quota_bytes: u64,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    net: NetArgs,
}

impl Args {
    /// The sites of a round.
    fn list(&self) -> anyhow::Result<SiteList> {
        sites(&self.sites, &self.alias, self.file.as_deref(), &self.scope)
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        args.watch.is_none() || args.rows.format() != RowFormat::Json,
        "--watch never ends a JSON document; --format jsonl prints lines"
    );
    let list = args.list()?;
    for fault in &list.faults {
        out.warn(format_args!("error: skipped: {}", visible(fault)));
    }
    anyhow::ensure!(!list.sites.is_empty(), "no site is named");
    let options = Options {
        mass_deletion: if args.allow_mass_delete {
            MassDeletion::Allowed
        } else {
            MassDeletion::Refused
        },
        most_pages: args.most_pages,
        limits: args.limits.limits(),
        quota: Quota { pages: args.quota_pages, bytes: args.quota_bytes },
        ..Options::default()
    };
    let (settings, (means, _)) = (args.net.settings()?, args.net.means()?);
    let mut signals = Signals::listen()?;
    let (store, made): (Arc<dyn Store>, Made) = if args.dry_run {
        (args.store.look()?, Made::default())
    } else if args.audit {
        // What is not there cannot be proved, and is not made.
        (Arc::new(args.store.open_to_write()?), Made::default())
    } else {
        args.store.make()?
    };
    let visitor = Visitor::new(settings, means, store, args.store.spools(), options);
    let visitor = Arc::new(visitor);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(rounds(args, &visitor, list, &mut signals, out));
    // Whoever still writes is not waited for: a commit is there or it is not.
    runtime.shutdown_background();
    drop(visitor);
    args.store.unmake(made);
    ended
}

/// One round, or one after another.
async fn rounds(
    args: &Args,
    visitor: &Arc<Visitor>,
    mut list: SiteList,
    signals: &mut Signals,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let mut rows = args.rows.rows("sites");
    loop {
        if args.watch.is_some() {
            let n_sites = counted(list.sites.len() as u64, "site");
            out.say(format_args!("{}: syncing {n_sites}", SystemClock::default().now()));
        }
        let round = async {
            if args.audit {
                audit(args, visitor, &list.sites, &mut rows, out).await
            } else if args.dry_run {
                preview(args, visitor, &list.sites, &mut rows, out).await
            } else {
                visit(args, visitor, &list, &mut rows, out).await
            }
        };
        let exit = tokio::select! {
            exit = round => exit?,
            () = signals.come() => {
                rows.finish(out)?;
                return Ok(ended(args, out));
            }
        };
        // A line that could not be used is a wrong argument.
        let exit = if list.faults.is_empty() { exit } else { exit.max(Exit::Failure) };
        let Some(seconds) = args.watch else {
            rows.finish(out)?;
            return Ok(exit);
        };
        out.flush()?;
        let now = SystemClock::default().now();
        let next = now.plus_seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
        out.say(format_args!("{now}: done, next sync at {next}"));
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
            () = signals.come() => return Ok(Exit::Clean),
        }
        reread(args, &mut list, out);
    }
}

/// Reads the file of sites again; where it cannot be read or names no site,
/// the list stays as it was.
fn reread(args: &Args, list: &mut SiteList, out: &mut Output) {
    if args.file.as_deref().is_none_or(|file| file == Path::new("-")) {
        return;
    }
    match args.list() {
        Ok(fresh) if !fresh.sites.is_empty() => {
            for fault in fresh.faults.iter().filter(|fault| !list.faults.contains(fault)) {
                out.warn(format_args!("error: skipped: {}", visible(fault)));
            }
            *list = fresh;
        }
        Ok(_) => out.warn("warning: the file names no site; keeping the previous list"),
        Err(error) => out.warn(format_args!("warning: {error:#}; keeping the previous list")),
    }
}

/// A signal ends what goes on for ever, and interrupts what does not.
fn ended(args: &Args, out: &mut Output) -> Exit {
    if args.watch.is_some() {
        return Exit::Clean;
    }
    out.say(format_args!("interrupted: what was committed stays, and the next sync goes on"));
    Exit::Failure
}

/// Tells whoever watches the terminal.
struct Shown(Progress);

impl Watcher for Shown {
    fn event(&self, site: &str, event: Event<'_>) {
        if let Event::Slow { delay } = event {
            self.0.note(&format!(
                "warning: {site}: robots.txt asks for {} s between requests, more than the {} s \
                 that are waited: no page is fetched by itself, only collections are looked for",
                delay.as_secs(),
                rutter_fetch::LONGEST_DELAY.as_secs()
            ));
            return;
        }
        let text = match event {
            Event::Looking => "looking around".to_owned(),
            Event::Planned(plan) => {
                let (size, requests) = plan.total();
                format!("{}, {}", counted(requests, "file"), bytes(size))
            }
            Event::Fetching { url, size } => {
                format!("fetching {}, {}", visible(&redacted(url)), bytes(size))
            }
            Event::Applying { section } => format!("applying `{}`", visible(section)),
            Event::Pages { done, known } => format!("{done} of {known} pages"),
            _ => return,
        };
        self.0.show(site, text);
    }
}

async fn visit(
    args: &Args,
    visitor: &Arc<Visitor>,
    list: &SiteList,
    rows: &mut Rows,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let shown = Arc::new(Shown(Progress::new(out.chatter())));
    let mut tally = Tally::default();
    let mut waiting = list.sites.iter().cloned();
    let mut running: JoinSet<(Url, Result<Report, VisitError>)> = JoinSet::new();
    let mut exit = Exit::Clean;
    loop {
        while running.len() < AT_ONCE
            && let Some(site) = waiting.next()
        {
            let visitor = visitor_of(visitor, &site);
            let (url, shown) = (site.url, Arc::clone(&shown));
            running.spawn(async move {
                let result = visitor.visit(&url, shown.as_ref()).await;
                (url, result)
            });
        }
        let Some(done) = running.join_next().await else { break };
        let (site, result) = match done {
            Ok(done) => done,
            // One site that cannot be dealt with is not the end of the others.
            Err(error) => {
                out.error(&error.into());
                tally.add(Exit::Failure);
                exit = exit.max(Exit::Failure);
                continue;
            }
        };
        shown.0.done(site.as_str().trim_end_matches('/'));
        let one = match result {
            Ok(report) => {
                if rows.is_text() {
                    write_text(&report, out)?;
                } else {
                    rows.push(json::of_report(&report).to_string(), out)?;
                }
                exit_of(&report)
            }
            Err(error) => failed(args, &site, error, rows, out)?,
        };
        tally.add(one);
        exit = exit.max(one);
    }
    if 1 < list.sites.len() + list.faults.len() {
        out.say(tally.line(list.faults.len()));
    }
    // The pages are in; a replica that is not tidied now is tidied next time.
    if let Err(error) = visitor.maintain() {
        let error = args.store.named(error.into());
        if is_damage(&error) {
            out.error(&error);
            return Ok(exit.max(Exit::Integrity));
        }
        out.warn(format_args!("warning: the replica was not tidied: {error:#}"));
    }
    Ok(exit)
}

/// The visitor with the settings of one site.
fn visitor_of(visitor: &Visitor, site: &Named) -> Visitor {
    if let Some(pace) = site.pace {
        visitor.slow_down(&site.url, pace);
    }
    visitor.with_options(site.options(visitor.options()))
}

/// How many sites ended in which way.
#[derive(Debug, Default)]
struct Tally {
    synced: u64,
    failed: u64,
    refused: u64,
}

impl Tally {
    fn add(&mut self, exit: Exit) {
        match exit {
            Exit::Clean | Exit::Findings => self.synced += 1,
            Exit::Refused => self.refused += 1,
            Exit::Failure | Exit::Network | Exit::Integrity => self.failed += 1,
        }
    }

    /// One line for all of them.
    fn line(&self, n_skipped: usize) -> String {
        let Self { synced, failed, refused } = self;
        let sites = counted(synced + failed + refused, "site");
        let skipped = match n_skipped {
            0 => String::new(),
            n => format!(", {} skipped", counted(n as u64, "line")),
        };
        format!("{sites}: {synced} synced, {failed} failed, {refused} refused{skipped}")
    }
}

/// Says why a site came to nothing.
fn failed(
    args: &Args,
    site: &Url,
    error: VisitError,
    rows: &mut Rows,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let error = args.store.named(error.into()).context(site.to_string());
    rows.push(json::of_failure(site, &error).to_string(), out)?;
    out.error(&error);
    if is_without_tls(&error) {
        let plain = site.as_str().replacen("https://", "http://", 1);
        let plain = plain.trim_end_matches('/');
        out.warn(format_args!("hint: if the server speaks plain http, try {plain} --allow-http"));
    }
    Ok(Exit::of(&error))
}

/// Tells whether a port seems to speak another protocol than TLS.
fn is_without_tls(error: &anyhow::Error) -> bool {
    let is_fault = |fault: &NetworkFault| matches!(fault, NetworkFault::NotTls(_));
    error.chain().any(|cause| match cause.downcast_ref::<Cause>() {
        Some(Cause::Network(fault)) => is_fault(fault),
        _ => cause.downcast_ref::<NetworkFault>().is_some_and(is_fault),
    })
}

/// The gravest trouble decides.
fn exit_of(report: &Report) -> Exit {
    match report.worst() {
        None => Exit::Clean,
        Some(Kind::Network) => Exit::Network,
        Some(Kind::Integrity) => Exit::Integrity,
        Some(Kind::Policy) => Exit::Refused,
    }
}

fn write_text(report: &Report, out: &mut Output) -> anyhow::Result<()> {
    let Report { origin, rung, requests, pages, added, changed, removed, withheld, .. } = report;
    let cost = format!("{}, {}", counted(*requests, "request"), bytes(report.bytes));
    writeln!(out.summary(), "{origin}: by {}, {cost}", rung.name())?;
    let without = match withheld {
        0 => String::new(),
        n => format!(", {n} of them withheld"),
    };
    let pages = counted(*pages, "page");
    let what = format!("{added} added, {changed} changed, {removed} removed");
    writeln!(out.summary(), "  {pages}{without}: {what}")?;
    for (name, section) in &report.sections {
        let proof = if section.is_proved { ", proved" } else { "" };
        writeln!(
            out.summary(),
            "  {}: {}, {}; {}{proof}",
            visible(name),
            counted(section.pages, "page"),
            counted(section.files, "file"),
            section.reason
        )?;
    }
    if let Some(n_entries) = report.arc {
        writeln!(out.summary(), "  ARC: {}", counted(n_entries, "entry"))?;
    }
    if let Some(n_entities) = report.entities {
        writeln!(out.summary(), "  SPXI: {}", counted(n_entities, "entity"))?;
    }
    for (reason, n_pages) in &report.left_out {
        writeln!(
            out.summary(),
            "  left out: {}, {}",
            counted(*n_pages, "page"),
            visible(&reason.to_string())
        )?;
    }
    if 0 < report.n_unlisted {
        let pages = counted(report.n_unlisted, "page");
        writeln!(out.summary(), "  {pages} that links lead to and no sitemap lists:")?;
        for url in report.unlisted.iter().take(SHOWN_UNLISTED) {
            writeln!(out.summary(), "    {}", visible(url))?;
        }
        let n_more = report.n_unlisted.saturating_sub(SHOWN_UNLISTED as u64);
        if 0 < n_more {
            writeln!(out.summary(), "    and {n_more} more; --json names up to 1000")?;
        }
    }
    if let Some(better) = &report.better {
        writeln!(
            out.summary(),
            "  by {} it would have been {}, about {}",
            better.rung.name(),
            counted(better.requests, "request"),
            bytes(better.bytes)
        )?;
    }
    for trouble in &report.troubles {
        let weight = if trouble.is_mended { "note" } else { "warning" };
        out.warn(format_args!("{weight}: {}: {}", visible(&trouble.place), visible(&trouble.text)));
    }
    if report.sections.values().any(|section| section.reason == Reason::Waiting) {
        out.warn("hint: --allow-mass-delete lets pages go, larger quotas let them in");
    }
    let mut by_url: Vec<(String, Findings)> = Vec::new();
    for (url, finding) in &report.findings {
        if by_url.last().is_none_or(|(last, _)| last != url) {
            by_url.push((url.clone(), Findings::new(Mode::Lenient)));
        }
        if let Some((_, findings)) = by_url.last_mut() {
            findings.report(finding.clone());
        }
    }
    for (url, findings) in &by_url {
        say_findings(url, findings, out);
    }
    Ok(())
}

async fn audit(
    args: &Args,
    visitor: &Visitor,
    sites: &[Named],
    rows: &mut Rows,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Clean;
    for site in sites {
        let url = &site.url;
        let audit = match visitor_of(visitor, site).audit(url).await {
            Ok(audit) => audit,
            Err(error) => {
                exit = exit.max(failed(args, url, error, rows, out)?);
                continue;
            }
        };
        if rows.is_text() {
            write_audit(&audit, out)?;
        } else {
            rows.push(json::of_audit(&audit).to_string(), out)?;
        }
        if audit.is_bad() {
            exit = exit.max(Exit::Integrity);
        }
    }
    Ok(exit)
}

fn write_audit(audit: &Audit, out: &mut Output) -> anyhow::Result<()> {
    let cost = format!("{}, {}", counted(audit.requests, "request"), bytes(audit.bytes));
    writeln!(out.data(), "{}: {cost}", audit.origin)?;
    for (name, proof) in &audit.sections {
        let (word, detail) = match proof {
            Proof::ByState => ("proved by its state", ""),
            Proof::ByLines => ("proved by every line", ""),
            Proof::Differs(text) => ("differs", text.as_str()),
            Proof::Open(text) => ("open", text.as_str()),
        };
        let gap = if detail.is_empty() { "" } else { ": " };
        writeln!(out.data(), "  {}: {word}{gap}{}", visible(name), visible(detail))?;
    }
    for fault in &audit.faults {
        writeln!(out.data(), "  fault: {}", visible(fault))?;
    }
    if 0 < audit.marked {
        let pages = counted(audit.marked, "damaged page");
        writeln!(out.data(), "  to be fetched again by the next sync: {pages}")?;
    }
    Ok(())
}

async fn preview(
    args: &Args,
    visitor: &Visitor,
    sites: &[Named],
    rows: &mut Rows,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Clean;
    for site in sites {
        let url = &site.url;
        match visitor_of(visitor, site).preview(url).await {
            Ok(preview) if rows.is_text() => write_preview(&preview, out)?,
            Ok(preview) => rows.push(json::of_preview(&preview).to_string(), out)?,
            Err(error) => exit = exit.max(failed(args, url, error, rows, out)?),
        }
    }
    Ok(exit)
}

fn write_preview(preview: &Preview, out: &mut Output) -> anyhow::Result<()> {
    let Preview { origin, rung, why, .. } = preview;
    writeln!(
        out.data(),
        "{origin}: would be read by {} ({})",
        rung.name(),
        visible(&redacted(why))
    )?;
    if let Some(plan) = &preview.plan {
        for (section, step) in &plan.steps {
            let (files, size) = (counted(step.requests(), "file"), bytes(step.bytes()));
            let section = visible(section);
            writeln!(out.data(), "  {section}: {files}, {size}; {}", step.reason)?;
            for file in step.files() {
                let url = visible(&redacted(&file.url));
                writeln!(out.data(), "    {url}  {}", bytes(file.size))?;
            }
        }
    }
    if let Some(pages) = preview.pages {
        writeln!(out.data(), "  up to {}", counted(pages, "request"))?;
    }
    let cost = format!("{}, {}", counted(preview.requests, "request"), bytes(preview.bytes));
    out.say(format_args!("{cost} to look around"));
    Ok(())
}
