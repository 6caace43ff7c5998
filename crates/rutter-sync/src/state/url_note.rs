//! Facts about single URLs that an earlier sync stored in the replica, and the decisions that
//! depend on them.
//!
//! Input: notes, validators and page rows of the replica, and `lastmod` dates of lists. Output:
//! whether a URL has to be requested. A damaged note or validator counts as missing, which costs
//! one request; the next note then replaces the damaged one.

use rutter_page::Timestamp;
use rutter_store::{
    NoteKind, NoteValue, PageRow, PageSource, QueryError, StorageError, Store, UrlNote, Validator,
};

/// Seconds after which a page is requested again, even if its list states no change.
const TRUSTED_FOR: i64 = 30 * 86_400;

/// Seconds after which a withheld page is requested without validators. A 304 response does
/// not show whether the usage statements of the page have changed.
const WITHHELD_FOR: i64 = 7 * 86_400;

/// Seconds after which a URL without a page is requested again.
const GONE_FOR: i64 = 7 * 86_400;

/// Seconds after which a crawl by links no longer keeps a URL without a page.
const LOST_AFTER: i64 = 90 * 86_400;

/// Returns a stored validator.
pub(crate) fn known_validator(
    store: &dyn Store,
    url: &str,
) -> Result<Option<Validator>, QueryError> {
    or_missing(store.validator(url))
}

/// Returns the stored note of one kind about a URL.
pub(crate) fn known_note(
    store: &dyn Store,
    kind: NoteKind,
    key: &str,
) -> Result<Option<UrlNote>, QueryError> {
    or_missing(store.url_note(kind, key))
}

/// Returns the validators in a note about a response that is not a stored page.
pub(crate) fn known_response(
    store: &dyn Store,
    kind: NoteKind,
    key: &str,
) -> Result<Option<Validator>, QueryError> {
    let Some(UrlNote { url, value, noted }) = known_note(store, kind, key)? else {
        return Ok(None);
    };
    Ok(match value {
        NoteValue::NoPage(known) | NoteValue::WithheldPage(known) => Some(Validator {
            url,
            etag: known.etag,
            last_modified: known.last_modified,
            checked: noted,
        }),
        _ => None,
    })
}

/// Returns the `lastmod` that the sitemap stated when a URL was last fetched.
pub(crate) fn fetched_lastmod(
    store: &dyn Store,
    key: &str,
) -> Result<Option<Timestamp>, QueryError> {
    Ok(match known_note(store, NoteKind::Lastmod, key)?.map(|note| note.value) {
        Some(NoteValue::Lastmod(lastmod)) => Some(lastmod),
        _ => None,
    })
}

/// Returns the target of the redirect that a URL gave, and the time of that response.
pub(crate) fn redirect_target(
    store: &dyn Store,
    key: &str,
) -> Result<Option<(String, Timestamp)>, QueryError> {
    Ok(match known_note(store, NoteKind::MovedTo, key)? {
        Some(UrlNote { value: NoteValue::MovedTo(target), noted, .. }) => Some((target, noted)),
        _ => None,
    })
}

fn or_missing<T>(found: Result<Option<T>, QueryError>) -> Result<Option<T>, QueryError> {
    match found {
        Err(QueryError::Storage(StorageError::Damaged(_))) => Ok(None),
        found => found,
    }
}

/// Returns whether `lastmod` is older than the value when the URL was last fetched, as
/// after a site restored a backup. Then the request must not contain the known
/// `Last-Modified`: the page has an older one, so a server without entity tags would
/// respond with 304.
pub(crate) fn is_older_lastmod(
    lastmod: Option<Timestamp>,
    fetched_with: Option<Timestamp>,
) -> bool {
    matches!((lastmod, fetched_with), (Some(now), Some(before)) if now < before)
}

/// Returns whether a page is unchanged since it was last fetched, according to the list
/// that contains it with `lastmod`. `fetched_with` is the `lastmod` of the page at that time.
///
/// Every other `lastmod` counts as a change, even a date before the last fetch, because some
/// sites set `lastmod` late, or to the time of an edit that they published later.
pub(crate) fn is_current(
    now: Timestamp,
    lastmod: Option<Timestamp>,
    row: Option<&PageRow>,
    known: Option<&Validator>,
    fetched_with: Option<Timestamp>,
) -> bool {
    let Some(lastmod) = lastmod else { return false };
    if let Some(row) = row.filter(|row| row.source == PageSource::Scp) {
        return lastmod <= row.modified;
    }
    let is_same = fetched_with == Some(lastmod);
    known.is_some_and(|known| is_same && lastmod <= known.checked && is_recent(now, known.checked))
}

/// Returns whether a note of this time is recent enough that the request for the URL may be
/// skipped.
pub(crate) fn is_recent(now: Timestamp, noted: Timestamp) -> bool {
    now.seconds_since(noted) < TRUSTED_FOR
}

/// Returns whether a withheld page can be requested with validators: the row has not
/// changed since the note was stored, so the page itself withholds its content, and the
/// note is recent.
pub(crate) fn is_still_withheld(now: Timestamp, row: &PageRow, known: &Validator) -> bool {
    row.changed <= known.checked && now.seconds_since(known.checked) < WITHHELD_FOR
}

/// Returns whether a URL without a page is not requested again yet.
pub(crate) fn is_gone(now: Timestamp, noted: Timestamp) -> bool {
    now.seconds_since(noted) < GONE_FOR
}

/// Returns whether a crawl by links no longer keeps a URL without a page, which was first
/// found missing at `first`.
pub(crate) fn is_lost(now: Timestamp, first: Timestamp) -> bool {
    LOST_AFTER < now.seconds_since(first)
}
