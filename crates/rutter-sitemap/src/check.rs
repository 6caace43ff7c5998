//! Checks that compare the entries of a sitemap with each other.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::BufRead;

use rutter_finding::{Finding, FindingSink, Place, quoted};

use crate::rules;
use crate::url::after_scheme;
use crate::{SitemapError, SitemapItem, SitemapLimits, SitemapReader};

/// Finds entries with duplicate URLs, with fragments, or with another host than the first entry.
///
/// Callers with their own read loop pass each item to
/// [`check_item`](Self::check_item) and call [`finish`](Self::finish) at the end.
#[derive(Debug, Default)]
pub struct EntryChecker {
    host: Option<String>,
    /// Hashes of the URLs read so far; at most 50,000, because the reader stops there.
    seen: HashSet<u64>,
    state: RandomState,
    n_entries: u64,
}

impl EntryChecker {
    /// Checks one item that was read at `line`.
    pub fn check_item(&mut self, item: &SitemapItem, line: u64, sink: &mut dyn FindingSink) {
        let loc = match item {
            SitemapItem::Url(entry) => &entry.loc,
            SitemapItem::Child(child) => &child.loc,
            SitemapItem::Foreign(_) => return,
        };
        let place = Place::line(line);
        self.n_entries += 1;
        let mut report = |rule, detail| sink.report(Finding::new(rule, place.clone(), detail));
        if loc.contains('#') {
            report(&rules::LOC_FRAGMENT, quoted(loc));
        }
        if !self.seen.insert(self.state.hash_one(loc)) {
            report(&rules::DUPLICATE_LOC, quoted(loc));
        }
        let host = host_of(loc);
        match &self.host {
            None => self.host = Some(host.to_ascii_lowercase()),
            Some(first) if first.eq_ignore_ascii_case(host) => {}
            Some(first) => {
                let detail =
                    format!("{}; the host of the first entry is {}", quoted(loc), quoted(first));
                report(&rules::OTHER_HOST, detail);
            }
        }
    }

    /// Returns the number of entries checked so far.
    pub fn n_entries(&self) -> u64 {
        self.n_entries
    }

    /// Reports a sitemap that has no entries.
    pub fn finish(&self, sink: &mut dyn FindingSink) {
        if self.n_entries == 0 {
            sink.report(Finding::new(&rules::NO_URL, Place::WHOLE, ""));
        }
    }
}

/// Returns the host of a URL, including the port (D88).
fn host_of(loc: &str) -> &str {
    let rest = after_scheme(loc).unwrap_or(loc);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest.get(..end).unwrap_or(rest)
}

/// Reads a whole sitemap and reports all problems to `sink`.
pub fn check(input: impl BufRead, sink: &mut dyn FindingSink) -> Result<(), SitemapError> {
    let mut reader = SitemapReader::new(input, SitemapLimits::USUAL);
    let mut check = EntryChecker::default();
    while let Some(item) = reader.next(sink)? {
        check.check_item(&item, reader.line(), sink);
    }
    check.finish(sink);
    Ok(())
}
