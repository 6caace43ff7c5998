//! `rutter sync`: creates or updates a local replica of sites.
//!
//! Input: sites, from arguments or a file. Output: one report for each site, as text or JSON. Sites
//! are synced concurrently; a site that fails does not stop the other sites. `--dry-run` plans
//! only, and `--audit` verifies the replica.

mod json;
mod limits;
mod progress;
mod signals;
mod sites;
mod summary;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rutter_fetch::{Clock as _, FailureCause, NetworkFault, SystemClock, Url};
use rutter_finding::visible;
use rutter_scp::MassDeletionPolicy;
use rutter_store::Quota;
use rutter_store::prelude::*;
use rutter_sync::{ProblemKind, SyncError, SyncOptions, SyncReport, Syncer};
use tokio::task::JoinSet;

use crate::commands::counted;
use crate::commands::discover::NetworkArgs;
use crate::exit::{ExitStatus, is_damage};
use crate::output::{Output, Progress};
use crate::records::{RecordArgs, RecordFormat, RecordWriter};
use crate::replica::{CreatedFiles, StoreArgs};
use limits::CrawlLimitArgs;
use progress::SyncProgress;
use signals::SignalWatcher;
use sites::{ScopeArgs, SiteList, SiteToSync, sites};
use summary::{write_audit, write_preview, write_text};

/// Maximum number of pages listed in no sitemap whose URLs the text output shows.
const SHOWN_UNLISTED: usize = 10;
/// Maximum number of sites that are synced at the same time.
const AT_ONCE: usize = 64;

/// Arguments of `rutter sync`.
#[derive(Debug, clap::Args)]
// More than 12 fields: one field per option.
pub(crate) struct SyncArgs {
    /// URLs of sites to sync
    ///
    /// Without a scheme, https:// is used. A path limits the sync to the pages at and below it.
    /// Examples: harbour.example, <https://example.org/docs>.
    #[arg(value_name = "SITE", required_unless_present = "file")]
    sites: Vec<String>,
    /// File with one site per line, `-` for standard input
    ///
    /// A site can be followed by settings: alias=ORIGIN, pace=SECONDS, include=GLOB,...,
    /// exclude=GLOB,..., language=LANGUAGE,..., follow-links. A # starts a comment. Invalid lines
    /// are reported and the other sites are synced. With --watch, the file is read again before
    /// each round. Example: example.org/docs pace=2 exclude=/docs/old/**
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
    /// Show what a sync would download, without changing the replica
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// Verify the replica against the publisher
    ///
    /// Checks all stored pages, then compares each section with the newest collection of the
    /// publisher. The exit code is 4 if something differs. Damaged pages are marked, and the next
    /// sync fetches them again; nothing else is changed.
    #[arg(long, conflicts_with_all = ["watch", "dry_run"])]
    audit: bool,
    /// Repeat every N seconds until interrupted
    ///
    /// If the option has no value, the sync is repeated every 900 seconds. TERM and INT stop the
    /// program.
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        default_missing_value = "900",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    watch: Option<u64>,
    /// Apply a collection that deletes most pages of a section
    ///
    /// By default, a collection that deletes more than half of the pages is not applied: it may
    /// be a mistake of the publisher.
    #[arg(long)]
    allow_mass_delete: bool,
    /// Other origin of the same site; may be repeated
    ///
    /// Pages of this origin belong to the site. The replica remembers the alias. The option
    /// requires exactly one SITE; in a file, write alias=ORIGIN after the site. Example:
    /// <https://www.example.org>.
    #[arg(long, value_name = "ORIGIN")]
    alias: Vec<String>,
    /// Maximum number of pages to fetch one by one in a sync
    ///
    /// The limit applies to sites without collections. The next sync fetches the remaining pages.
    #[arg(long, value_name = "N", default_value_t = SyncOptions::default().most_pages)]
    most_pages: u64,
    /// Maximum number of pages of a site in the replica
    ///
    /// A collection with more pages is refused.
    #[arg(long, value_name = "N", default_value_t = Quota::DEFAULT.pages)]
    quota_pages: u64,
    /// Maximum size of the pages of a site in the replica, in bytes
    ///
    /// Pages beyond this size are stored without content.
    #[arg(long, value_name = "BYTES", default_value_t = Quota::DEFAULT.bytes)]
    quota_bytes: u64,
    #[command(flatten)]
    rows: RecordArgs,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    limits: CrawlLimitArgs,
    #[command(flatten)]
    net: NetworkArgs,
}

impl SyncArgs {
    /// Reads the list of sites.
    fn list(&self) -> anyhow::Result<SiteList> {
        sites(&self.sites, &self.alias, self.file.as_deref(), &self.scope)
    }
}

pub(crate) fn run(args: &SyncArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    anyhow::ensure!(
        args.watch.is_none() || args.rows.format() != RecordFormat::Json,
        "--watch cannot be used with a JSON document; use --format jsonl"
    );
    let list = args.list()?;
    for fault in &list.faults {
        out.warn(format_args!("error: skipped: {}", visible(fault)));
    }
    anyhow::ensure!(!list.sites.is_empty(), "no site is given");
    let options = SyncOptions {
        mass_deletion: if args.allow_mass_delete {
            MassDeletionPolicy::Allowed
        } else {
            MassDeletionPolicy::Refused
        },
        most_pages: args.most_pages,
        limits: args.limits.limits(),
        quota: Quota { pages: args.quota_pages, bytes: args.quota_bytes },
        ..SyncOptions::default()
    };
    let (settings, (means, _)) = (args.net.settings()?, args.net.means()?);
    let mut signals = SignalWatcher::listen()?;
    let (store, made): (Arc<dyn Store>, CreatedFiles) = if args.dry_run {
        (args.store.look()?, CreatedFiles::default())
    } else if args.audit {
        // A replica that does not exist cannot be verified and is not created.
        (Arc::new(args.store.open_to_write()?), CreatedFiles::default())
    } else {
        args.store.make()?
    };
    let syncer = Syncer::new(settings, means, store, args.store.spools(), options);
    let syncer = Arc::new(syncer);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(rounds(args, &syncer, list, &mut signals, out));
    // Do not wait for tasks that still write: commits are atomic.
    runtime.shutdown_background();
    drop(syncer);
    args.store.unmake(made);
    ended
}

/// Syncs all sites once, or repeatedly with `--watch`.
async fn rounds(
    args: &SyncArgs,
    syncer: &Arc<Syncer>,
    mut list: SiteList,
    signals: &mut SignalWatcher,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let mut rows = args.rows.rows("sites");
    loop {
        if args.watch.is_some() {
            let n_sites = counted(list.sites.len() as u64, "site");
            out.say(format_args!("{}: syncing {n_sites}", SystemClock::default().now()));
        }
        let round = async {
            if args.audit {
                audit(args, syncer, &list.sites, &mut rows, out).await
            } else if args.dry_run {
                preview(args, syncer, &list.sites, &mut rows, out).await
            } else {
                visit(args, syncer, &list, &mut rows, out).await
            }
        };
        let exit = tokio::select! {
            exit = round => exit?,
            () = signals.come() => {
                rows.finish(out)?;
                return Ok(ended(args, out));
            }
        };
        // An invalid line of the file counts as an invalid argument.
        let exit = if list.faults.is_empty() { exit } else { exit.max(ExitStatus::Failure) };
        let Some(seconds) = args.watch else {
            rows.finish(out)?;
            return Ok(exit);
        };
        out.flush()?;
        let now = SystemClock::default().now();
        let next = now.plus_seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
        out.say(format_args!("{now}: finished, next sync at {next}"));
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
            () = signals.come() => return Ok(ExitStatus::Clean),
        }
        reread(args, &mut list, out);
    }
}

/// Reads the file of sites again. Keeps the previous list if the file cannot be read or names no
/// site.
fn reread(args: &SyncArgs, list: &mut SiteList, out: &mut Output) {
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

/// Returns the exit code after a signal: success with `--watch`, because only a signal ends the
/// repetition.
fn ended(args: &SyncArgs, out: &mut Output) -> ExitStatus {
    if args.watch.is_some() {
        return ExitStatus::Clean;
    }
    out.say("interrupted: committed pages are kept, and the next sync continues");
    ExitStatus::Failure
}

async fn visit(
    args: &SyncArgs,
    syncer: &Arc<Syncer>,
    list: &SiteList,
    rows: &mut RecordWriter,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let shown = Arc::new(SyncProgress(Progress::new(out.verbosity())));
    let mut tally = SiteCounts::default();
    let mut waiting = list.sites.iter().cloned();
    let mut running: JoinSet<(Url, Result<SyncReport, SyncError>)> = JoinSet::new();
    let mut exit = ExitStatus::Clean;
    loop {
        while running.len() < AT_ONCE
            && let Some(site) = waiting.next()
        {
            let syncer = syncer_of(syncer, &site);
            let (url, shown) = (site.url, Arc::clone(&shown));
            running.spawn(async move {
                let result = syncer.sync(&url, shown.as_ref()).await;
                (url, result)
            });
        }
        let Some(done) = running.join_next().await else { break };
        let (site, result) = match done {
            Ok(done) => done,
            // A panic in the task of one site does not stop the others.
            Err(error) => {
                out.error(&error.into());
                tally.add(ExitStatus::Failure);
                exit = exit.max(ExitStatus::Failure);
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
    // All pages are committed; if the maintenance of the replica fails now, the next sync repeats
    // it.
    if let Err(error) = syncer.maintain() {
        let error = args.store.named(error.into());
        if is_damage(&error) {
            out.error(&error);
            return Ok(exit.max(ExitStatus::Integrity));
        }
        out.warn(format_args!(
            "warning: maintenance of the replica failed and will be repeated: {error:#}"
        ));
    }
    Ok(exit)
}

/// Returns the syncer with the settings of one site.
fn syncer_of(syncer: &Syncer, site: &SiteToSync) -> Syncer {
    if let Some(pace) = site.pace {
        syncer.set_min_delay(&site.url, pace);
    }
    syncer.with_options(site.options(syncer.options()))
}

/// Numbers of sites by result.
#[derive(Debug, Default)]
struct SiteCounts {
    synced: u64,
    failed: u64,
    refused: u64,
}

impl SiteCounts {
    fn add(&mut self, exit: ExitStatus) {
        match exit {
            ExitStatus::Clean | ExitStatus::Findings => self.synced += 1,
            ExitStatus::Refused => self.refused += 1,
            ExitStatus::Failure | ExitStatus::Network | ExitStatus::Integrity => self.failed += 1,
        }
    }

    /// Returns the line that sums up all sites.
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

/// Reports a site that failed and returns the exit code.
fn failed(
    args: &SyncArgs,
    site: &Url,
    error: SyncError,
    rows: &mut RecordWriter,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let error = args.store.named(error.into()).context(site.to_string());
    rows.push(json::of_failure(site, &error).to_string(), out)?;
    out.error(&error);
    if is_without_tls(&error) {
        let plain = site.as_str().replacen("https://", "http://", 1);
        let plain = plain.trim_end_matches('/');
        out.warn(format_args!("hint: if the server uses plain HTTP, try {plain} --allow-http"));
    }
    Ok(ExitStatus::of(&error))
}

/// Returns whether the server seems to use a protocol other than TLS on this port.
fn is_without_tls(error: &anyhow::Error) -> bool {
    let is_fault = |fault: &NetworkFault| matches!(fault, NetworkFault::NotTls(_));
    error.chain().any(|cause| match cause.downcast_ref::<FailureCause>() {
        Some(FailureCause::Network(fault)) => is_fault(fault),
        _ => cause.downcast_ref::<NetworkFault>().is_some_and(is_fault),
    })
}

/// Returns the exit code of the most severe problem.
fn exit_of(report: &SyncReport) -> ExitStatus {
    match report.worst() {
        None => ExitStatus::Clean,
        Some(ProblemKind::Network) => ExitStatus::Network,
        Some(ProblemKind::Integrity) => ExitStatus::Integrity,
        Some(ProblemKind::Policy) => ExitStatus::Refused,
    }
}

async fn audit(
    args: &SyncArgs,
    syncer: &Syncer,
    sites: &[SiteToSync],
    rows: &mut RecordWriter,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let mut exit = ExitStatus::Clean;
    for site in sites {
        let url = &site.url;
        let audit = match syncer_of(syncer, site).audit(url).await {
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
            exit = exit.max(ExitStatus::Integrity);
        }
    }
    Ok(exit)
}

async fn preview(
    args: &SyncArgs,
    syncer: &Syncer,
    sites: &[SiteToSync],
    rows: &mut RecordWriter,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let mut exit = ExitStatus::Clean;
    for site in sites {
        let url = &site.url;
        match syncer_of(syncer, site).preview(url).await {
            Ok(preview) if rows.is_text() => write_preview(&preview, out)?,
            Ok(preview) => rows.push(json::of_preview(&preview).to_string(), out)?,
            Err(error) => exit = exit.max(failed(args, url, error, rows, out)?),
        }
    }
    Ok(exit)
}
