//! Counts what a section has and what changed in it.

use rutter_page::Timestamp;
use rutter_scp::{Chain, State};

/// What changed in a section.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    pub(crate) name: String,
    pub(crate) before: State,
    pub(crate) state: State,
    pub(crate) pages: u64,
    /// Pages that are new or changed.
    pub(crate) changed: u64,
    /// At most [`Chain::MOST_REMOVED`] and one more.
    pub(crate) removed: Vec<String>,
    /// Whether earlier collections hold a page that may no longer be shown.
    pub(crate) is_barred: bool,
    /// When a page of it was last removed or excluded.
    pub(crate) last_removed: Option<Timestamp>,
}

impl Tally {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            before: State::EMPTY,
            state: State::EMPTY,
            pages: 0,
            changed: 0,
            removed: Vec::new(),
            is_barred: false,
            last_removed: None,
        }
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.changed != 0 || !self.removed.is_empty() || self.before != self.state
    }

    pub(super) fn remove(&mut self, url: &str) {
        if self.removed.len() <= Chain::MOST_REMOVED {
            self.removed.push(url.to_owned());
        }
    }
}
