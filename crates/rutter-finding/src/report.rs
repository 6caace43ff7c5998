//! Findings of one input, in bounded memory, with a verdict.

use std::collections::BTreeMap;

use crate::finding::{Finding, FindingSink};
use crate::rule::{Mode, Severity};

/// What a judge says of an input in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may be used.
    Accepted,
    /// It may not: an error was found.
    Rejected,
}

/// Collects the findings that count in a [`Mode`].
///
/// Keeps the first [`Report::KEPT_PER_RULE`] findings of each rule and counts
/// the others, so that a hostile input cannot fill memory with complaints.
#[derive(Debug, Clone, Default)]
pub struct Report {
    mode: Mode,
    kept: Vec<(Severity, Finding)>,
    counts: BTreeMap<&'static str, u64>,
    by_severity: [u64; 3],
}

impl Report {
    /// How many findings of one rule are kept.
    pub const KEPT_PER_RULE: u64 = 100;

    /// An empty report for this mode.
    pub fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// For whom it is.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The kept findings in the order they were reported.
    pub fn findings(&self) -> impl Iterator<Item = (Severity, &Finding)> {
        self.kept.iter().map(|(severity, finding)| (*severity, finding))
    }

    /// How often each rule was broken, by code, including what was not kept.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Number of findings of this severity, including what was not kept.
    pub fn count(&self, severity: Severity) -> u64 {
        let [notes, warnings, errors] = self.by_severity;
        match severity {
            Severity::Note => notes,
            Severity::Warning => warnings,
            Severity::Error => errors,
        }
    }

    /// Number of findings that were counted but not kept.
    pub fn not_kept(&self) -> u64 {
        self.by_severity.iter().sum::<u64>() - self.kept.len() as u64
    }

    /// Takes findings out that are not to be spoken of; gives how many.
    ///
    /// What was counted but not kept goes with its rule: it is taken out when
    /// no kept finding of the rule is left, and stays otherwise.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(Severity, &Finding) -> bool) -> u64 {
        let before: u64 = self.by_severity.iter().sum();
        let mut taken: BTreeMap<&'static str, (Severity, u64)> = BTreeMap::new();
        self.kept.retain(|(severity, finding)| {
            let is_kept = is_wanted(*severity, finding);
            if !is_kept {
                taken.entry(finding.rule.code).or_insert((*severity, 0)).1 += 1;
            }
            is_kept
        });
        for (code, (severity, n_taken)) in taken {
            let is_left = self.kept.iter().any(|(_, finding)| finding.rule.code == code);
            let Some(count) = self.counts.get_mut(code) else { continue };
            let n_gone = if is_left { n_taken } else { *count };
            *count -= n_gone;
            if *count == 0 {
                self.counts.remove(code);
            }
            *self.of_severity(severity) -= n_gone;
        }
        before - self.by_severity.iter().sum::<u64>()
    }

    /// Takes a finding that stands for so many; it is kept once and counted as
    /// often.
    pub fn report_many(&mut self, finding: Finding, times: u64) {
        let rule = finding.rule;
        self.report(finding);
        let (Some(severity), Some(more)) = (rule.severity(self.mode), times.checked_sub(1)) else {
            return;
        };
        *self.of_severity(severity) += more;
        *self.counts.entry(rule.code).or_default() += more;
    }

    fn of_severity(&mut self, severity: Severity) -> &mut u64 {
        let [notes, warnings, errors] = &mut self.by_severity;
        match severity {
            Severity::Note => notes,
            Severity::Warning => warnings,
            Severity::Error => errors,
        }
    }

    /// The gravest finding; `None` for a clean input.
    pub fn worst(&self) -> Option<Severity> {
        [Severity::Error, Severity::Warning, Severity::Note]
            .into_iter()
            .find(|severity| 0 < self.count(*severity))
    }

    /// Rejected as soon as there is one error.
    pub fn verdict(&self) -> Verdict {
        if self.worst() == Some(Severity::Error) { Verdict::Rejected } else { Verdict::Accepted }
    }
}

impl FindingSink for Report {
    fn report(&mut self, finding: Finding) {
        let Some(severity) = finding.rule.severity(self.mode) else { return };
        *self.of_severity(severity) += 1;
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
    use crate::rule::Rule;

    static QUIET: Rule = Rule {
        code: "XX001",
        name: "quiet",
        clause: "X",
        lenient: None,
        strict: Severity::Error,
        title: "quiet for readers",
        why: "",
        fix: "",
    };

    #[test]
    fn ours_mode_decides_what_counts() {
        for (mode, worst, verdict) in [
            (Mode::Lenient, None, Verdict::Accepted),
            (Mode::Strict, Some(Severity::Error), Verdict::Rejected),
        ] {
            let mut report = Report::new(mode);
            report.report(Finding::new(&QUIET, Place::line(3), ""));
            assert_eq!(report.worst(), worst);
            assert_eq!(report.verdict(), verdict);
        }
    }

    #[test]
    fn ours_what_is_taken_out_is_counted_with_what_was_not_kept() {
        let mut report = Report::new(Mode::Strict);
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
    fn ours_one_finding_may_stand_for_many() {
        let mut report = Report::new(Mode::Strict);
        report.report_many(Finding::new(&QUIET, Place::WHOLE, "and others"), 40);
        assert_eq!((report.findings().count(), report.count(Severity::Error)), (1, 40));
        assert_eq!((report.counts()["XX001"], report.not_kept()), (40, 39));
        let mut quiet = Report::new(Mode::Lenient);
        quiet.report_many(Finding::new(&QUIET, Place::WHOLE, ""), 40);
        assert_eq!(quiet.worst(), None);
    }

    #[test]
    fn ours_many_findings_stay_bounded_and_counted() {
        let mut report = Report::new(Mode::Strict);
        for line in 0..1000 {
            report.report(Finding::new(&QUIET, Place::line(line), ""));
        }
        assert_eq!(report.findings().count(), 100);
        assert_eq!(report.count(Severity::Error), 1000);
        assert_eq!(report.not_kept(), 900);
    }
}
