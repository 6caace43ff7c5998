//! Integration tests of the public functions.

mod llms;

use rutter_finding::Finding;

/// Returns findings as `line code`, in order.
fn codes(findings: &[Finding]) -> Vec<String> {
    let shown =
        |finding: &Finding| format!("{} {}", finding.place.line.unwrap_or(0), finding.rule.code);
    findings.iter().map(shown).collect()
}
