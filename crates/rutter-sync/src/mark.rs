//! What is remembered of single addresses, and what follows from it.

use rutter_page::Timestamp;
use rutter_store::{PageRow, Source, Validator};

use crate::frontier::Target;

/// Whatever is said of a page, it is asked for after this, in seconds.
const TRUSTED_FOR: i64 = 30 * 86_400;

/// A page that withheld its words is asked for whole after this, in seconds: a
/// server that says that nothing changed speaks of the page, and may have
/// changed what it says beside it.
const WITHHELD_FOR: i64 = 7 * 86_400;

/// An address that had nothing is asked for again after this, in seconds.
const GONE_FOR: i64 = 7 * 86_400;

/// An address that had nothing for so long is let go, in seconds.
const LOST_AFTER: i64 = 90 * 86_400;

/// What is remembered of an address beside what its server said of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark {
    /// The checksum of the ARC entry for which it was read.
    Arc,
    /// That it was no page.
    Left,
    /// That its words may not be kept, by its own account.
    Withheld,
    /// That there is nothing to be had for now, on a walk by links.
    Gone,
    /// Why it was none.
    Why,
    /// Where it led.
    Moved,
    /// That it was asked for in vain.
    Tried,
    /// `lastmod` of its sitemap entry when it was fetched.
    Lastmod,
    /// What the page itself says about training models on it.
    Training,
    /// The ARC snapshot that its `data-ai-*` attributes make.
    Snapshot,
    /// `unavailable_after` of the page, and of its response header.
    Expiry,
}

impl Mark {
    /// Where it is kept: no address begins like this.
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

/// The mark that an address was fetched while its sitemap had this `lastmod`.
pub(crate) fn lastmod_mark(key: &str, lastmod: Timestamp, now: Timestamp) -> Validator {
    let etag = Some(lastmod.to_string());
    Validator { url: Mark::Lastmod.of(key), etag, last_modified: None, checked: now }
}

/// The mark of what a page says about training: `yes`, `no`, or nothing.
pub(crate) fn training_mark(key: &str, trains: Option<bool>, now: Timestamp) -> Validator {
    let etag = trains.map(|trains| if trains { "yes" } else { "no" }.to_owned());
    Validator { url: Mark::Training.of(key), etag, last_modified: None, checked: now }
}

/// The mark of the dates from which on a page is not to be used.
pub(crate) fn expiry_mark(key: &str, expiry: Expiry, now: Timestamp) -> Validator {
    let [etag, last_modified] =
        [expiry.page, expiry.header].map(|date| date.map(|date| date.to_string()));
    Validator { url: Mark::Expiry.of(key), etag, last_modified, checked: now }
}

/// Dates from which on a page is not to be used (`unavailable_after`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Expiry {
    /// As the page says.
    pub(crate) page: Option<Timestamp>,
    /// As `X-Robots-Tag` says. A response without a body may change it.
    pub(crate) header: Option<Timestamp>,
}

impl Expiry {
    /// Reads a [`Mark::Expiry`].
    pub(crate) fn of_mark(mark: &Validator) -> Self {
        let date = |text: &Option<String>| Timestamp::parse(text.as_deref()?).ok();
        Self { page: date(&mark.etag), header: date(&mark.last_modified) }
    }

    /// Whether there is no date.
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Whether one of the dates has passed.
    pub(crate) fn is_past(self, now: Timestamp) -> bool {
        [self.page, self.header].into_iter().flatten().any(|date| date <= now)
    }
}

/// Whether `lastmod` is the value that an address was last fetched with.
///
/// Another value is a change, even one older than the last fetch: sites set
/// `lastmod` late, or to the time of an edit that was published later.
pub(crate) fn is_same_lastmod(lastmod: Timestamp, fetched_with: Option<&Validator>) -> bool {
    fetched_with.is_some_and(|mark| mark.etag.as_deref() == Some(&lastmod.to_string()))
}

/// Whether `lastmod` is older than the value that an address was last fetched
/// with: a copy from a backup. Its `Last-Modified` is older too, so a server
/// without entity tags would answer that nothing changed.
pub(crate) fn goes_back(lastmod: Option<Timestamp>, fetched_with: Option<&Validator>) -> bool {
    let before = fetched_with.and_then(|mark| Timestamp::parse(mark.etag.as_deref()?).ok());
    matches!((lastmod, before), (Some(now), Some(before)) if now < before)
}

/// Whether a list says that a page is as it was when it was fetched.
/// `fetched_with` is the [`Mark::Lastmod`] of the page.
pub(crate) fn is_current(
    now: Timestamp,
    target: &Target,
    row: Option<&PageRow>,
    known: Option<&Validator>,
    fetched_with: Option<&Validator>,
) -> bool {
    let Some(lastmod) = target.lastmod.filter(|_| target.checksum.is_none()) else { return false };
    if let Some(row) = row.filter(|row| row.source == Source::Scp) {
        return lastmod <= row.modified;
    }
    let is_same = is_same_lastmod(lastmod, fetched_with);
    known.is_some_and(|known| is_same && lastmod <= known.checked && is_recent(now, known))
}

/// Whether what is remembered may stand in for a question.
pub(crate) fn is_recent(now: Timestamp, known: &Validator) -> bool {
    now.seconds_since(known.checked) < TRUSTED_FOR
}

/// Whether a page that withheld its words need not be asked for whole: it is
/// the page itself that did, and not long ago.
pub(crate) fn is_still_withheld(now: Timestamp, row: &PageRow, known: &Validator) -> bool {
    row.changed <= known.checked && now.seconds_since(known.checked) < WITHHELD_FOR
}

/// Whether an address that had nothing is left alone for now.
pub(crate) fn is_gone(now: Timestamp, known: &Validator) -> bool {
    now.seconds_since(known.checked) < GONE_FOR
}

/// Whether an address that never had anything is not worth asking any more.
pub(crate) fn is_lost(now: Timestamp, first: Timestamp) -> bool {
    LOST_AFTER < now.seconds_since(first)
}
