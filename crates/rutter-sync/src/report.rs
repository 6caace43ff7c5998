//! Result of a sync: counts, sections, left-out URLs, problems and findings. Secrets in
//! URLs and texts are redacted, and every list is bounded.

use std::collections::BTreeMap;

use rutter_discover::AccessMethod;
use rutter_fetch::redact;

use crate::left_out::{LeftOutReason, MOST_URLS};
use crate::plan::PlanReason;

/// Maximum number of different reasons that are counted separately.
const MOST_REASONS: usize = 100;
/// Maximum number of findings in a report.
const MOST_FINDINGS: usize = 1_000;

/// Result of a sync.
#[derive(Debug, Clone)]
pub struct SyncReport {
    /// The site: scheme, host and port.
    pub origin: String,
    /// The access method that was used.
    pub method: AccessMethod,
    /// Requests sent, including robots.txt and redirects.
    pub requests: u64,
    /// Bytes of response bodies, as transferred.
    pub bytes: u64,
    /// Pages with content that is new in the replica.
    pub added: u64,
    /// Pages whose content changed.
    pub changed: u64,
    /// Pages that were removed.
    pub removed: u64,
    /// Pages of the site in the replica without content.
    pub withheld: u64,
    /// Pages of the site in the replica.
    pub pages: u64,
    /// Results by section.
    pub sections: BTreeMap<String, SectionReport>,
    /// Number of discovered URLs that are not in the replica, by reason.
    pub left_out: BTreeMap<LeftOutReason, u64>,
    /// Some of these URLs.
    pub(crate) left_out_urls: BTreeMap<String, LeftOutReason>,
    /// Number of pages that were found by links and are in no sitemap, if links are
    /// followed in addition to sitemaps.
    pub n_unlisted: u64,
    /// The first 1,000 of these pages.
    pub unlisted: Vec<String>,
    /// Entities that were read; `None` if the SPXI index did not change.
    pub entities: Option<u64>,
    /// ARC entries that were read; `None` if the ARC sitemap did not change.
    pub arc: Option<u64>,
    /// Problems of the sync.
    pub problems: Vec<Problem>,
    /// Findings in usable files, with the URL of the file.
    pub findings: Vec<(String, rutter_finding::Finding)>,
    /// Estimated cost of the same sync with a better access method.
    pub better_method: Option<BetterMethod>,
}

/// Result of a sync for one section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionReport {
    /// The reason for the plan of the section.
    pub reason: PlanReason,
    /// Number of collections that were applied.
    pub files: u64,
    /// Pages of the section in the replica.
    pub pages: u64,
    /// Whether the state was verified against the publisher's (D95).
    pub is_proved: bool,
}

/// Estimated cost of a sync with a better access method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BetterMethod {
    /// The method.
    pub method: AccessMethod,
    /// Number of requests.
    pub requests: u64,
    /// Bytes, estimated by the size of the pages in the replica.
    pub bytes: u64,
}

/// A problem that did not stop the sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A URL or site, without secrets.
    pub place: String,
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// Description of the problem.
    pub text: String,
    /// Whether the sync reached the same result another way.
    pub is_resolved: bool,
}

/// Kind of a problem, the most severe last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The network or the server failed.
    Network,
    /// A response is not what it should be.
    Integrity,
    /// A policy refused it: robots.txt, a blocked address, the protection against mass
    /// deletion.
    Policy,
}

impl SyncReport {
    pub(crate) fn new(origin: &str, method: AccessMethod) -> Self {
        Self {
            origin: origin.to_owned(),
            method,
            requests: 0,
            bytes: 0,
            added: 0,
            changed: 0,
            removed: 0,
            withheld: 0,
            pages: 0,
            sections: BTreeMap::new(),
            left_out: BTreeMap::new(),
            left_out_urls: BTreeMap::new(),
            n_unlisted: 0,
            unlisted: Vec::new(),
            entities: None,
            arc: None,
            problems: Vec::new(),
            findings: Vec::new(),
            better_method: None,
        }
    }

    /// Counts a left-out URL and lists it.
    pub(crate) fn leave_out(&mut self, key: &str, why: LeftOutReason) {
        self.list_left_out(key, why.clone());
        self.count_left_out(why, 1);
    }

    /// Lists a left-out URL that is counted elsewhere.
    pub(crate) fn list_left_out(&mut self, key: &str, why: LeftOutReason) {
        if self.left_out_urls.len() < MOST_URLS {
            self.left_out_urls.insert(key.to_owned(), why);
        }
    }

    pub(crate) fn count_left_out(&mut self, why: LeftOutReason, n: u64) {
        // Every alias has a detail of its own; count them together.
        let why = if why.alias_of().is_some() { LeftOutReason::ALIAS } else { why };
        // Details may contain text from servers; bound their number.
        let is_counted = self.left_out.len() < MOST_REASONS || self.left_out.contains_key(&why);
        let why = if is_counted { why } else { LeftOutReason::OTHER };
        *self.left_out.entry(why).or_default() += n;
    }

    /// Returns the number of left-out URLs by code.
    pub fn left_out_by_code(&self) -> BTreeMap<&'static str, u64> {
        let mut by_code = BTreeMap::new();
        for (why, n) in &self.left_out {
            *by_code.entry(why.code()).or_default() += n;
        }
        by_code
    }

    pub(crate) fn add_problem(&mut self, place: &str, kind: ProblemKind, text: impl Into<String>) {
        let (place, text) = (redact(place), redact(&text.into()));
        self.problems.push(Problem { place, kind, text, is_resolved: false });
    }

    /// Adds a problem unless there is one for the same place. Without a kind it counts as
    /// resolved: there is nothing that a later sync could do about it.
    pub(crate) fn add_problem_once(&mut self, place: &str, kind: Option<ProblemKind>, text: &str) {
        let (place, text) = (redact(place), redact(text));
        if self.problems.iter().any(|add_problem| add_problem.place == place) {
            return;
        }
        let is_resolved = kind.is_none();
        let kind = kind.unwrap_or(ProblemKind::Network);
        self.problems.push(Problem { place, kind, text, is_resolved });
    }

    /// Adds a finding without the secrets in its URL.
    pub(crate) fn finding(&mut self, url: &str, finding: rutter_finding::Finding) {
        if self.findings.len() < MOST_FINDINGS {
            let detail = redact(&finding.detail);
            self.findings.push((redact(url), rutter_finding::Finding { detail, ..finding }));
        }
    }

    /// Returns the kind of the most severe unresolved problem.
    pub fn worst(&self) -> Option<ProblemKind> {
        let open = self.problems.iter().filter(|add_problem| !add_problem.is_resolved);
        open.map(|add_problem| add_problem.kind).max()
    }

    /// Returns whether no page changed.
    pub fn is_quiet(&self) -> bool {
        self.added + self.changed + self.removed == 0
    }
}
