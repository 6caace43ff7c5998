//! `rutter get`: prints one page of a replica.

use clap::ValueEnum;
use rutter_fetch::Url;
use rutter_finding::visible;
use rutter_page::ReaderView;
use rutter_store::WithheldReason;
use rutter_store::prelude::*;
use rutter_sync::find_arc_snapshot;
use serde_json::Value;

use crate::exit::ExitStatus;
use crate::output::Output;
use crate::replica::{StoreArgs, view_of};

/// Arguments of `rutter get`.
#[derive(Debug, clap::Args)]
pub(crate) struct GetArgs {
    /// URL of the page
    ///
    /// Without a scheme, https:// is used.
    #[arg(value_name = "URL")]
    url: String,
    /// Output format
    #[arg(long, value_enum, default_value_t = GetFormat::Markdown)]
    format: GetFormat,
    /// Print the stored JSON line, including unsafe URLs
    ///
    /// The line is printed byte for byte. By default, unsafe URLs are removed.
    #[arg(long, conflicts_with = "format")]
    raw: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// An output format of `rutter get`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GetFormat {
    /// Markdown with front matter
    Markdown,
    /// The page object as one JSON document
    Json,
    /// Plain text
    Text,
    /// The ARC snapshot and its source, `arc` or `page`, as one JSON document
    ArcSnapshot,
}

/// An output format of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// Markdown with front matter
    Markdown,
    /// The page object as one JSON document
    Json,
    /// Plain text
    Text,
}

impl PageFormat {
    /// Returns the page in this format.
    pub(crate) fn render(self, view: &ReaderView<'_>) -> String {
        match self {
            Self::Json => view.line().into_owned(),
            Self::Markdown => view.page.to_markdown(),
            Self::Text => view.page.to_text(),
        }
    }
}

pub(crate) fn run(args: &GetArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    execute(args, out).map_err(|error| args.store.named(error))
}

fn execute(args: &GetArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let store = args.store.open()?;
    let is_bare = Url::parse(&args.url).is_err();
    let url = if is_bare { format!("https://{}", args.url) } else { args.url.clone() };
    if let Some(line) = store.line(&url)? {
        if args.raw {
            out.exact(&line)?;
            return Ok(ExitStatus::Clean);
        }
        let format = match args.format {
            GetFormat::Markdown => PageFormat::Markdown,
            GetFormat::Json => PageFormat::Json,
            GetFormat::Text => PageFormat::Text,
            GetFormat::ArcSnapshot => return print_arc_snapshot(&store, &url, out),
        };
        let text = format.render(&view_of(&url, &line)?);
        match format {
            PageFormat::Json => out.exact(&text)?,
            PageFormat::Markdown | PageFormat::Text => out.text(&text)?,
        }
        return Ok(ExitStatus::Clean);
    }
    if let Some(row) = store.page(&url)? {
        let why = row.withheld.map_or("", meaning);
        out.warn(format_args!("{}: stored without content: {why}", visible(&row.url)));
        let is_policy =
            matches!(row.withheld, Some(WithheldReason::Robots | WithheldReason::Consent));
        return Ok(if is_policy { ExitStatus::Refused } else { ExitStatus::Findings });
    }
    // A site may stop delivering a page because its ARC entry forbids its use.
    if store.arc_entry(&url)?.is_some_and(|arc| !arc.is_allowed) {
        out.warn(format_args!(
            "{}: stored without content: {}",
            visible(&url),
            meaning(WithheldReason::Consent)
        ));
        return Ok(ExitStatus::Refused);
    }
    match store.tombstone(&url)? {
        Some(gone) => {
            let (url, at, cause) = (visible(&gone.url), gone.at, gone.cause.word());
            out.warn(format_args!("{url}: removed at {at} ({cause})"));
        }
        None => out.warn(format_args!("{}: not in the replica", visible(&url))),
    }
    Ok(ExitStatus::Findings)
}

/// Prints the ARC snapshot of a page whose content is in the replica.
fn print_arc_snapshot(
    store: &dyn Store,
    url: &str,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let key = store.page(url)?.map_or_else(|| url.to_owned(), |row| row.url);
    let Some(snapshot) = find_arc_snapshot(store, &key)? else {
        out.warn(format_args!("{}: the page has no ARC snapshot", visible(&key)));
        return Ok(ExitStatus::Findings);
    };
    let (url, source) = (Value::from(key), snapshot.source.word());
    let json = snapshot.json;
    out.exact(&format!(r#"{{"url":{url},"source":"{source}","snapshot":{json}}}"#))?;
    Ok(ExitStatus::Clean)
}

/// Returns why a page is stored without content.
fn meaning(withheld: WithheldReason) -> &'static str {
    match withheld {
        WithheldReason::Robots => "robots.txt disallows it",
        WithheldReason::Consent => "the site does not allow its use by AI",
        WithheldReason::Quota => "the quota of the site is exhausted",
        WithheldReason::Foreign => "the URL belongs to another site",
        WithheldReason::Fault => {
            "the line of the page was invalid, or is damaged and not fetched again yet"
        }
        WithheldReason::Shell => "the page has no text without scripts or a login",
        WithheldReason::Scope => "the page is outside the scope of the sync",
    }
}
