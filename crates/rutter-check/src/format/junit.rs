//! For test reports: `JUnit` XML, a suite for each file, a case for each rule
//! that is broken there. What does not fail the run does not fail its case.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_finding::shown;

use crate::format::escape::xml;
use crate::outcome::{Judged, Outcome, Told};

/// Writes an outcome as one document.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let suites: Vec<Suite<'_>> = outcome.files.iter().map(|file| suite(file, outcome)).collect();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let tests: usize = suites.iter().map(Suite::tests).sum();
    let failures: usize = suites.iter().map(Suite::failures).sum();
    writeln!(out, "<testsuites name=\"rutter check\" tests=\"{tests}\" failures=\"{failures}\">")?;
    for suite in &suites {
        let name = xml(&shown(&suite.name));
        let (tests, failures) = (suite.tests(), suite.failures());
        writeln!(out, "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\">")?;
        for case in suite.cases.values() {
            write_case(out, &suite.name, case)?;
        }
        if suite.cases.is_empty() {
            writeln!(out, "    <testcase classname=\"{name}\" name=\"rutter check\"/>")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

struct Suite<'o> {
    name: Cow<'o, str>,
    cases: BTreeMap<&'static str, Case<'o>>,
}

struct Case<'o> {
    fails: bool,
    count: u64,
    findings: Vec<Told<'o>>,
}

impl Suite<'_> {
    fn tests(&self) -> usize {
        self.cases.len().max(1)
    }

    fn failures(&self) -> usize {
        self.cases.values().filter(|case| case.fails).count()
    }
}

fn suite<'o>(file: &'o Judged, outcome: &Outcome) -> Suite<'o> {
    let mut cases = BTreeMap::new();
    for told in file.findings() {
        let case = cases.entry(told.finding.rule.code).or_insert_with(|| Case {
            fails: outcome.fail_on <= told.severity,
            count: 0,
            findings: Vec::new(),
        });
        case.findings.push(told);
    }
    for (code, n) in file.judgement.report.counts() {
        if let Some(case) = cases.get_mut(code) {
            case.count = *n;
        }
    }
    Suite { name: file.judgement.path(), cases }
}

fn write_case(out: &mut dyn Write, name: &str, case: &Case<'_>) -> io::Result<()> {
    let Some(first) = case.findings.first() else { return Ok(()) };
    let rule = first.finding.rule;
    let title = xml(&format!("{} {}", rule.code, rule.name));
    writeln!(out, "    <testcase classname=\"{}\" name=\"{title}\">", xml(&shown(name)))?;
    let message = xml(&shown(&first.message()));
    let (open, close) = if case.fails {
        (
            format!("<failure type=\"{}\" message=\"{message}\">", first.severity.name()),
            "</failure>",
        )
    } else {
        ("<system-out>".to_owned(), "</system-out>")
    };
    write!(out, "      {open}")?;
    for told in &case.findings {
        let pointer = match told.finding.place.pointer.as_str() {
            "" => String::new(),
            pointer => format!(" {}", shown(pointer)),
        };
        let (place, message) = (told.whereabouts(), told.message());
        writeln!(out, "{}", xml(&format!("{place}{pointer}: {}", shown(&message))))?;
    }
    let more = case.count.saturating_sub(case.findings.len() as u64);
    if 0 < more {
        writeln!(out, "{more} more")?;
    }
    writeln!(out, "{}{close}", xml(rule.fix))?;
    writeln!(out, "    </testcase>")
}
