//! URL notes: facts about single URLs that the replica stores as validators, and the
//! decisions that depend on them.
//!
//! Input: notes and page rows of the replica, and `lastmod` dates of lists. Output: whether
//! a URL has to be requested.

use rutter_page::Timestamp;
use rutter_store::{PageRow, PageSource, Validator};

use crate::frontier::CrawlTarget;

/// Seconds after which a page is requested again, even if its list states no change.
const TRUSTED_FOR: i64 = 30 * 86_400;

/// Seconds after which a withheld page is requested without validators. A 304 response does
/// not show whether the usage statements of the page have changed.
const WITHHELD_FOR: i64 = 7 * 86_400;

/// Seconds after which a URL without a page is requested again.
const GONE_FOR: i64 = 7 * 86_400;

/// Seconds after which a crawl by links no longer keeps a URL without a page.
const LOST_AFTER: i64 = 90 * 86_400;

/// Kind of a URL note. The validators of a page are stored under its URL and are not among
/// the kinds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UrlNote {
    /// Checksum of the ARC entry of the page when the page was last fetched.
    Arc,
    /// Validators of a response that was not a page.
    Left,
    /// Validators of a page whose content was withheld, because its usage statements do not
    /// allow to store it.
    Withheld,
    /// The URL had no page when a crawl by links requested it.
    Gone,
    /// Reason why the URL was not a page ([`LeftOutReason`](crate::LeftOutReason)).
    Why,
    /// Target of the redirect that the URL gave.
    Moved,
    /// Time of a request that gave no usable response.
    Tried,
    /// `lastmod` of the sitemap entry of the URL when the URL was last fetched.
    Lastmod,
    /// Statement of the page about training models.
    Training,
    /// ARC snapshot from the `data-ai-*` attributes of the page.
    Snapshot,
    /// `unavailable_after` of the page, and of its `X-Robots-Tag` header field.
    Expiry,
}

impl UrlNote {
    /// Returns the name under which the note is stored. No page key starts with such a
    /// prefix.
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

/// Returns the note with the `lastmod` that the sitemap stated when a URL was fetched.
pub(crate) fn lastmod_note(key: &str, lastmod: Timestamp, now: Timestamp) -> Validator {
    let etag = Some(lastmod.to_string());
    Validator { url: UrlNote::Lastmod.of(key), etag, last_modified: None, checked: now }
}

/// Returns the note with the statement of a page about training models: `yes`, `no`, or
/// none.
pub(crate) fn training_note(key: &str, allows_training: Option<bool>, now: Timestamp) -> Validator {
    let etag = allows_training
        .map(|allows_training| if allows_training { "yes" } else { "no" }.to_owned());
    Validator { url: UrlNote::Training.of(key), etag, last_modified: None, checked: now }
}

/// Returns the note with the dates from which a page must not be used.
pub(crate) fn expiry_note(key: &str, expiry: Expiry, now: Timestamp) -> Validator {
    let [etag, last_modified] =
        [expiry.page, expiry.header].map(|date| date.map(|date| date.to_string()));
    Validator { url: UrlNote::Expiry.of(key), etag, last_modified, checked: now }
}

/// Dates from which a page must not be used (`unavailable_after`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Expiry {
    /// Date in the page.
    pub(crate) page: Option<Timestamp>,
    /// Date in `X-Robots-Tag`. A 304 response, which has no body, may change this date.
    pub(crate) header: Option<Timestamp>,
}

impl Expiry {
    /// Reads the dates of a [`UrlNote::Expiry`] note.
    pub(crate) fn of_note(mark: &Validator) -> Self {
        let date = |text: &Option<String>| Timestamp::parse(text.as_deref()?).ok();
        Self { page: date(&mark.etag), header: date(&mark.last_modified) }
    }

    /// Returns whether both dates are missing.
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns whether one of the dates has passed.
    pub(crate) fn is_past(self, now: Timestamp) -> bool {
        [self.page, self.header].into_iter().flatten().any(|date| date <= now)
    }
}

/// Returns whether `lastmod` is equal to the value when the URL was last fetched.
///
/// Every other value counts as a change, even a date before the last fetch, because some
/// sites set `lastmod` late, or to the time of an edit that they published later.
pub(crate) fn is_same_lastmod(lastmod: Timestamp, fetched_with: Option<&Validator>) -> bool {
    fetched_with.is_some_and(|mark| mark.etag.as_deref() == Some(&lastmod.to_string()))
}

/// Returns whether `lastmod` is older than the value when the URL was last fetched, as
/// after a site restored a backup. Then the request must not contain the known
/// `Last-Modified`: the page has an older one, so a server without entity tags would
/// respond with 304.
pub(crate) fn is_older_lastmod(
    lastmod: Option<Timestamp>,
    fetched_with: Option<&Validator>,
) -> bool {
    let before = fetched_with.and_then(|mark| Timestamp::parse(mark.etag.as_deref()?).ok());
    matches!((lastmod, before), (Some(now), Some(before)) if now < before)
}

/// Returns whether a page is unchanged since it was last fetched, according to the list
/// that contains it. `fetched_with` is the [`UrlNote::Lastmod`] note of the page.
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

/// Returns whether a note is recent enough that the request for the URL may be skipped.
pub(crate) fn is_recent(now: Timestamp, known: &Validator) -> bool {
    now.seconds_since(known.checked) < TRUSTED_FOR
}

/// Returns whether a withheld page can be requested with validators: the row has not
/// changed since the note was stored, so the page itself withholds its content, and the
/// note is recent.
pub(crate) fn is_still_withheld(now: Timestamp, row: &PageRow, known: &Validator) -> bool {
    row.changed <= known.checked && now.seconds_since(known.checked) < WITHHELD_FOR
}

/// Returns whether a URL without a page is not requested again yet.
pub(crate) fn is_gone(now: Timestamp, known: &Validator) -> bool {
    now.seconds_since(known.checked) < GONE_FOR
}

/// Returns whether a crawl by links no longer keeps a URL without a page, which was first
/// found missing at `first`.
pub(crate) fn is_lost(now: Timestamp, first: Timestamp) -> bool {
    LOST_AFTER < now.seconds_since(first)
}
