//! `rutter list`: the pages of a replica.

use rutter_finding::visible;
use rutter_store::{PageRow, Selection, Withheld};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::Output;
use crate::replica::{SiteArgs, StoreArgs, each_row};

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only pages of this section of the site
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Pages without words too
    #[arg(long)]
    withheld: bool,
    /// At most so many pages
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// One JSON object per page
    #[arg(long)]
    json: bool,
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
    let section = args.section.as_deref();
    let selection = Selection {
        publisher: args.site.publisher_of(&store, section)?.map(|publisher| publisher.id),
        section,
        with_withheld: args.withheld,
    };
    each_row(&store, &selection, args.limit.unwrap_or(u64::MAX), |row| {
        if args.json {
            return out.exact(&row_json(row).to_string());
        }
        let (url, title) = (visible(&row.url), visible(&row.title));
        let mark =
            row.withheld.map_or(String::new(), |why| format!("  (withheld: {})", why.word()));
        Ok(writeln!(out.data(), "{}  {url}  {title}{mark}", row.modified)?)
    })?;
    Ok(Exit::Clean)
}

/// A page without its words.
pub(crate) fn row_json(row: &PageRow) -> Value {
    json!({
        "url": row.url,
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
