//! `rutter status`: what a replica holds, and how fresh it is.
//!
//! Output: one table with a row for each site; with `--site` the sections, sources and the last
//! collection of that site too.

use std::fs;

use rutter_finding::visible;
use rutter_page::Timestamp;
use rutter_store::{Census, Forgotten, Publisher, Section, SiteRecords, Store, Taken, VisitRecord};
use serde_json::{Value, json};

use crate::commands::{bytes, counted};
use crate::exit::Exit;
use crate::output::Output;
use crate::replica::{SiteArgs, StoreArgs};

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// One site as it is here.
struct Standing {
    publisher: Publisher,
    census: Vec<Census>,
    sections: Vec<Section>,
    last: Option<Taken>,
    visit: Option<VisitRecord>,
    n_entities: usize,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    answer(args, out).map_err(|error| args.store.named(error))
}

fn answer(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let store = args.store.open()?;
    let mut standings = Vec::new();
    for publisher in args.site.publishers(&store)? {
        let id = publisher.id;
        standings.push(Standing {
            publisher,
            census: store.census(id)?,
            sections: store.sections(id)?,
            last: store.taken(id, 1)?.pop(),
            visit: store.last_visit(id)?,
            n_entities: store.entities(id)?.len(),
        });
    }
    let write = if args.json { write_json } else { write_text };
    write(args, &store, &standings, out)?;
    Ok(Exit::Clean)
}

impl Standing {
    fn withheld(&self) -> u64 {
        self.census.iter().filter(|it| it.withheld.is_some()).map(|it| it.pages).sum()
    }

    /// Everything up to this moment is here: the mark of the section that is furthest behind.
    fn fresh_as_of(&self) -> Option<Timestamp> {
        self.sections.iter().map(|section| section.mark).min()
    }

    /// Sections with a collection that waits, because it would delete more than half.
    fn held(&self) -> usize {
        self.sections.iter().filter(|section| section.held.is_some()).count()
    }

    fn left_out(&self) -> u64 {
        self.visit.iter().flat_map(|visit| visit.left_out.values()).sum()
    }
}

fn write_json(
    args: &Args,
    store: &dyn Store,
    standings: &[Standing],
    out: &mut Output,
) -> anyhow::Result<()> {
    let history = store.history()?;
    let sites: Vec<Value> = standings.iter().map(site_json).collect();
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

/// Sites that were forgotten; of no interest where one site is asked for.
fn forgotten(args: &Args, store: &dyn Store) -> anyhow::Result<Vec<Forgotten>> {
    Ok(if args.site.site.is_some() { Vec::new() } else { store.forgotten()? })
}

fn site_json(standing: &Standing) -> Value {
    let Standing { publisher, census, sections, last, visit, n_entities } = standing;
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
            let withheld = it.withheld.map(rutter_store::Withheld::word);
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
        "withheld": standing.withheld(),
        "bytes": publisher.bytes,
        "census": pages,
        "sections": sections,
        "last": last,
        "last_visit": visit,
        "fresh_as_of": standing.fresh_as_of(),
        "held": standing.held(),
        "left_out": standing.left_out(),
        "entities": n_entities,
        "paused_until": publisher.paused_until,
        "busy": publisher.lease.as_ref().map(|(holder, until)| json!({ "holder": holder, "until": until })),
    })
}

fn write_text(
    args: &Args,
    store: &dyn Store,
    standings: &[Standing],
    out: &mut Output,
) -> anyhow::Result<()> {
    let size = bytes(fs::metadata(args.store.path())?.len());
    let history = store.history()?;
    let data = out.data();
    writeln!(data, "replica    {}, {size}", visible(&args.store.path().to_string_lossy()))?;
    let events = counted(history.events, "event");
    let since = history.oldest.map_or(String::new(), |time| format!(" since {time}"));
    writeln!(data, "history    {events}{since}")?;
    writeln!(data, "cursor     {}", history.cursor)?;
    let index = match store.unindexed()? {
        None => "not made; the first search makes it".to_owned(),
        Some(0) => "up to date".to_owned(),
        Some(n) => format!("{} behind", counted(n, "event")),
    };
    writeln!(data, "full text  {index}")?;
    if !standings.is_empty() {
        writeln!(data)?;
        table(standings, data)?;
    }
    for Forgotten { origin, at, pages } in forgotten(args, store)? {
        let pages = counted(pages, "page");
        writeln!(data, "forgotten  {} at {at}, {pages}", visible(&origin))?;
    }
    if args.site.site.is_some() {
        for standing in standings {
            site_text(standing, data)?;
        }
    }
    Ok(())
}

/// One row for each site, columns aligned, and its error below.
fn table(standings: &[Standing], data: &mut dyn std::io::Write) -> anyhow::Result<()> {
    const HEAD: [&str; 8] =
        ["site", "pages", "withheld", "left out", "held", "last visit", "result", "fresh as of"];
    let dash = || "-".to_owned();
    let rows: Vec<[String; 8]> = standings
        .iter()
        .map(|standing| {
            let visit = standing.visit.as_ref();
            [
                visible(&standing.publisher.origin),
                standing.publisher.pages.to_string(),
                standing.withheld().to_string(),
                standing.left_out().to_string(),
                standing.held().to_string(),
                visit.map_or_else(dash, |visit| visit.at.to_string()),
                visit.map_or_else(dash, |visit| visible(&visit.result)),
                standing.fresh_as_of().map_or_else(dash, |time| time.to_string()),
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
            // Numbers to the right.
            if (1..=4).contains(&at) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    writeln!(data, "{}", line(&heads))?;
    for (row, standing) in rows.iter().zip(standings) {
        writeln!(data, "{}", line(row))?;
        if let Some(error) = standing.visit.as_ref().and_then(|visit| visit.error.as_ref()) {
            writeln!(data, "  {}", visible(error))?;
        }
    }
    Ok(())
}

fn site_text(standing: &Standing, data: &mut dyn std::io::Write) -> anyhow::Result<()> {
    let Standing { publisher, census, sections, last, visit, n_entities } = standing;
    writeln!(data, "\n{}", visible(&publisher.origin))?;
    for (reason, n) in visit.iter().flat_map(|visit| &visit.left_out) {
        writeln!(data, "  left out {n} ({})", visible(reason))?;
    }
    let (pages, size) = (counted(publisher.pages, "page"), bytes(publisher.bytes));
    writeln!(data, "  pages    {pages}, {size}")?;
    for Census { source, withheld, pages } in census {
        let why = withheld.map_or("", rutter_store::Withheld::word);
        let gap = if withheld.is_some() { ", withheld: " } else { "" };
        writeln!(data, "           {pages} from {}{gap}{why}", source.word())?;
    }
    for section in sections {
        let (name, pages) = (visible(&section.name), counted(section.pages, "page"));
        let proved = if section.is_proved { ", state proved" } else { "" };
        writeln!(data, "  section  {name}: {pages} as of {}{proved}", section.mark)?;
        if let Some(snapshot_at) = section.snapshot_at {
            let deltas = counted(section.deltas_since, "delta");
            writeln!(data, "           snapshot of {snapshot_at}, {deltas} since")?;
        }
        if let Some(held) = section.held {
            writeln!(data, "           held back: one of {held} would delete more than half")?;
        }
    }
    if let Some(taken) = last {
        let (kind, section) = (taken.mode.word(), visible(&taken.section));
        let (size, outcome) = (bytes(taken.bytes), visible(&taken.outcome));
        writeln!(data, "  last     {} {kind} of `{section}`, {size}: {outcome}", taken.at)?;
        writeln!(data, "           {}", visible(&taken.url))?;
    }
    if 0 < *n_entities {
        writeln!(data, "  known    {}", counted(*n_entities as u64, "entity"))?;
    }
    if let Some(until) = publisher.paused_until {
        writeln!(data, "  paused   until {until}")?;
    }
    if let Some((holder, until)) = &publisher.lease {
        writeln!(data, "  busy     {} until {until}", visible(holder))?;
    }
    Ok(())
}
