//! `rutter forget`: erases a site from a replica.
//!
//! Deletes the pages, history, records, index entries and downloads of a site, and rewrites the
//! file, so that its free space has no deleted content. For a site that was forgotten before, it
//! completes an interrupted erasure. Rejects sites that the replica never had, and sites that are
//! being synced.

use rutter_fetch::Url;
use rutter_finding::visible;
use rutter_page::Timestamp;
use rutter_store::prelude::*;
use rutter_store::{ErasedSite, ErasureResult, SqliteStore};
use serde_json::json;

use crate::commands::{counted, now};
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::replica::{SiteArgs, StoreArgs};

/// Arguments of `rutter forget`.
#[derive(Debug, clap::Args)]
pub(crate) struct ForgetArgs {
    /// Site to erase, with all its pages and history
    ///
    /// A host, such as harbour.example, or an origin with its scheme.
    #[arg(value_name = "SITE")]
    site: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// Maximum duration of an erasure, in seconds.
const LEASE: i64 = 3_600;

pub(crate) fn run(args: &ForgetArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    execute(args, out).map_err(|error| args.store.named(error))
}

fn execute(args: &ForgetArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let store = args.store.open_to_write()?;
    let now = now()?;
    let publisher = match SiteArgs::named(&args.site, &store) {
        Ok(publisher) => publisher,
        Err(error) => {
            let Some(forgotten) = forgotten(&args.site, &store)? else { return Err(error) };
            let erased = ErasureResult { pages: 0, is_scrubbed: store.scrub()? };
            rutter_sync::remove_spool(&args.store.spools(), &forgotten.origin)?;
            let done = format!("already forgotten at {}", forgotten.at);
            return report(args, &forgotten.origin, now, erased, &done, out);
        }
    };
    let lease = store.lease(publisher.id, now, now.plus_seconds(LEASE))?;
    let erased = store.erase(lease, now)?;
    // Downloads that are not applied yet contain content of the site, too.
    rutter_sync::remove_spool(&args.store.spools(), &publisher.origin)?;
    let done = format!("forgotten, {} deleted", counted(erased.pages, "page"));
    report(args, &publisher.origin, now, erased, &done, out)
}

/// Returns the record of a site that was erased before.
fn forgotten(site: &str, store: &SqliteStore) -> anyhow::Result<Option<ErasedSite>> {
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
    args: &ForgetArgs,
    origin: &str,
    now: Timestamp,
    erased: ErasureResult,
    done: &str,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
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
            "warning: free space of the file may still contain deleted content, because another \
             process has the file open or the disk is full; run `rutter sync` to complete the \
             erasure",
        );
    }
    Ok(ExitStatus::Clean)
}
