//! Where findings are written down, by the file they are about.
//!
//! A judgement is opened for every file that is judged, and for every other
//! file with its first finding. Everything is kept, because what settings
//! ignore and a baseline knows is taken out later; only a site without end is
//! cut, so that it cannot fill memory with complaints.

use std::collections::{BTreeMap, HashMap};

use rutter_finding::{Finding, FindingSink, Place, Rule};

use super::files::{FileKind, Files};
use crate::{Judgement, Judging, Kind};

/// Most findings of one rule about pages that are kept.
const MOST_OF_PAGES: u32 = 50_000;

/// The book of a site.
pub(crate) struct Book<'b> {
    files: &'b Files,
    judging: &'b Judging,
    open: BTreeMap<String, Judgement>,
    pages_of_rule: HashMap<&'static str, u32>,
    /// Findings about pages that were counted only.
    pub(crate) untold: BTreeMap<&'static str, (&'static Rule, u64)>,
}

/// The name of the site as a whole.
pub(crate) const SITE: &str = ".";

impl<'b> Book<'b> {
    pub(crate) fn new(files: &'b Files, judging: &'b Judging) -> Self {
        Self {
            files,
            judging,
            open: BTreeMap::new(),
            pages_of_rule: HashMap::new(),
            untold: BTreeMap::new(),
        }
    }

    /// The judgement of a file.
    pub(crate) fn file(&mut self, at: u32) -> &mut Judgement {
        let file = self.files.get(at);
        let kind = match file.kind {
            FileKind::Page => Kind::Page,
            FileKind::Markdown => Kind::Twin,
            FileKind::Other => crate::signpost::kind_by_path(&file.path),
        };
        self.named(&file.path, kind)
    }

    /// The judgement of whatever has this name.
    pub(crate) fn named(&mut self, name: &str, kind: Kind) -> &mut Judgement {
        let judging = self.judging;
        self.open.entry(name.to_owned()).or_insert_with(|| crate::blank(name, kind, judging))
    }

    /// Puts a judgement of its own in; what was said before is said in it.
    pub(crate) fn enter(&mut self, mut judgement: Judgement) {
        if let Some(before) = self.open.remove(&judgement.name) {
            for (_, finding) in before.report.findings() {
                judgement.report.report(finding.clone());
            }
        }
        self.open.insert(judgement.name.clone(), judgement);
    }

    /// Writes a finding about a file down.
    pub(crate) fn say(&mut self, at: u32, finding: Finding) {
        let kind = self.files.get(at).kind;
        if kind != FileKind::Other {
            if finding.rule.severity(self.judging.mode).is_none() {
                return;
            }
            let n_told = self.pages_of_rule.entry(finding.rule.code).or_default();
            *n_told += 1;
            if MOST_OF_PAGES < *n_told {
                self.untold.entry(finding.rule.code).or_insert((finding.rule, 0)).1 += 1;
                return;
            }
        }
        self.file(at).report.report(finding);
    }

    /// Writes a finding about the whole site down.
    pub(crate) fn site(&mut self, rule: &'static Rule, detail: impl Into<String>) {
        let finding = Finding::new(rule, Place::WHOLE, detail);
        self.named(SITE, Kind::Site).report.report(finding);
    }

    /// Everything, in the order of names; what was only counted is told last
    /// of the site.
    pub(crate) fn close(mut self) -> Vec<Judgement> {
        for (rule, n_more) in std::mem::take(&mut self.untold).into_values() {
            let detail = format!("{n_more} more findings, not kept");
            let finding = Finding::new(rule, Place::WHOLE, detail);
            self.named(SITE, Kind::Site).report.report_many(finding, n_more);
        }
        self.open.into_values().collect()
    }
}
