//! `rutter search`: pages of a replica by their words.

use std::collections::BTreeMap;

use rutter_finding::visible;
use rutter_store::{Found, Matched, OpenError, Query, SqliteStore, Storage, Store, WriteError};
use serde_json::json;

use crate::commands::list::row_json;
use crate::exit::Exit;
use crate::output::Output;
use crate::replica::{Damages, SiteArgs, StoreArgs, site_names};
use crate::rows::RowArgs;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Words, `"phrases in quotes"` and `begin*`; pages with all of them, else
    /// with corrected or fewer words
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// At most so many pages
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    #[command(flatten)]
    rows: RowArgs,
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
    let mut damages = Damages::default();
    if store.unindexed()? != Some(0) {
        bring_on(args, &store, &mut damages, out)?;
    }
    let most = usize::try_from(args.limit)?;
    let found = match publisher {
        Some(publisher) => store.search_of(publisher, &query, most)?,
        None => store.search(&query, most)?,
    };
    let sites = site_names(&store)?;
    say_how(&query, &found, out);
    let mut rows = args.rows.rows("pages");
    for (at, hit) in found.hits.iter().enumerate() {
        if !rows.is_text() {
            let mut object = row_json(&hit.page, &sites);
            let corrections = found.corrections.iter().cloned();
            object["snippet"] = json!(hit.snippet);
            object["rank"] = json!(hit.rank);
            object["match"] = json!(found.matched.word());
            object["missing"] = json!(hit.missing);
            object["corrections"] = json!(corrections.collect::<BTreeMap<_, _>>());
            rows.push(object.to_string(), out)?;
            continue;
        }
        let gap = if at == 0 { "" } else { "\n" };
        let data = out.data();
        writeln!(data, "{gap}{}", visible(&hit.page.title))?;
        writeln!(data, "  {}", visible(&hit.page.url))?;
        writeln!(data, "  {}", visible(&hit.snippet))?;
        if !hit.missing.is_empty() {
            writeln!(data, "  without: {}", visible(&hit.missing.join(", ")))?;
        }
    }
    rows.finish(out)?;
    if found.hits.is_empty() {
        out.say("nothing found");
    }
    for damaged in &found.damaged {
        damages.note(damaged, out);
    }
    Ok(damages.exit(out))
}

/// Says why pages are shown that do not have all words as they were typed.
fn say_how(query: &Query, found: &Found, out: &mut Output) {
    if query.is_cut() {
        let most = Query::MOST_PARTS;
        out.say(format_args!("note: only the first {most} different words count"));
    }
    if found.hits.is_empty() {
        return;
    }
    for (typed, known) in &found.corrections {
        let (typed, known) = (visible(typed), visible(known));
        out.say(format_args!("note: no page has `{typed}`; searched for `{known}`"));
    }
    if found.matched == Matched::Some {
        out.say("note: no page has all words; showing pages with some of them");
    }
}

/// Brings the index up to date. Where that cannot be, an older one serves.
fn bring_on(
    args: &Args,
    store: &SqliteStore,
    damages: &mut Damages,
    out: &mut Output,
) -> anyhow::Result<()> {
    let is_whole = store.unindexed()?.is_some();
    if !is_whole {
        out.say("making the full-text index");
    }
    let done = args.store.open_to_write().and_then(|writer| {
        loop {
            let indexed = writer.index(PIECE)?;
            for damaged in &indexed.damaged {
                damages.note(damaged, out);
            }
            if indexed.is_current {
                return Ok(());
            }
        }
    });
    let Err(error) = done else { return Ok(()) };
    let is_passing = is_whole && error.chain().any(can_wait);
    anyhow::ensure!(is_passing, error);
    out.warn(format_args!("warning: the full-text index is behind: {error:#}"));
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
