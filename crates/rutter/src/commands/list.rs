//! `rutter list`: lists the pages of a replica, or the URLs that were not stored.

use std::collections::BTreeMap;

use rutter_finding::visible;
use rutter_store::prelude::*;
use rutter_store::{PageRow, PageSelection, PublisherId, WithheldReason};
use rutter_sync::LeftOutUrl;
use serde_json::{Value, json};

use crate::exit::ExitStatus;
use crate::output::Output;
use crate::records::RecordArgs;
use crate::replica::{DamageReport, SiteArgs, StoreArgs, each_row, site_names};

/// Number of URLs to read at a time.
const BATCH_SIZE: usize = 500;

/// Arguments of `rutter list`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// List only pages of this section
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Include pages without content, with the reason
    ///
    /// By default, only pages with content are listed.
    #[arg(long)]
    withheld: bool,
    /// List URLs that syncs found but did not store, with the reason
    #[arg(long, conflicts_with_all = ["section", "withheld"])]
    left_out: bool,
    /// Maximum number of pages to list
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    rows: RecordArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

pub(crate) fn run(args: &ListArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    execute(args, out).map_err(|error| args.store.named(error))
}

fn execute(args: &ListArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let store = args.store.open()?;
    if args.left_out {
        return list_left_out(args, &store, out);
    }
    let section = args.section.as_deref();
    let selection = PageSelection {
        publisher: args.site.publisher_of(&store, section)?.map(|publisher| publisher.id),
        section,
        with_withheld: args.withheld,
    };
    let mut damages = DamageReport::default();
    let sites = site_names(&store)?;
    let mut rows = args.rows.rows("pages");
    each_row(&store, &selection, args.limit.unwrap_or(u64::MAX), |row| {
        let row = match row {
            Ok(row) => row,
            Err(damaged) => {
                damages.note(damaged, out);
                return Ok(());
            }
        };
        if !rows.is_text() {
            return rows.push(row_json(row, &sites).to_string(), out);
        }
        let (url, title) = (visible(&row.url), visible(&row.title));
        let mark =
            row.withheld.map_or(String::new(), |why| format!("  (withheld: {})", why.word()));
        Ok(writeln!(out.data(), "{}  {url}  {title}{mark}", row.modified)?)
    })?;
    rows.finish(out)?;
    Ok(damages.exit(out))
}

/// Lists URLs that are not stored: time, URL, code and text of the reason.
fn list_left_out(
    args: &ListArgs,
    store: &dyn Store,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut rows = args.rows.rows("urls");
    for publisher in args.site.publishers(store)? {
        let mut after: Option<String> = None;
        while 0 < left {
            let most = usize::try_from(left).unwrap_or(BATCH_SIZE).min(BATCH_SIZE);
            let piece = rutter_sync::list_left_out(store, publisher.id, after.as_deref(), most)?;
            let Some(last) = piece.last() else { break };
            after = Some(last.url.clone());
            for LeftOutUrl { url, why, at } in &piece {
                left = left.saturating_sub(1);
                if !rows.is_text() {
                    let object = json!({
                        "url": url,
                        "site": publisher.origin,
                        "reason": why.code(),
                        "detail": why.detail(),
                        "at": at,
                    });
                    rows.push(object.to_string(), out)?;
                    continue;
                }
                let (url, text) = (visible(url), visible(&why.to_string()));
                writeln!(out.data(), "{at}  {url}  {}: {text}", why.code())?;
            }
        }
    }
    rows.finish(out)?;
    Ok(ExitStatus::Clean)
}

/// Returns the metadata of a page as JSON.
pub(crate) fn row_json(row: &PageRow, sites: &BTreeMap<PublisherId, String>) -> Value {
    json!({
        "url": row.url,
        "site": sites.get(&row.publisher),
        "modified": row.modified,
        "digest": row.digest.to_string(),
        "title": row.title,
        "language": row.language,
        "source": row.source.word(),
        "withheld": row.withheld.map(WithheldReason::word),
        "first_seen": row.first_seen,
        "changed": row.changed,
    })
}
