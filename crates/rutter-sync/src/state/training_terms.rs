//! Statements of a site in the replica about training models on its pages.
//!
//! Input: `Content-Signal` lines of the last robots.txt, and `Content-Signal` header fields
//! of pages, as stored by a sync. Output: whether models may be trained on a page. The most
//! restrictive statement wins.

use rutter_store::{NoteKind, NoteValue, Publisher, QueryError, Store};

use crate::consent::page_policy::target_of;
use crate::consent::{self, RobotsSignals};
use crate::state::site_state::SiteState;

/// The statements of a site about training models.
#[derive(Debug, Default)]
pub struct TrainingTerms {
    signals: RobotsSignals,
}

impl TrainingTerms {
    /// Reads the statements that the last sync stored for a publisher.
    pub fn of(store: &dyn Store, publisher: &Publisher) -> Result<Self, QueryError> {
        let state = store.site_state(publisher.id)?.unwrap_or_default();
        let state = SiteState::read(&publisher.origin, &state).unwrap_or_default();
        let signals = state
            .settings
            .robots_signals
            .map(|(robots, token)| RobotsSignals::of_robots(robots.as_bytes(), &token));
        Ok(Self { signals: signals.unwrap_or_default() })
    }

    /// Returns whether models may be trained on a page; `None` if the site makes no
    /// statement.
    pub fn allows(&self, store: &dyn Store, key: &str) -> Result<Option<bool>, QueryError> {
        let own = match store.url_note(NoteKind::Training, key)?.map(|note| note.value) {
            Some(NoteValue::Training(allows_training)) => allows_training,
            _ => None,
        };
        let site = consent::training(&self.signals.about(target_of(key)));
        Ok(match (own, site) {
            (Some(own), Some(site)) => Some(own && site),
            (own, site) => own.or(site),
        })
    }
}
