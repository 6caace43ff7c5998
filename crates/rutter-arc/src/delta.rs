//! From one sitemap to the next: the changes of a day, and what they lead to
//! (D60).
//!
//! All functions take entries in strict order of their addresses, one stream
//! for each file, and hand entries out in the same order; nothing is held but
//! one entry of each stream.
//!
//! Refuses: streams that are not in order.

use std::io;

use rutter_page::{Own, PageUrl, Timestamp};

use crate::entry::Entry;
use crate::limits::ArcError;

/// The folder of the dated files, as a path of the site.
pub const FOLDER: &str = "/arc-sitemap-deltas/";

/// Entries came in another order than that of their addresses, or twice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entries are not in strict order of their addresses at {0}")]
pub struct Unsorted(pub String);

impl From<Unsorted> for ArcError {
    fn from(error: Unsorted) -> Self {
        Self::Io(error.into())
    }
}

impl From<Unsorted> for io::Error {
    fn from(error: Unsorted) -> Self {
        Self::other(error)
    }
}

/// What changed between two sitemaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Difference {
    /// Pages that are new.
    pub added: u64,
    /// Pages whose entry is another.
    pub changed: u64,
    /// Pages that are gone.
    pub removed: u64,
    /// Pages whose entry is the same.
    pub unchanged: u64,
}

/// Reads `YYYY-MM-DD`; gives its first moment (UTC).
///
/// ```
/// # use rutter_arc::delta::day;
/// assert!(day("2026-05-01").is_some());
/// assert!(day("2026-13-40").is_none());
/// ```
pub fn day(text: &str) -> Option<Timestamp> {
    if text.len() != 10 {
        return None;
    }
    Timestamp::parse(&format!("{text}T00:00:00Z")).ok()
}

/// The day (UTC) of a moment, as `YYYY-MM-DD`.
pub fn day_of(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

/// The path of the file with the changes of a moment's day (UTC).
///
/// ```
/// # use rutter_arc::delta::path_of;
/// # use rutter_page::Timestamp;
/// let noon = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
/// assert_eq!(path_of(noon), "/arc-sitemap-deltas/2026-05-01.json");
/// ```
pub fn path_of(time: Timestamp) -> String {
    format!("{FOLDER}{}.json", day_of(time))
}

/// The addresses of all dated files, for the announcement in the sitemap.
pub fn template(site: &str) -> String {
    format!("{}{FOLDER}YYYY-MM-DD.json", site.trim_end_matches('/'))
}

/// A stream of entries that is checked to be in order.
struct Ordered<I> {
    entries: I,
    current: Option<Entry<'static>>,
}

impl<E: From<Unsorted>, I: Iterator<Item = Result<Entry<'static>, E>>> Ordered<I> {
    fn new(entries: I) -> Result<Self, E> {
        let mut stream = Self { entries, current: None };
        stream.current = stream.entries.next().transpose()?;
        Ok(stream)
    }

    fn key(&self) -> Option<&str> {
        self.current.as_ref().map(|entry| entry.url.key())
    }

    /// Gives the current entry and moves on.
    fn take(&mut self) -> Result<Option<Entry<'static>>, E> {
        let next = self.entries.next().transpose()?;
        let taken = std::mem::replace(&mut self.current, next);
        match (&taken, self.key()) {
            (Some(taken), Some(next)) if next <= taken.url.key() => {
                Err(Unsorted(next.to_owned()).into())
            }
            _ => Ok(taken),
        }
    }
}

/// Hands out the entries a delta from `old` to `new` holds: what is new, what
/// is another, and a tombstone for what is gone.
pub fn diff<E: From<Unsorted>>(
    old: impl Iterator<Item = Result<Entry<'static>, E>>,
    new: impl Iterator<Item = Result<Entry<'static>, E>>,
    mut on_change: impl FnMut(Entry<'static>) -> Result<(), E>,
) -> Result<Difference, E> {
    let (mut old, mut new) = (Ordered::new(old)?, Ordered::new(new)?);
    let mut difference = Difference::default();
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

fn tombstone(url: &PageUrl<'static>) -> Entry<'static> {
    Entry::tombstone(url.clone()).own()
}

/// Hands out the sitemap that the deltas of some days lead to: `streams` holds
/// the sitemap, then the days, the oldest first.
///
/// The head of the result is that of the last day, by
/// [`Head::of_whole`](crate::Head::of_whole).
pub fn apply<E: From<Unsorted>>(
    streams: Vec<Box<dyn Iterator<Item = Result<Entry<'static>, E>> + '_>>,
    mut on_entry: impl FnMut(Entry<'static>) -> Result<(), E>,
) -> Result<(), E> {
    fold(streams, &mut |entry| if entry.removed { Ok(()) } else { on_entry(entry) })
}

/// Joins deltas into one, the oldest first: for a day whose file is written
/// again, and for a reader who was away. Tombstones stay, also of pages that
/// came and went in between, because somebody may have seen them.
pub fn merge<E: From<Unsorted>>(
    streams: Vec<Box<dyn Iterator<Item = Result<Entry<'static>, E>> + '_>>,
    mut on_entry: impl FnMut(Entry<'static>) -> Result<(), E>,
) -> Result<(), E> {
    fold(streams, &mut on_entry)
}

/// Hands out each page once, as the last stream that has it says.
fn fold<E: From<Unsorted>>(
    streams: Vec<Box<dyn Iterator<Item = Result<Entry<'static>, E>> + '_>>,
    on_entry: &mut dyn FnMut(Entry<'static>) -> Result<(), E>,
) -> Result<(), E> {
    let mut streams = streams.into_iter().map(Ordered::new).collect::<Result<Vec<_>, E>>()?;
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
