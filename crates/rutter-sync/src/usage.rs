//! What a site says about training models on its pages, as a replica knows it.
//!
//! Input: `Content-Signal` lines of the robots.txt a sync last read, and what
//! pages said in their own header fields. The most restrictive wins.

use rutter_store::{Publisher, QueryError, Store};

use crate::consent::{self, Signals};
use crate::gate::target_of;
use crate::mark::Mark;
use crate::memo::Memo;

/// What a site says about training.
#[derive(Debug, Default)]
pub struct TrainingTerms {
    signals: Signals,
}

impl TrainingTerms {
    /// Reads what the last sync kept of a publisher's robots.txt.
    pub fn of(publisher: &Publisher) -> Self {
        let memo = Memo::read(&publisher.origin, &publisher.policy).unwrap_or_default();
        let signals =
            memo.signals.map(|(robots, token)| Signals::of_robots(robots.as_bytes(), &token));
        Self { signals: signals.unwrap_or_default() }
    }

    /// Whether models may be trained on a page; `None` where nothing is said.
    pub fn allows(&self, store: &dyn Store, key: &str) -> Result<Option<bool>, QueryError> {
        let mark = store.validator(&Mark::Training.of(key))?.and_then(|mark| mark.etag);
        let own = mark.map(|text| text == "yes");
        let site = consent::training(&self.signals.about(target_of(key)));
        Ok(match (own, site) {
            (Some(own), Some(site)) => Some(own && site),
            (own, site) => own.or(site),
        })
    }
}
