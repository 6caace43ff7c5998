//! Collects the findings about one input in bounded memory and derives a verdict.
//!
//! Input: findings through [`FindingSink`]. Output: the first findings of each rule, the number of
//! all findings, and the verdict, which is accepted or rejected.

use std::collections::BTreeMap;

use crate::finding::{Finding, FindingSink};
use crate::rule::{Severity, Strictness};

/// The result of checking an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The input has no errors.
    Accepted,
    /// The input has at least one error.
    Rejected,
}

/// Collects the findings whose rules are reported at a given [`Strictness`].
///
/// The report keeps the first [`Report::KEPT_PER_RULE`] findings of each rule and only counts the
/// others, so that hostile input cannot exhaust memory.
#[derive(Debug, Clone, Default)]
pub struct Report {
    mode: Strictness,
    kept: Vec<(Severity, Finding)>,
    counts: BTreeMap<&'static str, u64>,
    by_severity: [u64; 3],
}

impl Report {
    /// Maximum number of findings that are kept for one rule.
    pub const KEPT_PER_RULE: u64 = 100;

    /// Creates an empty report for this strictness.
    pub fn new(mode: Strictness) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Returns the strictness of this report.
    pub fn mode(&self) -> Strictness {
        self.mode
    }

    /// Returns the kept findings in the order in which they were reported.
    pub fn findings(&self) -> impl Iterator<Item = (Severity, &Finding)> {
        self.kept.iter().map(|(severity, finding)| (*severity, finding))
    }

    /// Returns the number of findings by rule code, including those that were not kept.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Returns the number of findings of this severity, including those that were not kept.
    pub fn count(&self, severity: Severity) -> u64 {
        let [notes, warnings, errors] = self.by_severity;
        match severity {
            Severity::Note => notes,
            Severity::Warning => warnings,
            Severity::Error => errors,
        }
    }

    /// Returns the number of findings that were counted but not kept.
    pub fn not_kept(&self) -> u64 {
        self.by_severity.iter().sum::<u64>() - self.kept.len() as u64
    }

    /// Removes the findings for which `is_wanted` returns `false`; returns how many were removed.
    ///
    /// Findings of a rule that were counted but not kept are removed if no kept finding of that
    /// rule remains.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(Severity, &Finding) -> bool) -> u64 {
        let before: u64 = self.by_severity.iter().sum();
        let mut removed: BTreeMap<&'static str, (Severity, u64)> = BTreeMap::new();
        self.kept.retain(|(severity, finding)| {
            let is_kept = is_wanted(*severity, finding);
            if !is_kept {
                removed.entry(finding.rule.code).or_insert((*severity, 0)).1 += 1;
            }
            is_kept
        });
        for (code, (severity, n_kept_removed)) in removed {
            let has_kept = self.kept.iter().any(|(_, finding)| finding.rule.code == code);
            let Some(count) = self.counts.get_mut(code) else { continue };
            let n_removed = if has_kept { n_kept_removed } else { *count };
            *count -= n_removed;
            if *count == 0 {
                self.counts.remove(code);
            }
            *self.severity_count_mut(severity) -= n_removed;
        }
        before - self.by_severity.iter().sum::<u64>()
    }

    /// Adds a finding that represents `times` violations: the report keeps the finding once and
    /// counts it `times` times.
    pub fn report_many(&mut self, finding: Finding, times: u64) {
        let rule = finding.rule;
        self.report(finding);
        let (Some(severity), Some(more)) = (rule.severity(self.mode), times.checked_sub(1)) else {
            return;
        };
        *self.severity_count_mut(severity) += more;
        *self.counts.entry(rule.code).or_default() += more;
    }

    fn severity_count_mut(&mut self, severity: Severity) -> &mut u64 {
        let [notes, warnings, errors] = &mut self.by_severity;
        match severity {
            Severity::Note => notes,
            Severity::Warning => warnings,
            Severity::Error => errors,
        }
    }

    /// Returns the highest severity of all findings, or `None` if there are no findings.
    pub fn worst(&self) -> Option<Severity> {
        [Severity::Error, Severity::Warning, Severity::Note]
            .into_iter()
            .find(|severity| 0 < self.count(*severity))
    }

    /// Returns [`Verdict::Rejected`] if there is at least one error.
    pub fn verdict(&self) -> Verdict {
        if self.worst() == Some(Severity::Error) { Verdict::Rejected } else { Verdict::Accepted }
    }
}

impl FindingSink for Report {
    fn report(&mut self, finding: Finding) {
        let Some(severity) = finding.rule.severity(self.mode) else { return };
        *self.severity_count_mut(severity) += 1;
        let count = self.counts.entry(finding.rule.code).or_default();
        *count += 1;
        if *count <= Self::KEPT_PER_RULE {
            self.kept.push((severity, finding));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Place;
    use crate::rule::{Rule, RuleExample};

    static QUIET: Rule = Rule {
        code: "XX001",
        name: "quiet",
        clause: "X",
        lenient: None,
        strict: Severity::Error,
        title: "quiet for readers",
        why: "",
        fix: "",
        example: RuleExample { place: "", wrong: "", right: "" },
    };

    #[test]
    fn counts_only_findings_that_the_mode_reports() {
        for (mode, worst, verdict) in [
            (Strictness::Lenient, None, Verdict::Accepted),
            (Strictness::Strict, Some(Severity::Error), Verdict::Rejected),
        ] {
            let mut report = Report::new(mode);
            report.report(Finding::new(&QUIET, Place::line(3), ""));
            assert_eq!(report.worst(), worst);
            assert_eq!(report.verdict(), verdict);
        }
    }

    #[test]
    fn retain_also_removes_findings_that_were_not_kept() {
        let mut report = Report::new(Strictness::Strict);
        for line in 0..150 {
            report.report(Finding::new(&QUIET, Place::line(line), ""));
        }
        let mut some = report.clone();
        assert_eq!(some.retain(|_, finding| finding.place.line != Some(3)), 1);
        assert_eq!((some.count(Severity::Error), some.not_kept()), (149, 50));
        assert_eq!(report.retain(|_, _| false), 150);
        assert_eq!((report.worst(), report.not_kept(), report.counts().len()), (None, 0, 0));
    }

    #[test]
    fn counts_a_finding_that_represents_many() {
        let mut report = Report::new(Strictness::Strict);
        report.report_many(Finding::new(&QUIET, Place::WHOLE, "and others"), 40);
        assert_eq!((report.findings().count(), report.count(Severity::Error)), (1, 40));
        assert_eq!((report.counts()["XX001"], report.not_kept()), (40, 39));
        let mut quiet = Report::new(Strictness::Lenient);
        quiet.report_many(Finding::new(&QUIET, Place::WHOLE, ""), 40);
        assert_eq!(quiet.worst(), None);
    }

    #[test]
    fn bounds_kept_findings_and_counts_all() {
        let mut report = Report::new(Strictness::Strict);
        for line in 0..1000 {
            report.report(Finding::new(&QUIET, Place::line(line), ""));
        }
        assert_eq!(report.findings().count(), 100);
        assert_eq!(report.count(Severity::Error), 1000);
        assert_eq!(report.not_kept(), 900);
    }
}
