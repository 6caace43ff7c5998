//! What a visit came to.

use std::collections::BTreeMap;

use rutter_discover::Rung;
use rutter_fetch::redacted;

use crate::left_out::{LeftOut, MOST_URLS};
use crate::plan::Reason;

/// Different reasons that are told apart.
const MOST_REASONS: usize = 100;
/// Findings of one visit that are kept.
const MOST_FINDINGS: usize = 1_000;

/// What a visit came to.
#[derive(Debug, Clone)]
pub struct Report {
    /// Scheme, host and port.
    pub origin: String,
    /// How the site was read.
    pub rung: Rung,
    /// Requests sent, robots.txt and redirects included.
    pub requests: u64,
    /// Bytes of bodies that came over the wire.
    pub bytes: u64,
    /// Pages that can be read now and could not before.
    pub added: u64,
    /// Pages that say something else.
    pub changed: u64,
    /// Pages that went away.
    pub removed: u64,
    /// Pages of the site in the replica whose words may not be kept.
    pub withheld: u64,
    /// Pages of the site in the replica now.
    pub pages: u64,
    /// What was done about each section.
    pub sections: BTreeMap<String, SectionReport>,
    /// Addresses that were found and are not in the replica, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Some of these addresses.
    pub(crate) left_out_urls: BTreeMap<String, LeftOut>,
    /// Pages that links led to and no sitemap lists, where links are followed
    /// beside a sitemap, and the first 1,000 of them.
    pub n_unlisted: u64,
    /// Their addresses.
    pub unlisted: Vec<String>,
    /// Entities that were read; `None` where nothing new was said.
    pub entities: Option<u64>,
    /// ARC entries that were read; `None` where nothing new was said.
    pub arc: Option<u64>,
    /// What went wrong.
    pub troubles: Vec<Trouble>,
    /// What is wrong with files that could be used, by address.
    pub findings: Vec<(String, rutter_finding::Finding)>,
    /// What the next better way of offering the site would have cost.
    pub better: Option<Better>,
}

/// What was done about a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionReport {
    /// Why it was done in this way.
    pub reason: Reason,
    /// Files taken over.
    pub files: u64,
    /// Pages in it now.
    pub pages: u64,
    /// Whether its state was proved to be the publisher's (D95).
    pub is_proved: bool,
}

/// What a better offer would have cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Better {
    /// By which way.
    pub rung: Rung,
    /// Requests.
    pub requests: u64,
    /// Bytes, estimated by what the pages take in the replica.
    pub bytes: u64,
}

/// Something that went wrong, and did not stop the visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Where: an address, fit to be shown.
    pub place: String,
    /// Of which kind.
    pub kind: Kind,
    /// What.
    pub text: String,
    /// Whether another way led to the same end.
    pub is_mended: bool,
}

/// Kinds of trouble, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The network, or the machine at its other end.
    Network,
    /// What came is not what it should be.
    Integrity,
    /// A policy forbids it: robots.txt, an address, the guard against mass
    /// deletion.
    Policy,
}

impl Report {
    pub(crate) fn new(origin: &str, rung: Rung) -> Self {
        Self {
            origin: origin.to_owned(),
            rung,
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
            troubles: Vec::new(),
            findings: Vec::new(),
            better: None,
        }
    }

    /// Counts an address that is left out, and lists it.
    pub(crate) fn leave_out(&mut self, key: &str, why: LeftOut) {
        self.list_left_out(key, why.clone());
        self.count_left_out(why, 1);
    }

    /// Lists an address that is left out and is counted elsewhere.
    pub(crate) fn list_left_out(&mut self, key: &str, why: LeftOut) {
        if self.left_out_urls.len() < MOST_URLS {
            self.left_out_urls.insert(key.to_owned(), why);
        }
    }

    pub(crate) fn count_left_out(&mut self, why: LeftOut, n: u64) {
        // Each alias has a detail of its own.
        let why = if why.alias_of().is_some() { LeftOut::ALIAS } else { why };
        // Details may hold what servers say.
        let is_told = self.left_out.len() < MOST_REASONS || self.left_out.contains_key(&why);
        let why = if is_told { why } else { LeftOut::OTHER };
        *self.left_out.entry(why).or_default() += n;
    }

    /// How many addresses are left out, by code.
    pub fn left_out_by_code(&self) -> BTreeMap<&'static str, u64> {
        let mut by_code = BTreeMap::new();
        for (why, n) in &self.left_out {
            *by_code.entry(why.code()).or_default() += n;
        }
        by_code
    }

    pub(crate) fn trouble(&mut self, place: &str, kind: Kind, text: impl Into<String>) {
        let (place, text) = (redacted(place), redacted(&text.into()));
        self.troubles.push(Trouble { place, kind, text, is_mended: false });
    }

    /// The same, unless it was said of this place before. Without a kind it is
    /// a note: others have to know, and nothing can be done about it from here.
    pub(crate) fn trouble_once(&mut self, place: &str, kind: Option<Kind>, text: &str) {
        let (place, text) = (redacted(place), redacted(text));
        if self.troubles.iter().any(|trouble| trouble.place == place) {
            return;
        }
        let is_mended = kind.is_none();
        let kind = kind.unwrap_or(Kind::Network);
        self.troubles.push(Trouble { place, kind, text, is_mended });
    }

    /// Keeps a finding of a file, without secrets in its address.
    pub(crate) fn finding(&mut self, url: &str, finding: rutter_finding::Finding) {
        if self.findings.len() < MOST_FINDINGS {
            let detail = redacted(&finding.detail);
            self.findings.push((redacted(url), rutter_finding::Finding { detail, ..finding }));
        }
    }

    /// The gravest trouble that nothing mended.
    pub fn worst(&self) -> Option<Kind> {
        let open = self.troubles.iter().filter(|trouble| !trouble.is_mended);
        open.map(|trouble| trouble.kind).max()
    }

    /// Whether nothing changed.
    pub fn is_quiet(&self) -> bool {
        self.added + self.changed + self.removed == 0
    }
}
