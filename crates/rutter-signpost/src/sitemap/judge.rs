//! What only shows when the entries of a sitemap are compared.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::BufRead;

use rutter_finding::{Finding, FindingSink, Place, quoted};

use super::address::after_scheme;
use super::{Item, Limits, Reader, SitemapError};
use crate::rules;

/// Compares entries with each other; a caller with a loop of its own shows
/// them one by one.
#[derive(Debug, Default)]
pub struct Judge {
    host: Option<String>,
    /// Hashes of addresses: bounded, because readers stop at 50,000.
    seen: HashSet<u64>,
    state: RandomState,
    n_entries: u64,
}

impl Judge {
    /// Looks at one item and its line.
    pub fn see(&mut self, item: &Item, line: u64, sink: &mut dyn FindingSink) {
        let loc = match item {
            Item::Url(entry) => &entry.loc,
            Item::Child(child) => &child.loc,
            Item::Foreign(_) => return,
        };
        let place = Place::line(line);
        self.n_entries += 1;
        let mut found = |rule, detail| sink.report(Finding::new(rule, place.clone(), detail));
        if loc.contains('#') {
            found(&rules::LOC_FRAGMENT, quoted(loc));
        }
        if !self.seen.insert(self.state.hash_one(loc)) {
            found(&rules::DUPLICATE_LOC, quoted(loc));
        }
        let host = host_of(loc);
        match &self.host {
            None => self.host = Some(host.to_ascii_lowercase()),
            Some(first) if first.eq_ignore_ascii_case(host) => {}
            Some(first) => {
                let detail = format!("{}, the first is of {}", quoted(loc), quoted(first));
                found(&rules::OTHER_HOST, detail);
            }
        }
    }

    /// Number of entries so far.
    pub fn n_entries(&self) -> u64 {
        self.n_entries
    }

    /// Says what is missing in the end.
    pub fn finish(&self, sink: &mut dyn FindingSink) {
        if self.n_entries == 0 {
            sink.report(Finding::new(&rules::NO_URL, Place::WHOLE, ""));
        }
    }
}

/// Scheme and port count too: they make another origin (D88).
fn host_of(loc: &str) -> &str {
    let rest = after_scheme(loc).unwrap_or(loc);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest.get(..end).unwrap_or(rest)
}

/// Reads a sitemap to its end and says everything that is wrong with it.
pub fn judge(input: impl BufRead, sink: &mut dyn FindingSink) -> Result<(), SitemapError> {
    let mut reader = Reader::new(input, Limits::USUAL);
    let mut judge = Judge::default();
    while let Some(item) = reader.next(sink)? {
        judge.see(&item, reader.line(), sink);
    }
    judge.finish(sink);
    Ok(())
}
