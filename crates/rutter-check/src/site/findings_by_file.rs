//! Collects findings by file.
//!
//! Every checked file has a report, and every other file gets a report with its first finding.
//! Nearly all findings are stored, because ignored and known findings are removed later. The page
//! findings of one rule are limited to save memory.

use std::collections::{BTreeMap, HashMap};

use rutter_finding::{Finding, FindingSink, Place, Rule};
use rutter_report::{FileKind, FileReport};

use super::files::{MediaKind, SiteFiles};
use crate::CheckOptions;

/// The maximum number of page findings of one rule that are stored.
const MAX_PAGE_FINDINGS: u32 = 50_000;

/// The reports about a site, by file.
pub(crate) struct FindingsByFile<'b> {
    files: &'b SiteFiles,
    check_options: &'b CheckOptions,
    reports: BTreeMap<String, FileReport>,
    pages_of_rule: HashMap<&'static str, u32>,
    /// The number of page findings that were not stored, by rule.
    pub(crate) unstored: BTreeMap<&'static str, (&'static Rule, u64)>,
}

impl<'b> FindingsByFile<'b> {
    pub(crate) fn new(files: &'b SiteFiles, check_options: &'b CheckOptions) -> Self {
        Self {
            files,
            check_options,
            reports: BTreeMap::new(),
            pages_of_rule: HashMap::new(),
            unstored: BTreeMap::new(),
        }
    }

    /// Returns the report about a file.
    pub(crate) fn report_of(&mut self, at: u32) -> &mut FileReport {
        let file = self.files.get(at);
        let kind = match file.kind {
            MediaKind::Page => FileKind::Page,
            MediaKind::Markdown => FileKind::Twin,
            MediaKind::Other => crate::signpost::kind_by_path(&file.path),
        };
        self.report_named(&file.path, kind)
    }

    /// Returns the report with this name.
    pub(crate) fn report_named(&mut self, name: &str, kind: FileKind) -> &mut FileReport {
        let check_options = self.check_options;
        self.reports
            .entry(name.to_owned())
            .or_insert_with(|| crate::blank(name, kind, check_options))
    }

    /// Adds a complete report. Earlier findings about the file are merged into the report.
    pub(crate) fn add_report(&mut self, mut file_report: FileReport) {
        if let Some(before) = self.reports.remove(&file_report.name) {
            for (_, finding) in before.report.findings() {
                file_report.report.report(finding.clone());
            }
        }
        self.reports.insert(file_report.name.clone(), file_report);
    }

    /// Adds a finding about a file.
    pub(crate) fn add(&mut self, at: u32, finding: Finding) {
        let kind = self.files.get(at).kind;
        if kind != MediaKind::Other {
            if finding.rule.severity(self.check_options.mode).is_none() {
                return;
            }
            let n_findings = self.pages_of_rule.entry(finding.rule.code).or_default();
            *n_findings += 1;
            if MAX_PAGE_FINDINGS < *n_findings {
                self.unstored.entry(finding.rule.code).or_insert((finding.rule, 0)).1 += 1;
                return;
            }
        }
        self.report_of(at).report.report(finding);
    }

    /// Adds a finding about the whole site.
    pub(crate) fn add_about_site(&mut self, rule: &'static Rule, detail: impl Into<String>) {
        let finding = Finding::new(rule, Place::WHOLE, detail);
        self.report_named(FileReport::SITE, FileKind::Site).report.report(finding);
    }

    /// Returns all reports sorted by name. The number of findings that were not stored is reported
    /// for the site.
    pub(crate) fn into_reports(mut self) -> Vec<FileReport> {
        for (rule, n_more) in std::mem::take(&mut self.unstored).into_values() {
            let detail = format!("{n_more} more findings, not stored");
            let finding = Finding::new(rule, Place::WHOLE, detail);
            self.report_named(FileReport::SITE, FileKind::Site).report.report_many(finding, n_more);
        }
        self.reports.into_values().collect()
    }
}
