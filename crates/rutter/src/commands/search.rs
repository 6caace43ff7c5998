//! `rutter search`: pages of a replica by their words.

use rutter_finding::visible;
use rutter_store::{OpenError, Query, SqliteStore, Storage, Store, WriteError};
use serde_json::json;

use crate::commands::list::row_json;
use crate::exit::Exit;
use crate::output::Output;
use crate::replica::{SiteArgs, StoreArgs};

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Words, `"phrases in quotes"` and `begin*`; a page must have all of them
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// At most so many pages
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// One JSON object per page
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// Pages that are indexed between two looks at how far it is.
const PIECE: u64 = 10_000;

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    answer(args, out).map_err(|error| args.store.named(error))
}

fn answer(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let text = args.query.join(" ");
    let Some(query) = Query::parse(&text) else { anyhow::bail!("the query has no words") };
    let store = args.store.open()?;
    let publisher = args.site.publisher(&store)?.map(|publisher| publisher.id);
    if store.unindexed()? != Some(0) {
        bring_on(args, &store, out)?;
    }
    let most = usize::try_from(args.limit)?;
    let hits = match publisher {
        Some(publisher) => store.search_of(publisher, &query, most)?,
        None => store.search(&query, most)?,
    };
    for (at, hit) in hits.iter().enumerate() {
        if args.json {
            let mut object = row_json(&hit.page);
            object["snippet"] = json!(hit.snippet);
            object["rank"] = json!(hit.rank);
            out.exact(&object.to_string())?;
            continue;
        }
        let gap = if at == 0 { "" } else { "\n" };
        let data = out.data();
        writeln!(data, "{gap}{}", visible(&hit.page.title))?;
        writeln!(data, "  {}", visible(&hit.page.url))?;
        writeln!(data, "  {}", visible(&hit.snippet))?;
    }
    if hits.is_empty() {
        out.say("nothing found");
    }
    Ok(Exit::Clean)
}

/// Brings the index up to date. Where that cannot be, an older one serves.
fn bring_on(args: &Args, store: &SqliteStore, out: &mut Output) -> anyhow::Result<()> {
    let is_whole = store.unindexed()?.is_some();
    if !is_whole {
        out.say("making the full-text index");
    }
    let done = args.store.open_to_write().and_then(|writer| {
        while !writer.index(PIECE)?.is_current {}
        Ok(())
    });
    let Err(error) = done else { return Ok(()) };
    let is_passing = is_whole && error.chain().any(can_wait);
    anyhow::ensure!(is_passing, error);
    out.say(format_args!("warning: the full-text index is behind: {error:#}"));
    Ok(())
}

/// Whether an older index is good enough for now.
fn can_wait(cause: &(dyn std::error::Error + 'static)) -> bool {
    let writing = cause.downcast_ref().and_then(|error| match error {
        WriteError::Storage(storage) => Some(storage),
        _ => None,
    });
    let opening = cause.downcast_ref().and_then(|error| match error {
        OpenError::Storage(storage) => Some(storage),
        _ => None,
    });
    let Some(storage) = writing.or(opening) else { return false };
    matches!(storage, Storage::Busy | Storage::ReadOnly | Storage::Full | Storage::Other(_))
}
