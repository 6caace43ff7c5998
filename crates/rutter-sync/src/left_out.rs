//! Reasons why an address is not in the replica, and the list of such addresses.
//!
//! Every reason has a code for programs and a text for people; some have a
//! detail, such as a status code. The addresses of a publisher are stored as
//! marks (`out:URL`) and read back with [`left_out`]. At most 100,000 are
//! listed for a site; the counts of a report are not bounded.

use std::borrow::Cow;
use std::fmt;

use rutter_fetch::redacted;
use rutter_page::Timestamp;
use rutter_store::{DamagedPage, PublisherId, QueryError, Storage, Store, Validator};

use crate::error::VisitError;
use crate::visit::{PIECE, Visit};

/// Addresses that are listed for one site.
pub(crate) const MOST_URLS: usize = 100_000;

/// Longest detail, in bytes: it may hold what a server sent.
const LONGEST_DETAIL: usize = 200;

/// The word before the address of a mark.
const WORD: &str = "out";

/// Codes and texts of all reasons.
const REASONS: &[(&str, &str)] = &[
    ("alias", "another URL of a page that is stored"),
    ("arc-other-site", "the ARC entry is about another site"),
    ("bad-response", "the response cannot be used"),
    ("consent", "the site does not allow its use"),
    ("depth-limit", "too many links away from the home page (depth limit)"),
    ("fetch-refused", "the request was refused by our own rules"),
    ("file", "a file, not a page"),
    ("http-status", "the server answered with an error status"),
    ("invalid-url", "not the URL of a page"),
    ("link-limit", "beyond the number of links followed from one page"),
    ("media-type", "of a media type that is not read"),
    ("network", "the network failed"),
    ("no-text", "a page without text"),
    ("other", "other reasons"),
    ("other-site", "a URL of another site"),
    ("page-limit", "beyond the number of pages fetched in one sync"),
    ("path-depth", "the path has too many segments"),
    ("path-repeats", "the path repeats a segment too often"),
    ("queries-limit", "too many different queries of one path"),
    ("queue-limit", "beyond the number of URLs one crawl can hold"),
    ("quota", "beyond the quota of pages"),
    ("redirect-elsewhere", "redirects to another site"),
    ("redirect-page", "a page that only sends readers on"),
    ("remembered-limit", "beyond the number of links remembered for the next sync"),
    ("robots", "robots.txt forbids it"),
    ("scope", "outside the scope of the sync"),
    ("session", "the URL names a session"),
    ("sitemap-limit", "beyond the number of sitemap URLs that are read"),
    ("soft-404", "the site's page for unknown URLs"),
    ("stopped", "not reached: the crawl stopped early"),
    ("temporary-redirect", "redirects elsewhere for the time being"),
    ("time-limit", "not reached within the time limit"),
    ("unchanged", "no page the last time, and not changed since"),
    ("undecodable", "the response cannot be decoded"),
    ("url-length", "the URL is too long"),
];

/// Why an address is not in the replica.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    code: &'static str,
    detail: Option<Cow<'static, str>>,
}

impl LeftOut {
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

    /// The page that an alias is of.
    pub(crate) fn alias_of(&self) -> Option<&str> {
        self.detail().filter(|_| self.code == "alias")
    }

    pub(crate) fn media_type(name: String) -> Self {
        Self::detailed("media-type", name)
    }

    pub(crate) fn bad_response(detail: &str) -> Self {
        Self::detailed("bad-response", redacted(detail))
    }

    pub(crate) fn refused(detail: &str) -> Self {
        Self::detailed("fetch-refused", redacted(detail))
    }

    /// The code, which programs can rely on.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// What is special about this case: a status code, a media type.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// One text for code and detail, to be read back with [`LeftOut::parse`].
    pub(crate) fn key(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}:{detail}", self.code),
            None => self.code.to_owned(),
        }
    }

    /// Reads what [`LeftOut::key`] wrote; `None` for an unknown code.
    pub(crate) fn parse(key: &str) -> Option<Self> {
        let (code, detail) = key.split_once(':').unwrap_or((key, ""));
        let (code, _) = REASONS.iter().find(|(known, _)| *known == code)?;
        if *code == "alias" {
            return Some(Self::alias(detail.to_owned()));
        }
        Some(Self::detailed(code, detail.to_owned()))
    }

    /// The mark of an address that is left out.
    pub(crate) fn mark(&self, key: &str, checked: Timestamp) -> Validator {
        Validator {
            url: format!("{WORD}:{key}"),
            etag: Some(self.key()),
            last_modified: None,
            checked,
        }
    }
}

/// The text for people.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = REASONS.iter().find(|(code, _)| *code == self.code).map_or(self.code, |it| it.1);
        match &self.detail {
            Some(detail) => write!(f, "{text}: {detail}"),
            None => f.write_str(text),
        }
    }
}

/// An address that is not in the replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutUrl {
    /// The address.
    pub url: String,
    /// Why it is not.
    pub why: LeftOut,
    /// When that was found out.
    pub at: Timestamp,
}

/// Lists addresses of a publisher that are not in its replica, by address.
///
/// Continues behind `after`, an address of an earlier piece; an empty answer
/// is the end.
pub fn left_out(
    store: &dyn Store,
    publisher: PublisherId,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<LeftOutUrl>, QueryError> {
    let marks = store.marks(publisher, WORD, after, most)?;
    let marks: Result<Vec<Validator>, DamagedPage> = marks.into_iter().collect();
    Ok(marks.map_err(Storage::from)?.iter().map(LeftOutUrl::of_mark).collect())
}

impl LeftOutUrl {
    fn of_mark(mark: &Validator) -> Self {
        let url = url_of(&mark.url).to_owned();
        let why = mark.etag.as_deref().and_then(LeftOut::parse).unwrap_or(LeftOut::OTHER);
        Self { url, why, at: mark.checked }
    }
}

/// The address of a mark of this list.
fn url_of(mark: &str) -> &str {
    let url = mark.strip_prefix(WORD).and_then(|url| url.strip_prefix(':'));
    url.unwrap_or_default()
}

/// Stores the list of a publisher. Earlier entries are deleted where the crawl
/// saw every address (`is_all`), where the page has come in the meantime, or
/// where they are about an ARC sitemap that was read again.
pub(crate) fn keep(visit: &Visit<'_>, is_all: bool) -> Result<(), VisitError> {
    let (store, lease) = (&visit.visitor.store, visit.hold.lease());
    let urls = &visit.report.left_out_urls;
    let is_arc_read = visit.report.arc.is_some();
    let mut stale = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let known = store.marks(visit.publisher, WORD, after.as_deref(), PIECE)?;
        let Some(last) = known.last() else { break };
        let last = match last {
            Ok(mark) => &mark.url,
            Err(damaged) => &damaged.url,
        };
        after = Some(url_of(last).to_owned());
        for mark in known {
            let LeftOutUrl { url, why, .. } = match mark {
                Ok(mark) => LeftOutUrl::of_mark(&mark),
                Err(damaged) => {
                    stale.push(damaged.url);
                    continue;
                }
            };
            let is_old_arc = is_arc_read && why == LeftOut::ARC_OTHER_SITE;
            let is_over =
                || Ok::<_, VisitError>(is_all || is_old_arc || visit.row(&url)?.is_some());
            if !urls.contains_key(&url) && is_over()? {
                stale.push(format!("{WORD}:{url}"));
            }
        }
    }
    for piece in stale.chunks(PIECE) {
        store.drop_marks(lease, piece)?;
    }
    let marks: Vec<Validator> = urls.iter().map(|(key, why)| why.mark(key, visit.now)).collect();
    for piece in marks.chunks(PIECE) {
        store.remember_all(lease, piece)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_text_and_is_read_back() {
        for (code, text) in REASONS {
            let plain = LeftOut::parse(code).unwrap();
            assert!(plain.code() == *code && plain.to_string().starts_with(text));
            let detailed = LeftOut::detailed(code, "a:b".to_owned());
            assert_eq!(LeftOut::parse(&detailed.key()), Some(detailed));
        }
        assert!(REASONS.is_sorted_by(|one, other| one.0 < other.0));
        assert_eq!(LeftOut::parse("the limit of pages is reached"), None);
        assert!(LeftOut::status(404).to_string().ends_with(": 404"));
        assert_eq!(LeftOut::bad_response(&"x".repeat(500)).detail(), None);
    }
}
