//! Extracts one page: converts a response into a line for the replica.
//!
//! Input: a [`FetchedPage`]. Output: an [`ExtractedPage`], or a [`RejectedPage`] with the
//! reason. [`read`] is a pure function; the worker threads call it.

use std::borrow::Cow;

use rutter_arc::ArcEntry;
use rutter_extract::{
    ExtractOptions, Extraction, Limits, PageSketch, TemplateChoice, html, markdown,
};
use rutter_fetch::{FetchedResponse, ResourceKind, ResponseBody, decode};
use rutter_page::{JsonTree, LanguageTag, LineDigest, PageUrl, Timestamp};
use rutter_store::{
    Expiry, NoteValue, PageRow, PageSource, ResponseValidators, StagedPage, UrlNote, UrlRecords,
    WithheldReason,
};
use serde::Serialize;

use crate::consent::{self, UsageStatement};
use crate::crawl::no_page::{NoPageReason, RejectedPage};
use crate::crawl::page_snapshot;
use crate::crawl::shell;
use crate::crawl::variants;
use crate::crawl::variants::KnownSpelling;
use crate::state::url_set::stable_hash;

/// Age in seconds, at the time of the response, up to which a `Last-Modified` is ignored,
/// because the server probably generated the date for this response.
const UNSTABLE: i64 = 300;
/// Extraction confidence below which the Markdown twin of a page is requested.
const UNSURE: f32 = 0.5;

/// A response, with all values that the extraction of its page needs.
#[derive(Debug)]
// More than 12 fields: one value per input of the extraction, so that it is a pure function.
pub(crate) struct FetchedPage {
    /// URL of the page, after redirects.
    pub(crate) url: PageUrl<'static>,
    pub(crate) response: FetchedResponse,
    /// Row of the page in the replica, if there is one.
    pub(crate) row: Option<PageRow>,
    /// Usage statements about the page that were known before the request.
    pub(crate) said: Vec<UsageStatement>,
    pub(crate) template: TemplateChoice,
    /// Product token of the client, by which robots.txt and `meta` elements address it.
    pub(crate) token: String,
    pub(crate) now: Timestamp,
    /// Validators and notes to store with the page.
    pub(crate) records: UrlRecords,
    /// Maximum number of links of the page that are followed.
    pub(crate) most_links: usize,
    pub(crate) has: StoredNotes,
    /// Whether URLs that differ only in form are merged into one page.
    pub(crate) merges_variants: bool,
    /// A page that this URL is another spelling of, with its content hash.
    pub(crate) known_spelling: Option<KnownSpelling>,
    /// The HTML page that this response may replace, if the response is its Markdown twin.
    pub(crate) instead_of: Option<Box<ExtractedPage>>,
}

/// Which optional notes the replica has for a page. A note that exists is written again
/// even if the page no longer has a value for it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StoredNotes {
    /// Note with the statement about training models.
    pub(crate) training: bool,
    /// Note with the ARC snapshot from the `data-ai-*` attributes of the page.
    pub(crate) snapshot: bool,
    /// Note with the dates of `unavailable_after`.
    pub(crate) expiry: bool,
}

/// A page that was extracted from a response.
#[derive(Debug)]
// More than 12 fields: the columns of a page, and what the crawl needs of it.
pub(crate) struct ExtractedPage {
    pub(crate) key: String,
    pub(crate) modified: Timestamp,
    pub(crate) title: String,
    pub(crate) language: String,
    /// Hash of title and text ([`variants::content_of`]).
    pub(crate) content: u64,
    /// The URL that the page names as canonical, if that URL may be the same page.
    pub(crate) variant_of: Option<String>,
    pub(crate) line: String,
    pub(crate) withheld: Option<WithheldReason>,
    pub(crate) source: PageSource,
    /// Links that may be followed, and those beyond the limit per page.
    pub(crate) links: Vec<String>,
    pub(crate) more_links: Vec<String>,
    /// URL of the Markdown twin, if the twin may have more content.
    pub(crate) twin: Option<String>,
    pub(crate) records: UrlRecords,
}

impl ExtractedPage {
    /// Returns the hashes of key and content, if the content of the page is stored. Another
    /// URL is left out only as an alias of a page whose content is stored.
    pub(crate) fn comparable(&self) -> Option<(u64, u64)> {
        let is_kept = matches!(self.withheld, None | Some(WithheldReason::Shell));
        is_kept.then(|| (stable_hash(&self.key), self.content))
    }

    pub(crate) fn item(&self) -> StagedPage<'_> {
        StagedPage {
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

/// Text format of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextFormat {
    Html,
    Markdown,
}

/// Returns the text format of a response; `None` if it is not supported.
pub(crate) fn kind(response: &FetchedResponse) -> Option<TextFormat> {
    let media = response.fields.media_type();
    let path = response.url.path().to_ascii_lowercase();
    let is_one = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    let is_named = is_one(&[".md", ".markdown"]);
    match media.as_str() {
        "text/markdown" | "text/x-markdown" => Some(TextFormat::Markdown),
        "text/plain" | "application/octet-stream" | "" if is_named => Some(TextFormat::Markdown),
        "text/html" | "application/xhtml+xml" | "" => Some(TextFormat::Html),
        "text/plain" if is_one(&[".txt"]) => Some(TextFormat::Markdown),
        _ => None,
    }
}

/// Returns the decoded body of a response.
fn text(response: &FetchedResponse) -> Result<Cow<'_, [u8]>, NoPageReason> {
    match (&response.body, &response.fields.content_encoding) {
        // An uncompressed body is borrowed, because a page may be long.
        (ResponseBody::Memory(bytes), None) if !decode::is_compressed(bytes) => {
            Ok(Cow::Borrowed(bytes))
        }
        _ => response
            .decoded_body(ResourceKind::Page)
            .map(Cow::Owned)
            .map_err(|_| NoPageReason::Broken),
    }
}

/// Returns the layout sketch of an HTML page.
pub(crate) fn sketch(raw: &FetchedPage) -> Option<PageSketch> {
    let text = text(&raw.response).ok()?;
    let charset = raw.response.fields.charset();
    (kind(&raw.response) == Some(TextFormat::Html))
        .then(|| PageSketch::of_html(&text, charset.as_deref(), &Limits::USUAL))
}

/// Extracts a page, or returns why the response is not a page.
#[expect(clippy::too_many_lines, reason = "one step after another, in the order of the protocol")]
pub(crate) fn read(raw: FetchedPage) -> Result<ExtractedPage, RejectedPage> {
    let (most_links, has, merges) = (raw.most_links, raw.has, raw.merges_variants);
    let FetchedPage {
        url,
        response,
        row,
        mut said,
        template,
        token,
        now,
        mut records,
        known_spelling,
        ..
    } = raw;
    // The header fields are evaluated even if the response is not a page.
    let of_fields = consent::of_fields(&response.fields, &token, now);
    let allows_training = consent::training(&of_fields);
    said.extend(of_fields);
    let nothing = |why| RejectedPage::of(why, consent::join(&said).withheld);
    let kind = kind(&response).ok_or_else(|| nothing(not_a_page(&response)))?;
    let text = text(&response).map_err(nothing)?;
    let dated = response.validators.modified().filter(|time| {
        let near = response.fields.date.unwrap_or(now).min(now);
        UNSTABLE < near.seconds_since(*time)
    });
    let seen = dated.unwrap_or(now);
    let options = ExtractOptions {
        charset: response.fields.charset(),
        template,
        // The limit of blocks applies to collections and not to crawled pages (D36).
        limits: Limits { blocks: usize::MAX, ..Limits::USUAL },
        ..ExtractOptions::new(url.clone(), seen)
    };
    let mut extraction = match kind {
        TextFormat::Html => html(&text, &options),
        TextFormat::Markdown => markdown(&text, &options),
    };
    said.extend(consent::of_page(&extraction, &token, now));
    let verdict = consent::join(&said);
    let mut links = if verdict.follows_links { links(&extraction) } else { Vec::new() };
    let more_links = links.split_off(most_links.min(links.len()));
    let canonical = merges.then(|| canonical(&extraction, url.key())).flatten();
    let content = variants::content_of(&extraction.page);
    let same = known_spelling.filter(|twin| twin.content == content && twin.of != url.key());
    // A page that is withheld is kept as a page, even if it has no content.
    let why = match extraction.page.content.len() {
        _ if verdict.withheld.is_some() => None,
        0 if !shell::is_shell(&extraction) => Some(NoPageReason::Empty),
        _ if extraction.only_leads_on() => Some(NoPageReason::Onward),
        _ => same.map(|twin| NoPageReason::Alias(twin.of)),
    };
    if let Some(why) = why {
        return Err(RejectedPage { why, withheld: None, links, more_links });
    }
    // A date in the future is replaced by the current time.
    extraction.page.modified = extraction.page.modified.min(now);
    let has_date = extraction.facts.modified.is_some() || dated.is_some();
    let line = match row.filter(|_| !has_date) {
        Some(row) => keep_date(&mut extraction, &row),
        None => extraction.page.to_line(),
    };
    let is_shell = kind == TextFormat::Html && shell::is_shell(&extraction);
    let is_unsure = kind == TextFormat::Html && extraction.confidence < UNSURE;
    let twin = extraction
        .facts
        .alternates
        .iter()
        .find(|it| it.media_type.as_deref() == Some("text/markdown"))
        .filter(|_| is_unsure && verdict.withheld.is_none())
        .map(|it| it.href.clone());
    let mut notes = Vec::new();
    if allows_training.is_some() || has.training {
        notes.push(NoteValue::Training(allows_training));
    }
    let expiry = Expiry {
        page: consent::expiry_of_page(&extraction, &token),
        header: consent::expiry_of_tags(&response.fields.robots_tags, &token),
    };
    if !expiry.is_none() || has.expiry {
        notes.push(NoteValue::Expiry(expiry));
    }
    let is_open = verdict.withheld.is_none();
    let withheld = verdict.withheld.or(is_shell.then_some(WithheldReason::Shell));
    if withheld.is_none() {
        // The snapshot from the attributes of the page (ARC-060). For a withheld page, the
        // store deletes the snapshot together with the content.
        let snapshot = page_snapshot::of_page(&extraction);
        if snapshot.is_some() || has.snapshot {
            notes.push(NoteValue::ArcSnapshot(snapshot));
        }
    }
    if verdict.withheld.is_some() {
        for known in records.validators.drain(..) {
            let (etag, last_modified) = (known.etag, known.last_modified);
            notes.push(NoteValue::WithheldPage(ResponseValidators { etag, last_modified }));
        }
    }
    records.notes.extend(notes.into_iter().map(|value| UrlNote::new(url.key(), value, now)));
    Ok(ExtractedPage {
        key: url.key().to_owned(),
        modified: extraction.page.modified,
        title: extraction.page.title.to_string(),
        language: extraction.page.language.as_str().to_owned(),
        content,
        variant_of: canonical.filter(|_| is_open),
        line,
        withheld,
        source: if kind == TextFormat::Html { PageSource::Html } else { PageSource::Markdown },
        links,
        more_links,
        twin,
        records,
    })
}

/// Returns the text of the snapshot in an ARC entry; `None` if there is no snapshot or it
/// has no text.
pub(crate) fn snapshot_text(entry: &ArcEntry<'_>) -> Option<String> {
    let snapshot = entry.ai_snapshot.as_ref()?;
    let mut signs = snapshot.get().bytes().filter(|byte| !byte.is_ascii_whitespace());
    let is_empty = signs.by_ref().eq(*b"{}");
    (!is_empty).then(|| rutter_arc::snapshot::narrative(snapshot)).flatten()
}

/// Builds a page from the snapshot of its ARC entry (ARC-058, D87).
pub(crate) fn of_snapshot(
    entry: &ArcEntry<'_>,
    row: Option<&PageRow>,
    now: Timestamp,
) -> Option<ExtractedPage> {
    #[derive(Serialize)]
    struct SnapshotBlock<'b> {
        r#type: &'b str,
        text: &'b str,
    }
    #[derive(Serialize)]
    struct SnapshotLine<'l> {
        url: &'l str,
        title: &'l str,
        description: &'l str,
        modified: String,
        language: &'l str,
        content: [SnapshotBlock<'l>; 1],
    }
    let snapshot = entry.ai_snapshot.as_ref()?;
    let text = snapshot_text(entry)?;
    let tree = JsonTree::parse(snapshot.get())?;
    let word = |name: &str| tree.get(name).and_then(JsonTree::as_str).filter(|it| !it.is_empty());
    let key = entry.url.key();
    let title = word("title").or_else(|| word("page")).unwrap_or(key);
    let description = entry.ai_summary.as_deref().or_else(|| word("summary")).unwrap_or(title);
    let language = word("language").filter(|it| LanguageTag::parse(*it).is_some());
    let language = language.unwrap_or("und");
    let line = |modified: Timestamp| {
        let content = [SnapshotBlock { r#type: "text", text: &text }];
        let modified = modified.to_string();
        let line = SnapshotLine {
            url: entry.url.as_str(),
            title,
            description,
            modified,
            language,
            content,
        };
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
    Some(ExtractedPage {
        key: key.to_owned(),
        modified,
        title: title.to_owned(),
        language: language.to_owned(),
        content: 0,
        variant_of: None,
        line,
        withheld: None,
        source: PageSource::Arc,
        links: Vec::new(),
        more_links: Vec::new(),
        twin: None,
        records: UrlRecords::default(),
    })
}

/// Returns the line of a page without a date: with the date of the stored page if the lines
/// are equal, otherwise with the time of the response, but never with an earlier date than
/// the stored one.
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

/// Returns the canonical URL of a page, if it is another URL on the same host. The caller
/// has to compare the content of both pages, because some sites name their home page as
/// canonical on every page.
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

pub(crate) fn not_a_page(response: &FetchedResponse) -> NoPageReason {
    let media = response.fields.media_type();
    // The media type is part of reports, so a long one, or one with unusual characters, is
    // replaced by `unknown`.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/.+-_".contains(c);
    let is_name = !media.is_empty() && media.len() <= 64 && media.chars().all(is_plain);
    NoPageReason::Type(if is_name { media } else { "unknown".to_owned() })
}
