//! `rutter get`: one page of a replica.

use clap::ValueEnum;
use rutter_fetch::Url;
use rutter_finding::visible;
use rutter_store::{Store, Withheld};

use crate::exit::Exit;
use crate::output::Output;
use crate::replica::{StoreArgs, page_of};

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the page; https:// where no scheme is given
    #[arg(value_name = "URL")]
    url: String,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
    #[command(flatten)]
    store: StoreArgs,
}

/// A form of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Markdown with front matter
    Markdown,
    /// The verified line, as the site published it
    Json,
    /// Plain text
    Text,
}

impl Format {
    /// The page of a line in this form.
    pub(crate) fn render(self, url: &str, line: &str) -> anyhow::Result<String> {
        match self {
            Self::Json => Ok(line.to_owned()),
            Self::Markdown => Ok(page_of(url, line)?.to_markdown()),
            Self::Text => Ok(page_of(url, line)?.to_text()),
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
        match args.format {
            Format::Json => out.exact(&line)?,
            format => write!(out.data(), "{}", format.render(&url, &line)?)?,
        }
        return Ok(Exit::Clean);
    }
    if let Some(row) = store.page(&url)? {
        let why = row.withheld.map_or("", meaning);
        out.say(format_args!("{}: withheld, {why}", visible(&row.url)));
        let is_policy = matches!(row.withheld, Some(Withheld::Robots | Withheld::Consent));
        return Ok(if is_policy { Exit::Refused } else { Exit::Findings });
    }
    // A site may take a page out of what it delivers because it is closed.
    if store.arc_entry(&url)?.is_some_and(|arc| !arc.is_allowed) {
        out.say(format_args!("{}: withheld, {}", visible(&url), meaning(Withheld::Consent)));
        return Ok(Exit::Refused);
    }
    match store.tombstone(&url)? {
        Some(gone) => {
            let (url, at, cause) = (visible(&gone.url), gone.at, gone.cause.word());
            out.say(format_args!("{url}: went away at {at} ({cause})"));
        }
        None => out.say(format_args!("{}: not in the replica", visible(&url))),
    }
    Ok(Exit::Findings)
}

/// Why the words of a page are not here.
fn meaning(withheld: Withheld) -> &'static str {
    match withheld {
        Withheld::Robots => "robots.txt forbids it",
        Withheld::Consent => "the site says it is not for AI",
        Withheld::Quota => "the site has used up its quota",
        Withheld::Foreign => "the address is not the site's own",
        Withheld::Fault => "its line was at fault",
    }
}
