//! Totals of pass 1: counts, names and times that later passes need.

use std::collections::{BTreeMap, BTreeSet};

use rutter_extract::{CoverageTally, VersionId};
use rutter_page::Timestamp;

use super::SectionTally;
use crate::chain::{Publication, PublishedCollection};
use crate::mass_change_guard::MassChangeGuard;

/// Totals of pass 1.
#[derive(Debug)]
pub(crate) struct ReadTotals {
    /// One per section; `all` is last.
    pub(crate) tallies: Vec<SectionTally>,
    pub(crate) pages: u64,
    pub(crate) new: u64,
    pub(crate) changed: u64,
    pub(crate) removed: u64,
    pub(crate) read: u64,
    /// Pages that were not read, but got a new visibility decision.
    pub(crate) judged: u64,
    pub(crate) read_differently: u64,
    pub(crate) failed: u64,
    /// Of those, pages that keep their published version.
    pub(crate) kept: u64,
    /// The newest time in the ledger before this build.
    pub(crate) newest: Option<Timestamp>,
    /// Counts for the guard against mass deletion.
    pub(crate) guarded: MassChangeGuard,
    pub(crate) source_bytes: u64,
    pub(crate) excluded: BTreeMap<&'static str, u64>,
    /// Of those, pages that need a login, and the first of them.
    pub(crate) closed: u64,
    pub(crate) closed_pages: Vec<String>,
    pub(crate) password_pages: Vec<String>,
    pub(crate) used: BTreeSet<VersionId>,
    pub(crate) findings: BTreeMap<&'static str, u64>,
    /// Share of the main text that the extraction kept, for public pages.
    pub(crate) coverage: CoverageTally,
    /// Number of secrets that are not acknowledged, and of personal data if that stops the build.
    pub(crate) private: u64,
    /// Whether the ledger changed.
    pub(crate) is_ledger_changed: bool,
    /// Time of the last change of any ARC entry.
    pub(crate) arc_changed: Option<Timestamp>,
    /// Whether the old ledger contains ARC entries.
    pub(crate) had_arc_entries: bool,
    /// Whether a page that still exists lost its ARC entry or part of it.
    pub(crate) withdraws_arc_entries: bool,
}

impl ReadTotals {
    /// Marks the sections with collections that contain pages removed since, so that these
    /// collections and the ARC deltas are withdrawn.
    pub(crate) fn purge(&mut self, published: &Publication) {
        let names: Vec<String> = self.tallies.iter().map(|tally| tally.name.clone()).collect();
        let is_known = |section: &String| names.contains(section);
        for tally in &mut self.tallies {
            let Some(removed) = tally.last_removed else { continue };
            // Files of a former section may still be published.
            let contains_removed = |one: &PublishedCollection| {
                (one.section == tally.name || !is_known(&one.section)) && one.generated < removed
            };
            if published.collections.iter().any(contains_removed) {
                tally.holds_excluded = true;
                self.withdraws_arc_entries = true;
            }
        }
    }
}
