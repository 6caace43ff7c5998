//! Computes, applies and merges dated deltas of a sitemap (D60).
//!
//! Input: streams of entries in strictly ascending order of their URLs, one stream per file.
//! Output: entries in the same order. Holds one entry per stream in memory. Rejects streams in
//! another order.

use std::io;

use rutter_page::{IntoOwned, PageUrl, Timestamp};

use crate::entry::ArcEntry;
use crate::limits::ArcError;

/// URL path of the folder with the dated deltas.
pub const FOLDER: &str = "/arc-sitemap-deltas/";

/// Error: entries are not in strictly ascending order of their URLs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entries are not in strictly ascending order of their URLs at `{0}`")]
pub struct EntryOrderError(pub String);

impl From<EntryOrderError> for ArcError {
    fn from(error: EntryOrderError) -> Self {
        Self::Io(error.into())
    }
}

impl From<EntryOrderError> for io::Error {
    fn from(error: EntryOrderError) -> Self {
        Self::other(error)
    }
}

/// Numbers of changes between two sitemaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeltaCounts {
    /// Number of new pages.
    pub added: u64,
    /// Number of pages with a different entry.
    pub changed: u64,
    /// Number of removed pages.
    pub removed: u64,
    /// Number of pages with the same entry.
    pub unchanged: u64,
}

/// Parses `YYYY-MM-DD` as the first moment of the day (UTC).
///
/// ```
/// # use rutter_arc::delta::parse_day;
/// assert!(parse_day("2026-05-01").is_some());
/// assert!(parse_day("2026-13-40").is_none());
/// ```
pub fn parse_day(text: &str) -> Option<Timestamp> {
    if text.len() != 10 {
        return None;
    }
    Timestamp::parse(&format!("{text}T00:00:00Z")).ok()
}

/// Returns the day (UTC) of a time as `YYYY-MM-DD`.
pub fn format_day(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

/// Returns the path of the delta for the day (UTC) of a time.
///
/// ```
/// # use rutter_arc::delta::delta_path;
/// # use rutter_page::Timestamp;
/// let noon = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
/// assert_eq!(delta_path(noon), "/arc-sitemap-deltas/2026-05-01.json");
/// ```
pub fn delta_path(time: Timestamp) -> String {
    format!("{FOLDER}{}.json", format_day(time))
}

/// Returns the URL template of all dated files, for the header of the sitemap.
pub fn delta_template(site: &str) -> String {
    format!("{}{FOLDER}YYYY-MM-DD.json", site.trim_end_matches('/'))
}

/// A stream of entries whose order is checked.
struct OrderedEntries<I> {
    entries: I,
    current: Option<ArcEntry<'static>>,
}

impl<E: From<EntryOrderError>, I: Iterator<Item = Result<ArcEntry<'static>, E>>> OrderedEntries<I> {
    fn new(entries: I) -> Result<Self, E> {
        let mut stream = Self { entries, current: None };
        stream.current = stream.entries.next().transpose()?;
        Ok(stream)
    }

    fn key(&self) -> Option<&str> {
        self.current.as_ref().map(|entry| entry.url.key())
    }

    /// Returns the current entry and advances to the next one.
    fn take(&mut self) -> Result<Option<ArcEntry<'static>>, E> {
        let next = self.entries.next().transpose()?;
        let taken = std::mem::replace(&mut self.current, next);
        match (&taken, self.key()) {
            (Some(taken), Some(next)) if next <= taken.url.key() => {
                Err(EntryOrderError(next.to_owned()).into())
            }
            _ => Ok(taken),
        }
    }
}

/// Compares two sitemaps and passes the entries of the delta from `old` to `new` to a callback: new
/// and changed entries, and a tombstone for each removed page.
pub fn diff<E: From<EntryOrderError>>(
    old: impl Iterator<Item = Result<ArcEntry<'static>, E>>,
    new: impl Iterator<Item = Result<ArcEntry<'static>, E>>,
    mut on_change: impl FnMut(ArcEntry<'static>) -> Result<(), E>,
) -> Result<DeltaCounts, E> {
    let (mut old, mut new) = (OrderedEntries::new(old)?, OrderedEntries::new(new)?);
    let mut difference = DeltaCounts::default();
    loop {
        let is_old = match (old.key(), new.key()) {
            (None, None) => return Ok(difference),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(a), Some(b)) if a == b => {
                let (before, after) = (old.take()?, new.take()?);
                match (before, after) {
                    (Some(before), Some(after)) if before.to_json() != after.to_json() => {
                        difference.changed += 1;
                        on_change(after)?;
                    }
                    _ => difference.unchanged += 1,
                }
                continue;
            }
            (Some(a), Some(b)) => a < b,
        };
        if is_old {
            if let Some(gone) = old.take()? {
                difference.removed += 1;
                on_change(tombstone(&gone.url))?;
            }
        } else if let Some(entry) = new.take()? {
            difference.added += 1;
            on_change(entry)?;
        }
    }
}

fn tombstone(url: &PageUrl<'static>) -> ArcEntry<'static> {
    ArcEntry::tombstone(url.clone()).into_owned()
}

/// Applies deltas to a sitemap. `streams` holds the sitemap, then the deltas, the oldest first.
///
/// The header of the result is that of the last delta, converted by
/// [`SitemapHeader::for_sitemap`](crate::SitemapHeader::for_sitemap).
pub fn apply<E: From<EntryOrderError>>(
    streams: Vec<Box<dyn Iterator<Item = Result<ArcEntry<'static>, E>> + '_>>,
    mut on_entry: impl FnMut(ArcEntry<'static>) -> Result<(), E>,
) -> Result<(), E> {
    fold(streams, &mut |entry| if entry.removed { Ok(()) } else { on_entry(entry) })
}

/// Merges several deltas into one. `streams` holds the deltas, the oldest first.
///
/// A tombstone is kept even if the page was added and removed within the merged time span, because
/// a reader may have copied the page.
pub fn merge<E: From<EntryOrderError>>(
    streams: Vec<Box<dyn Iterator<Item = Result<ArcEntry<'static>, E>> + '_>>,
    mut on_entry: impl FnMut(ArcEntry<'static>) -> Result<(), E>,
) -> Result<(), E> {
    fold(streams, &mut on_entry)
}

/// Passes each page to the callback once, from the last stream that contains the page.
fn fold<E: From<EntryOrderError>>(
    streams: Vec<Box<dyn Iterator<Item = Result<ArcEntry<'static>, E>> + '_>>,
    on_entry: &mut dyn FnMut(ArcEntry<'static>) -> Result<(), E>,
) -> Result<(), E> {
    let mut streams =
        streams.into_iter().map(OrderedEntries::new).collect::<Result<Vec<_>, E>>()?;
    loop {
        let least = streams.iter().filter_map(|stream| stream.key()).min();
        let Some(least) = least.map(str::to_owned) else { return Ok(()) };
        let mut last = None;
        for stream in &mut streams {
            if stream.key() == Some(&*least) {
                last = stream.take()?;
            }
        }
        if let Some(entry) = last {
            on_entry(entry)?;
        }
    }
}
