//! For GitHub workflows: commands that become annotations of lines.
//!
//! GitHub shows ten of each level for a step, so the gravest come first.

use std::io::{self, Write};

use rutter_finding::{Severity, shown};

use crate::Outcome;
use crate::format::concise::write_summary;
use crate::outcome::{SEVERITIES, Told};

/// Writes an outcome as workflow commands, and a summary for the log.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    for severity in SEVERITIES {
        for told in outcome.findings().filter(|told| told.severity == severity) {
            annotate(out, &told)?;
        }
    }
    writeln!(out, "rutter check: {}", outcome.tally())?;
    write_summary(out, outcome)
}

fn annotate(out: &mut dyn Write, told: &Told<'_>) -> io::Result<()> {
    let command = match told.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let rule = told.finding.rule;
    write!(out, "::{command} file={}", property(&told.judgement.path()))?;
    if let Some(line) = told.line() {
        write!(out, ",line={line}")?;
        if let Some(column) = told.column() {
            write!(out, ",col={column}")?;
        }
    }
    let title = format!("{} {}", rule.code, rule.name);
    let message = format!("{}. {}", shown(&told.message()), rule.fix);
    writeln!(out, ",title={}::{}", property(&title), data(&message))
}

/// The message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn ours_a_name_cannot_end_its_command() {
        assert_eq!(
            property("a,line=7::x\n::error::y%"),
            "a%2Cline=7%3A%3Ax%0A%3A%3Aerror%3A%3Ay%25"
        );
        assert_eq!(data("a\r\n::b%0A"), "a%0D%0A::b%250A");
    }
}
