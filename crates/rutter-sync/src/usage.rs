//! Statements of a site in the replica about training models on its pages.
//!
//! Input: `Content-Signal` lines of the last robots.txt, and `Content-Signal` header fields
//! of pages, as stored by a sync. Output: whether models may be trained on a page. The most
//! restrictive statement wins.

use rutter_store::{Publisher, QueryError, Store};

use crate::consent::{self, RobotsSignals};
use crate::page_policy::target_of;
use crate::site_state::SiteState;
use crate::url_note::UrlNote;

/// The statements of a site about training models.
#[derive(Debug, Default)]
pub struct TrainingTerms {
    signals: RobotsSignals,
}

impl TrainingTerms {
    /// Reads the statements that the last sync stored for a publisher.
    pub fn of(publisher: &Publisher) -> Self {
        let state = SiteState::read(&publisher.origin, &publisher.policy).unwrap_or_default();
        let signals = state
            .robots_signals
            .map(|(robots, token)| RobotsSignals::of_robots(robots.as_bytes(), &token));
        Self { signals: signals.unwrap_or_default() }
    }

    /// Returns whether models may be trained on a page; `None` if the site makes no
    /// statement.
    pub fn allows(&self, store: &dyn Store, key: &str) -> Result<Option<bool>, QueryError> {
        let mark = store.validator(&UrlNote::Training.of(key))?.and_then(|mark| mark.etag);
        let own = mark.map(|text| text == "yes");
        let site = consent::training(&self.signals.about(target_of(key)));
        Ok(match (own, site) {
            (Some(own), Some(site)) => Some(own && site),
            (own, site) => own.or(site),
        })
    }
}
