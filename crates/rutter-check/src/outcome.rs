//! The result of one run, which is the only input of every output format.

use rutter_finding::{Finding, Severity, Strictness, Verdict};

use crate::excerpt::Excerpt;
use crate::overview::Overview;
use crate::{FileReport, fingerprint};

/// The result of one run.
#[derive(Debug)]
pub struct Outcome {
    /// The checked files and pages.
    pub files: Vec<CheckedFile>,
    /// Statistics for the report.
    pub overview: Overview,
    /// Whether findings have the severity for readers or for publishers.
    pub mode: Strictness,
    /// The minimum severity that fails the run.
    pub fail_on: Severity,
    /// The number of findings that settings ignore.
    pub ignored: u64,
    /// The number of findings in the baseline.
    pub known: u64,
    /// The number of findings of the baseline that no longer occur.
    pub gone: u64,
    /// How much the human-readable formats write.
    pub detail: DetailLevel,
    /// The version of the program.
    pub version: &'static str,
}

/// How much the human-readable formats write.
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
    /// One excerpt per finding in the same order; may be shorter.
    pub excerpts: Vec<Option<Excerpt>>,
}

/// A finding together with its file, severity and excerpt.
#[derive(Debug, Clone, Copy)]
pub struct FindingView<'o> {
    /// The file.
    pub file_report: &'o FileReport,
    /// The severity.
    pub severity: Severity,
    /// The finding.
    pub finding: &'o Finding,
    /// The excerpt of the affected line.
    pub excerpt: Option<&'o Excerpt>,
}

impl FindingView<'_> {
    /// Returns the line number from the finding or its excerpt.
    pub fn line(&self) -> Option<u64> {
        self.finding.place.line.or(self.excerpt.map(|excerpt| excerpt.line))
    }

    /// Returns the column in characters, counted from 1, if it is known.
    pub fn column(&self) -> Option<u64> {
        self.excerpt.and_then(|excerpt| excerpt.column)
    }

    /// Returns the title of the rule followed by the detail.
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

    /// Returns a hash that does not depend on line numbers; see [`fingerprint`].
    pub fn fingerprint(&self) -> String {
        fingerprint::of(&self.file_report.path(), self.finding)
    }
}

impl CheckedFile {
    /// Returns the stored findings.
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

    /// Every finding that was kept, file by file.
    pub fn findings(&self) -> impl Iterator<Item = FindingView<'_>> {
        self.files.iter().flat_map(CheckedFile::findings)
    }

    /// Number of findings of a severity in all files, kept or not.
    pub fn count(&self, severity: Severity) -> u64 {
        self.files.iter().map(|file| file.file_report.report.count(severity)).sum()
    }

    /// Number of findings that were counted but not kept.
    pub fn not_kept(&self) -> u64 {
        self.files.iter().map(|file| file.file_report.report.not_kept()).sum()
    }

    /// The gravest finding.
    pub fn worst(&self) -> Option<Severity> {
        self.files.iter().filter_map(|file| file.file_report.report.worst()).max()
    }

    /// Whether the run fails.
    pub fn fails(&self) -> bool {
        self.worst().is_some_and(|worst| self.fail_on <= worst)
    }

    /// Number of files with this verdict.
    pub fn with_verdict(&self, verdict: Verdict) -> usize {
        self.files.iter().filter(|file| file.file_report.verdict() == verdict).count()
    }

    /// `2 errors, 1 warning`, or `nothing to complain about`.
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

/// Severities, the gravest first.
pub const SEVERITIES: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Note];
