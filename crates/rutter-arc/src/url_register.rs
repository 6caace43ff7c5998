//! Remembers URLs in bounded memory, to find duplicate pages.
//!
//! The register needs sixteen bytes per entry. Entries with URLs in strictly ascending order contain
//! no duplicates, so the register does not search them.

use std::hash::{DefaultHasher, Hash, Hasher};

use rutter_finding::{Finding, FindingSink, Place};

use crate::rules;

#[derive(Debug, Default)]
pub(crate) struct UrlRegister {
    last: String,
    is_unsorted: bool,
    marks: Vec<(u64, u32)>,
}

impl UrlRegister {
    /// Records the URL key of the entry at index `idx`.
    pub(crate) fn register(&mut self, key: &str, idx: u64) {
        if !self.is_unsorted {
            self.is_unsorted = *key <= *self.last;
            self.last.clear();
            self.last.push_str(key);
        }
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        self.marks.push((hasher.finish(), u32::try_from(idx).unwrap_or(u32::MAX)));
    }

    /// Returns whether the entries are in strictly ascending order of their URLs.
    pub(crate) fn is_sorted(&self) -> bool {
        !self.is_unsorted
    }

    /// Reports every duplicate page and returns their number.
    pub(crate) fn finish(&mut self, sink: &mut dyn FindingSink) -> u64 {
        if !self.is_unsorted {
            return 0;
        }
        self.marks.sort_unstable();
        let mut again: Vec<(u32, u32)> = Vec::new();
        let mut first: Option<(u64, u32)> = None;
        for (mark, idx) in &self.marks {
            match first {
                Some((known, earlier)) if known == *mark => again.push((*idx, earlier)),
                _ => first = Some((*mark, *idx)),
            }
        }
        again.sort_unstable();
        for (idx, earlier) in &again {
            let place = Place { line: None, pointer: format!("/pages/{idx}/url") };
            let detail = format!("same page as /pages/{earlier}");
            sink.report(Finding::new(&rules::URL_TWICE, place, detail));
        }
        again.len() as u64
    }
}
