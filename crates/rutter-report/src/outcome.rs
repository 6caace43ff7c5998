//! The outcome of one run, which is the only input of every output format.

use rutter_finding::{Finding, Severity, Strictness, Verdict};

use crate::excerpt::Excerpt;
use crate::overview::Overview;
use crate::{FileReport, fingerprint};

/// The outcome of one run of the checks.
#[derive(Debug)]
pub struct Outcome {
    /// The checked files and pages.
    pub files: Vec<CheckedFile>,
    /// Statistics about the checked files.
    pub overview: Overview,
    /// Whether findings have the severity that concerns readers or the one that concerns
    /// publishers.
    pub mode: Strictness,
    /// The minimum severity that fails the run.
    pub fail_on: Severity,
    /// The number of findings that were removed because settings ignore them.
    pub ignored: u64,
    /// The number of findings that were removed because the baseline contains them.
    pub known: u64,
    /// The number of findings of the baseline that the run did not find any more.
    pub gone: u64,
    /// Which parts the human-readable formats write.
    pub detail: DetailLevel,
    /// The version of the program.
    pub version: &'static str,
}

/// Which parts the human-readable formats write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DetailLevel {
    /// Findings, a verdict for each file, and a summary.
    #[default]
    Full,
    /// Findings only.
    FindingsOnly,
}

/// A checked file with excerpts for its findings.
#[derive(Debug)]
pub struct CheckedFile {
    /// The report of the file.
    pub file_report: FileReport,
    /// One excerpt per finding, in the same order. The list may be shorter than the findings.
    pub excerpts: Vec<Option<Excerpt>>,
}

/// A finding together with its file, severity and excerpt.
#[derive(Debug, Clone, Copy)]
pub struct FindingView<'o> {
    /// The report of the file with the finding.
    pub file_report: &'o FileReport,
    /// The severity of the finding.
    pub severity: Severity,
    /// The finding.
    pub finding: &'o Finding,
    /// The excerpt of the affected line.
    pub excerpt: Option<&'o Excerpt>,
}

impl FindingView<'_> {
    /// Returns the line number of the finding, or else the line number of its excerpt.
    pub fn line(&self) -> Option<u64> {
        self.finding.place.line.or(self.excerpt.map(|excerpt| excerpt.line))
    }

    /// Returns the column of the finding in characters, counted from 1, if it is known.
    pub fn column(&self) -> Option<u64> {
        self.excerpt.and_then(|excerpt| excerpt.column)
    }

    /// Returns the title of the rule, followed by the detail of the finding.
    pub fn message(&self) -> String {
        let detail = &self.finding.detail;
        let gap = if detail.is_empty() { "" } else { ": " };
        format!("{}{gap}{detail}", self.finding.rule.title)
    }

    /// Returns `file`, `file:7` or `file:7:12` with invisible characters escaped.
    pub fn location(&self) -> String {
        self.location_in(&self.file_report.path())
    }

    /// Like [`location`](Self::location), with another file name.
    pub(crate) fn location_in(&self, name: &str) -> String {
        let mut text = rutter_finding::shown(name).into_owned();
        let column = self.column().filter(|_| self.line().is_some());
        for number in self.line().into_iter().chain(column) {
            text.push(':');
            text.push_str(&number.to_string());
        }
        text
    }

    /// Returns a hash of the finding that does not depend on line numbers; see [`fingerprint`].
    pub fn fingerprint(&self) -> String {
        fingerprint::of(&self.file_report.path(), self.finding)
    }
}

impl CheckedFile {
    /// Returns the stored findings of the file.
    pub fn findings(&self) -> impl Iterator<Item = FindingView<'_>> {
        let file_report = &self.file_report;
        file_report.report.findings().enumerate().map(move |(idx, (severity, finding))| {
            FindingView {
                file_report,
                severity,
                finding,
                excerpt: self.excerpts.get(idx).and_then(Option::as_ref),
            }
        })
    }
}

impl Outcome {
    /// Returns the folder or site that contains all files, if there is only one.
    pub fn root(&self) -> Option<&str> {
        let first = self.files.first()?.file_report.root.as_str();
        let is_one = self.files.iter().all(|file| file.file_report.root == first);
        (is_one && !first.is_empty()).then_some(first)
    }

    /// Returns every stored finding, file by file.
    pub fn findings(&self) -> impl Iterator<Item = FindingView<'_>> {
        self.files.iter().flat_map(CheckedFile::findings)
    }

    /// Returns the number of findings of a severity in all files, stored or not.
    pub fn count(&self, severity: Severity) -> u64 {
        self.files.iter().map(|file| file.file_report.report.count(severity)).sum()
    }

    /// Returns the number of findings that were counted but not stored.
    pub fn not_kept(&self) -> u64 {
        self.files.iter().map(|file| file.file_report.report.not_kept()).sum()
    }

    /// Returns the highest severity of all findings.
    pub fn worst(&self) -> Option<Severity> {
        self.files.iter().filter_map(|file| file.file_report.report.worst()).max()
    }

    /// Returns whether the run fails.
    pub fn fails(&self) -> bool {
        self.worst().is_some_and(|worst| self.fail_on <= worst)
    }

    /// Returns the number of files with this verdict.
    pub fn with_verdict(&self, verdict: Verdict) -> usize {
        self.files.iter().filter(|file| file.file_report.verdict() == verdict).count()
    }

    /// Returns the numbers of findings, such as `2 errors, 1 warning`, or `nothing to complain
    /// about`.
    pub fn tally(&self) -> String {
        let counts: Vec<String> = SEVERITIES
            .into_iter()
            .map(|severity| (self.count(severity), severity))
            .filter(|(n, _)| 0 < *n)
            .map(|(n, severity)| crate::format::count(n, severity.name()))
            .collect();
        if counts.is_empty() { "nothing to complain about".to_owned() } else { counts.join(", ") }
    }
}

/// All severities, the highest first.
pub const SEVERITIES: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Note];
