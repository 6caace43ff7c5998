//! Human-readable output: each finding with the affected line, grouped by file.
//!
//! Each rule is shown up to ten times and then only counted; its fix is shown once.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use rutter_finding::shown;

use crate::FileKind;
use crate::excerpt::Excerpt;
use crate::format::concise::{is_listed, style, write_summary, write_verdict};
use crate::outcome::{FindingView, Outcome};

/// The maximum number of findings of one rule that are shown.
const SHOWN_PER_RULE: u64 = 10;

/// Writes an outcome with ANSI colours; the stream removes them if unsupported.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let mut n_shown: BTreeMap<&str, u64> = BTreeMap::new();
    for file in &outcome.files {
        for view in file.findings() {
            let n = n_shown.entry(view.finding.rule.code).or_default();
            if *n < SHOWN_PER_RULE {
                *n += 1;
                let is_first = *n == 1;
                write_finding(out, &view, is_first)?;
            }
        }
        if file.file_report.kind == FileKind::Site {
            // The findings about the site already contain the number of findings that were not
            // stored.
            for (code, n) in file.file_report.report.counts() {
                let kept = file.findings().filter(|view| view.finding.rule.code == *code).count();
                *n_shown.entry(code).or_default() += n.saturating_sub(kept as u64);
            }
        }
        if is_listed(outcome, file) {
            write_verdict(out, &file.file_report)?;
        }
    }
    let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
    for file in &outcome.files {
        for (code, n) in file.file_report.report.counts() {
            *totals.entry(code).or_default() += n;
        }
    }
    let mut is_cut = false;
    for (code, n) in totals {
        let more = n.saturating_sub(n_shown.get(code).copied().unwrap_or(0));
        if 0 < more {
            is_cut = true;
            writeln!(out, "{more} more of {code}")?;
        }
    }
    if is_cut {
        writeln!(out, "the format `concise` shows up to 100 findings per rule and file")?;
    }
    write_summary(out, outcome)
}

fn write_finding(out: &mut dyn Write, view: &FindingView<'_>, shows_fix: bool) -> io::Result<()> {
    let (severity, rule) = (view.severity, view.finding.rule);
    let (style, bold) = (style(severity), Style::new().bold());
    write!(out, "{style}{}[{}]{style:#} ", severity.name(), rule.code)?;
    writeln!(out, "{bold}{}{bold:#}: {}", rule.name, shown(&view.message()))?;
    let line = view.excerpt.map(|excerpt| excerpt.line.to_string()).unwrap_or_default();
    let margin = " ".repeat(line.len().max(1));
    let bar = Style::new().bold().fg_color(Some(AnsiColor::Blue.into()));
    write!(out, "{margin}{bar}-->{bar:#} {}", view.location())?;
    let pointer = &view.finding.place.pointer;
    if !pointer.is_empty() {
        write!(out, " {}", shown(pointer))?;
    }
    writeln!(out)?;
    if let Some(Excerpt { text, mark, .. }) = view.excerpt {
        writeln!(out, "{margin} {bar}|{bar:#}")?;
        writeln!(out, "{bar}{line} |{bar:#} {text}")?;
        match mark {
            Some(mark) => {
                let (gap, carets) = (" ".repeat(mark.start), "^".repeat(mark.len()));
                writeln!(out, "{margin} {bar}|{bar:#} {gap}{style}{carets}{style:#}")?;
            }
            None => writeln!(out, "{margin} {bar}|{bar:#}")?,
        }
    }
    if shows_fix {
        writeln!(out, "{margin} {bar}={bar:#} fix: {}", rule.fix)?;
    }
    writeln!(out)
}
