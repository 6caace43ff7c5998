//! For people: each finding with the line it speaks of, grouped by file.
//!
//! A rule is shown a few times and then counted, and its remedy is told once,
//! so that a thousand findings of one kind can still be read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use rutter_finding::shown;

use crate::Kind;
use crate::excerpt::Excerpt;
use crate::format::concise::{is_told, style, write_summary, write_verdict};
use crate::outcome::{Outcome, Told};

/// How many findings of one rule are shown.
const SHOWN_PER_RULE: u64 = 10;

/// Writes an outcome, with colours; a stream that has none strips them.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let mut n_shown: BTreeMap<&str, u64> = BTreeMap::new();
    for file in &outcome.files {
        for told in file.findings() {
            let n = n_shown.entry(told.finding.rule.code).or_default();
            if *n < SHOWN_PER_RULE {
                *n += 1;
                let is_first = *n == 1;
                write_finding(out, &told, is_first)?;
            }
        }
        if file.judgement.kind == Kind::Site {
            // What stands for many says so itself.
            for (code, n) in file.judgement.report.counts() {
                let kept = file.findings().filter(|told| told.finding.rule.code == *code).count();
                *n_shown.entry(code).or_default() += n.saturating_sub(kept as u64);
            }
        }
        if is_told(outcome, file) {
            write_verdict(out, &file.judgement)?;
        }
    }
    let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
    for file in &outcome.files {
        for (code, n) in file.judgement.report.counts() {
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
        writeln!(out, "`--format concise` shows up to 100 of each rule and file")?;
    }
    write_summary(out, outcome)
}

fn write_finding(out: &mut dyn Write, told: &Told<'_>, tells_remedy: bool) -> io::Result<()> {
    let (severity, rule) = (told.severity, told.finding.rule);
    let (style, bold) = (style(severity), Style::new().bold());
    write!(out, "{style}{}[{}]{style:#} ", severity.name(), rule.code)?;
    writeln!(out, "{bold}{}{bold:#}: {}", rule.name, shown(&told.message()))?;
    let line = told.excerpt.map(|excerpt| excerpt.line.to_string()).unwrap_or_default();
    let margin = " ".repeat(line.len().max(1));
    let bar = Style::new().bold().fg_color(Some(AnsiColor::Blue.into()));
    write!(out, "{margin}{bar}-->{bar:#} {}", told.whereabouts())?;
    let pointer = &told.finding.place.pointer;
    if !pointer.is_empty() {
        write!(out, " {}", shown(pointer))?;
    }
    writeln!(out)?;
    if let Some(Excerpt { text, mark, .. }) = told.excerpt {
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
    if tells_remedy {
        writeln!(out, "{margin} {bar}={bar:#} fix: {}", rule.fix)?;
    }
    writeln!(out)
}
