//! Where findings are written down, by the file they are about.
//!
//! A judgement is opened for every file that is judged, and for every other
//! file with its first finding. Of each rule so many findings are kept for all
//! pages together, so that a large site with one fault stays readable.

use std::collections::{BTreeMap, HashMap};

use rutter_finding::{Finding, FindingSink, Place, Rule, Severity};

use super::files::{FileKind, Files};
use crate::{Judgement, Judging, Kind};

/// Most pages that are named for one rule: what hardly matters is soon said.
fn most_pages(severity: Severity) -> u32 {
    match severity {
        Severity::Note => 5,
        Severity::Warning => 100,
        Severity::Error => 1000,
    }
}

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
            let Some(severity) = finding.rule.severity(self.judging.mode) else { return };
            let n_told = self.pages_of_rule.entry(finding.rule.code).or_default();
            *n_told += 1;
            if most_pages(severity) < *n_told {
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
            self.site(rule, format!("{n_more} more pages, not named here"));
        }
        self.open.into_values().collect()
    }
}
