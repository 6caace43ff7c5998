//! `rutter forget`: erases a site from a replica.
//!
//! Input: a site of the replica. Deletes its pages, history, records, index entries and downloads,
//! and rewrites the file, so that nothing of them is left in free space.
//! Rejects sites that the replica does not have, and sites that are being synced.

use rutter_finding::visible;
use rutter_store::{SiteRecords, Store};
use serde_json::json;

use crate::commands::{counted, now};
use crate::exit::Exit;
use crate::output::Output;
use crate::replica::{SiteArgs, StoreArgs};

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Site to erase: `harbour.example`, or with its scheme
    #[arg(value_name = "SITE")]
    site: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// Seconds an erasure may take.
const LEASE: i64 = 3_600;

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    answer(args, out).map_err(|error| args.store.named(error))
}

fn answer(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let store = args.store.open_to_write()?;
    let publisher = SiteArgs::named(&args.site, &store)?;
    let now = now()?;
    let lease = store.lease(publisher.id, now, now.plus_seconds(LEASE))?;
    let erased = store.erase(lease, now)?;
    // Downloads that were not applied yet are content, too.
    rutter_sync::remove_spool(&args.store.spools(), &publisher.origin)?;
    if args.json {
        let object = json!({
            "version": 1,
            "site": publisher.origin,
            "pages": erased.pages,
            "at": now,
            "scrubbed": erased.is_scrubbed,
        });
        out.exact(&object.to_string())?;
    } else {
        let (site, pages) = (visible(&publisher.origin), counted(erased.pages, "page"));
        writeln!(out.summary(), "{site}: forgotten, {pages} deleted")?;
    }
    if !erased.is_scrubbed {
        out.warn(
            "warning: deleted content may still be in free space of the file: another process has \
             it open, or the disk is full; run the next `rutter sync` to the end",
        );
    }
    Ok(Exit::Clean)
}
