//! Totals of pass 1: counts, names and times that later passes need.

use std::collections::{BTreeMap, BTreeSet};

use rutter_extract::{CoverageTally, TemplateVersionId};
use rutter_page::Timestamp;
use rutter_site::{Publication, PublishedCollection};

use crate::arc_publication::ArcChanges;
use crate::stages::read::mass_change_guard::MassChangeGuard;
use crate::stages::read::tally::SectionTally;

/// Totals over all pages.
#[derive(Debug, Default)]
pub(crate) struct ReadTotals {
    /// One tally for each section; the tally of `all` is the last one.
    pub(crate) tallies: Vec<SectionTally>,
    pub(crate) counts: PageCounts,
    pub(crate) exclusions: ExclusionTotals,
    /// The newest time in the ledger before this build.
    pub(crate) newest: Option<Timestamp>,
    /// Numbers of pages for the guard against mass changes.
    pub(crate) guarded: MassChangeGuard,
    pub(crate) used: BTreeSet<TemplateVersionId>,
    pub(crate) findings: BTreeMap<&'static str, u64>,
    /// Share of the main text that the extraction kept, for public pages.
    pub(crate) coverage: CoverageTally,
    /// Number of findings that stop the build: secrets, and personal data if the plan is strict,
    /// unless acknowledged.
    pub(crate) private: u64,
    /// Whether the new ledger differs from the old one.
    pub(crate) is_ledger_changed: bool,
    /// Changes of ARC entries.
    pub(crate) arc: ArcChanges,
}

/// Numbers of pages, as [`BuildSummary`](crate::BuildSummary) describes them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PageCounts {
    pub(crate) pages: u64,
    pub(crate) new: u64,
    pub(crate) changed: u64,
    pub(crate) removed: u64,
    pub(crate) read: u64,
    /// Number of pages that were not read again, but got a new visibility decision.
    pub(crate) judged: u64,
    pub(crate) read_differently: u64,
    pub(crate) failed: u64,
    /// Number of the pages in `failed` that keep their published version.
    pub(crate) kept: u64,
    pub(crate) source_bytes: u64,
}

/// Numbers of excluded pages.
#[derive(Debug, Default)]
pub(crate) struct ExclusionTotals {
    /// Numbers by reason.
    pub(crate) excluded: BTreeMap<&'static str, u64>,
    /// Number of the excluded pages that need a login; `closed_pages` names the first of them.
    pub(crate) closed: u64,
    pub(crate) closed_pages: Vec<String>,
    pub(crate) password_pages: Vec<String>,
}

impl ReadTotals {
    /// Marks each section that has a collection with a page that was removed later. These
    /// collections and the ARC deltas are then withdrawn.
    pub(crate) fn purge(&mut self, published: &Publication) {
        let names: Vec<String> = self.tallies.iter().map(|tally| tally.name.clone()).collect();
        let is_known = |section: &String| names.contains(section);
        for tally in &mut self.tallies {
            let Some(removed) = tally.last_removed else { continue };
            // A collection of a section that no longer exists may still be published.
            let contains_removed = |one: &PublishedCollection| {
                (one.section == tally.name || !is_known(&one.section)) && one.generated < removed
            };
            if published.collections.iter().any(contains_removed) {
                tally.holds_excluded = true;
                self.arc.withdraws_entries = true;
            }
        }
    }

    /// Returns whether a page was read or decided again, or the new ledger differs from the old one.
    pub(crate) fn has_changes(&self) -> bool {
        self.is_ledger_changed || self.counts.read != 0 || self.counts.judged != 0
    }
}
