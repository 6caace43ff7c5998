//! Findings by file or page, the worst first.

use std::io::{self, Write};

use rutter_finding::Verdict;

use crate::Kind;
use crate::format::count;
use crate::format::escape::{codes, html};
use crate::format::html::Labels;
use crate::outcome::{Judged, Outcome, SEVERITIES};

/// How many files are shown.
const MOST_FILES: usize = 300;
/// How many findings of one file are shown.
const MOST_FINDINGS: usize = 25;

pub(super) fn write(out: &mut dyn Write, outcome: &Outcome, labels: &Labels<'_>) -> io::Result<()> {
    let (mut found, clean): (Vec<&Judged>, Vec<&Judged>) =
        outcome.files.iter().partition(|file| file.judgement.report.worst().is_some());
    found.sort_by_key(|file| {
        let report = &file.judgement.report;
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
            writeln!(out, "<li><code>{}</code></li>", html(&labels.of(&file.judgement)))?;
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

fn write_file(out: &mut dyn Write, file: &Judged, labels: &Labels<'_>) -> io::Result<()> {
    let judgement = &file.judgement;
    let tone = judgement.report.worst().map_or("clean", rutter_finding::Severity::name);
    let verdict = match judgement.verdict() {
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    };
    let counts: Vec<String> = SEVERITIES
        .into_iter()
        .map(|severity| (judgement.report.count(severity), severity.name()))
        .filter(|(n, _)| 0 < *n)
        .map(|(n, name)| count(n, name))
        .collect();
    writeln!(
        out,
        "<details class=\"file {tone}\">\n<summary><span class=\"badge\">{verdict}</span>\
         <span class=\"title\"><code>{}</code></span><span class=\"code\">{}</span>\
         <span class=\"times\">{}</span></summary>\n<ul class=\"lines\">",
        html(&labels.of(judgement)),
        judgement.kind.name(),
        counts.join(", "),
    )?;
    let mut n_shown = 0;
    for told in file.findings().take(MOST_FINDINGS) {
        n_shown += 1;
        let rule = told.finding.rule;
        let line = told.line().map(|line| format!("line {line}: ")).unwrap_or_default();
        writeln!(
            out,
            "<li class=\"{}\"><a href=\"#{code}\">{code}</a> {line}{}</li>",
            told.severity.name(),
            codes(&html(&told.message())),
            code = rule.code,
        )?;
    }
    writeln!(out, "</ul>")?;
    let total: u64 = SEVERITIES.into_iter().map(|severity| judgement.report.count(severity)).sum();
    let more = total.saturating_sub(n_shown);
    if 0 < more && judgement.kind != Kind::Site {
        writeln!(out, "<p class=\"aside\">{} not shown.</p>", count(more, "more finding"))?;
    }
    writeln!(out, "</details>")
}
