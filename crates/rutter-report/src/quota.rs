//! Limits the number of pages that are listed for each rule.
//!
//! Input and output: the reports of a run. The number of pages that are not listed is reported for
//! the site. Limit the pages after ignored and known findings were removed, so that removed
//! findings do not count.

use std::collections::{BTreeMap, HashMap};

use rutter_finding::{Finding, Place, Rule, Severity};

use crate::{FileKind, FileReport};

/// Returns the maximum number of listed pages for one rule.
fn most_pages(severity: Severity) -> u32 {
    match severity {
        Severity::Note => 5,
        Severity::Warning => 100,
        Severity::Error => 1000,
    }
}

/// Limits the page findings of each rule in each folder or site, and removes the reports of pages
/// without findings.
pub fn shorten(file_reports: &mut Vec<FileReport>) {
    let mut n_listed: HashMap<(String, &'static str), u32> = HashMap::new();
    let mut unlisted: BTreeMap<(String, &'static str), (&'static Rule, u64)> = BTreeMap::new();
    file_reports.retain_mut(|file_report| {
        if !matches!(file_report.kind, FileKind::Page | FileKind::Twin) {
            return true;
        }
        let root = file_report.root.clone();
        file_report.report.retain(|severity, finding| {
            let key = (root.clone(), finding.rule.code);
            let n = n_listed.entry(key.clone()).or_default();
            *n += 1;
            let is_listed = *n <= most_pages(severity);
            if !is_listed {
                unlisted.entry(key).or_insert((finding.rule, 0)).1 += 1;
            }
            is_listed
        });
        file_report.report.worst().is_some()
    });
    for ((root, _), (rule, n)) in unlisted {
        let of_site =
            file_reports.iter().position(|it| it.name == FileReport::SITE && it.root == root);
        let at = of_site.unwrap_or_else(|| {
            // The report of the site precedes the reports of its files.
            let first = file_reports.iter().position(|it| it.root == root);
            let at = first.unwrap_or(file_reports.len());
            let mode = file_reports.get(at).map(|it| it.report.mode()).unwrap_or_default();
            let mut site = FileReport::clean(&root, FileReport::SITE, FileKind::Site);
            site.report = rutter_finding::Report::new(mode);
            file_reports.insert(at, site);
            at
        });
        if let Some(site) = file_reports.get_mut(at) {
            let pages = if n == 1 { "page" } else { "pages" };
            let detail = format!("{n} more {pages}, not listed here");
            site.report.report_many(Finding::new(rule, Place::WHOLE, detail), n);
        }
    }
}

#[cfg(test)]
mod tests {
    use rutter_extract::rules::NO_DESCRIPTION;
    use rutter_finding::FindingSink as _;

    use super::*;

    fn page(root: &str, name: &str) -> FileReport {
        let mut page = FileReport::clean(root, name, FileKind::Page);
        page.report.report(Finding::new(&NO_DESCRIPTION, Place::WHOLE, ""));
        page
    }

    #[test]
    fn lists_some_pages_and_counts_the_others() {
        let pages = |root: &str| (0..9).map(|n| page(root, &format!("{n}.html"))).collect();
        let mut file_reports: Vec<FileReport> = pages("public");
        file_reports.extend::<Vec<_>>(pages("staging"));
        shorten(&mut file_reports);
        let of = |root: &str| file_reports.iter().filter(|it| it.root == root).collect::<Vec<_>>();
        for root in ["public", "staging"] {
            let names: Vec<&str> = of(root).iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, [".", "0.html", "1.html", "2.html", "3.html", "4.html"]);
            let site = of(root).first().unwrap().report.findings().next().unwrap().1;
            assert_eq!(site.detail, "4 more pages, not listed here");
            assert_eq!(of(root).iter().map(|it| it.report.count(Severity::Note)).sum::<u64>(), 9);
        }
    }

    #[test]
    fn removed_findings_do_not_count() {
        let mut file_reports: Vec<FileReport> =
            (0..9).map(|n| page("public", &format!("{n}.html"))).collect();
        for file_report in file_reports.iter_mut().take(5) {
            file_report.report.retain(|_, _| false);
        }
        shorten(&mut file_reports);
        let names: Vec<&str> = file_reports.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["5.html", "6.html", "7.html", "8.html"]);
    }
}
