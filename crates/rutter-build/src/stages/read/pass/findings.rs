//! Reports the findings and exclusions of pages.

use rutter_finding::{Finding, Place, Rule};
use rutter_site::{ExclusionReason, LedgerRow};

use super::ReadPass;
use crate::arc_publication::ArcEntryScope;
use crate::error::BuildError;
use crate::plan::OversizePolicy;
use crate::summary::{BuildSummary, ExcludedPage};
use crate::{exclusion, rules};

impl ReadPass<'_, '_> {
    /// Reports the findings of an unchanged page again.
    pub(super) fn report_cached_findings(
        &mut self,
        place: &str,
        old: &LedgerRow,
        row: &LedgerRow,
    ) -> Result<(), BuildError> {
        // The findings of a page are stored only in its record.
        let Some(record) = self.old_cache.findings.get(&row.url)? else { return Ok(()) };
        let (findings, exclusion) = (record.meta.findings.clone(), record.meta.exclusion.clone());
        let by = record.meta.exclusion_source.clone();
        if let Some(coverage) = record.meta.coverage.as_ref().filter(|_| exclusion.is_none()) {
            self.reading.coverage.add(place, coverage);
        }
        self.unmatched.note(&row.url, &record.meta.matched);
        self.report_findings(place, &findings);
        if let Some(exclusion) = exclusion.as_deref().and_then(ExclusionReason::parse) {
            self.guard(exclusion, &row.url, Some(old));
            self.exclude(place, exclusion, by.as_deref());
        }
        Ok(())
    }

    /// Counts an excluded page for the guard against mass changes, unless the site owner restricted
    /// its path.
    pub(super) fn guard(&mut self, exclusion: ExclusionReason, url: &str, old: Option<&LedgerRow>) {
        let is_setting = exclusion == ExclusionReason::Restricted
            && exclusion::is_restricted(self.input.plan, url);
        if !is_setting {
            self.reading.guarded.exclude(exclusion, old);
        }
    }

    pub(super) fn exclude(&mut self, place: &str, exclusion: ExclusionReason, by: Option<&str>) {
        let (reason, source) = (exclusion.as_str(), by.unwrap_or_default());
        self.events.excluded(&ExcludedPage { page: place, reason, source });
        let reading = &mut self.reading;
        *reading.exclusions.excluded.entry(reason).or_default() += 1;
        if exclusion == ExclusionReason::Login
            && reading.exclusions.password_pages.len() < BuildSummary::CLOSED_NAMED
        {
            reading.exclusions.password_pages.push(place.to_owned());
        }
        if exclusion.needs_login() {
            reading.exclusions.closed += 1;
            if reading.exclusions.closed_pages.len() < BuildSummary::CLOSED_NAMED {
                reading.exclusions.closed_pages.push(place.to_owned());
            }
        }
        if exclusion == ExclusionReason::Oversize {
            self.report(place, &rules::OVERSIZE, "");
        }
    }

    pub(super) fn report_findings(&mut self, place: &str, findings: &[(String, String)]) {
        for (code, detail) in findings {
            let tables = [
                rules::ALL,
                rutter_extract::rules::ALL,
                rutter_extract::safety::ALL,
                rutter_page::rules::ALL,
                rutter_arc::rules::ALL,
            ];
            let rule = tables.into_iter().flatten().find(|rule| rule.code == code);
            let is_off = self.input.arc == ArcEntryScope::Off && code.starts_with("AR");
            if let Some(rule) = rule.filter(|_| !is_off) {
                self.report(place, rule, detail);
            }
            let is_merged = *code == rutter_extract::rules::MERGED.code;
            if is_merged && self.input.plan.oversize == OversizePolicy::Stop {
                self.report(place, &rules::OVERSIZE, detail);
            }
        }
    }

    pub(super) fn report(&mut self, place: &str, rule: &'static Rule, detail: &str) {
        let privacy = &self.input.plan.privacy;
        let is_acknowledged = || {
            let mark = detail.rsplit(' ').next().unwrap_or_default();
            privacy.acknowledged.iter().any(|known| known == mark)
        };
        let is_private = rule == &rules::SECRET || (rule == &rules::PERSONAL && privacy.strict);
        if is_private {
            if is_acknowledged() {
                return;
            }
            self.reading.private += 1;
        }
        *self.reading.findings.entry(rule.code).or_default() += 1;
        self.events.finding(place, &Finding::new(rule, Place::WHOLE, detail));
    }
}
