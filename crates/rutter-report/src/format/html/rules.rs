//! HTML report: findings by rule, with the explanation, the fix and the places.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_finding::{Rule, Severity};

use crate::format::count;
use crate::format::escape::{codes, html};
use crate::format::html::{FileLabels, group_digits};
use crate::outcome::{FindingView, Outcome};

/// The maximum number of listed places per rule.
const MOST_PLACES: usize = 25;

struct RuleFindings<'o> {
    rule: &'static Rule,
    severity: Severity,
    count: u64,
    places: Vec<FindingView<'o>>,
}

pub(super) fn write(
    out: &mut dyn Write,
    outcome: &Outcome,
    labels: &FileLabels<'_>,
) -> io::Result<()> {
    let mut broken: BTreeMap<&str, RuleFindings<'_>> = BTreeMap::new();
    for view in outcome.findings() {
        let rule = view.finding.rule;
        let of_rule = broken.entry(rule.code).or_insert_with(|| RuleFindings {
            rule,
            severity: view.severity,
            count: 0,
            places: Vec::new(),
        });
        if of_rule.places.len() < MOST_PLACES {
            of_rule.places.push(view);
        }
    }
    for (code, n) in outcome.files.iter().flat_map(|file| file.file_report.report.counts()) {
        if let Some(of_rule) = broken.get_mut(code) {
            of_rule.count += n;
        }
    }
    if broken.is_empty() {
        return Ok(());
    }
    let mut broken: Vec<RuleFindings<'_>> = broken.into_values().collect();
    broken.sort_by_key(|of_rule| std::cmp::Reverse((of_rule.severity, of_rule.count)));
    writeln!(out, "<section id=\"rules\">\n<h2>Findings by rule</h2>")?;
    for of_rule in &broken {
        write_rule(out, of_rule, labels)?;
    }
    writeln!(out, "</section>")
}

fn write_rule(
    out: &mut dyn Write,
    of_rule: &RuleFindings<'_>,
    labels: &FileLabels<'_>,
) -> io::Result<()> {
    let RuleFindings { rule, severity, count: n, places } = of_rule;
    let severity = severity.name();
    writeln!(
        out,
        "<details class=\"rule {severity}\" id=\"{code}\">\n<summary><span class=\"badge\">{severity}</span>\
         <span class=\"title\">{}</span><span class=\"code\">{code} {}</span>\
         <span class=\"times\">{}×</span></summary>",
        capitalised(&codes(&html(rule.title))),
        rule.name,
        group_digits(*n),
        code = rule.code,
    )?;
    writeln!(out, "<p>{}</p>", codes(&html(rule.why)))?;
    writeln!(out, "<p><b>Fix:</b> {}</p>", codes(&html(rule.fix)))?;
    writeln!(out, "<ol class=\"places\">")?;
    for view in places {
        let place = view.location_in(&labels.of(view.file_report));
        write!(out, "<li><code class=\"place\">{}</code>", html(&place))?;
        let pointer = &view.finding.place.pointer;
        if !pointer.is_empty() {
            write!(out, " <code class=\"pointer\">{}</code>", html(pointer))?;
        }
        if !view.finding.detail.is_empty() {
            write!(out, "<span class=\"detail\">{}</span>", codes(&html(&view.finding.detail)))?;
        }
        write_excerpt(out, view)?;
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ol>")?;
    let more = n.saturating_sub(places.len() as u64);
    if 0 < more {
        writeln!(out, "<p class=\"aside\">{} not shown.</p>", count(more, "more place"))?;
    }
    writeln!(out, "<p class=\"aside\">Clause {}.</p>\n</details>", html(rule.clause))
}

/// Writes the excerpt with the marked range in a `mark` element.
fn write_excerpt(out: &mut dyn Write, view: &FindingView<'_>) -> io::Result<()> {
    let Some(excerpt) = view.excerpt else { return Ok(()) };
    let chars: Vec<char> = excerpt.text.chars().collect();
    let part = |from: usize, to: usize| {
        let to = to.min(chars.len());
        let part = chars.get(from.min(to)..to).unwrap_or_default();
        html(&part.iter().collect::<String>())
    };
    write!(out, "<pre><code>")?;
    match &excerpt.mark {
        Some(mark) => write!(
            out,
            "{}<mark>{}</mark>{}",
            part(0, mark.start),
            part(mark.start, mark.end),
            part(mark.end, usize::MAX),
        )?,
        None => write!(out, "{}", part(0, usize::MAX))?,
    }
    write!(out, "</code></pre>")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
