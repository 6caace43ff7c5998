//! One page, from the bytes of an answer to a line for the replica.
//!
//! A pure function of the answer, what is known of the page, and the site's
//! templates; run by worker threads beside the fetching.

use rutter_extract::{Extraction, Limits, Options, Use, html, markdown};
use rutter_fetch::{Fetched, What};
use rutter_page::{LineDigest, PageUrl, Timestamp};
use rutter_store::{Item, PageRow, Source, Withheld};

use crate::consent::{self, Origin, Statement};

/// A date that is this close to the answer was made for it, in seconds.
const UNSTABLE: i64 = 300;
/// A twin is asked for where the page itself is read with less certainty.
const UNSURE: f32 = 0.5;

/// What is needed to read a page.
#[derive(Debug)]
pub(crate) struct Raw {
    /// Where it came from in the end.
    pub(crate) url: PageUrl<'static>,
    pub(crate) answer: Fetched,
    /// What the replica has.
    pub(crate) row: Option<PageRow>,
    /// What was said about the address before it was asked for.
    pub(crate) said: Vec<Statement>,
    pub(crate) template: Use,
    /// What robots.txt and `meta` call us.
    pub(crate) token: String,
    pub(crate) now: Timestamp,
    /// What marks the page as read, for later visits.
    pub(crate) marks: Vec<rutter_store::Validator>,
}

/// A page that was read.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) key: String,
    pub(crate) modified: Timestamp,
    pub(crate) title: String,
    pub(crate) language: String,
    pub(crate) line: String,
    pub(crate) withheld: Option<Withheld>,
    pub(crate) source: Source,
    /// Links that may be followed.
    pub(crate) links: Vec<String>,
    /// A twin in Markdown that says more than we could read.
    pub(crate) twin: Option<String>,
    pub(crate) marks: Vec<rutter_store::Validator>,
}

impl Ready {
    pub(crate) fn item(&self) -> Item<'_> {
        Item {
            key: &self.key,
            modified: self.modified,
            digest: LineDigest::of(self.line.as_bytes()),
            title: &self.title,
            language: &self.language,
            line: &self.line,
            withheld: self.withheld,
        }
    }
}

/// What kind of text an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    Html,
    Markdown,
}

/// The kind of an answer; `None` where it is no text we read.
pub(crate) fn kind(answer: &Fetched) -> Option<Text> {
    let media = answer.fields.media_type();
    let path = answer.url.path().to_ascii_lowercase();
    let is_named = [".md", ".markdown"].iter().any(|end| path.ends_with(end));
    match media.as_str() {
        "text/markdown" | "text/x-markdown" => Some(Text::Markdown),
        "text/plain" | "application/octet-stream" | "" if is_named => Some(Text::Markdown),
        "text/html" | "application/xhtml+xml" | "" => Some(Text::Html),
        "text/plain" if path.ends_with(".txt") => Some(Text::Markdown),
        _ => None,
    }
}

/// Reads a page; why not where it cannot be.
pub(crate) fn read(raw: Raw) -> Result<Ready, String> {
    let Raw { url, answer, row, mut said, template, token, now, marks } = raw;
    let kind = kind(&answer).ok_or_else(|| not_a_page(&answer))?;
    let text = answer.text(What::Page).map_err(|error| error.to_string())?;
    let dated = answer.validators.modified().filter(|time| {
        let near = answer.fields.date.unwrap_or(now).min(now);
        UNSTABLE < near.seconds_since(*time)
    });
    let seen = dated.unwrap_or(now);
    let options = Options {
        charset: answer.fields.charset(),
        template,
        limits: Limits::USUAL,
        ..Options::new(url.clone(), seen)
    };
    let mut extraction = match kind {
        Text::Html => html(&text, &options),
        Text::Markdown => markdown(&text, &options),
    };
    said.extend(consent::of_metas(&extraction.facts.robots, &token));
    said.extend(consent::of_tags(&answer.fields.robots_tags, &token));
    let signals = answer.fields.content_signals.iter();
    said.extend(signals.filter_map(|value| consent::of_signal(Origin::Signal, value)));
    let verdict = consent::join(&said);
    if extraction.page.content.is_empty() && verdict.withheld.is_none() {
        return Err("it has no text".to_owned());
    }
    if Limits::USUAL.blocks < extraction.page.content.len() {
        return Err("it has too many blocks".to_owned());
    }
    // Nobody may be ahead of the clock.
    extraction.page.modified = extraction.page.modified.min(now);
    let has_date = extraction.facts.modified.is_some() || dated.is_some();
    let line = match row.filter(|_| !has_date) {
        Some(row) => keep_date(&mut extraction, &row),
        None => extraction.page.to_line(),
    };
    let links = if verdict.follows { links(&extraction) } else { Vec::new() };
    let is_unsure = kind == Text::Html && extraction.confidence < UNSURE;
    let twin = extraction
        .facts
        .alternates
        .iter()
        .find(|it| it.media_type.as_deref() == Some("text/markdown"))
        .filter(|_| is_unsure && verdict.withheld.is_none())
        .map(|it| it.href.clone());
    Ok(Ready {
        key: url.key().to_owned(),
        modified: extraction.page.modified,
        title: extraction.page.title.to_string(),
        language: extraction.page.language.as_str().to_owned(),
        line,
        withheld: verdict.withheld,
        source: if kind == Text::Html { Source::Html } else { Source::Markdown },
        links,
        twin,
        marks,
    })
}

/// A page without a date keeps the one it had, where it says the same.
fn keep_date(extraction: &mut Extraction, row: &PageRow) -> String {
    let fresh = extraction.page.modified;
    extraction.page.modified = row.modified;
    let line = extraction.page.to_line();
    if LineDigest::of(line.as_bytes()) == row.digest {
        return line;
    }
    extraction.page.modified = fresh.max(row.modified);
    extraction.page.to_line()
}

fn links(extraction: &Extraction) -> Vec<String> {
    let is_followed = |rel: &Option<String>| {
        let words = rel.as_deref().unwrap_or_default().to_ascii_lowercase();
        !words.split_ascii_whitespace().any(|word| word == "nofollow")
    };
    let followed = extraction.links.iter().filter(|link| is_followed(&link.rel));
    followed.map(|link| link.href.to_string()).collect()
}

fn not_a_page(answer: &Fetched) -> String {
    let media = answer.fields.media_type();
    let media = if media.is_empty() { "unknown" } else { media.as_str() };
    format!("it is of type {}", rutter_finding::visible(media))
}
