//! One line per finding, one line per file; also how other commands speak of
//! findings.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use rutter_finding::{Finding, Severity, Verdict, shown};

use crate::format::count;
use crate::outcome::{Detail, Outcome, SEVERITIES};
use crate::{Judged, Judgement, Kind};

/// Writes every finding, with colours; a stream that has none strips them.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    for file in &outcome.files {
        let path = file.judgement.path();
        let name = shown(&path);
        for told in file.findings() {
            write_finding(out, &name, told.severity, told.finding)?;
        }
        write_not_kept(out, file)?;
        if is_told(outcome, file) {
            write_verdict(out, &file.judgement)?;
        }
    }
    write_summary(out, outcome)
}

/// How many files are told of one by one although they are clean.
const FEW_FILES: usize = 20;

/// Whether a file gets a verdict of its own: where there are many, the clean
/// ones are only counted.
pub(crate) fn is_told(outcome: &Outcome, file: &Judged) -> bool {
    if outcome.detail == Detail::FindingsOnly {
        return false;
    }
    let is_clean =
        file.judgement.report.worst().is_none() && file.judgement.verdict() == Verdict::Accepted;
    !is_clean || outcome.files.len() <= FEW_FILES
}

/// Says how many findings of a file were counted only.
pub(crate) fn write_not_kept(out: &mut dyn Write, file: &Judged) -> io::Result<()> {
    // What the site as a whole says stands for many, and says so itself.
    let not_kept = file.judgement.report.not_kept();
    if 0 < not_kept && file.judgement.kind != Kind::Site {
        let path = file.judgement.path();
        let name = shown(&path);
        writeln!(out, "{name}: {not_kept} more findings of the same kinds")?;
    }
    Ok(())
}

/// Writes what came of one file: `name: accepted, 17 pages, 1 note`.
pub(crate) fn write_verdict(out: &mut dyn Write, judgement: &Judgement) -> io::Result<()> {
    let (word, colour) = match judgement.verdict() {
        Verdict::Accepted => ("accepted", AnsiColor::Green),
        Verdict::Rejected => ("rejected", AnsiColor::Red),
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    write!(out, "{}: {style}{word}{style:#}", shown(&judgement.path()))?;
    if let Some(receipt) = &judgement.receipt {
        write!(out, ", {}", count(receipt.tally.pages, "page"))?;
        if 0 < receipt.tally.skipped {
            write!(out, ", {} skipped", receipt.tally.skipped)?;
        }
        write!(out, ", checksum {}", receipt.form.map_or("absent", |_| "verified"))?;
    }
    if let Some(n_entries) = judgement.entries {
        let ending = if n_entries == 1 { "y" } else { "ies" };
        write!(out, ", {n_entries} entr{ending}")?;
    }
    for severity in SEVERITIES {
        let n = judgement.report.count(severity);
        if 0 < n {
            write!(out, ", {}", count(n, severity.name()))?;
        }
    }
    writeln!(out)
}

/// Sums up a run of several files, or one of which something is not shown.
pub(crate) fn write_summary(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    if outcome.detail == Detail::FindingsOnly {
        return Ok(());
    }
    let n_files = outcome.files.len();
    if 1 < n_files {
        let rejected = outcome.with_verdict(Verdict::Rejected);
        let files = count(n_files as u64, "file");
        let which = if rejected == 0 { String::new() } else { format!(" ({rejected} rejected)") };
        writeln!(out, "{files}{which}: {}", outcome.tally())?;
    }
    for (n, what) in [
        (outcome.ignored, "ignored by settings"),
        (outcome.known, "known by the baseline"),
        (outcome.gone, "of the baseline gone; --write-baseline forgets them"),
    ] {
        if 0 < n {
            writeln!(out, "{} {what}", count(n, "finding"))?;
        }
    }
    Ok(())
}

/// Writes one finding as `file: place: severity CODE name: what`.
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

/// The colour of a severity.
pub(crate) fn style(severity: Severity) -> Style {
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Note => AnsiColor::Cyan,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}
