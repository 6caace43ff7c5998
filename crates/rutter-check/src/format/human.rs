//! For people: one line per finding, one line per file.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use rutter_finding::{Finding, Severity, Verdict};

use crate::Judgement;

/// Writes a judgement, with colours; a stream that has none strips them.
pub fn write(out: &mut dyn Write, judgement: &Judgement) -> io::Result<()> {
    for (severity, finding) in judgement.report.findings() {
        write_finding(out, &judgement.name, severity, finding)?;
    }
    let not_kept = judgement.report.not_kept();
    if 0 < not_kept {
        writeln!(out, "{}: {not_kept} more findings of the same kinds", judgement.name)?;
    }
    let (word, colour) = match judgement.verdict() {
        Verdict::Accepted => ("accepted", AnsiColor::Green),
        Verdict::Rejected => ("rejected", AnsiColor::Red),
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    write!(out, "{}: {style}{word}{style:#}", judgement.name)?;
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
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let n = judgement.report.count(severity);
        if 0 < n {
            write!(out, ", {}", count(n, severity.name()))?;
        }
    }
    writeln!(out)
}

/// Writes one finding as `file: place: severity CODE name: what`.
pub fn write_finding(
    out: &mut dyn Write,
    name: &str,
    severity: Severity,
    finding: &Finding,
) -> io::Result<()> {
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Note => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let Finding { rule, place, detail } = finding;
    let place = place.to_string();
    let gap = if place.is_empty() { "" } else { ": " };
    write!(out, "{name}: {place}{gap}{style}{}{style:#} ", severity.name())?;
    write!(out, "{} {}: {}", rule.code, rule.name, rule.title)?;
    if !detail.is_empty() {
        write!(out, ": {detail}")?;
    }
    writeln!(out)
}

/// Says how many there are, in the singular where it is one.
pub fn count(n: u64, what: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{n} {what}{ending}")
}
