//! HTML report: findings by file, the file with the most severe findings first.

use std::io::{self, Write};

use rutter_finding::Verdict;

use crate::FileKind;
use crate::format::count;
use crate::format::escape::{codes, html};
use crate::format::html::FileLabels;
use crate::outcome::{CheckedFile, Outcome, SEVERITIES};

/// The maximum number of listed files.
const MOST_FILES: usize = 300;
/// The maximum number of listed findings per file.
const MOST_FINDINGS: usize = 25;

pub(super) fn write(
    out: &mut dyn Write,
    outcome: &Outcome,
    labels: &FileLabels<'_>,
) -> io::Result<()> {
    let (mut found, clean): (Vec<&CheckedFile>, Vec<&CheckedFile>) =
        outcome.files.iter().partition(|file| file.file_report.report.worst().is_some());
    found.sort_by_key(|file| {
        let report = &file.file_report.report;
        std::cmp::Reverse(SEVERITIES.map(|severity| report.count(severity)))
    });
    writeln!(out, "<section id=\"pages\">\n<h2>Findings by page</h2>")?;
    for file in found.iter().take(MOST_FILES) {
        write_file(out, file, labels)?;
    }
    if MOST_FILES < found.len() {
        let more = count((found.len() - MOST_FILES) as u64, "more file");
        writeln!(out, "<p class=\"aside\">{more} with findings not shown.</p>")?;
    }
    if !clean.is_empty() {
        let files = count(clean.len() as u64, "file");
        writeln!(
            out,
            "<details class=\"file clean\">\n<summary><span class=\"badge\">clean</span>"
        )?;
        writeln!(out, "<span class=\"title\">{files} without findings</span></summary>\n<ul>")?;
        for file in clean.iter().take(MOST_FILES) {
            writeln!(out, "<li><code>{}</code></li>", html(&labels.of(&file.file_report)))?;
        }
        writeln!(out, "</ul>")?;
        if MOST_FILES < clean.len() {
            let more = count((clean.len() - MOST_FILES) as u64, "more file");
            writeln!(out, "<p class=\"aside\">{more} not shown.</p>")?;
        }
        writeln!(out, "</details>")?;
    }
    writeln!(out, "</section>")
}

fn write_file(out: &mut dyn Write, file: &CheckedFile, labels: &FileLabels<'_>) -> io::Result<()> {
    let file_report = &file.file_report;
    let tone = file_report.report.worst().map_or("clean", rutter_finding::Severity::name);
    let verdict = match file_report.verdict() {
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    };
    let counts: Vec<String> = SEVERITIES
        .into_iter()
        .map(|severity| (file_report.report.count(severity), severity.name()))
        .filter(|(n, _)| 0 < *n)
        .map(|(n, name)| count(n, name))
        .collect();
    writeln!(
        out,
        "<details class=\"file {tone}\">\n<summary><span class=\"badge\">{verdict}</span>\
         <span class=\"title\"><code>{}</code></span><span class=\"code\">{}</span>\
         <span class=\"times\">{}</span></summary>\n<ul class=\"lines\">",
        html(&labels.of(file_report)),
        file_report.kind.name(),
        counts.join(", "),
    )?;
    let mut n_shown = 0;
    for view in file.findings().take(MOST_FINDINGS) {
        n_shown += 1;
        let rule = view.finding.rule;
        let line = view.line().map(|line| format!("line {line}: ")).unwrap_or_default();
        writeln!(
            out,
            "<li class=\"{}\"><a href=\"#{code}\">{code}</a> {line}{}</li>",
            view.severity.name(),
            codes(&html(&view.message())),
            code = rule.code,
        )?;
    }
    writeln!(out, "</ul>")?;
    let total: u64 =
        SEVERITIES.into_iter().map(|severity| file_report.report.count(severity)).sum();
    let more = total.saturating_sub(n_shown);
    if 0 < more && file_report.kind != FileKind::Site {
        writeln!(out, "<p class=\"aside\">{} not shown.</p>", count(more, "more finding"))?;
    }
    writeln!(out, "</details>")
}
