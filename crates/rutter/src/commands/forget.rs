//! `rutter forget`: erases a site from a replica.
//!
//! Input: a site of the replica. Deletes its pages, history, records, index entries and downloads,
//! and rewrites the file, so that nothing of them is left in free space.
//! A site that was forgotten before may be named again: what an interrupted erasure left is
//! removed. Rejects sites that the replica never had, and sites that are being synced.

use rutter_fetch::Url;
use rutter_finding::visible;
use rutter_page::Timestamp;
use rutter_store::{Erased, Forgotten, SiteRecords, SqliteStore, Store};
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
    let now = now()?;
    let publisher = match SiteArgs::named(&args.site, &store) {
        Ok(publisher) => publisher,
        Err(error) => {
            let Some(forgotten) = forgotten(&args.site, &store)? else { return Err(error) };
            let erased = Erased { pages: 0, is_scrubbed: store.scrub()? };
            rutter_sync::remove_spool(&args.store.spools(), &forgotten.origin)?;
            let done = format!("already forgotten at {}", forgotten.at);
            return report(args, &forgotten.origin, now, erased, &done, out);
        }
    };
    let lease = store.lease(publisher.id, now, now.plus_seconds(LEASE))?;
    let erased = store.erase(lease, now)?;
    // Downloads that were not applied yet are content, too.
    rutter_sync::remove_spool(&args.store.spools(), &publisher.origin)?;
    let done = format!("forgotten, {} deleted", counted(erased.pages, "page"));
    report(args, &publisher.origin, now, erased, &done, out)
}

/// The record of a site that was erased before.
fn forgotten(site: &str, store: &SqliteStore) -> anyhow::Result<Option<Forgotten>> {
    let mut forgotten = store.forgotten()?;
    for scheme in ["", "https://", "http://"] {
        let Ok(url) = Url::parse(&format!("{scheme}{site}")) else { continue };
        let origin = url.origin().ascii_serialization();
        if let Some(at) = forgotten.iter().position(|it| it.origin == origin) {
            return Ok(Some(forgotten.swap_remove(at)));
        }
    }
    Ok(None)
}

fn report(
    args: &Args,
    origin: &str,
    now: Timestamp,
    erased: Erased,
    done: &str,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    if args.json {
        let object = json!({
            "version": 1,
            "site": origin,
            "pages": erased.pages,
            "at": now,
            "scrubbed": erased.is_scrubbed,
        });
        out.exact(&object.to_string())?;
    } else {
        writeln!(out.summary(), "{}: {done}", visible(origin))?;
    }
    if !erased.is_scrubbed {
        out.warn(
            "warning: deleted content may still be in free space of the file: another process has \
             it open, or the disk is full; run the next `rutter sync` to the end",
        );
    }
    Ok(Exit::Clean)
}
