//! Concise output: one line per finding and one line per file. Other commands use the same format
//! for a line with a finding.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use rutter_extract::PageCoverage;
use rutter_finding::{Finding, Severity, Verdict, shown};

use crate::format::count;
use crate::outcome::{DetailLevel, Outcome, SEVERITIES};
use crate::{CheckedFile, FileKind, FileReport};

/// Writes every finding with ANSI colours; the stream removes them if unsupported.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    for file in &outcome.files {
        let path = file.file_report.path();
        let name = shown(&path);
        for view in file.findings() {
            write_finding(out, &name, view.severity, view.finding)?;
        }
        write_not_kept(out, file)?;
        if is_listed(outcome, file) {
            write_verdict(out, &file.file_report)?;
        }
    }
    write_summary(out, outcome)
}

/// The maximum number of clean files that are listed individually.
const FEW_FILES: usize = 20;

/// Returns whether a file is listed with its verdict. If there are many clean files, they are only
/// counted.
pub(crate) fn is_listed(outcome: &Outcome, file: &CheckedFile) -> bool {
    if outcome.detail == DetailLevel::FindingsOnly {
        return false;
    }
    let is_clean = file.file_report.report.worst().is_none()
        && file.file_report.verdict() == Verdict::Accepted;
    !is_clean || outcome.files.len() <= FEW_FILES
}

/// Writes the number of findings of a file that were not stored.
pub(crate) fn write_not_kept(out: &mut dyn Write, file: &CheckedFile) -> io::Result<()> {
    // The findings about the site already contain the number of findings that were not stored.
    let not_kept = file.file_report.report.not_kept();
    if 0 < not_kept && file.file_report.kind != FileKind::Site {
        let path = file.file_report.path();
        let name = shown(&path);
        writeln!(out, "{name}: {not_kept} more findings of the same kinds")?;
    }
    Ok(())
}

/// Writes the verdict of one file: `name: accepted, 17 pages, 1 note`.
pub(crate) fn write_verdict(out: &mut dyn Write, file_report: &FileReport) -> io::Result<()> {
    let (word, colour) = match file_report.verdict() {
        Verdict::Accepted => ("accepted", AnsiColor::Green),
        Verdict::Rejected => ("rejected", AnsiColor::Red),
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    write!(out, "{}: {style}{word}{style:#}", shown(&file_report.path()))?;
    if let Some(receipt) = &file_report.receipt {
        write!(out, ", {}", count(receipt.tally.pages, "page"))?;
        if 0 < receipt.tally.skipped {
            write!(out, ", {} skipped", receipt.tally.skipped)?;
        }
        write!(out, ", checksum {}", receipt.form.map_or("absent", |_| "verified"))?;
    }
    if let Some(n_entries) = file_report.entries {
        let ending = if n_entries == 1 { "y" } else { "ies" };
        write!(out, ", {n_entries} entr{ending}")?;
    }
    for severity in SEVERITIES {
        let n = file_report.report.count(severity);
        if 0 < n {
            write!(out, ", {}", count(n, severity.name()))?;
        }
    }
    writeln!(out)
}

/// Writes the summary of a run that has several files or findings that are not shown.
pub(crate) fn write_summary(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    if outcome.detail == DetailLevel::FindingsOnly {
        return Ok(());
    }
    let n_files = outcome.files.len();
    if 1 < n_files {
        let rejected = outcome.with_verdict(Verdict::Rejected);
        let files = count(n_files as u64, "file");
        let which = if rejected == 0 { String::new() } else { format!(" ({rejected} rejected)") };
        writeln!(out, "{files}{which}: {}", outcome.tally())?;
    }
    write_coverage(out, outcome)?;
    for (n, what) in [
        (outcome.ignored, "ignored by settings"),
        (outcome.known, "in the baseline"),
        (outcome.gone, "in the baseline but fixed; write the baseline again to remove them"),
    ] {
        if 0 < n {
            writeln!(out, "{} {what}", count(n, "finding"))?;
        }
    }
    Ok(())
}

/// Writes the extracted share of the main text, and the pages with the lowest share.
fn write_coverage(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let tally = &outcome.overview.coverage;
    let Some(mean) = tally.mean() else { return Ok(()) };
    let pages = count(tally.pages(), "page");
    writeln!(out, "coverage of main text: {mean:.3}, mean of {pages}")?;
    for PageCoverage { page, coverage } in tally.worst() {
        write!(out, "  {:.3} {}", coverage.share(), shown(page))?;
        match &coverage.largest {
            Some(largest) => writeln!(out, ": dropped {}", shown(&largest.to_string()))?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// Writes one finding as `file: place: severity CODE name: message`.
pub fn write_finding(
    out: &mut dyn Write,
    name: &str,
    severity: Severity,
    finding: &Finding,
) -> io::Result<()> {
    let style = style(severity);
    let Finding { rule, place, detail } = finding;
    let place = place.to_string();
    let place = shown(&place);
    let gap = if place.is_empty() { "" } else { ": " };
    write!(out, "{name}: {place}{gap}{style}{}{style:#} ", severity.name())?;
    write!(out, "{} {}: {}", rule.code, rule.name, rule.title)?;
    if !detail.is_empty() {
        write!(out, ": {}", shown(detail))?;
    }
    writeln!(out)
}

/// Returns the colour of a severity.
pub(crate) fn style(severity: Severity) -> Style {
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Note => AnsiColor::Cyan,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}
