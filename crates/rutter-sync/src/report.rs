//! Result of a sync: counts, sections, left-out URLs, problems and findings. Secrets in
//! URLs and texts are redacted, and the numbers of listed URLs and findings are limited.

pub(crate) mod left_out;
pub(crate) mod visit_record;

use std::collections::BTreeMap;

use rutter_fetch::redact;
use rutter_finding::Report as Findings;

use crate::discover::AccessMethod;
use crate::plan::PlanReason;
use crate::report::left_out::{LeftOutReason, MOST_URLS};

/// Maximum number of reasons for left-out URLs that are counted separately.
const MOST_REASONS: usize = 100;
/// Maximum number of findings in a report.
const MOST_FINDINGS: usize = 1_000;

/// Result of the sync of one site.
#[derive(Debug, Clone)]
// More than 12 fields: the public result of a sync, printed field by field.
pub struct SyncReport {
    /// The site: scheme, host and port.
    pub origin: String,
    /// The access method that was used.
    pub method: AccessMethod,
    /// Number of requests that were sent, including those for robots.txt and redirects.
    pub requests: u64,
    /// Number of bytes of response bodies, as transferred.
    pub bytes: u64,
    /// Number of pages whose content is new in the replica.
    pub added: u64,
    /// Number of pages whose content changed.
    pub changed: u64,
    /// Number of pages that were removed.
    pub removed: u64,
    /// Number of pages of the site that the replica has without content.
    pub withheld: u64,
    /// Number of pages of the site in the replica.
    pub pages: u64,
    /// Result for each section that collections deliver, by section name.
    pub sections: BTreeMap<String, SectionReport>,
    /// Number of discovered URLs that are not in the replica, by reason.
    pub left_out: BTreeMap<LeftOutReason, u64>,
    /// Left-out URLs with the reason, at most [`MOST_URLS`].
    pub(crate) left_out_urls: BTreeMap<String, LeftOutReason>,
    /// Number of pages that were found by links and are in no sitemap, if links are
    /// followed in addition to sitemaps.
    pub n_unlisted: u64,
    /// URLs of the first 1,000 of these pages.
    pub unlisted: Vec<String>,
    /// Number of entities that were read; `None` if the SPXI index did not change.
    pub entities: Option<u64>,
    /// Number of ARC entries that were read; `None` if the ARC sitemap did not change.
    pub arc: Option<u64>,
    /// Problems that did not stop the sync.
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
    /// Number of collections that this sync applied.
    pub files: u64,
    /// Number of pages of the section in the replica.
    pub pages: u64,
    /// Whether the section has the state that the publisher claims (D95).
    pub is_proved: bool,
}

/// Estimated cost of a sync with a better access method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BetterMethod {
    /// The better access method.
    pub method: AccessMethod,
    /// Estimated number of requests.
    pub requests: u64,
    /// Number of bytes, estimated by the size of the pages in the replica.
    pub bytes: u64,
}

/// A problem that did not stop the sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// URL of the file or page, or the site, without secrets.
    pub place: String,
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// Description of the problem.
    pub text: String,
    /// Whether no action is needed: another file or access method gave the same result, or
    /// no later sync can resolve the problem.
    pub is_resolved: bool,
}

/// Kind of a problem, the most severe last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The network or the server failed.
    Network,
    /// The content of a response or of the replica is invalid.
    Integrity,
    /// A policy prevented a request or a change: robots.txt, a blocked address, a quota,
    /// the protection against mass deletion.
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

    /// Lists a left-out URL and counts it.
    pub(crate) fn leave_out(&mut self, key: &str, why: LeftOutReason) {
        self.list_left_out(key, why.clone());
        self.count_left_out(why, 1);
    }

    /// Lists a left-out URL without counting it.
    pub(crate) fn list_left_out(&mut self, key: &str, why: LeftOutReason) {
        if self.left_out_urls.len() < MOST_URLS {
            self.left_out_urls.insert(key.to_owned(), why);
        }
    }

    pub(crate) fn count_left_out(&mut self, why: LeftOutReason, n: u64) {
        // Every alias has a different detail, so all aliases are counted together.
        let why = if why.alias_of().is_some() { LeftOutReason::ALIAS } else { why };
        // Details may contain text from servers, so the number of different reasons is
        // limited.
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

    /// Adds a problem, unless the report has one for the same place. A problem without a
    /// kind counts as resolved, because no later sync can resolve it.
    pub(crate) fn add_problem_once(&mut self, place: &str, kind: Option<ProblemKind>, text: &str) {
        let (place, text) = (redact(place), redact(text));
        if self.problems.iter().any(|add_problem| add_problem.place == place) {
            return;
        }
        let is_resolved = kind.is_none();
        let kind = kind.unwrap_or(ProblemKind::Network);
        self.problems.push(Problem { place, kind, text, is_resolved });
    }

    /// Adds a finding in the file at `url`. Secrets in the URL and the finding are
    /// redacted.
    pub(crate) fn finding(&mut self, url: &str, finding: rutter_finding::Finding) {
        if self.findings.len() < MOST_FINDINGS {
            let detail = redact(&finding.detail);
            self.findings.push((redact(url), rutter_finding::Finding { detail, ..finding }));
        }
    }

    pub(crate) fn add_findings(&mut self, url: &str, findings: &Findings) {
        for (_, finding) in findings.findings() {
            self.finding(url, finding.clone());
        }
    }

    /// Adds a problem if the content of pages was not stored because of the byte quota.
    pub(crate) fn add_quota_problem(&mut self, n_pages: u64) {
        if 0 < n_pages {
            let text =
                format!("content of {n_pages} pages not stored: the byte quota is exhausted");
            let origin = self.origin.clone();
            self.add_problem(&origin, ProblemKind::Policy, text);
        }
    }

    /// Adds the sections, problems, findings and withheld pages that one stage reports.
    pub(crate) fn add_stage(&mut self, stage: Self) {
        self.withheld += stage.withheld;
        self.sections.extend(stage.sections);
        self.problems.extend(stage.problems);
        let n_more = MOST_FINDINGS.saturating_sub(self.findings.len());
        self.findings.extend(stage.findings.into_iter().take(n_more));
    }

    /// Returns the kind of the most severe unresolved problem.
    pub fn worst(&self) -> Option<ProblemKind> {
        let open = self.problems.iter().filter(|add_problem| !add_problem.is_resolved);
        open.map(|add_problem| add_problem.kind).max()
    }

    /// Returns whether no page was added, changed or removed.
    pub fn is_quiet(&self) -> bool {
        self.added + self.changed + self.removed == 0
    }
}
