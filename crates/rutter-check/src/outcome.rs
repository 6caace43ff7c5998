//! What one run has to tell: every format gets this and nothing else.

use rutter_finding::{Finding, Mode, Severity, Verdict};

use crate::excerpt::Excerpt;
use crate::overview::Overview;
use crate::{Judgement, fingerprint};

/// Everything one run has to tell.
#[derive(Debug)]
pub struct Outcome {
    /// File by file, or page by page.
    pub files: Vec<Judged>,
    /// What the report draws.
    pub overview: Overview,
    /// For whom it was judged.
    pub mode: Mode,
    /// The least severity that fails the run.
    pub fail_on: Severity,
    /// Findings that are ignored by settings or flags.
    pub ignored: u64,
    /// Findings that the baseline knows.
    pub known: u64,
    /// Findings of the baseline that are no more.
    pub gone: u64,
    /// How much the formats for people write.
    pub detail: Detail,
    /// The version of the program that judged.
    pub version: &'static str,
}

/// How much the formats for people write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Findings, a verdict for each file, and a summary.
    #[default]
    Full,
    /// Findings only.
    FindingsOnly,
}

/// A file that was judged, with the lines its findings speak of.
#[derive(Debug)]
pub struct Judged {
    /// The judgement.
    pub judgement: Judgement,
    /// An excerpt for each finding, in their order; shorter where none were
    /// taken.
    pub excerpts: Vec<Option<Excerpt>>,
}

/// A finding with everything a format may want to say of it.
#[derive(Debug, Clone, Copy)]
pub struct Told<'o> {
    /// The file.
    pub judgement: &'o Judgement,
    /// How grave it is.
    pub severity: Severity,
    /// What was found.
    pub finding: &'o Finding,
    /// The line it speaks of.
    pub excerpt: Option<&'o Excerpt>,
}

impl Told<'_> {
    /// The line, by the finding or by what was looked up.
    pub fn line(&self) -> Option<u64> {
        self.finding.place.line.or(self.excerpt.map(|excerpt| excerpt.line))
    }

    /// The column, counted in characters from 1, where it is known.
    pub fn column(&self) -> Option<u64> {
        self.excerpt.and_then(|excerpt| excerpt.column)
    }

    /// What is wrong: the rule's title, and what was seen.
    pub fn message(&self) -> String {
        let detail = &self.finding.detail;
        let gap = if detail.is_empty() { "" } else { ": " };
        format!("{}{gap}{detail}", self.finding.rule.title)
    }

    /// `file`, `file:7` or `file:7:12`, whatever hides in the path escaped.
    pub fn whereabouts(&self) -> String {
        self.place_in(&self.judgement.path())
    }

    /// The same of a file that is called so.
    pub(crate) fn place_in(&self, name: &str) -> String {
        let mut text = rutter_finding::shown(name).into_owned();
        let column = self.column().filter(|_| self.line().is_some());
        for number in self.line().into_iter().chain(column) {
            text.push(':');
            text.push_str(&number.to_string());
        }
        text
    }

    /// What stays the same when lines move; see [`fingerprint`].
    pub fn fingerprint(&self) -> String {
        fingerprint::of(&self.judgement.path(), self.finding)
    }
}

impl Judged {
    /// The findings that were kept.
    pub fn findings(&self) -> impl Iterator<Item = Told<'_>> {
        let judgement = &self.judgement;
        judgement.report.findings().enumerate().map(move |(idx, (severity, finding))| Told {
            judgement,
            severity,
            finding,
            excerpt: self.excerpts.get(idx).and_then(Option::as_ref),
        })
    }
}

impl Outcome {
    /// The folder or site that all files belong to, where they belong to one.
    pub fn root(&self) -> Option<&str> {
        let first = self.files.first()?.judgement.root.as_str();
        let is_one = self.files.iter().all(|file| file.judgement.root == first);
        (is_one && !first.is_empty()).then_some(first)
    }

    /// Every finding that was kept, file by file.
    pub fn findings(&self) -> impl Iterator<Item = Told<'_>> {
        self.files.iter().flat_map(Judged::findings)
    }

    /// Number of findings of a severity in all files, kept or not.
    pub fn count(&self, severity: Severity) -> u64 {
        self.files.iter().map(|file| file.judgement.report.count(severity)).sum()
    }

    /// Number of findings that were counted but not kept.
    pub fn not_kept(&self) -> u64 {
        self.files.iter().map(|file| file.judgement.report.not_kept()).sum()
    }

    /// The gravest finding.
    pub fn worst(&self) -> Option<Severity> {
        self.files.iter().filter_map(|file| file.judgement.report.worst()).max()
    }

    /// Whether the run fails.
    pub fn fails(&self) -> bool {
        self.worst().is_some_and(|worst| self.fail_on <= worst)
    }

    /// Number of files with this verdict.
    pub fn with_verdict(&self, verdict: Verdict) -> usize {
        self.files.iter().filter(|file| file.judgement.verdict() == verdict).count()
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
