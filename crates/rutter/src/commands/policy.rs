//! `rutter policy`: shows what a site allows others to do with a page.

use std::path::PathBuf;

use clap::Subcommand;
use rutter_finding::visible;
use rutter_sync::{SyncOptions, Syncer};
use serde_json::{Value, json};

use crate::commands::discover::{NetworkArgs, parse_address};
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::replica::StoreArgs;

/// Subcommands of `rutter policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show all usage signals for a page and their effect
    Explain(ExplainPolicyArgs),
}

/// Arguments of `rutter policy explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainPolicyArgs {
    /// URL of the page
    ///
    /// Without a scheme, https:// is used.
    url: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    net: NetworkArgs,
}

pub(crate) fn run(command: &PolicyCommand, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let PolicyCommand::Explain(args) = command;
    let text =
        if args.url.contains("://") { args.url.clone() } else { format!("https://{}", args.url) };
    let url = parse_address(&text)?;
    let store = args.store.look()?;
    let (means, _) = args.net.means()?;
    let spools = PathBuf::new();
    let syncer = Syncer::new(args.net.settings()?, means, store, spools, SyncOptions::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(syncer.explain(&url));
    let found = found.map_err(|error| args.store.named(error.into()))?;
    let withheld = found.verdict.withheld;
    let is_kept = withheld.is_none() && found.no_page.is_none() && found.fetch_failure.is_none();
    if args.json {
        let statements: Vec<Value> = found
            .statements
            .iter()
            .map(|said| {
                json!({"source": said.source.name(), "text": said.text, "effect": said.effect.name()})
            })
            .collect();
        let silent: Vec<Value> = found
            .unavailable
            .iter()
            .map(|(origin, why)| json!({"source": origin.name(), "why": why}))
            .collect();
        let answer = json!({
            "version": 1,
            "url": found.url,
            "statements": statements,
            "silent": silent,
            "kept": is_kept,
            "no_page": found.no_page,
            "unasked": found.fetch_failure,
            "withheld": withheld.map(rutter_store::WithheldReason::word),
            "asked_for": found.verdict.may_fetch,
            "links_followed": found.verdict.follows_links,
            "in_replica": found.row.is_some(),
        });
        writeln!(out.data(), "{answer}")?;
    } else {
        for said in &found.statements {
            let (name, effect) = (said.source.name(), said.effect.name());
            writeln!(out.data(), "{name}: {}  ({effect})", visible(&said.text))?;
        }
        for (origin, why) in &found.unavailable {
            writeln!(out.data(), "{}: no statement, {}", origin.name(), visible(why))?;
        }
        let follows = match (withheld, &found.no_page, &found.fetch_failure) {
            (None, None, None) => "a sync stores the page with its content".to_owned(),
            (None, None, Some(why)) => format!("the page could not be fetched ({})", visible(why)),
            (None, Some(why), _) => format!("there is no page to store ({})", visible(why)),
            (Some(why), ..) => {
                format!("a sync stores the page without its content ({})", why.word())
            }
        };
        writeln!(out.data(), "result: {follows}")?;
        if !found.verdict.may_fetch {
            writeln!(out.data(), "result: a sync does not fetch the page")?;
        }
        if !found.verdict.follows_links {
            writeln!(out.data(), "result: a sync does not follow the links of the page")?;
        }
        let here = match &found.row {
            None => "the replica does not have the page",
            Some(row) if row.withheld.is_some() => "the replica has the page without its content",
            Some(_) => "the replica has the page",
        };
        out.say(here);
    }
    Ok(match withheld {
        Some(_) => ExitStatus::Refused,
        None if !is_kept => ExitStatus::Network,
        None => ExitStatus::Clean,
    })
}
