//! `rutter changes`: what happened to the pages of a replica, as JSON Lines,
//! for whoever keeps a copy elsewhere.
//!
//! The last line is always a cursor, so that whoever reads has one way to go
//! on: from the last cursor that was seen.

use rutter_finding::quoted;
use rutter_store::{Change, Cursor, PublisherId, Store};
use serde_json::json;

use crate::commands::get::Format;
use crate::exit::Exit;
use crate::output::Output;
use crate::replica::{SiteArgs, StoreArgs};

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Go on behind this cursor [default: the beginning of the history]
    #[arg(long, value_name = "CURSOR", value_parser = parse_cursor)]
    since: Option<Cursor>,
    /// Only print the cursor of the end of the history
    #[arg(long, conflicts_with_all = ["since", "limit", "content", "site"])]
    now: bool,
    /// At most so many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Add the page to upsert events, in this form
    #[arg(long, value_enum, value_name = "FORMAT")]
    content: Option<Format>,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

fn parse_cursor(text: &str) -> Result<Cursor, String> {
    let wanted = || format!("{} is no cursor; `rutter changes` prints them", quoted(text));
    Cursor::parse(text).ok_or_else(wanted)
}

/// Events of one look.
const PIECE: usize = 1_000;

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    answer(args, out).map_err(|error| args.store.named(error))
}

fn answer(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let store = args.store.open()?;
    if args.now {
        end(store.cursor()?, false, out)?;
        return Ok(Exit::Clean);
    }
    let wanted = args.site.publisher(&store)?.map(|publisher| publisher.id);
    let is_wanted = |publisher: PublisherId| wanted.is_none_or(|wanted| wanted == publisher);
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut cursor = args.since;
    loop {
        let changes = store.changes_since(cursor, PIECE)?;
        let n_events = changes.events.len();
        for (at, change) in changes.events.iter().enumerate() {
            let here = Cursor { seq: change.seq, ..changes.next };
            if is_wanted(change.publisher) {
                event(&store, change, here, args.content, out)?;
                left -= 1;
            }
            if left == 0 {
                end(here, at + 1 < n_events || changes.has_more, out)?;
                return Ok(Exit::Clean);
            }
        }
        cursor = Some(changes.next);
        if !changes.has_more {
            end(changes.next, false, out)?;
            return Ok(Exit::Clean);
        }
    }
}

fn event(
    store: &dyn Store,
    change: &Change,
    cursor: Cursor,
    content: Option<Format>,
    out: &mut Output,
) -> anyhow::Result<()> {
    let mut object = json!({
        "event": if change.kind.is_upsert() { "upsert" } else { "delete" },
        "url": change.url,
        "digest": change.digest.to_string(),
        "modified": change.modified,
        "kind": change.kind.word(),
        "at": change.at,
        "cursor": cursor.to_string(),
    });
    if let Some(format) = content.filter(|_| change.kind.is_upsert()) {
        // A page that changed since has another event further on.
        let line = store.line(&change.url)?;
        let same =
            line.filter(|line| rutter_page::LineDigest::of(line.as_bytes()) == change.digest);
        let text = same.map(|line| format.render(&change.url, &line)).transpose()?;
        object["content"] = text.into();
    }
    out.exact(&object.to_string())
}

fn end(cursor: Cursor, has_more: bool, out: &mut Output) -> anyhow::Result<()> {
    let object = json!({ "event": "cursor", "cursor": cursor.to_string(), "more": has_more });
    out.exact(&object.to_string())
}
