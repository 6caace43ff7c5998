//! `JUnit` XML for test reports: one suite per file, one case per broken rule. Findings below the
//! minimum severity that fails the run do not fail their case.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_finding::shown;

use crate::format::escape::xml;
use crate::outcome::{CheckedFile, FindingView, Outcome};

/// Writes an outcome as a `JUnit` document.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let suites: Vec<JunitSuite<'_>> =
        outcome.files.iter().map(|file| suite(file, outcome)).collect();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let tests: usize = suites.iter().map(JunitSuite::tests).sum();
    let failures: usize = suites.iter().map(JunitSuite::failures).sum();
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

struct JunitSuite<'o> {
    name: Cow<'o, str>,
    cases: BTreeMap<&'static str, JunitCase<'o>>,
}

struct JunitCase<'o> {
    fails: bool,
    count: u64,
    findings: Vec<FindingView<'o>>,
}

impl JunitSuite<'_> {
    fn tests(&self) -> usize {
        self.cases.len().max(1)
    }

    fn failures(&self) -> usize {
        self.cases.values().filter(|case| case.fails).count()
    }
}

fn suite<'o>(file: &'o CheckedFile, outcome: &Outcome) -> JunitSuite<'o> {
    let mut cases = BTreeMap::new();
    for view in file.findings() {
        let case = cases.entry(view.finding.rule.code).or_insert_with(|| JunitCase {
            fails: outcome.fail_on <= view.severity,
            count: 0,
            findings: Vec::new(),
        });
        case.findings.push(view);
    }
    for (code, n) in file.file_report.report.counts() {
        if let Some(case) = cases.get_mut(code) {
            case.count = *n;
        }
    }
    JunitSuite { name: file.file_report.path(), cases }
}

fn write_case(out: &mut dyn Write, name: &str, case: &JunitCase<'_>) -> io::Result<()> {
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
    for view in &case.findings {
        let pointer = match view.finding.place.pointer.as_str() {
            "" => String::new(),
            pointer => format!(" {}", shown(pointer)),
        };
        let (place, message) = (view.location(), view.message());
        writeln!(out, "{}", xml(&format!("{place}{pointer}: {}", shown(&message))))?;
    }
    let more = case.count.saturating_sub(case.findings.len() as u64);
    if 0 < more {
        writeln!(out, "{more} more")?;
    }
    writeln!(out, "{}{close}", xml(rule.fix))?;
    writeln!(out, "    </testcase>")
}
