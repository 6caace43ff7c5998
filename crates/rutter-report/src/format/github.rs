//! GitHub workflow commands, which become annotations of lines.
//!
//! GitHub shows ten annotations of each level per step, so the most severe findings come first.

use std::io::{self, Write};

use rutter_finding::{Severity, shown};

use crate::Outcome;
use crate::format::concise::write_summary;
use crate::outcome::{FindingView, SEVERITIES};

/// Writes an outcome as workflow commands followed by a summary.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    for severity in SEVERITIES {
        for view in outcome.findings().filter(|view| view.severity == severity) {
            annotate(out, &view)?;
        }
    }
    writeln!(out, "rutter check: {}", outcome.tally())?;
    write_summary(out, outcome)
}

fn annotate(out: &mut dyn Write, view: &FindingView<'_>) -> io::Result<()> {
    let command = match view.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let rule = view.finding.rule;
    write!(out, "::{command} file={}", property(&view.file_report.path()))?;
    if let Some(line) = view.line() {
        write!(out, ",line={line}")?;
        if let Some(column) = view.column() {
            write!(out, ",col={column}")?;
        }
    }
    let title = format!("{} {}", rule.code, rule.name);
    let message = format!("{}. {}", shown(&view.message()), rule.fix);
    writeln!(out, ",title={}::{}", property(&title), data(&message))
}

/// Escapes the message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn file_name_cannot_end_a_command() {
        assert_eq!(
            property("a,line=7::x\n::error::y%"),
            "a%2Cline=7%3A%3Ax%0A%3A%3Aerror%3A%3Ay%25"
        );
        assert_eq!(data("a\r\n::b%0A"), "a%0D%0A::b%250A");
    }
}
