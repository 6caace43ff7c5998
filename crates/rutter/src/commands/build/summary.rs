//! Formats the result of a build as text and as JSON.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rutter_build::{BuildSummary, CollectionSize, TwinPolicy};
use rutter_extract::{CoverageTally, PageCoverage};
use serde_json::{Value, json};

use crate::commands::{counted, format_bytes};

/// Returns the summary as text: rows of a label and a sentence, then the collections by section.
pub(super) fn table(outcome: &BuildSummary, folder: Option<&Path>, time: Duration) -> String {
    let mut rows = vec![vec![
        "pages".to_owned(),
        format!(
            "{} published ({} new, {} changed, {} removed since the last build)",
            outcome.pages, outcome.new, outcome.changed, outcome.removed
        ),
    ]];
    let mut row = |name: &str, text: String| rows.push(vec![name.to_owned(), text]);
    if 0 < outcome.read_differently {
        let pages = counted(outcome.read_differently, "changed page");
        row("", format!("{pages} with an unchanged source: extracted differently than before"));
    }
    if 0 < outcome.judged {
        let pages = counted(outcome.judged, "page");
        row("", format!("{pages} checked again for visibility, content and dates unchanged"));
    }
    let n_excluded: u64 = outcome.excluded.iter().map(|excluded| excluded.pages).sum();
    if 0 < n_excluded {
        let reasons = outcome.excluded.iter().filter(|excluded| 0 < excluded.pages);
        let reasons: Vec<String> =
            reasons.map(|excluded| format!("{} {}", excluded.pages, excluded.reason)).collect();
        row("excluded", format!("{} ({})", counted(n_excluded, "page"), reasons.join(", ")));
    }
    if !outcome.password_pages.is_empty() {
        let names = outcome.password_pages.iter().map(|name| rutter_finding::visible(name));
        let names = names.collect::<Vec<_>>().join(", ");
        row(
            "",
            format!("password form as main content: {names}; `approved` in [arc] publishes them"),
        );
    }
    if let Some(folder) = folder.filter(|_| 0 < outcome.closed) {
        let pages = counted(outcome.closed, "page");
        let names: Vec<String> =
            outcome.closed_pages.iter().map(|name| rutter_finding::visible(name)).collect();
        let is_all = names.len() as u64 == outcome.closed;
        let more = if is_all { "" } else { ", …" };
        row("login", format!("{pages} for users with a login only: {}{more}", names.join(", ")));
        row(
            "",
            format!(
                "{} contains their HTML: serve it only with a server that checks tokens",
                folder.display()
            ),
        );
    }
    if 0 < outcome.failed {
        row("failed", format!("{} could not be read", counted(outcome.failed, "file")));
    }
    if 0 < outcome.unreadable {
        let places = outcome.unreadable;
        row(
            "unreadable",
            format!("{places} folders or files; their previously published files were kept"),
        );
    }
    for (name, text) in coverage_rows(&outcome.coverage) {
        row(name, text);
    }
    row("input", format!("{} of source files", format_bytes(outcome.source_bytes)));
    let files = if outcome.is_unchanged() {
        "all files are up to date".to_owned()
    } else {
        format!("{} written, {} deleted", counted(outcome.written, "file"), outcome.deleted)
    };
    row("output", files);
    if outcome.is_without_twins {
        let most = TwinPolicy::MOST;
        row("twins", format!("not written for more than {most} pages; use --twins on"));
    }
    row("time", format!("{:.2} s", time.as_secs_f64()));
    let mut text = aligned(&rows);
    if !outcome.sections.is_empty() {
        text.push('\n');
        text.push_str(&section_table(outcome));
    }
    text
}

/// Formats the sections as a table.
fn section_table(outcome: &BuildSummary) -> String {
    let head = ["section", "pages", "new snapshot", "new delta"].map(str::to_owned);
    let sections = outcome.sections.iter().map(|section| {
        let delta = section.delta.map(|made| {
            let removed = match section.removed {
                0 => String::new(),
                n => format!(", {n} removed"),
            };
            format!("{} ({}{removed})", format_bytes(made.bytes), counted(made.pages, "page"))
        });
        let snapshot = section.snapshot.map(|made| format_bytes(made.bytes));
        let none = || "none".to_owned();
        vec![
            rutter_finding::visible(&section.name),
            section.pages.to_string(),
            snapshot.unwrap_or_else(none),
            delta.unwrap_or_else(none),
        ]
    });
    let rows: Vec<Vec<String>> = [head.to_vec()].into_iter().chain(sections).collect();
    aligned(&rows)
}

/// Returns the rows about content coverage: the mean, and the pages with the lowest coverage.
fn coverage_rows(tally: &CoverageTally) -> Vec<(&'static str, String)> {
    let Some(mean) = tally.mean() else { return Vec::new() };
    let pages = counted(tally.pages(), "page");
    let percent = 100.0 * mean;
    let mut rows =
        vec![("coverage", format!("{percent:.1} % of the main text extracted (mean of {pages})"))];
    for PageCoverage { page, coverage } in tally.worst() {
        let largest = coverage.largest.as_ref().map(ToString::to_string).unwrap_or_default();
        let (page, largest) = (rutter_finding::visible(page), rutter_finding::visible(&largest));
        let percent = 100.0 * coverage.share();
        rows.push(("", format!("{percent:.1} % of {page}, without {largest}")));
    }
    rows
}

/// Formats rows as aligned columns.
fn aligned(rows: &[Vec<String>]) -> String {
    let mut widths = Vec::new();
    for row in rows {
        for (idx, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(idx) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Returns the summary as JSON. `version` changes with each incompatible change.
pub(super) fn document(outcome: &BuildSummary, time: Duration) -> Value {
    let made = |made: CollectionSize| json!({ "pages": made.pages, "bytes": made.bytes });
    let excluded: Vec<Value> = outcome
        .excluded
        .iter()
        .map(|excluded| json!({ "reason": excluded.reason, "pages": excluded.pages }))
        .collect();
    let sections: Vec<Value> = outcome
        .sections
        .iter()
        .map(|section| {
            json!({
                "name": section.name,
                "pages": section.pages,
                "snapshot": section.snapshot.map(made),
                "delta": section.delta.map(made),
                "removed": section.removed,
            })
        })
        .collect();
    let findings: BTreeMap<&str, u64> = outcome.findings.iter().copied().collect();
    json!({
        "version": 1,
        "pages": outcome.pages,
        "new": outcome.new,
        "changed": outcome.changed,
        "removed": outcome.removed,
        "read_differently": outcome.read_differently,
        "read": outcome.read,
        "judged": outcome.judged,
        "excluded": excluded,
        "closed": outcome.closed,
        "failed": outcome.failed,
        "unreadable": outcome.unreadable,
        "source_bytes": outcome.source_bytes,
        "sections": sections,
        "learned": outcome.learned,
        "written": outcome.written,
        "deleted": outcome.deleted,
        "is_without_twins": outcome.is_without_twins,
        "coverage": rutter_report::format::json::coverage(&outcome.coverage),
        "findings": findings,
        "seconds": time.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use rutter_build::{ExclusionCount, SectionSummary};

    use super::*;

    fn outcome() -> BuildSummary {
        BuildSummary {
            pages: 15,
            new: 1,
            changed: 2,
            removed: 1,
            excluded: vec![
                ExclusionCount { reason: "noindex", pages: 2 },
                ExclusionCount { reason: "needs a login", pages: 1 },
            ],
            source_bytes: 51_333,
            sections: vec![SectionSummary {
                name: "docs".to_owned(),
                pages: 9,
                snapshot: None,
                delta: Some(CollectionSize { pages: 2, bytes: 2_468 }),
                removed: 1,
            }],
            written: 7,
            findings: vec![("HT002", 4)],
            ..BuildSummary::default()
        }
    }

    #[test]
    fn summary_has_pages_files_and_collections() {
        let wanted = "\
pages     15 published (1 new, 2 changed, 1 removed since the last build)
excluded  3 pages (2 noindex, 1 needs a login)
input     50.13 KiB of source files
output    7 files written, 0 deleted
time      0.25 s

section  pages  new snapshot  new delta
docs     9      none          2.41 KiB (2 pages, 1 removed)
";
        assert_eq!(table(&outcome(), None, Duration::from_millis(250)), wanted);
    }

    #[test]
    fn summary_reports_that_site_is_too_large_for_twins() {
        let outcome = BuildSummary { is_without_twins: true, ..outcome() };
        let text = table(&outcome, None, Duration::from_millis(250));
        let row = "twins     not written for more than 100000 pages; use --twins on\n";
        assert!(text.contains(row), "{text}");
        assert_eq!(document(&outcome, Duration::ZERO)["is_without_twins"], true);
    }

    #[test]
    fn summary_warns_about_folder_with_pages_that_need_a_login() {
        let names = ["a.html", "b.html", "c.html"].map(str::to_owned).to_vec();
        let outcome = BuildSummary { closed: 4, closed_pages: names, ..outcome() };
        let text = table(&outcome, Some(Path::new("public")), Duration::ZERO);
        let rows = "\
login     4 pages for users with a login only: a.html, b.html, c.html, …
          public contains their HTML: serve it only with a server that checks tokens
";
        assert!(text.contains(rows), "{text}");
        // The site's folder contained the HTML of the closed pages before the build.
        assert!(!table(&outcome, None, Duration::ZERO).contains("tokens"));
        assert_eq!(document(&outcome, Duration::ZERO)["closed"], 4);
    }

    #[test]
    fn json_has_the_facts_of_the_summary() {
        let document = document(&outcome(), Duration::from_millis(250));
        assert_eq!(document["version"], 1);
        assert_eq!(document["excluded"][0], json!({ "reason": "noindex", "pages": 2 }));
        assert_eq!(document["sections"][0]["delta"]["bytes"], 2_468);
        assert_eq!(document["sections"][0]["snapshot"], Value::Null);
        assert_eq!(document["findings"]["HT002"], 4);
    }
}
