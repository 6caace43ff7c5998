//! Writes the ledger rows and cached records of pages, and counts the pages in their sections.

use std::io::Write;

use rutter_site::{
    ArcEntryVersion, ExclusionReason, LedgerRow, NO_ARC_ENTRY, REMEMBERED_DAYS, Visibility,
};

use super::ReadPass;
use crate::arc_publication::ArcEntryScope;
use crate::error::{BuildError, IoErrorContext};
use crate::stages::read::read_job::ReadPage;
use crate::{arc_entry, section};

impl ReadPass<'_, '_> {
    /// Adds a page whose cached record is kept.
    pub(super) fn keep_page(
        &mut self,
        place: &str,
        old: &LedgerRow,
        new: LedgerRow,
    ) -> Result<(), BuildError> {
        let bit = self.bit(&new.section);
        self.report_cached_findings(place, old, &new)?;
        self.new.pack.keep(&new.url, bit, &mut self.old_cache.copied)?;
        let is_due = match self.input.arc {
            ArcEntryScope::Off => false,
            ArcEntryScope::Changed => {
                old.arc == NO_ARC_ENTRY
                    || old.visibility != new.visibility
                    || old.section != new.section
            }
            ArcEntryScope::All => true,
        };
        let mut new = new;
        if is_due {
            let record = self.old_cache.findings.get(&new.url)?;
            let entry = record.and_then(|record| arc_entry::entry(self.input.plan, &new, record));
            let version = ArcEntryVersion::next(
                ArcEntryVersion::parse(&old.arc),
                entry.as_ref().map(arc_entry::digest),
                self.input.stamp,
            );
            new.arc = ArcEntryVersion::to_column(version);
        }
        self.write_row(Some(old), new, false)
    }

    pub(super) fn add_page(
        &mut self,
        place: &str,
        url: String,
        old: Option<&LedgerRow>,
        page: &ReadPage,
    ) -> Result<(), BuildError> {
        let section = self.section(&url);
        self.unmatched.note(&url, &page.record.meta.matched);
        self.report_findings(place, &page.record.meta.findings);
        if let Some(exclusion) = page.exclusion {
            self.guard(exclusion, &url, old);
            self.exclude(place, exclusion, page.record.meta.exclusion_source.as_deref());
        } else if let Some(coverage) = &page.record.meta.coverage {
            self.reading.coverage.add(place, coverage);
        }
        self.new.pack.push(&url, self.bit(&section), &page.record, &mut self.old_cache.copied)?;
        let stamp = self.input.stamp;
        let new = LedgerRow {
            visibility: page.exclusion.map_or(Visibility::Public, ExclusionReason::visibility),
            section,
            digest: page.digest,
            modified: page.modified,
            template: page.template,
            recorded: old.map_or(stamp, |old| old.recorded),
            first_seen: old.map_or(stamp, |old| old.first_seen),
            removed: old.and_then(|old| old.removed),
            date_source: old.map_or(page.date_source, |old| old.date_source),
            arc: old.map_or_else(|| "-".to_owned(), |old| old.arc.clone()),
            url,
        };
        let mut new = new;
        if self.input.arc != ArcEntryScope::Off {
            let entry = arc_entry::entry(self.input.plan, &new, &page.record);
            let old = old.and_then(|old| ArcEntryVersion::parse(&old.arc));
            new.arc = ArcEntryVersion::to_column(ArcEntryVersion::next(
                old,
                entry.as_ref().map(arc_entry::digest),
                stamp,
            ));
        }
        self.write_row(old, new, page.is_same_source)
    }

    /// Writes the ledger row of a page that is no longer part of the site.
    pub(super) fn remove_page(&mut self, old: &LedgerRow) -> Result<(), BuildError> {
        if old.visibility == Visibility::Removed {
            let age = old.removed.map_or(0, |at| self.input.plan.now.seconds_since(at));
            if REMEMBERED_DAYS * 86_400 < age {
                self.reading.is_ledger_changed = true;
                return Ok(());
            }
            // The ARC version is updated here, because the ARC layer may have been off when the
            // page was removed.
            let mut kept = old.clone();
            if self.input.arc != ArcEntryScope::Off {
                kept.arc = ArcEntryVersion::to_column(ArcEntryVersion::next(
                    ArcEntryVersion::parse(&old.arc),
                    None,
                    self.input.stamp,
                ));
            }
            self.reading.is_ledger_changed |= kept != *old;
            self.reading.arc.had_entries |= old.arc != NO_ARC_ENTRY;
            self.reading.arc.last = self
                .reading
                .arc
                .last
                .max(ArcEntryVersion::parse(&kept.arc).map(|version| version.at));
            self.record_removal(&kept);
            return Ok(self.new.ledger.push(&kept)?);
        }
        let stamp = self.input.stamp;
        let mut new =
            LedgerRow { visibility: Visibility::Removed, removed: Some(stamp), ..old.clone() };
        if self.input.arc != ArcEntryScope::Off {
            new.arc = ArcEntryVersion::to_column(ArcEntryVersion::next(
                ArcEntryVersion::parse(&old.arc),
                None,
                stamp,
            ));
        }
        self.write_row(Some(old), new, false)
    }

    /// Writes the row of a page and counts the page in its sections.
    pub(super) fn write_row(
        &mut self,
        old: Option<&LedgerRow>,
        mut new: LedgerRow,
        is_same_source: bool,
    ) -> Result<(), BuildError> {
        let stamp = self.input.stamp;
        let was = old.filter(|old| old.is_public());
        let is_public = new.is_public();
        self.reading.guarded.before += u64::from(was.is_some());
        let is_edited = old.is_some_and(|old| old.digest != new.digest);
        let is_moved = was.is_some_and(|was| was.section != new.section);
        if old.is_none() || is_edited || is_moved || (is_public && was.is_none()) {
            new.recorded = stamp;
        }
        if is_public {
            new.removed = None;
        } else if was.is_some() {
            new.removed = Some(stamp);
        }
        self.record_removal(&new);
        let all = self.reading.tallies.len() - 1;
        // A section that no longer exists has no tally.
        let place = |section: &str| self.bits.get(section).map(|(at, _)| *at);
        let (from, to) = (was.and_then(|was| place(&was.section)), place(&new.section));
        if let Some(was) = was {
            let holds_excluded = !is_public && new.visibility != Visibility::Removed;
            for at in from.into_iter().chain([all]) {
                let tally = &mut self.reading.tallies[at];
                tally.before.add(&was.url, was.digest);
                tally.holds_excluded |= holds_excluded;
                if !is_public || (is_moved && at != all) {
                    tally.remove(&was.url);
                }
            }
        }
        if is_public {
            for at in to.into_iter().chain([all]) {
                let tally = &mut self.reading.tallies[at];
                tally.state.add(&new.url, new.digest);
                tally.pages += 1;
                // For the section `all`, a page that only moved to another section is unchanged.
                let is_new = new.recorded == stamp && (at != all || is_edited || !is_moved);
                tally.changed += u64::from(is_new);
            }
        }
        self.count(was.is_some(), is_edited && is_public, is_same_source, &new)?;
        self.reading.is_ledger_changed |= old != Some(&new);
        self.reading.used.extend(new.template);
        // Published ARC entries that contain more than the page now allows must be withdrawn.
        let withdraws_arc_entries = new.visibility != Visibility::Removed
            && old.is_some_and(|old| {
                let had = |row: &LedgerRow| {
                    ArcEntryVersion::parse(&row.arc).is_some_and(|it| it.digest.is_some())
                };
                old.visibility.shows_content() && !new.visibility.shows_content()
                    || had(old) && !had(&new)
            });
        self.reading.arc.withdraws_entries |= withdraws_arc_entries;
        self.reading.arc.had_entries |= old.is_some_and(|old| old.arc != NO_ARC_ENTRY);
        self.reading.arc.last =
            self.reading.arc.last.max(ArcEntryVersion::parse(&new.arc).map(|version| version.at));
        Ok(self.new.ledger.push(&new)?)
    }

    pub(super) fn count(
        &mut self,
        was_public: bool,
        is_edited: bool,
        is_same_source: bool,
        new: &LedgerRow,
    ) -> Result<(), BuildError> {
        let is_public = new.is_public();
        let what = match (was_public, is_public) {
            (false, true) => {
                self.reading.counts.new += 1;
                "new"
            }
            (true, true) if is_edited => {
                self.reading.counts.changed += 1;
                self.reading.counts.read_differently += u64::from(is_same_source);
                "changed"
            }
            (true, false) => {
                self.reading.counts.removed += 1;
                "removed"
            }
            _ => "",
        };
        self.reading.counts.pages += u64::from(is_public);
        if !what.is_empty() {
            writeln!(self.new.changes, "{what}\t{}", new.url).at(&self
                .input
                .state
                .draft
                .changes())?;
        }
        Ok(())
    }

    /// Records the time of a page's removal in the tallies of its section and of `all`.
    pub(super) fn record_removal(&mut self, row: &LedgerRow) {
        let all = self.reading.tallies.len() - 1;
        let of = self.bits.get(&row.section).map(|(at, _)| *at);
        for at in of.into_iter().chain([all]) {
            if let Some(tally) = self.reading.tallies.get_mut(at) {
                tally.last_removed = tally.last_removed.max(row.removed);
            }
        }
    }

    pub(super) fn section(&self, url: &str) -> String {
        section::of_url(self.input.sections, &self.input.plan.base, url).to_owned()
    }

    pub(super) fn bit(&self, section: &str) -> u64 {
        self.bits.get(section).map_or(1, |(_, bit)| *bit)
    }
}
