//! Integration tests of the public functions.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod merge;
mod robots;

use std::path::{Path, PathBuf};

use rutter_finding::Finding;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Returns findings as `line code`, in order.
fn codes(findings: &[Finding]) -> Vec<String> {
    let shown =
        |finding: &Finding| format!("{} {}", finding.place.line.unwrap_or(0), finding.rule.code);
    findings.iter().map(shown).collect()
}
