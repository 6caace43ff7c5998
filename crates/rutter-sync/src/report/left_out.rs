//! Reasons why a URL is not in the replica, and the list of such URLs.
//!
//! Every reason has a code for programs and a text for people; some have a detail, such as
//! a status code. The replica stores the left-out URLs of a publisher as URL notes;
//! [`list_left_out`] reads them. At most 100,000 URLs are listed per site; the
//! counts of a report are not limited.

use std::borrow::Cow;
use std::fmt;

use rutter_fetch::redact;
use rutter_page::Timestamp;
use rutter_store::{
    DamagedPage, NoteKind, NoteValue, PublisherId, QueryError, StorageError, Store, UrlNote,
};

/// Maximum number of left-out URLs that are listed per site.
pub(crate) const MOST_URLS: usize = 100_000;

/// Maximum length of a detail in bytes. Longer details, which may contain text from a
/// server, are dropped.
const LONGEST_DETAIL: usize = 200;

/// Codes and texts of all reasons, sorted by code.
const REASONS: &[(&str, &str)] = &[
    ("alias", "another URL of a page that is stored"),
    ("arc-other-site", "the ARC entry belongs to another site"),
    ("bad-response", "the response is not usable"),
    ("consent", "the site does not allow the use of the page"),
    ("depth-limit", "too many links away from the home page (depth limit)"),
    ("fetch-refused", "the request was refused by a local policy"),
    ("file", "a file, not a page"),
    ("http-status", "the server answered with an error status"),
    ("invalid-url", "not a valid URL of a page"),
    ("link-limit", "beyond the limit of links followed from one page"),
    ("media-type", "unsupported media type"),
    ("network", "network failure"),
    ("no-text", "a page without text"),
    ("other", "other reasons"),
    ("other-site", "a URL of another site"),
    ("page-limit", "beyond the limit of pages fetched in one sync"),
    ("path-depth", "the path has too many segments"),
    ("path-repeats", "the path repeats a segment too often"),
    ("queries-limit", "too many different queries of one path"),
    ("queue-limit", "beyond the limit of URLs in one crawl"),
    ("quota", "beyond the page quota"),
    ("redirect-elsewhere", "redirects to another site"),
    ("redirect-page", "a page that only redirects"),
    ("remembered-limit", "beyond the limit of links stored for the next sync"),
    ("robots", "disallowed by robots.txt"),
    ("scope", "outside the scope of the sync"),
    ("session", "the URL contains a session parameter"),
    ("sitemap-limit", "beyond the limit of sitemap URLs that are read"),
    ("soft-404", "the page that the site sends for unknown URLs"),
    ("stopped", "not reached: the crawl stopped early"),
    ("temporary-redirect", "temporary redirect to another URL"),
    ("time-limit", "not reached within the time limit"),
    ("unchanged", "not a page at the last request, and unchanged since"),
    ("undecodable", "the response cannot be decoded"),
    ("url-length", "the URL is too long"),
];

/// Why a URL is not in the replica.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOutReason {
    code: &'static str,
    detail: Option<Cow<'static, str>>,
}

impl LeftOutReason {
    pub(crate) const ALIAS: Self = Self::plain("alias");
    pub(crate) const ARC_OTHER_SITE: Self = Self::plain("arc-other-site");
    pub(crate) const CONSENT: Self = Self::plain("consent");
    pub(crate) const DEPTH_LIMIT: Self = Self::plain("depth-limit");
    pub(crate) const FILE: Self = Self::plain("file");
    pub(crate) const INVALID_URL: Self = Self::plain("invalid-url");
    pub(crate) const LINK_LIMIT: Self = Self::plain("link-limit");
    pub(crate) const NETWORK: Self = Self::plain("network");
    pub(crate) const NO_TEXT: Self = Self::plain("no-text");
    pub(crate) const OTHER: Self = Self::plain("other");
    pub(crate) const OTHER_SITE: Self = Self::plain("other-site");
    pub(crate) const PAGE_LIMIT: Self = Self::plain("page-limit");
    pub(crate) const PATH_DEPTH: Self = Self::plain("path-depth");
    pub(crate) const PATH_REPEATS: Self = Self::plain("path-repeats");
    pub(crate) const QUERIES_LIMIT: Self = Self::plain("queries-limit");
    pub(crate) const QUEUE_LIMIT: Self = Self::plain("queue-limit");
    pub(crate) const QUOTA: Self = Self::plain("quota");
    pub(crate) const REDIRECT_ELSEWHERE: Self = Self::plain("redirect-elsewhere");
    pub(crate) const REDIRECT_PAGE: Self = Self::plain("redirect-page");
    pub(crate) const REMEMBERED_LIMIT: Self = Self::plain("remembered-limit");
    pub(crate) const ROBOTS: Self = Self::plain("robots");
    pub(crate) const SCOPE: Self = Self::plain("scope");
    pub(crate) const SESSION: Self = Self::plain("session");
    pub(crate) const SITEMAP_LIMIT: Self = Self::plain("sitemap-limit");
    pub(crate) const SOFT_404: Self = Self::plain("soft-404");
    pub(crate) const STOPPED: Self = Self::plain("stopped");
    pub(crate) const TEMPORARY_REDIRECT: Self = Self::plain("temporary-redirect");
    pub(crate) const TIME_LIMIT: Self = Self::plain("time-limit");
    pub(crate) const UNCHANGED: Self = Self::plain("unchanged");
    pub(crate) const UNDECODABLE: Self = Self::plain("undecodable");
    pub(crate) const URL_LENGTH: Self = Self::plain("url-length");

    const fn plain(code: &'static str) -> Self {
        Self { code, detail: None }
    }

    fn detailed(code: &'static str, detail: String) -> Self {
        let is_short = !detail.is_empty() && detail.len() <= LONGEST_DETAIL;
        Self { code, detail: is_short.then_some(Cow::Owned(detail)) }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::detailed("http-status", status.to_string())
    }

    pub(crate) fn alias(of: String) -> Self {
        Self { code: "alias", detail: Some(Cow::Owned(of)) }
    }

    /// Returns the page that the URL is an alias of.
    pub(crate) fn alias_of(&self) -> Option<&str> {
        self.detail().filter(|_| self.code == "alias")
    }

    pub(crate) fn media_type(name: String) -> Self {
        Self::detailed("media-type", name)
    }

    pub(crate) fn bad_response(detail: &str) -> Self {
        Self::detailed("bad-response", redact(detail))
    }

    pub(crate) fn refused(detail: &str) -> Self {
        Self::detailed("fetch-refused", redact(detail))
    }

    /// Returns the code of the reason, which is stable and meant for programs.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the detail of the reason, such as a status code or a media type.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// Returns code and detail as one text, which [`LeftOutReason::parse`] reads.
    pub(crate) fn key(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}:{detail}", self.code),
            None => self.code.to_owned(),
        }
    }

    /// Reads a text that [`LeftOutReason::key`] returned; `None` for an unknown code.
    pub(crate) fn parse(key: &str) -> Option<Self> {
        let (code, detail) = key.split_once(':').unwrap_or((key, ""));
        let (code, _) = REASONS.iter().find(|(known, _)| *known == code)?;
        if *code == "alias" {
            return Some(Self::alias(detail.to_owned()));
        }
        Some(Self::detailed(code, detail.to_owned()))
    }

    /// Returns the URL note that stores this reason for a URL.
    pub(crate) fn note(&self, key: &str, noted: Timestamp) -> UrlNote {
        UrlNote::new(key, NoteValue::LeftOut(self.key()), noted)
    }
}

/// Writes the text of the reason, for people, with its detail.
impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = REASONS.iter().find(|(code, _)| *code == self.code).map_or(self.code, |it| it.1);
        match &self.detail {
            Some(detail) => write!(f, "{text}: {detail}"),
            None => f.write_str(text),
        }
    }
}

/// A URL that is not in the replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutUrl {
    /// The URL that is left out.
    pub url: String,
    /// The reason why the URL is not in the replica.
    pub why: LeftOutReason,
    /// When a sync found the reason.
    pub at: Timestamp,
}

/// Lists URLs of a publisher that are not in its replica, sorted by URL.
///
/// To read the next batch, pass the last URL of the previous batch as `after`. An empty
/// result means that there are no more URLs.
pub fn list_left_out(
    store: &dyn Store,
    publisher: PublisherId,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<LeftOutUrl>, QueryError> {
    let notes = store.url_notes(publisher, NoteKind::LeftOut, after, most)?;
    let notes: Result<Vec<UrlNote>, DamagedPage> = notes.into_iter().collect();
    Ok(notes.map_err(StorageError::from)?.into_iter().map(LeftOutUrl::of_note).collect())
}

impl LeftOutUrl {
    pub(crate) fn of_note(note: UrlNote) -> Self {
        let why = match &note.value {
            NoteValue::LeftOut(key) => LeftOutReason::parse(key),
            _ => None,
        };
        Self { url: note.url, why: why.unwrap_or(LeftOutReason::OTHER), at: note.noted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_text_and_round_trips() {
        for (code, text) in REASONS {
            let plain = LeftOutReason::parse(code).unwrap();
            assert!(plain.code() == *code && plain.to_string().starts_with(text));
            let detailed = LeftOutReason::detailed(code, "a:b".to_owned());
            assert_eq!(LeftOutReason::parse(&detailed.key()), Some(detailed));
        }
        assert!(REASONS.is_sorted_by(|one, other| one.0 < other.0));
        assert_eq!(LeftOutReason::parse("the limit of pages is reached"), None);
        assert!(LeftOutReason::status(404).to_string().ends_with(": 404"));
        assert_eq!(LeftOutReason::bad_response(&"x".repeat(500)).detail(), None);
    }
}
