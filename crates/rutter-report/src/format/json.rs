//! One JSON document, described by `docs/schemas/check.schema.json`. Its `format`
//! number increases with every incompatible change.

use std::io::{self, Write};

use rutter_extract::{CoverageTally, PageCoverage};
use rutter_finding::{Strictness, Verdict};
use serde_json::{Value, json};

use crate::FileReport;
use crate::format::put;
use crate::layer::{self, scores_of};
use crate::outcome::{CheckedFile, FindingView, Outcome, SEVERITIES};

/// The version of the document format.
pub const FORMAT: u64 = 1;

/// Writes an outcome as a JSON document.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let files: Vec<Value> = outcome.files.iter().map(file).collect();
    let scores: Vec<Value> = scores_of(outcome)
        .iter()
        .map(|score| {
            json!({
                "layer": score.layer,
                "name": layer::name(score.layer),
                "points": score.points,
                "findings": score.findings,
            })
        })
        .collect();
    let mut document = summary(outcome);
    put(&mut document, "files", files);
    put(&mut document, "scores", scores);
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// Returns the summary of a run without its files.
pub(crate) fn summary(outcome: &Outcome) -> Value {
    let counts: serde_json::Map<String, Value> = SEVERITIES
        .into_iter()
        .map(|severity| (format!("{}s", severity.name()), outcome.count(severity).into()))
        .collect();
    json!({
        "format": FORMAT,
        "version": outcome.version,
        "mode": match outcome.mode {
            Strictness::Lenient => "lenient",
            Strictness::Strict => "strict",
        },
        "fail_on": outcome.fail_on.name(),
        "fails": outcome.fails(),
        "totals": counts,
        "ignored": outcome.ignored,
        "known": outcome.known,
        "gone": outcome.gone,
        "coverage": coverage(&outcome.overview.coverage),
    })
}

/// Returns the extracted share of the main text; `null` if no page was measured.
pub fn coverage(tally: &CoverageTally) -> Value {
    let Some(mean) = tally.mean() else { return Value::Null };
    let round = |share: f64| (share * 10_000.0).round() / 10_000.0;
    let worst: Vec<Value> = tally
        .worst()
        .iter()
        .map(|PageCoverage { page, coverage }| {
            json!({
                "page": page,
                "share": round(coverage.share().into()),
                "kept": coverage.kept,
                "total": coverage.total,
                "largest": coverage.largest.as_ref().map(ToString::to_string),
            })
        })
        .collect();
    json!({ "pages": tally.pages(), "mean": round(mean), "worst": worst })
}

pub(crate) fn finding(view: &FindingView<'_>) -> Value {
    let finding = view.finding;
    json!({
        "code": finding.rule.code,
        "name": finding.rule.name,
        "layer": finding.rule.layer(),
        "severity": view.severity.name(),
        "clause": finding.rule.clause,
        "line": view.line(),
        "column": view.column(),
        "pointer": finding.place.pointer,
        "message": finding.rule.title,
        "detail": finding.detail,
        "fix": finding.rule.fix,
        "excerpt": view.excerpt.map(|excerpt| excerpt.text.as_str()),
        "fingerprint": view.fingerprint(),
    })
}

fn file(judged: &CheckedFile) -> Value {
    let mut file = facts(&judged.file_report);
    put(&mut file, "findings", judged.findings().map(|view| finding(&view)).collect::<Vec<_>>());
    file
}

/// Returns the data of a file without its findings.
pub(crate) fn facts(file_report: &FileReport) -> Value {
    let collection = file_report.receipt.as_ref().map(|receipt| {
        json!({
            "id": receipt.header.id,
            "section": receipt.header.section,
            "type": receipt.header.kind.name(),
            "generated": receipt.header.generated,
            "since": receipt.header.kind.since(),
            "pages": receipt.tally.pages,
            "skipped": receipt.tally.skipped,
            "coded": receipt.coded,
            "decoded": receipt.decoded,
            "digest": receipt.digest.to_string(),
            "checksum": receipt.form.map(rutter_scp::ChecksumForm::name),
        })
    });
    json!({
        "file": file_report.path(),
        "root": file_report.root,
        "kind": file_report.kind.name(),
        "verdict": match file_report.verdict() {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
        },
        "refused_by": file_report.refused.map(|rule| rule.code),
        "counts": file_report.report.counts(),
        "not_kept": file_report.report.not_kept(),
        "collection": collection,
        "entries": file_report.entries,
    })
}
