//! One page, from the bytes of an answer to a line for the replica.
//!
//! A pure function of the answer, what is known of the page, and the site's
//! templates; run by worker threads beside the fetching.

use std::borrow::Cow;

use rutter_arc::Entry as ArcEntry;
use rutter_extract::{Extraction, Limits, Options, Sketch, Use, html, markdown};
use rutter_fetch::{Body, Fetched, What, decode};
use rutter_page::{LanguageTag, LineDigest, PageUrl, Timestamp, Tree};
use rutter_store::{Item, PageRow, Source, Withheld};
use serde::Serialize;

use crate::consent::{self, Statement};
use crate::keys::number;
use crate::left_out::LeftOut;
use crate::mark::{Expiry, Mark, expiry_mark, training_mark};
use crate::variants::Twin;
use crate::{shell, snapshot, variants};

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
    /// Links that are followed from the page.
    pub(crate) most_links: usize,
    pub(crate) has: StoredMarks,
    /// Whether variants of a URL are one page.
    pub(crate) merges_variants: bool,
    /// The page that this URL is another spelling of.
    pub(crate) twin_of: Option<Twin>,
    /// The page as it was read, where these are the words of its twin.
    pub(crate) instead_of: Option<Box<Ready>>,
}

/// Which marks of a page are stored: they are written anew also where the page
/// says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StoredMarks {
    /// What the page says about training.
    pub(crate) training: bool,
    /// A snapshot of its own.
    pub(crate) snapshot: bool,
    /// Dates from which on it is not to be used.
    pub(crate) expiry: bool,
}

/// Why an answer is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoPage {
    #[error("it is of type {0}")]
    Type(String),
    #[error("it has no text")]
    Empty,
    #[error("it only leads on")]
    Onward,
    #[error("it cannot be decoded")]
    Broken,
    #[error("it is another URL of {0}")]
    Alias(String),
}

impl From<NoPage> for LeftOut {
    fn from(why: NoPage) -> Self {
        match why {
            NoPage::Type(name) => Self::media_type(name),
            NoPage::Empty => Self::NO_TEXT,
            NoPage::Onward => Self::REDIRECT_PAGE,
            NoPage::Broken => Self::UNDECODABLE,
            NoPage::Alias(page) => Self::alias(page),
        }
    }
}

impl NoPage {
    /// Whether the same bytes will be no page next time either.
    pub(crate) fn is_lasting(&self) -> bool {
        !matches!(self, Self::Broken)
    }

    /// Whether the page that was there before is there no more. (One that is
    /// too long for us, or cannot be decoded, may be.)
    pub(crate) fn is_other(&self) -> bool {
        matches!(self, Self::Type(_) | Self::Empty | Self::Onward | Self::Alias(_))
    }
}

/// What an answer is that is no page.
#[derive(Debug)]
pub(crate) struct Nothing {
    pub(crate) why: NoPage,
    /// Whether it takes consent back all the same.
    pub(crate) withheld: Option<Withheld>,
    /// Links that may be followed, and those beyond the limit of a page.
    pub(crate) links: Vec<String>,
    pub(crate) more_links: Vec<String>,
}

impl Nothing {
    fn of(why: NoPage, withheld: Option<Withheld>) -> Self {
        Self { why, withheld, links: Vec::new(), more_links: Vec::new() }
    }
}

/// A page that was read.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) key: String,
    pub(crate) modified: Timestamp,
    pub(crate) title: String,
    pub(crate) language: String,
    /// A number for its content.
    pub(crate) content: u64,
    /// The URL that it names as canonical, where that may be the same page.
    pub(crate) variant_of: Option<String>,
    pub(crate) line: String,
    pub(crate) withheld: Option<Withheld>,
    pub(crate) source: Source,
    /// Links that may be followed, and those beyond the limit of a page.
    pub(crate) links: Vec<String>,
    pub(crate) more_links: Vec<String>,
    /// A twin in Markdown that says more than we could read.
    pub(crate) twin: Option<String>,
    pub(crate) marks: Vec<rutter_store::Validator>,
}

impl Ready {
    /// Numbers for its key and its content, where the content is kept: only
    /// then another URL may be left out as an alias of it.
    pub(crate) fn comparable(&self) -> Option<(u64, u64)> {
        let is_kept = matches!(self.withheld, None | Some(Withheld::Shell));
        is_kept.then(|| (number(&self.key), self.content))
    }

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
    let is_one = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    let is_named = is_one(&[".md", ".markdown"]);
    match media.as_str() {
        "text/markdown" | "text/x-markdown" => Some(Text::Markdown),
        "text/plain" | "application/octet-stream" | "" if is_named => Some(Text::Markdown),
        "text/html" | "application/xhtml+xml" | "" => Some(Text::Html),
        "text/plain" if is_one(&[".txt"]) => Some(Text::Markdown),
        _ => None,
    }
}

/// The bytes of a page with their codings undone.
fn text(answer: &Fetched) -> Result<Cow<'_, [u8]>, NoPage> {
    match (&answer.body, &answer.fields.content_encoding) {
        // A long page need not lie here twice.
        (Body::Memory(bytes), None) if !decode::is_coded(bytes) => Ok(Cow::Borrowed(bytes)),
        _ => answer.text(What::Page).map(Cow::Owned).map_err(|_| NoPage::Broken),
    }
}

/// What a page of HTML shows of the layout of its site.
pub(crate) fn sketch(raw: &Raw) -> Option<Sketch> {
    let text = text(&raw.answer).ok()?;
    let charset = raw.answer.fields.charset();
    (kind(&raw.answer) == Some(Text::Html))
        .then(|| Sketch::of_html(&text, charset.as_deref(), &Limits::USUAL))
}

/// Reads a page; why not where it cannot be.
pub(crate) fn read(raw: Raw) -> Result<Ready, Nothing> {
    let (most_links, has, merges) = (raw.most_links, raw.has, raw.merges_variants);
    let Raw { url, answer, row, mut said, template, token, now, mut marks, twin_of, .. } = raw;
    // Whatever comes, what its server says of its use counts.
    let of_fields = consent::of_fields(&answer.fields, &token, now);
    let trains = consent::training(&of_fields);
    said.extend(of_fields);
    let nothing = |why| Nothing::of(why, consent::join(&said).withheld);
    let kind = kind(&answer).ok_or_else(|| nothing(not_a_page(&answer)))?;
    let text = text(&answer).map_err(nothing)?;
    let dated = answer.validators.modified().filter(|time| {
        let near = answer.fields.date.unwrap_or(now).min(now);
        UNSTABLE < near.seconds_since(*time)
    });
    let seen = dated.unwrap_or(now);
    let options = Options {
        charset: answer.fields.charset(),
        template,
        // The number of blocks is limited on the wire, not here (D36).
        limits: Limits { blocks: usize::MAX, ..Limits::USUAL },
        ..Options::new(url.clone(), seen)
    };
    let mut extraction = match kind {
        Text::Html => html(&text, &options),
        Text::Markdown => markdown(&text, &options),
    };
    said.extend(consent::of_page(&extraction, &token, now));
    let verdict = consent::join(&said);
    let mut links = if verdict.follows { links(&extraction) } else { Vec::new() };
    let more_links = links.split_off(most_links.min(links.len()));
    let canonical = merges.then(|| canonical(&extraction, url.key())).flatten();
    let content = variants::content_of(&extraction.page);
    let same = twin_of.filter(|twin| twin.content == content && twin.of != url.key());
    // One whose words are not kept need have none, or may have too many.
    let why = match extraction.page.content.len() {
        _ if verdict.withheld.is_some() => None,
        0 if !shell::is_shell(&extraction, &text) => Some(NoPage::Empty),
        _ if extraction.only_leads_on() => Some(NoPage::Onward),
        _ => same.map(|twin| NoPage::Alias(twin.of)),
    };
    if let Some(why) = why {
        return Err(Nothing { why, withheld: None, links, more_links });
    }
    // Nobody may be ahead of the clock.
    extraction.page.modified = extraction.page.modified.min(now);
    let has_date = extraction.facts.modified.is_some() || dated.is_some();
    let line = match row.filter(|_| !has_date) {
        Some(row) => keep_date(&mut extraction, &row),
        None => extraction.page.to_line(),
    };
    let is_shell = kind == Text::Html && shell::is_shell(&extraction, &text);
    let is_unsure = kind == Text::Html && extraction.confidence < UNSURE;
    let twin = extraction
        .facts
        .alternates
        .iter()
        .find(|it| it.media_type.as_deref() == Some("text/markdown"))
        .filter(|_| is_unsure && verdict.withheld.is_none())
        .map(|it| it.href.clone());
    if trains.is_some() || has.training {
        marks.push(training_mark(url.key(), trains, now));
    }
    let expiry = Expiry {
        page: consent::expiry_of_page(&extraction, &token),
        header: consent::expiry_of_tags(&answer.fields.robots_tags, &token),
    };
    if !expiry.is_none() || has.expiry {
        marks.push(expiry_mark(url.key(), expiry, now));
    }
    let is_open = verdict.withheld.is_none();
    let withheld = verdict.withheld.or(is_shell.then_some(Withheld::Shell));
    if withheld.is_none() {
        // ARC-060: the page's own attributes. Of a page that is withheld, the
        // store deletes the snapshot together with the content.
        let snapshot = snapshot::of_page(&extraction);
        if snapshot.is_some() || has.snapshot {
            marks.push(snapshot::mark(url.key(), snapshot, now));
        }
    }
    if verdict.withheld.is_some() {
        for mark in marks.iter_mut().filter(|mark| mark.url == url.key()) {
            mark.url = Mark::Withheld.of(url.key());
        }
    }
    Ok(Ready {
        key: url.key().to_owned(),
        modified: extraction.page.modified,
        title: extraction.page.title.to_string(),
        language: extraction.page.language.as_str().to_owned(),
        content,
        variant_of: canonical.filter(|_| is_open),
        line,
        withheld,
        source: if kind == Text::Html { Source::Html } else { Source::Markdown },
        links,
        more_links,
        twin,
        marks,
    })
}

/// What the snapshot of an ARC entry tells, where it tells anything.
pub(crate) fn told(entry: &ArcEntry<'_>) -> Option<String> {
    let snapshot = entry.ai_snapshot.as_ref()?;
    let mut signs = snapshot.get().bytes().filter(|byte| !byte.is_ascii_whitespace());
    let is_empty = signs.by_ref().eq(*b"{}");
    (!is_empty).then(|| rutter_arc::snapshot::narrative(snapshot)).flatten()
}

/// A page out of the snapshot of its ARC entry (ARC-058, D87).
pub(crate) fn of_snapshot(
    entry: &ArcEntry<'_>,
    row: Option<&PageRow>,
    now: Timestamp,
) -> Option<Ready> {
    #[derive(Serialize)]
    struct Block<'b> {
        r#type: &'b str,
        text: &'b str,
    }
    #[derive(Serialize)]
    struct Line<'l> {
        url: &'l str,
        title: &'l str,
        description: &'l str,
        modified: String,
        language: &'l str,
        content: [Block<'l>; 1],
    }
    let snapshot = entry.ai_snapshot.as_ref()?;
    let text = told(entry)?;
    let tree = Tree::parse(snapshot.get())?;
    let word = |name: &str| tree.get(name).and_then(Tree::as_str).filter(|it| !it.is_empty());
    let key = entry.url.key();
    let title = word("title").or_else(|| word("page")).unwrap_or(key);
    let description = entry.ai_summary.as_deref().or_else(|| word("summary")).unwrap_or(title);
    let language = word("language").filter(|it| LanguageTag::parse(*it).is_some());
    let language = language.unwrap_or("und");
    let line = |modified: Timestamp| {
        let content = [Block { r#type: "text", text: &text }];
        let modified = modified.to_string();
        let line =
            Line { url: entry.url.as_str(), title, description, modified, language, content };
        serde_json::to_string(&line).ok()
    };
    let known = row.filter(|_| entry.lastmod.is_none()).map(|row| row.modified);
    let same = known.and_then(|time| {
        let line = line(time)?;
        let is_same = row.is_some_and(|row| LineDigest::of(line.as_bytes()) == row.digest);
        is_same.then_some((time, line))
    });
    let fresh = entry.lastmod.unwrap_or(now).min(now);
    let (modified, line) = match same {
        Some(same) => same,
        None => (fresh, line(fresh)?),
    };
    Some(Ready {
        key: key.to_owned(),
        modified,
        title: title.to_owned(),
        language: language.to_owned(),
        content: 0,
        variant_of: None,
        line,
        withheld: None,
        source: Source::Arc,
        links: Vec::new(),
        more_links: Vec::new(),
        twin: None,
        marks: Vec::new(),
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

/// The page that this one may be a variant of, by its canonical link inside the
/// site. The link alone is no evidence, as some sites name their home page
/// everywhere: both pages must have the same content.
fn canonical(extraction: &Extraction, key: &str) -> Option<String> {
    let canonical = PageUrl::parse(extraction.facts.canonical.as_deref()?).ok()?;
    let own = PageUrl::parse(key).ok()?;
    let is_other = canonical.key() != key && canonical.host() == own.host();
    is_other.then(|| canonical.key().to_owned())
}

fn links(extraction: &Extraction) -> Vec<String> {
    let is_followed = |rel: &Option<String>| {
        let words = rel.as_deref().unwrap_or_default().to_ascii_lowercase();
        !words.split_ascii_whitespace().any(|word| word == "nofollow")
    };
    let followed = extraction.links.iter().filter(|link| is_followed(&link.rel));
    let onward = extraction.facts.leads_to.clone();
    onward.into_iter().chain(followed.map(|link| link.href.to_string())).collect()
}

pub(crate) fn not_a_page(answer: &Fetched) -> NoPage {
    let media = answer.fields.media_type();
    // Foreign text becomes part of a report, so it is short and plain.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/.+-_".contains(c);
    let is_name = !media.is_empty() && media.len() <= 64 && media.chars().all(is_plain);
    NoPage::Type(if is_name { media } else { "unknown".to_owned() })
}
