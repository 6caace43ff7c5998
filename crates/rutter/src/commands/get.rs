//! `rutter get`: one page of a replica.

use clap::ValueEnum;
use rutter_fetch::Url;
use rutter_finding::visible;
use rutter_page::ReaderView;
use rutter_store::{Store, Withheld};
use rutter_sync::arc_snapshot;
use serde_json::Value;

use crate::exit::Exit;
use crate::output::Output;
use crate::replica::{StoreArgs, view_of};

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the page; https:// where no scheme is given
    #[arg(value_name = "URL")]
    url: String,
    /// How to print it
    #[arg(long, value_enum, default_value_t = GetFormat::Markdown)]
    format: GetFormat,
    /// Print the stored line byte for byte, unsafe URLs included; implies JSON
    #[arg(long, conflicts_with = "format")]
    raw: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// What is printed of a page.
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

/// A form of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Markdown with front matter
    Markdown,
    /// The page object as one JSON document
    Json,
    /// Plain text
    Text,
}

impl Format {
    /// A page in this form.
    pub(crate) fn render(self, view: &ReaderView<'_>) -> String {
        match self {
            Self::Json => view.line().into_owned(),
            Self::Markdown => view.page.to_markdown(),
            Self::Text => view.page.to_text(),
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    answer(args, out).map_err(|error| args.store.named(error))
}

fn answer(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let store = args.store.open()?;
    let is_bare = Url::parse(&args.url).is_err();
    let url = if is_bare { format!("https://{}", args.url) } else { args.url.clone() };
    if let Some(line) = store.line(&url)? {
        if args.raw {
            out.exact(&line)?;
            return Ok(Exit::Clean);
        }
        let format = match args.format {
            GetFormat::Markdown => Format::Markdown,
            GetFormat::Json => Format::Json,
            GetFormat::Text => Format::Text,
            GetFormat::ArcSnapshot => return print_arc_snapshot(&store, &url, out),
        };
        let text = format.render(&view_of(&url, &line)?);
        match format {
            Format::Json => out.exact(&text)?,
            Format::Markdown | Format::Text => out.text(&text)?,
        }
        return Ok(Exit::Clean);
    }
    if let Some(row) = store.page(&url)? {
        let why = row.withheld.map_or("", meaning);
        out.warn(format_args!("{}: withheld, {why}", visible(&row.url)));
        let is_policy = matches!(row.withheld, Some(Withheld::Robots | Withheld::Consent));
        return Ok(if is_policy { Exit::Refused } else { Exit::Findings });
    }
    // A site may take a page out of what it delivers because it is closed.
    if store.arc_entry(&url)?.is_some_and(|arc| !arc.is_allowed) {
        out.warn(format_args!("{}: withheld, {}", visible(&url), meaning(Withheld::Consent)));
        return Ok(Exit::Refused);
    }
    match store.tombstone(&url)? {
        Some(gone) => {
            let (url, at, cause) = (visible(&gone.url), gone.at, gone.cause.word());
            out.warn(format_args!("{url}: went away at {at} ({cause})"));
        }
        None => out.warn(format_args!("{}: not in the replica", visible(&url))),
    }
    Ok(Exit::Findings)
}

/// Prints the ARC snapshot of a page whose content is in the replica.
fn print_arc_snapshot(store: &dyn Store, url: &str, out: &mut Output) -> anyhow::Result<Exit> {
    let key = store.page(url)?.map_or_else(|| url.to_owned(), |row| row.url);
    let Some(snapshot) = arc_snapshot(store, &key)? else {
        out.warn(format_args!("{}: the page has no ARC snapshot", visible(&key)));
        return Ok(Exit::Findings);
    };
    let (url, source) = (Value::from(key), snapshot.source.word());
    let json = snapshot.json;
    out.exact(&format!(r#"{{"url":{url},"source":"{source}","snapshot":{json}}}"#))?;
    Ok(Exit::Clean)
}

/// Why the words of a page are not here.
fn meaning(withheld: Withheld) -> &'static str {
    match withheld {
        Withheld::Robots => "robots.txt forbids it",
        Withheld::Consent => "the site says it is not for AI",
        Withheld::Quota => "the site has used up its quota",
        Withheld::Foreign => "the address is not the site's own",
        Withheld::Fault => "its line was invalid, or damaged and not fetched again yet",
        Withheld::Shell => "the page is a shell: its content comes by a script or after a login",
        Withheld::Scope => "it is outside the scope of the sync",
    }
}
