//! `rutter sync`: keeps a replica of sites, by the cheapest honest way.

mod signals;
mod sites;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rutter_fetch::Url;
use rutter_finding::{FindingSink, Mode, Report as Findings, visible};
use rutter_scp::MassDeletion;
use rutter_store::{Quota, Store};
use rutter_sync::plan::Reason;
use rutter_sync::{Event, Kind, Options, Preview, Proof, Report, VisitError, Visitor, Watcher};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::commands::discover::NetArgs;
use crate::commands::{bytes, counted, say_findings};
use crate::exit::{Exit, is_damage};
use crate::output::{Output, Progress};
use crate::replica::{Made, StoreArgs};
use signals::Signals;
use sites::{Named, sites};

/// Sites that are visited at the same time.
const AT_ONCE: usize = 64;

/// What the arguments say.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags of a command line")]
pub(crate) struct Args {
    /// Addresses of sites; https:// where no scheme is given
    #[arg(value_name = "SITE", required_unless_present = "file")]
    sites: Vec<String>,
    /// A file with one site on each line, other addresses of the same site
    /// behind it; `#` begins a remark
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
    /// Say what would be done, and why, and change nothing
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// Prove the replica against the publisher's states and lines, and change
    /// nothing
    #[arg(long, conflicts_with_all = ["watch", "dry_run"])]
    audit: bool,
    /// Do it again and again, until a signal comes
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
    /// Print one JSON object for each site
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    net: NetArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let sites = sites(&args.sites, &args.alias, args.file.as_deref())?;
    let options = Options {
        mass_deletion: if args.allow_mass_delete {
            MassDeletion::Allowed
        } else {
            MassDeletion::Refused
        },
        most_pages: args.most_pages,
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
    let ended = runtime.block_on(rounds(args, &visitor, &sites, &mut signals, out));
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
    sites: &[Named],
    signals: &mut Signals,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    loop {
        let round = async {
            if args.audit {
                audit(args, visitor, sites, out).await
            } else if args.dry_run {
                preview(args, visitor, sites, out).await
            } else {
                visit(args, visitor, sites, out).await
            }
        };
        let exit = tokio::select! {
            exit = round => exit?,
            () = signals.come() => return Ok(ended(args, out)),
        };
        out.flush()?;
        let Some(seconds) = args.watch else { return Ok(exit) };
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
            () = signals.come() => return Ok(Exit::Clean),
        }
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
        let text = match event {
            Event::Looking => "looking around".to_owned(),
            Event::Planned(plan) => {
                let (size, requests) = plan.total();
                format!("{}, {}", counted(requests, "file"), bytes(size))
            }
            Event::Fetching { url, size } => format!("fetching {}, {}", visible(url), bytes(size)),
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
    sites: &[Named],
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let shown = Arc::new(Shown(Progress::new()));
    let mut waiting = sites.iter().cloned();
    let mut running: JoinSet<(Url, Result<Report, VisitError>)> = JoinSet::new();
    let mut exit = Exit::Clean;
    loop {
        while running.len() < AT_ONCE
            && let Some(Named { url, aliases }) = waiting.next()
        {
            let (visitor, shown) = (visitor.with_aliases(aliases), Arc::clone(&shown));
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
                exit = exit.max(Exit::Failure);
                continue;
            }
        };
        shown.0.done(site.as_str().trim_end_matches('/'));
        let one = match result {
            Ok(report) => {
                if args.json {
                    write_json(&report, out)?;
                } else {
                    write_text(&report, out)?;
                }
                exit_of(&report)
            }
            Err(error) => failed(args, &site, error, out)?,
        };
        exit = exit.max(one);
    }
    // The pages are in; a replica that is not tidied now is tidied next time.
    if let Err(error) = visitor.maintain() {
        let error = args.store.named(error.into());
        if is_damage(&error) {
            out.error(&error);
            return Ok(exit.max(Exit::Integrity));
        }
        out.say(format_args!("warning: the replica was not tidied: {error:#}"));
    }
    Ok(exit)
}

/// Says why a site came to nothing.
fn failed(args: &Args, site: &Url, error: VisitError, out: &mut Output) -> anyhow::Result<Exit> {
    let error = args.store.named(error.into()).context(site.to_string());
    if args.json {
        let text = format!("{error:#}");
        writeln!(out.data(), "{}", json!({"version": 1, "site": site.as_str(), "error": text}))?;
    }
    out.error(&error);
    Ok(Exit::of(&error))
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
    writeln!(out.data(), "{origin}: by {}, {cost}", rung.name())?;
    let without = match withheld {
        0 => String::new(),
        n => format!(", {n} of them withheld"),
    };
    let pages = counted(*pages, "page");
    let what = format!("{added} added, {changed} changed, {removed} removed");
    writeln!(out.data(), "  {pages}{without}: {what}")?;
    for (name, section) in &report.sections {
        let proof = if section.is_proved { ", proved" } else { "" };
        writeln!(
            out.data(),
            "  {}: {}, {}; {}{proof}",
            visible(name),
            counted(section.pages, "page"),
            counted(section.files, "file"),
            section.reason
        )?;
    }
    if let Some(n_entries) = report.arc {
        writeln!(out.data(), "  ARC: {}", counted(n_entries, "entry"))?;
    }
    if let Some(n_entities) = report.entities {
        writeln!(out.data(), "  SPXI: {}", counted(n_entities, "entity"))?;
    }
    for (reason, n_pages) in &report.left_out {
        writeln!(out.data(), "  left out: {}, {}", counted(*n_pages, "page"), visible(reason))?;
    }
    if let Some(better) = &report.better {
        writeln!(
            out.data(),
            "  by {} it would have been {}, about {}",
            better.rung.name(),
            counted(better.requests, "request"),
            bytes(better.bytes)
        )?;
    }
    for trouble in &report.troubles {
        let weight = if trouble.is_mended { "note" } else { "warning" };
        out.say(format_args!("{weight}: {}: {}", visible(&trouble.place), visible(&trouble.text)));
    }
    if report.sections.values().any(|section| section.reason == Reason::Waiting) {
        out.say("hint: --allow-mass-delete lets pages go, larger quotas let them in");
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

fn write_json(report: &Report, out: &mut Output) -> anyhow::Result<()> {
    let sections: serde_json::Map<String, Value> = report
        .sections
        .iter()
        .map(|(name, section)| {
            let value = json!({
                "pages": section.pages,
                "files": section.files,
                "reason": section.reason.to_string(),
                "proved": section.is_proved,
            });
            (name.clone(), value)
        })
        .collect();
    let troubles: Vec<Value> = report
        .troubles
        .iter()
        .map(|trouble| {
            let kind = match trouble.kind {
                Kind::Network => "network",
                Kind::Integrity => "integrity",
                Kind::Policy => "policy",
            };
            json!({
                "place": trouble.place,
                "kind": kind,
                "text": trouble.text,
                "mended": trouble.is_mended,
            })
        })
        .collect();
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|(url, finding)| json!({"url": url, "code": finding.rule.code, "detail": finding.detail}))
        .collect();
    let better = report.better.map(|better| {
        json!({"rung": better.rung.name(), "requests": better.requests, "bytes": better.bytes})
    });
    let answer = json!({
        "version": 1,
        "site": report.origin,
        "rung": report.rung.name(),
        "requests": report.requests,
        "bytes": report.bytes,
        "pages": report.pages,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "withheld": report.withheld,
        "sections": sections,
        "left_out": report.left_out,
        "arc": report.arc,
        "entities": report.entities,
        "better": better,
        "troubles": troubles,
        "findings": findings,
    });
    writeln!(out.data(), "{answer}")?;
    Ok(())
}

async fn audit(
    args: &Args,
    visitor: &Visitor,
    sites: &[Named],
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Clean;
    for Named { url, aliases } in sites {
        let audit = match visitor.with_aliases(aliases.clone()).audit(url).await {
            Ok(audit) => audit,
            Err(error) => {
                exit = exit.max(failed(args, url, error, out)?);
                continue;
            }
        };
        let sections = audit.sections.iter().map(|(name, proof)| {
            let (word, detail) = match proof {
                Proof::ByState => ("proved by its state", String::new()),
                Proof::ByLines => ("proved by every line", String::new()),
                Proof::Differs(text) => ("differs", text.clone()),
                Proof::Open(text) => ("open", text.clone()),
            };
            (name.clone(), word, detail)
        });
        if args.json {
            let sections: Vec<Value> = sections
                .map(|(name, word, detail)| json!({"section": name, "proof": word, "detail": detail}))
                .collect();
            let answer = json!({
                "version": 1,
                "site": audit.origin,
                "sections": sections,
                "faults": audit.faults,
                "requests": audit.requests,
                "bytes": audit.bytes,
            });
            writeln!(out.data(), "{answer}")?;
        } else {
            let cost = format!("{}, {}", counted(audit.requests, "request"), bytes(audit.bytes));
            writeln!(out.data(), "{}: {cost}", audit.origin)?;
            for (name, word, detail) in sections {
                let gap = if detail.is_empty() { "" } else { ": " };
                writeln!(out.data(), "  {}: {word}{gap}{}", visible(&name), visible(&detail))?;
            }
            for fault in &audit.faults {
                writeln!(out.data(), "  fault: {}", visible(fault))?;
            }
        }
        if audit.is_bad() {
            exit = exit.max(Exit::Integrity);
        }
    }
    Ok(exit)
}

async fn preview(
    args: &Args,
    visitor: &Visitor,
    sites: &[Named],
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Clean;
    for Named { url, .. } in sites {
        match visitor.preview(url).await {
            Ok(preview) if args.json => write_preview_json(&preview, out)?,
            Ok(preview) => write_preview(&preview, out)?,
            Err(error) => exit = exit.max(failed(args, url, error, out)?),
        }
    }
    Ok(exit)
}

fn write_preview(preview: &Preview, out: &mut Output) -> anyhow::Result<()> {
    let Preview { origin, rung, why, .. } = preview;
    writeln!(out.data(), "{origin}: would be read by {} ({})", rung.name(), visible(why))?;
    if let Some(plan) = &preview.plan {
        for (section, step) in &plan.steps {
            let (files, size) = (counted(step.requests(), "file"), bytes(step.bytes()));
            let section = visible(section);
            writeln!(out.data(), "  {section}: {files}, {size}; {}", step.reason)?;
            for file in step.files() {
                writeln!(out.data(), "    {}  {}", visible(&file.url), bytes(file.size))?;
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

fn write_preview_json(preview: &Preview, out: &mut Output) -> anyhow::Result<()> {
    let steps: Option<Vec<Value>> = preview.plan.as_ref().map(|plan| {
        let steps = plan.steps.iter();
        steps
            .map(|(section, step)| {
                let files: Vec<Value> = step
                    .files()
                    .iter()
                    .map(|file| json!({"url": file.url, "size": file.size}))
                    .collect();
                json!({"section": section, "reason": step.reason.to_string(), "files": files})
            })
            .collect()
    });
    let answer = json!({
        "version": 1,
        "site": preview.origin,
        "rung": preview.rung.name(),
        "why": preview.why,
        "plan": steps,
        "pages": preview.pages,
        "requests": preview.requests,
        "bytes": preview.bytes,
    });
    writeln!(out.data(), "{answer}")?;
    Ok(())
}
