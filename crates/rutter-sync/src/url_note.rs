//! Notes on single URLs, stored as validators, and the decisions that follow from them.
//!
//! Input: notes and rows of the replica, and dates of lists. Output: whether a URL has to
//! be requested.

use rutter_page::Timestamp;
use rutter_store::{PageRow, PageSource, Validator};

use crate::frontier::CrawlTarget;

/// Seconds after which a page is requested, regardless of its list.
const TRUSTED_FOR: i64 = 30 * 86_400;

/// Seconds after which a withheld page is requested without validators. A 304 response
/// concerns the page; its usage statements may have changed.
const WITHHELD_FOR: i64 = 7 * 86_400;

/// Seconds after which a URL without a page is requested again.
const GONE_FOR: i64 = 7 * 86_400;

/// Seconds after which a URL without a page is dropped.
const LOST_AFTER: i64 = 90 * 86_400;

/// Kind of a note on a URL, in addition to the validators of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UrlNote {
    /// Checksum of the ARC entry for which the page was fetched.
    Arc,
    /// The URL was not a page.
    Left,
    /// The page does not allow its content to be stored.
    Withheld,
    /// The URL has no page for now, in a crawl by links.
    Gone,
    /// Why the URL was not a page.
    Why,
    /// Target of a redirect.
    Moved,
    /// A request without a result.
    Tried,
    /// `lastmod` of its sitemap entry when it was fetched.
    Lastmod,
    /// Statement of the page about training models.
    Training,
    /// ARC snapshot from the `data-ai-*` attributes of the page.
    Snapshot,
    /// `unavailable_after` of the page, and of its response header.
    Expiry,
}

impl UrlNote {
    /// Returns the storage key of the note. No URL starts like this.
    pub(crate) fn of(self, key: &str) -> String {
        let word = match self {
            Self::Arc => "arc",
            Self::Left => "left",
            Self::Withheld => "withheld",
            Self::Gone => "gone",
            Self::Why => "why",
            Self::Moved => "moved",
            Self::Tried => "tried",
            Self::Lastmod => "lastmod",
            Self::Training => "ai-train",
            Self::Snapshot => "snapshot",
            Self::Expiry => "expiry",
        };
        format!("{word}:{key}")
    }
}

/// Returns a note with the `lastmod` that a URL was fetched with.
pub(crate) fn lastmod_note(key: &str, lastmod: Timestamp, now: Timestamp) -> Validator {
    let etag = Some(lastmod.to_string());
    Validator { url: UrlNote::Lastmod.of(key), etag, last_modified: None, checked: now }
}

/// Returns a note with the statement of a page about training: `yes`, `no`, or none.
pub(crate) fn training_note(key: &str, allows_training: Option<bool>, now: Timestamp) -> Validator {
    let etag = allows_training
        .map(|allows_training| if allows_training { "yes" } else { "no" }.to_owned());
    Validator { url: UrlNote::Training.of(key), etag, last_modified: None, checked: now }
}

/// Returns a note with the dates from which a page must not be used.
pub(crate) fn expiry_note(key: &str, expiry: Expiry, now: Timestamp) -> Validator {
    let [etag, last_modified] =
        [expiry.page, expiry.header].map(|date| date.map(|date| date.to_string()));
    Validator { url: UrlNote::Expiry.of(key), etag, last_modified, checked: now }
}

/// Dates from which a page must not be used (`unavailable_after`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Expiry {
    /// Date of the page.
    pub(crate) page: Option<Timestamp>,
    /// Date of `X-Robots-Tag`. A response without a body may change it.
    pub(crate) header: Option<Timestamp>,
}

impl Expiry {
    /// Reads a [`UrlNote::Expiry`].
    pub(crate) fn of_note(mark: &Validator) -> Self {
        let date = |text: &Option<String>| Timestamp::parse(text.as_deref()?).ok();
        Self { page: date(&mark.etag), header: date(&mark.last_modified) }
    }

    /// Returns whether there is no date.
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns whether one of the dates has passed.
    pub(crate) fn is_past(self, now: Timestamp) -> bool {
        [self.page, self.header].into_iter().flatten().any(|date| date <= now)
    }
}

/// Returns whether `lastmod` is the value that a URL was last fetched with.
///
/// Another value is a change, even one older than the last fetch: sites set `lastmod` late,
/// or to the time of an edit that was published later.
pub(crate) fn is_same_lastmod(lastmod: Timestamp, fetched_with: Option<&Validator>) -> bool {
    fetched_with.is_some_and(|mark| mark.etag.as_deref() == Some(&lastmod.to_string()))
}

/// Returns whether `lastmod` is older than the value that a URL was last fetched with, as
/// in a restored backup. Its `Last-Modified` is older too, so a server without entity tags
/// would respond with 304.
pub(crate) fn is_older_lastmod(
    lastmod: Option<Timestamp>,
    fetched_with: Option<&Validator>,
) -> bool {
    let before = fetched_with.and_then(|mark| Timestamp::parse(mark.etag.as_deref()?).ok());
    matches!((lastmod, before), (Some(now), Some(before)) if now < before)
}

/// Returns whether a page is unchanged since it was fetched, according to its list.
/// `fetched_with` is the [`UrlNote::Lastmod`] of the page.
pub(crate) fn is_current(
    now: Timestamp,
    target: &CrawlTarget,
    row: Option<&PageRow>,
    known: Option<&Validator>,
    fetched_with: Option<&Validator>,
) -> bool {
    let Some(lastmod) = target.lastmod.filter(|_| target.checksum.is_none()) else { return false };
    if let Some(row) = row.filter(|row| row.source == PageSource::Scp) {
        return lastmod <= row.modified;
    }
    let is_same = is_same_lastmod(lastmod, fetched_with);
    known.is_some_and(|known| is_same && lastmod <= known.checked && is_recent(now, known))
}

/// Returns whether a note is recent enough to skip a request.
pub(crate) fn is_recent(now: Timestamp, known: &Validator) -> bool {
    now.seconds_since(known.checked) < TRUSTED_FOR
}

/// Returns whether a withheld page can be requested with validators: the page itself
/// withheld its content, and not long ago.
pub(crate) fn is_still_withheld(now: Timestamp, row: &PageRow, known: &Validator) -> bool {
    row.changed <= known.checked && now.seconds_since(known.checked) < WITHHELD_FOR
}

/// Returns whether a URL without a page is not requested for now.
pub(crate) fn is_gone(now: Timestamp, known: &Validator) -> bool {
    now.seconds_since(known.checked) < GONE_FOR
}

/// Returns whether a URL without a page is dropped.
pub(crate) fn is_lost(now: Timestamp, first: Timestamp) -> bool {
    LOST_AFTER < now.seconds_since(first)
}
