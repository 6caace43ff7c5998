//! Counts the pages and the changed pages of a section.

use rutter_page::Timestamp;
use rutter_scp::{SectionState, StateChain};

/// Counts, states and removals of one section in this build.
#[derive(Debug, Clone)]
pub(crate) struct SectionTally {
    pub(crate) name: String,
    pub(crate) before: SectionState,
    pub(crate) state: SectionState,
    pub(crate) pages: u64,
    /// Number of pages of the section that are new or changed.
    pub(crate) changed: u64,
    /// URLs of removed pages of the section, at most [`StateChain::MAX_REMOVED`] plus one.
    pub(crate) removed: Vec<String>,
    /// Whether earlier collections contain a page that is no longer public.
    pub(crate) holds_excluded: bool,
    /// Time when a page of the section was last removed or excluded.
    pub(crate) last_removed: Option<Timestamp>,
}

impl SectionTally {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            before: SectionState::EMPTY,
            state: SectionState::EMPTY,
            pages: 0,
            changed: 0,
            removed: Vec::new(),
            holds_excluded: false,
            last_removed: None,
        }
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.changed != 0 || !self.removed.is_empty() || self.before != self.state
    }

    pub(super) fn remove(&mut self, url: &str) {
        if self.removed.len() <= StateChain::MAX_REMOVED {
            self.removed.push(url.to_owned());
        }
    }
}
