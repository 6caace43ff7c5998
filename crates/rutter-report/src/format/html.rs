//! HTML report in one file, which uses no scripts and no network.
//!
//! The content security policy of the report forbids scripts and requests, and all text from
//! checked files is escaped. Long lists are truncated with a note.

mod chart;
mod files;
mod rules;

use std::borrow::Cow;
use std::io::{self, Write};

use rutter_finding::{Severity, Strictness, Verdict};

use crate::FileReport;
use crate::format::count;
use crate::format::escape::html;
use crate::layer::{self, LayerScore, scores_of};
use crate::outcome::{Outcome, SEVERITIES};

const STYLE: &str = include_str!("html/style.css");

/// Writes an outcome as an HTML page.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let subject = match outcome.overview.subject.as_str() {
        "" => count(outcome.files.len() as u64, "file"),
        subject => subject.to_owned(),
    };
    let subject = html(&subject);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>rutter check: {subject}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )?;
    write_head(out, outcome, &subject)?;
    write_contents(out, outcome)?;
    writeln!(out, "<main>")?;
    write_scores(out, &scores_of(outcome))?;
    let labels = FileLabels { root: outcome.root() };
    rules::write(out, outcome, &labels)?;
    files::write(out, outcome, &labels)?;
    chart::write(out, &outcome.overview, &labels)?;
    writeln!(out, "</main>")?;
    write_foot(out, outcome)?;
    writeln!(out, "</body>\n</html>")
}

/// Labels of files in the report, without the common folder or site.
struct FileLabels<'o> {
    root: Option<&'o str>,
}

impl FileLabels<'_> {
    fn of<'j>(&self, file_report: &'j FileReport) -> Cow<'j, str> {
        let is_below = self.root.is_some() && file_report.name != FileReport::SITE;
        if is_below { Cow::Borrowed(&file_report.name) } else { file_report.path() }
    }

    /// Returns the label of the file with this path.
    fn of_path<'p>(&self, path: &'p str) -> &'p str {
        let below = |root| path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        self.root.and_then(below).unwrap_or(path)
    }
}

fn write_head(out: &mut dyn Write, outcome: &Outcome, subject: &str) -> io::Result<()> {
    let verdict = match (outcome.worst(), outcome.fails()) {
        (None, _) => ("clean", "No findings"),
        (_, true) => ("fails", "Fails"),
        (_, false) => ("passes", "Passes"),
    };
    writeln!(out, "<header>\n<p class=\"kicker\">rutter check</p>\n<h1>{subject}</h1>")?;
    writeln!(out, "<p class=\"verdict {}\">{}</p>", verdict.0, verdict.1)?;
    writeln!(out, "<dl class=\"facts\">")?;
    for severity in SEVERITIES {
        let n = outcome.count(severity);
        let (name, tone) = (severity.name(), if n == 0 { "none" } else { severity.name() });
        let ending = if n == 1 { "" } else { "s" };
        writeln!(
            out,
            "<div class=\"{tone}\"><dt>{name}{ending}</dt><dd>{}</dd></div>",
            group_digits(n)
        )?;
    }
    // Pages without findings have no report, so take the number from the overview.
    let n_files = outcome.overview.files.max(outcome.files.len() as u64);
    let n_pages = outcome.overview.pages;
    for (n, what) in [(n_files, "file"), (n_pages, "page")] {
        let ending = if n == 1 { "" } else { "s" };
        if 0 < n {
            writeln!(
                out,
                "<div><dt>{what}{ending} checked</dt><dd>{}</dd></div>",
                group_digits(n)
            )?;
        }
    }
    let rejected = outcome.with_verdict(Verdict::Rejected) as u64;
    writeln!(out, "<div><dt>rejected</dt><dd>{}</dd></div>", group_digits(rejected))?;
    writeln!(out, "</dl>")?;
    let mode = match outcome.mode {
        Strictness::Lenient => "with the severities for readers",
        Strictness::Strict => "with the severities for publishers",
    };
    write!(out, "<p class=\"aside\">Checked {mode}")?;
    if let Some(now) = outcome.overview.now {
        write!(out, " at <time datetime=\"{now}\">{now}</time>")?;
    }
    let fails_on = match outcome.fail_on {
        Severity::Error => "errors",
        Severity::Warning => "warnings and errors",
        Severity::Note => "all findings",
    };
    writeln!(out, "; fails on {fails_on}.</p>\n</header>")
}

/// Writes the table of contents.
fn write_contents(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let overview = &outcome.overview;
    writeln!(out, "<nav aria-label=\"Contents\">")?;
    for (is_there, id, name) in [
        (!outcome.files.is_empty(), "layers", "Layers"),
        (outcome.worst().is_some(), "rules", "Rules"),
        (true, "pages", "Pages"),
        (!overview.sizes.is_empty(), "sizes", "Sizes"),
        (overview.now.is_some() && !overview.ages.is_empty(), "freshness", "Freshness"),
        (!overview.survival.is_empty(), "survival", "Markers"),
    ] {
        if is_there {
            writeln!(out, "<a href=\"#{id}\">{name}</a>")?;
        }
    }
    writeln!(out, "</nav>")
}

fn write_scores(out: &mut dyn Write, scores: &[LayerScore]) -> io::Result<()> {
    if scores.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section id=\"layers\">\n<h2>Layers</h2>\n<ul class=\"scores\">")?;
    for score in scores {
        let name = layer::name(score.layer);
        let points = score.points;
        let worst = score.broken.iter().zip(SEVERITIES).find(|(n, _)| 0 < **n);
        let tone = worst.map_or("clean", |(_, severity)| severity.name());
        writeln!(
            out,
            "<li class=\"{tone}\"><span class=\"layer\"><b>{name}</b> <i>{}</i></span>\
             <span class=\"points\">{points}</span>{}<span class=\"broken\">{}</span></li>",
            score.layer,
            chart::bar(f64::from(points) / 100.0),
            broken(score),
        )?;
    }
    writeln!(
        out,
        "</ul>\n<p class=\"aside\">Each checked layer starts with 100 points. A broken rule subtracts \
         {} points if it is an error, {} if it is a warning and {} if it is a note, \
         independent of the number of findings.</p>\n</section>",
        layer::cost(Severity::Error),
        layer::cost(Severity::Warning),
        layer::cost(Severity::Note),
    )
}

/// Returns the numbers of broken rules of a layer by severity, as text.
fn broken(score: &LayerScore) -> String {
    let words: Vec<String> = score
        .broken
        .iter()
        .zip(SEVERITIES)
        .filter(|(n, _)| 0 < **n)
        .map(|(n, severity)| count(u64::from(*n), severity.name()))
        .collect();
    if words.is_empty() { "no broken rules".to_owned() } else { words.join(", ") }
}

fn write_foot(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    writeln!(out, "<footer>")?;
    for (n, what) in [
        (outcome.ignored, "ignored by settings"),
        (outcome.known, "in the baseline and not shown"),
        (outcome.gone, "in the baseline but fixed"),
    ] {
        if 0 < n {
            writeln!(out, "<p>{} {what}.</p>", count(n, "finding"))?;
        }
    }
    writeln!(out, "<p>Written by rutter {}.</p>\n</footer>", html(outcome.version))
}

/// Formats a number with a thin space between thousands.
fn group_digits(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if 0 < idx && (digits.len() - idx).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::group_digits;

    #[test]
    fn groups_digits_by_thousands() {
        assert_eq!(group_digits(7), "7");
        assert_eq!(group_digits(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
