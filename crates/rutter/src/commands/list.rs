//! `rutter list`: the pages of a replica.

use std::collections::BTreeMap;

use rutter_finding::visible;
use rutter_store::{PageRow, PublisherId, Selection, Store, Withheld};
use rutter_sync::LeftOutUrl;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::Output;
use crate::replica::{Damages, SiteArgs, StoreArgs, each_row, site_names};
use crate::rows::RowArgs;

/// URLs of one look.
const PIECE: usize = 500;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only pages of this section of the site
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Pages without words too
    #[arg(long)]
    withheld: bool,
    /// URLs that the last syncs knew of and did not store, with the reason
    #[arg(long, conflicts_with_all = ["section", "withheld"])]
    left_out: bool,
    /// At most so many pages
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    answer(args, out).map_err(|error| args.store.named(error))
}

fn answer(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let store = args.store.open()?;
    if args.left_out {
        return list_left_out(args, &store, out);
    }
    let section = args.section.as_deref();
    let selection = Selection {
        publisher: args.site.publisher_of(&store, section)?.map(|publisher| publisher.id),
        section,
        with_withheld: args.withheld,
    };
    let mut damages = Damages::default();
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

/// Lists URLs that are not stored: URL, time, code and text of the reason.
fn list_left_out(args: &Args, store: &dyn Store, out: &mut Output) -> anyhow::Result<Exit> {
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut rows = args.rows.rows("urls");
    for publisher in args.site.publishers(store)? {
        let mut after: Option<String> = None;
        while 0 < left {
            let most = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            let piece = rutter_sync::left_out(store, publisher.id, after.as_deref(), most)?;
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
    Ok(Exit::Clean)
}

/// A page without its words.
pub(crate) fn row_json(row: &PageRow, sites: &BTreeMap<PublisherId, String>) -> Value {
    json!({
        "url": row.url,
        "site": sites.get(&row.publisher),
        "modified": row.modified,
        "digest": row.digest.to_string(),
        "title": row.title,
        "language": row.language,
        "source": row.source.word(),
        "withheld": row.withheld.map(Withheld::word),
        "first_seen": row.first_seen,
        "changed": row.changed,
    })
}
