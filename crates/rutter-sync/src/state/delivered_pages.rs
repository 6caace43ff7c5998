//! The pages that collections delivered or removed in a sync.

use rutter_store::Section;

use crate::limits::WEB_SECTION;
use crate::state::url_set::{UrlSet, stable_hash};

/// Pages that collections delivered or removed in this sync.
#[derive(Debug, Default)]
pub(crate) struct DeliveredPages {
    /// Hash of the sections before this sync ([`stamp`]).
    pub(crate) stamp: u64,
    pub(crate) keys: UrlSet,
    pub(crate) removed: UrlSet,
    pub(crate) has_snapshot: bool,
}

impl DeliveredPages {
    /// Creates an empty value at the start of a sync.
    pub(crate) fn since(sections: &[Section]) -> Self {
        Self { stamp: stamp(sections), ..Self::default() }
    }

    /// Adds the pages that all collections of a sync delivered or removed.
    pub(crate) fn add_all(&mut self, more: Self) {
        self.add(more.keys, more.removed, more.has_snapshot);
    }

    /// Adds the pages that one collection delivered or removed.
    pub(crate) fn add(&mut self, keys: UrlSet, removed: UrlSet, is_snapshot: bool) {
        self.keys.extend(keys);
        self.removed.extend(removed);
        self.has_snapshot |= is_snapshot;
    }
}

/// Returns a hash of the name, state, time and number of pages of all sections that
/// collections deliver.
pub(crate) fn stamp(sections: &[Section]) -> u64 {
    let sections = sections.iter().filter(|section| section.name != WEB_SECTION);
    let stamps = sections.map(|section| {
        let Section { name, state, mark, pages, .. } = section;
        format!("{name} {state} {mark} {pages}")
    });
    stable_hash(&stamps.collect::<Vec<_>>().join("\n"))
}
