//! Markdown for a comment on a pull request: a short table, the most severe findings first.
//!
//! Text from checked files is written as code spans, in which it is neither markup nor a mention of
//! a user.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_finding::{Rule, Verdict, shown};

use crate::Outcome;
use crate::format::count;
use crate::layer::{name, scores_of};
use crate::outcome::SEVERITIES;

/// The maximum number of table rows. Comments on pull requests have a size limit.
const MOST_ROWS: usize = 60;
/// The maximum number of characters of a table cell.
const LONGEST_CELL: usize = 240;

/// Writes an outcome as GitHub Flavored Markdown.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let files = count(outcome.files.len() as u64, "file");
    let rejected = outcome.with_verdict(Verdict::Rejected);
    writeln!(out, "### rutter check: {}\n", outcome.tally())?;
    writeln!(out, "{files} judged, {rejected} rejected.\n")?;
    let mut rules: BTreeMap<&str, &Rule> = BTreeMap::new();
    let findings = SEVERITIES
        .into_iter()
        .flat_map(|severity| outcome.findings().filter(move |view| view.severity == severity));
    let mut n_rows = 0;
    for view in findings {
        if n_rows == MOST_ROWS {
            break;
        }
        if n_rows == 0 {
            writeln!(out, "| severity | where | rule | what |\n|---|---|---|---|")?;
        }
        n_rows += 1;
        let rule = view.finding.rule;
        rules.insert(rule.code, rule);
        let place = code(&view.location());
        write!(out, "| {} | {place} | {} {} ", view.severity.name(), rule.code, rule.name)?;
        let detail = &view.finding.detail;
        let gap = if detail.is_empty() { "" } else { ": " };
        let detail = if detail.is_empty() { String::new() } else { code(detail) };
        writeln!(out, "| {}{gap}{detail} |", rule.title)?;
    }
    let total: u64 = SEVERITIES.into_iter().map(|severity| outcome.count(severity)).sum();
    let more = total - n_rows as u64;
    if 0 < more {
        writeln!(out, "\n{} not shown.", count(more, "more finding"))?;
    }
    if !rules.is_empty() {
        writeln!(out, "\n<details><summary>Fixes</summary>\n")?;
        for rule in rules.values() {
            writeln!(out, "- **{} {}**: {} {}", rule.code, rule.name, rule.why, rule.fix)?;
        }
        writeln!(out, "\n</details>")?;
    }
    let scores = scores_of(outcome);
    if !scores.is_empty() {
        writeln!(out, "\n| layer | points | findings |\n|---|---|---|")?;
        for score in scores {
            writeln!(out, "| {} | {} | {} |", name(score.layer), score.points, score.findings)?;
        }
    }
    for (n, what) in [
        (outcome.ignored, "ignored by settings"),
        (outcome.known, "in the baseline"),
        (outcome.gone, "in the baseline but fixed"),
    ] {
        if 0 < n {
            writeln!(out, "\n{} {what}.", count(n, "finding"))?;
        }
    }
    Ok(())
}

/// Returns a code span that is safe in a table. Its fence is longer than any sequence of backticks
/// in the text.
fn code(text: &str) -> String {
    let text = shown(text);
    let mut cell: String = text.chars().take(LONGEST_CELL).collect();
    if text.chars().nth(LONGEST_CELL).is_some() {
        cell.push('…');
    }
    let longest = cell.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let cell = cell.replace('|', "\\|");
    if longest == 0 { format!("{fence}{cell}{fence}") } else { format!("{fence} {cell} {fence}") }
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn foreign_text_stays_in_its_cell_and_mentions_no_user() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("`chart` | @all\n<b>"), "`` `chart` \\| @all\\n<b> ``");
    }
}
