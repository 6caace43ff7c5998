//! `rutter search`: searches the pages of a replica by their text.
//!
//! Updates the full-text index first. If the update is not possible now, the command prints a
//! warning and uses the older index.

use std::collections::BTreeMap;

use rutter_finding::visible;
use rutter_store::prelude::*;
use rutter_store::{
    MatchKind, OpenError, SearchQuery, SearchResults, SqliteStore, StorageError, WriteError,
};
use serde_json::json;

use crate::commands::list::row_json;
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::records::RecordArgs;
use crate::replica::{DamageReport, SiteArgs, StoreArgs, site_names};

/// Arguments of `rutter search`.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// Words, "phrases" and prefixes* to search for
    ///
    /// Finds pages with all words of the query. If there are none, finds pages with corrected words
    /// or with some of the words.
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Maximum number of pages to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    #[command(flatten)]
    rows: RecordArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// Number of pages to index at a time.
const BATCH_SIZE: u64 = 10_000;

pub(crate) fn run(args: &SearchArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    execute(args, out).map_err(|error| args.store.named(error))
}

fn execute(args: &SearchArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let text = args.query.join(" ");
    let Some(query) = SearchQuery::parse(&text) else { anyhow::bail!("the query has no words") };
    let store = args.store.open()?;
    let publisher = args.site.publisher(&store)?.map(|publisher| publisher.id);
    let mut damages = DamageReport::default();
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
            writeln!(data, "  missing: {}", visible(&hit.missing.join(", ")))?;
        }
    }
    rows.finish(out)?;
    if found.hits.is_empty() {
        out.say("no pages found");
    }
    for damaged in &found.damaged {
        damages.note(damaged, out);
    }
    Ok(damages.exit(out))
}

/// Explains why pages without some of the typed words are shown.
fn say_how(query: &SearchQuery, found: &SearchResults, out: &mut Output) {
    if query.is_cut() {
        let most = SearchQuery::MOST_PARTS;
        out.say(format_args!("note: searching for the first {most} different words only"));
    }
    if found.hits.is_empty() {
        return;
    }
    for (typed, known) in &found.corrections {
        let (typed, known) = (visible(typed), visible(known));
        out.say(format_args!("note: no page has `{typed}`; searching for `{known}`"));
    }
    if found.matched == MatchKind::Some {
        out.say("note: no page has all words; showing pages with some of the words");
    }
}

/// Updates the full-text index. If the update is not possible now, keeps the older index.
fn bring_on(
    args: &SearchArgs,
    store: &SqliteStore,
    damages: &mut DamageReport,
    out: &mut Output,
) -> anyhow::Result<()> {
    let is_whole = store.unindexed()?.is_some();
    if !is_whole {
        out.say("creating the full-text index");
    }
    let done = args.store.open_to_write().and_then(|writer| {
        loop {
            let indexed = writer.index(BATCH_SIZE)?;
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
    out.warn(format_args!("warning: the full-text index is out of date: {error:#}"));
    Ok(())
}

/// Returns whether the older index can be used after this error.
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
    matches!(
        storage,
        StorageError::Busy | StorageError::ReadOnly | StorageError::Full | StorageError::Other(_)
    )
}
