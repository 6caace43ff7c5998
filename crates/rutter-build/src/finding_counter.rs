//! Passes findings on to the caller and counts them by rule.

use std::collections::BTreeMap;

use rutter_finding::{Finding, Place, Rule};

use crate::summary::BuildEvents;

/// The receiver of the findings of a build, apart from those of its pages.
pub(crate) struct FindingCounter<'e> {
    pub(crate) events: &'e mut dyn BuildEvents,
    /// Number of findings by rule code.
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl<'e> FindingCounter<'e> {
    pub(crate) fn new(events: &'e mut dyn BuildEvents) -> Self {
        Self { events, counts: BTreeMap::new() }
    }

    /// Reports a finding.
    pub(crate) fn add(&mut self, place: &str, finding: &Finding) {
        *self.counts.entry(finding.rule.code).or_default() += 1;
        self.events.finding(place, finding);
    }

    /// Reports a finding without a place inside the file.
    pub(crate) fn report(&mut self, place: &str, rule: &'static Rule, detail: String) {
        self.add(place, &Finding::new(rule, Place::WHOLE, detail));
    }
}
