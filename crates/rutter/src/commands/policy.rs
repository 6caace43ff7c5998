//! `rutter policy`: what a site says about the use of its pages.

use std::path::PathBuf;

use clap::Subcommand;
use rutter_finding::visible;
use rutter_sync::{Options, Visitor};
use serde_json::{Value, json};

use crate::commands::discover::{NetArgs, parse_address};
use crate::exit::Exit;
use crate::output::Output;
use crate::replica::StoreArgs;

/// Commands about the use of pages.
#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Say which source says what about a page, and what follows
    Explain(Args),
}

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the page; https:// where no scheme is given
    url: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    net: NetArgs,
}

pub(crate) fn run(command: &Policy, out: &mut Output) -> anyhow::Result<Exit> {
    let Policy::Explain(args) = command;
    let text =
        if args.url.contains("://") { args.url.clone() } else { format!("https://{}", args.url) };
    let url = parse_address(&text)?;
    let store = args.store.look()?;
    let (means, _) = args.net.means()?;
    let spools = PathBuf::new();
    let visitor = Visitor::new(args.net.settings()?, means, store, spools, Options::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(visitor.explain(&url));
    let found = found.map_err(|error| args.store.named(error.into()))?;
    let withheld = found.verdict.withheld;
    let is_kept = withheld.is_none() && found.no_page.is_none() && found.unasked.is_none();
    if args.json {
        let statements: Vec<Value> = found
            .statements
            .iter()
            .map(|said| {
                json!({"source": said.origin.name(), "text": said.text, "effect": said.effect.name()})
            })
            .collect();
        let silent: Vec<Value> = found
            .silent
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
            "unasked": found.unasked,
            "withheld": withheld.map(rutter_store::Withheld::word),
            "asked_for": found.verdict.asks,
            "links_followed": found.verdict.follows,
            "in_replica": found.row.is_some(),
        });
        writeln!(out.data(), "{answer}")?;
    } else {
        for said in &found.statements {
            let (name, effect) = (said.origin.name(), said.effect.name());
            writeln!(out.data(), "{name}: {}  ({effect})", visible(&said.text))?;
        }
        for (origin, why) in &found.silent {
            writeln!(out.data(), "{}: says nothing, {}", origin.name(), visible(why))?;
        }
        let follows = match (withheld, &found.no_page, &found.unasked) {
            (None, None, None) => "the page is used".to_owned(),
            (None, None, Some(why)) => format!("the page could not be asked ({})", visible(why)),
            (None, Some(why), _) => format!("there is no page to use ({})", visible(why)),
            (Some(why), ..) => format!("the words of the page are not kept ({})", why.word()),
        };
        writeln!(out.data(), "so: {follows}")?;
        if !found.verdict.asks {
            writeln!(out.data(), "so: the page is not asked for")?;
        }
        if !found.verdict.follows {
            writeln!(out.data(), "so: its links are not followed")?;
        }
        let here = match &found.row {
            None => "not in the replica",
            Some(row) if row.withheld.is_some() => "in the replica without its words",
            Some(_) => "in the replica",
        };
        out.say(here);
    }
    Ok(match withheld {
        Some(_) => Exit::Refused,
        None if !is_kept => Exit::Network,
        None => Exit::Clean,
    })
}
