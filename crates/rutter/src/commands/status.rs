//! `rutter status`: shows the content of a replica and how up to date it is.
//!
//! Output: a table with one row per site; with `--site` also the sections, the sources and the last
//! collection of that site.

use std::fs;

use rutter_finding::visible;
use rutter_page::Timestamp;
use rutter_store::prelude::*;
use rutter_store::{DownloadRecord, ErasedSite, PageCount, Publisher, Section, VisitRecord};
use serde_json::{Value, json};

use crate::commands::{counted, format_bytes};
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::replica::{SiteArgs, StoreArgs};

/// Arguments of `rutter status`.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// The status of one site.
struct SiteStatus {
    publisher: Publisher,
    census: Vec<PageCount>,
    sections: Vec<Section>,
    last: Option<DownloadRecord>,
    visit: Option<VisitRecord>,
    n_entities: usize,
}

pub(crate) fn run(args: &StatusArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    execute(args, out).map_err(|error| args.store.named(error))
}

fn execute(args: &StatusArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let store = args.store.open()?;
    let mut statuses = Vec::new();
    for publisher in args.site.publishers(&store)? {
        let id = publisher.id;
        statuses.push(SiteStatus {
            publisher,
            census: store.page_counts(id)?,
            sections: store.sections(id)?,
            last: store.downloads(id, 1)?.pop(),
            visit: store.last_visit(id)?,
            n_entities: store.entities(id)?.len(),
        });
    }
    let write = if args.json { write_json } else { write_text };
    write(args, &store, &statuses, out)?;
    Ok(ExitStatus::Clean)
}

impl SiteStatus {
    fn withheld(&self) -> u64 {
        self.census.iter().filter(|it| it.withheld.is_some()).map(|it| it.pages).sum()
    }

    /// Returns the time up to which all changes are in the replica: the earliest `mark` of the
    /// sections.
    fn fresh_as_of(&self) -> Option<Timestamp> {
        self.sections.iter().map(|section| section.mark).min()
    }

    /// Returns the number of sections with a collection that is held back, because it would delete
    /// more than half of the pages.
    fn held(&self) -> usize {
        self.sections.iter().filter(|section| section.held.is_some()).count()
    }

    fn left_out(&self) -> u64 {
        self.visit.iter().flat_map(|visit| visit.left_out.values()).sum()
    }
}

fn write_json(
    args: &StatusArgs,
    store: &dyn Store,
    statuses: &[SiteStatus],
    out: &mut Output,
) -> anyhow::Result<()> {
    let history = store.history()?;
    let sites: Vec<Value> = statuses.iter().map(site_json).collect();
    let forgotten: Vec<Value> = forgotten(args, store)?
        .into_iter()
        .map(|it| json!({ "site": it.origin, "at": it.at, "pages": it.pages }))
        .collect();
    let answer = json!({
        "version": 1,
        "store": args.store.path().to_string_lossy(),
        "bytes": fs::metadata(args.store.path())?.len(),
        "history": {
            "events": history.events,
            "oldest": history.oldest,
            "cursor": history.cursor.to_string(),
        },
        "unindexed": store.unindexed()?,
        "sites": sites,
        "forgotten": forgotten,
    });
    out.exact(&serde_json::to_string_pretty(&answer)?)
}

/// Returns the forgotten sites, or none if `--site` selects a site.
fn forgotten(args: &StatusArgs, store: &dyn Store) -> anyhow::Result<Vec<ErasedSite>> {
    Ok(if args.site.site.is_some() { Vec::new() } else { store.forgotten()? })
}

fn site_json(status: &SiteStatus) -> Value {
    let SiteStatus { publisher, census, sections, last, visit, n_entities } = status;
    let visit = visit.as_ref().map(|visit| {
        json!({
            "at": visit.at,
            "result": visit.result,
            "method": visit.method,
            "error": visit.error,
            "requests": visit.requests,
            "bytes": visit.bytes,
            "left_out": visit.left_out,
        })
    });
    let pages: Vec<Value> = census
        .iter()
        .map(|it| {
            let withheld = it.withheld.map(rutter_store::WithheldReason::word);
            json!({ "source": it.source.word(), "withheld": withheld, "pages": it.pages })
        })
        .collect();
    let sections: Vec<Value> = sections
        .iter()
        .map(|section| {
            json!({
                "name": section.name,
                "pages": section.pages,
                "mark": section.mark,
                "state": section.state.to_string(),
                "proved": section.is_proved,
                "snapshot_at": section.snapshot_at,
                "deltas_since": section.deltas_since,
                "held": section.held,
            })
        })
        .collect();
    let last = last.as_ref().map(|taken| {
        json!({
            "at": taken.at,
            "kind": taken.mode.word(),
            "section": taken.section,
            "url": taken.url,
            "generated": taken.generated,
            "bytes": taken.bytes,
            "outcome": taken.outcome,
        })
    });
    json!({
        "site": publisher.origin,
        "aliases": publisher.aliases,
        "pages": publisher.pages,
        "withheld": status.withheld(),
        "bytes": publisher.bytes,
        "census": pages,
        "sections": sections,
        "last": last,
        "last_visit": visit,
        "fresh_as_of": status.fresh_as_of(),
        "held": status.held(),
        "left_out": status.left_out(),
        "entities": n_entities,
        "paused_until": publisher.paused_until,
        "busy": publisher.lease.as_ref().map(|(holder, until)| json!({ "holder": holder, "until": until })),
    })
}

fn write_text(
    args: &StatusArgs,
    store: &dyn Store,
    statuses: &[SiteStatus],
    out: &mut Output,
) -> anyhow::Result<()> {
    let size = format_bytes(fs::metadata(args.store.path())?.len());
    let history = store.history()?;
    let data = out.data();
    writeln!(data, "replica    {}, {size}", visible(&args.store.path().to_string_lossy()))?;
    let events = counted(history.events, "change");
    let since = history.oldest.map_or(String::new(), |time| format!(" since {time}"));
    writeln!(data, "history    {events}{since}")?;
    writeln!(data, "cursor     {}", history.cursor)?;
    let index = match store.unindexed()? {
        None => "not created yet; the first search creates it".to_owned(),
        Some(0) => "up to date".to_owned(),
        Some(n) => format!("{} not indexed yet", counted(n, "change")),
    };
    writeln!(data, "full text  {index}")?;
    if !statuses.is_empty() {
        writeln!(data)?;
        table(statuses, data)?;
    }
    for ErasedSite { origin, at, pages } in forgotten(args, store)? {
        let pages = counted(pages, "page");
        writeln!(data, "forgotten  {} at {at}, {pages}", visible(&origin))?;
    }
    if args.site.site.is_some() {
        for status in statuses {
            site_text(status, data)?;
        }
    }
    Ok(())
}

/// Writes a table with one row per site, and the error of a site below its row.
fn table(statuses: &[SiteStatus], data: &mut dyn std::io::Write) -> anyhow::Result<()> {
    const HEAD: [&str; 8] =
        ["site", "pages", "withheld", "not stored", "held", "last sync", "result", "fresh as of"];
    let dash = || "-".to_owned();
    let rows: Vec<[String; 8]> = statuses
        .iter()
        .map(|status| {
            let visit = status.visit.as_ref();
            [
                visible(&status.publisher.origin),
                status.publisher.pages.to_string(),
                status.withheld().to_string(),
                status.left_out().to_string(),
                status.held().to_string(),
                visit.map_or_else(dash, |visit| visit.at.to_string()),
                visit.map_or_else(dash, |visit| visible(&visit.result)),
                status.fresh_as_of().map_or_else(dash, |time| time.to_string()),
            ]
        })
        .collect();
    let heads = HEAD.map(str::to_owned);
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|at| {
            let cells = rows.iter().chain([&heads]).filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: &[String; 8]| -> String {
        let cells = cells.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
            // Numbers are right-aligned.
            if (1..=4).contains(&at) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    writeln!(data, "{}", line(&heads))?;
    for (row, status) in rows.iter().zip(statuses) {
        writeln!(data, "{}", line(row))?;
        if let Some(error) = status.visit.as_ref().and_then(|visit| visit.error.as_ref()) {
            writeln!(data, "  {}", visible(error))?;
        }
    }
    Ok(())
}

fn site_text(status: &SiteStatus, data: &mut dyn std::io::Write) -> anyhow::Result<()> {
    let SiteStatus { publisher, census, sections, last, visit, n_entities } = status;
    writeln!(data, "\n{}", visible(&publisher.origin))?;
    for (reason, n) in visit.iter().flat_map(|visit| &visit.left_out) {
        writeln!(data, "  not stored {n} ({})", visible(reason))?;
    }
    let (pages, size) = (counted(publisher.pages, "page"), format_bytes(publisher.bytes));
    writeln!(data, "  pages    {pages}, {size}")?;
    for PageCount { source, withheld, pages } in census {
        let why = withheld.map_or("", rutter_store::WithheldReason::word);
        let gap = if withheld.is_some() { ", withheld: " } else { "" };
        writeln!(data, "           {pages} from {}{gap}{why}", source.word())?;
    }
    for section in sections {
        let (name, pages) = (visible(&section.name), counted(section.pages, "page"));
        let proved = if section.is_proved { ", state verified" } else { "" };
        writeln!(data, "  section  {name}: {pages} as of {}{proved}", section.mark)?;
        if let Some(snapshot_at) = section.snapshot_at {
            let deltas = counted(section.deltas_since, "delta");
            writeln!(data, "           snapshot of {snapshot_at}, {deltas} since")?;
        }
        if let Some(held) = section.held {
            writeln!(
                data,
                "           held back: a collection of {held} would delete more than half of the \
                 pages"
            )?;
        }
    }
    if let Some(taken) = last {
        let (kind, section) = (taken.mode.word(), visible(&taken.section));
        let (size, outcome) = (format_bytes(taken.bytes), visible(&taken.outcome));
        writeln!(data, "  last     {} {kind} of `{section}`, {size}: {outcome}", taken.at)?;
        writeln!(data, "           {}", visible(&taken.url))?;
    }
    if 0 < *n_entities {
        writeln!(data, "  entities {n_entities}")?;
    }
    if let Some(until) = publisher.paused_until {
        writeln!(data, "  paused   until {until}")?;
    }
    if let Some((holder, until)) = &publisher.lease {
        writeln!(data, "  locked   by {} until {until}", visible(holder))?;
    }
    Ok(())
}
