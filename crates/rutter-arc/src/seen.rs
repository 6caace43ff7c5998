//! Remembers addresses in bounded memory, to find a page that comes twice.
//!
//! Sixteen bytes for each entry; pages in strict order cannot repeat and cost
//! no search.

use std::hash::{DefaultHasher, Hash, Hasher};

use rutter_finding::{Finding, FindingSink, Place};

use crate::rules;

#[derive(Debug, Default)]
pub(crate) struct Seen {
    last: String,
    is_unsorted: bool,
    marks: Vec<(u64, u32)>,
}

impl Seen {
    /// Notes the entry at this index.
    pub(crate) fn see(&mut self, key: &str, idx: u64) {
        if !self.is_unsorted {
            self.is_unsorted = *key <= *self.last;
            self.last.clear();
            self.last.push_str(key);
        }
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        self.marks.push((hasher.finish(), u32::try_from(idx).unwrap_or(u32::MAX)));
    }

    /// Tells whether the entries came in strict order of their addresses.
    pub(crate) fn is_sorted(&self) -> bool {
        !self.is_unsorted
    }

    /// Reports every page that came again; gives their number.
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
            let detail = format!("also /pages/{earlier}");
            sink.report(Finding::new(&rules::URL_TWICE, place, detail));
        }
        again.len() as u64
    }
}
