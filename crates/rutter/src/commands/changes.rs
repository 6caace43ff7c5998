//! `rutter changes`: prints the changes of a replica as JSON Lines, for programs that keep a copy.
//!
//! The last line is always a cursor, from which the next call continues. A damaged event is
//! reported on stderr and makes the exit code 4; all other events are printed.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rutter_fetch::Url;
use rutter_finding::quoted;
use rutter_page::LineDigest;
use rutter_store::prelude::*;
use rutter_store::{Change, ChangeCursor, ChangeKind, DamagedPage, PublisherId};
use serde_json::json;

use crate::commands::get::PageFormat;
use crate::exit::{ExitStatus, is_damage};
use crate::output::Output;
use crate::replica::{DamageReport, SiteArgs, StoreArgs, site_names, view_of};

/// Arguments of `rutter changes`.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangesArgs {
    /// Print changes after this cursor
    ///
    /// A cursor is printed on the last line of each call. By default, all changes in the history
    /// are printed.
    #[arg(long, value_name = "CURSOR", value_parser = parse_cursor)]
    since: Option<ChangeCursor>,
    /// Print the current cursor only
    #[arg(long, conflicts_with_all = ["since", "limit", "content", "site"])]
    now: bool,
    /// Maximum number of changes to print
    ///
    /// If the replica has more changes, the last line has "more": true. By default, all changes are
    /// printed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Include the content of added and changed pages in this format
    #[arg(long, value_enum, value_name = "FORMAT")]
    content: Option<PageFormat>,
    /// With --content json, include stored lines byte for byte
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

fn parse_cursor(text: &str) -> Result<ChangeCursor, String> {
    let wanted = || format!("{} is not a cursor; `rutter changes` prints one", quoted(text));
    ChangeCursor::parse(text).ok_or_else(wanted)
}

/// Number of events to read at a time.
const BATCH_SIZE: usize = 1_000;

pub(crate) fn run(args: &ChangesArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    execute(args, out).map_err(|error| args.store.named(error))
}

fn execute(args: &ChangesArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    anyhow::ensure!(
        !args.raw || args.content == Some(PageFormat::Json),
        "--raw requires --content json"
    );
    let store = args.store.open()?;
    if args.now {
        end(store.cursor()?, false, out)?;
        return Ok(ExitStatus::Clean);
    }
    let mut printer = EventPrinter {
        store: &store,
        sites: site_names(&store)?,
        content: args.content,
        raw: args.raw,
        damages: DamageReport::default(),
    };
    let wanted = args.site.publisher(&store)?.map(|publisher| publisher.id);
    let is_wanted = |publisher: PublisherId| wanted.is_none_or(|wanted| wanted == publisher);
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut cursor = args.since;
    loop {
        let changes = store.changes_since(cursor, BATCH_SIZE)?;
        let n_events = changes.events.len();
        let mut damaged = changes.damaged.iter().peekable();
        for (at, change) in changes.events.iter().enumerate() {
            let here = ChangeCursor { seq: change.seq, ..changes.next };
            while let Some(range) = damaged.next_if(|range| *range.start() < change.seq) {
                printer.damaged(range, out);
            }
            if is_wanted(change.publisher) {
                printer.event(change, here, out)?;
                left -= 1;
            }
            if left == 0 {
                end(here, at + 1 < n_events || changes.has_more, out)?;
                return Ok(printer.damages.exit(out));
            }
        }
        damaged.for_each(|range| printer.damaged(range, out));
        cursor = Some(changes.next);
        if !changes.has_more {
            end(changes.next, false, out)?;
            return Ok(printer.damages.exit(out));
        }
    }
}

/// Prints events as JSON Lines.
struct EventPrinter<'p> {
    store: &'p dyn Store,
    /// Origin of each publisher; forgotten sites have no entry.
    sites: BTreeMap<PublisherId, String>,
    content: Option<PageFormat>,
    raw: bool,
    damages: DamageReport,
}

impl EventPrinter<'_> {
    /// Reports events that are damaged or missing.
    fn damaged(&mut self, range: &RangeInclusive<u64>, out: &mut Output) {
        let (first, last) = (range.start(), range.end());
        let name = if first == last {
            format!("event {first}")
        } else {
            format!("events {first} to {last}")
        };
        let what = "the stored history is damaged".to_owned();
        self.damages.note(&DamagedPage { publisher: PublisherId(0), url: name, what }, out);
    }

    fn event(
        &mut self,
        change: &Change,
        cursor: ChangeCursor,
        out: &mut Output,
    ) -> anyhow::Result<()> {
        if change.kind == ChangeKind::Forgotten {
            let object = json!({
                "event": "forget",
                "kind": change.kind.word(),
                "site": change.url,
                "at": change.at,
                "cursor": cursor.to_string(),
            });
            return out.exact(&object.to_string());
        }
        let is_upsert = change.kind.is_upsert();
        let line = match self.line(change) {
            Ok(line) => line,
            Err(damaged) if is_damage(&damaged) => {
                let (publisher, url) = (change.publisher, change.url.clone());
                let what = format!("{damaged:#}");
                self.damages.note(&DamagedPage { publisher, url, what }, out);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let view = line.as_deref().map(|line| view_of(&change.url, line)).transpose()?;
        let page = view.as_ref().map(|view| &view.page);
        // A site that was forgotten after this change has no publisher row.
        let site = match self.sites.get(&change.publisher) {
            Some(site) => site.clone(),
            None => Url::parse(&change.url)?.origin().ascii_serialization(),
        };
        let mut object = json!({
            "event": if is_upsert { "upsert" } else { "delete" },
            "url": change.url,
            "site": site,
            "title": page.map(|page| &*page.title),
            "language": page.map(|page| page.language.as_str()),
            "digest": change.digest.to_string(),
            "content_digest": view.as_ref().map(|view| view.content_digest().to_string()),
            "modified": change.modified,
            "kind": change.kind.word(),
            "at": change.at,
            "cursor": cursor.to_string(),
        });
        if let Some(format) = self.content.filter(|_| is_upsert) {
            object["content"] = match (&view, &line) {
                (Some(_), Some(line)) if self.raw => json!(line),
                (Some(view), _) => json!(format.render(view)),
                _ => serde_json::Value::Null,
            };
        }
        out.exact(&object.to_string())
    }

    /// Returns the stored line for an upsert event, or `None` if the page changed after this event;
    /// a later event reports that change.
    fn line(&self, change: &Change) -> anyhow::Result<Option<String>> {
        if !change.kind.is_upsert() {
            return Ok(None);
        }
        let row = self.store.page(&change.url)?;
        let is_same =
            |row: &rutter_store::PageRow| row.digest == change.digest && row.withheld.is_none();
        if !row.as_ref().is_some_and(is_same) {
            return Ok(None);
        }
        let line = self.store.line(&change.url)?;
        let is_same = |line: &String| LineDigest::of(line.as_bytes()) == change.digest;
        Ok(line.filter(is_same))
    }
}

fn end(cursor: ChangeCursor, has_more: bool, out: &mut Output) -> anyhow::Result<()> {
    let object = json!({ "event": "cursor", "cursor": cursor.to_string(), "more": has_more });
    out.exact(&object.to_string())
}
