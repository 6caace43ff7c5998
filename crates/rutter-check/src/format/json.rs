//! For programs: one JSON document. Its `format` is raised when a program that
//! reads it would misread.

use std::io::{self, Write};

use rutter_finding::Verdict;
use serde_json::{Value, json};

use crate::Judgement;

/// Writes all judgements as one document.
pub fn write(out: &mut dyn Write, judgements: &[Judgement]) -> io::Result<()> {
    let files: Vec<Value> = judgements.iter().map(file).collect();
    serde_json::to_writer_pretty(&mut *out, &json!({ "format": 1, "files": files }))?;
    writeln!(out)
}

fn file(judgement: &Judgement) -> Value {
    let findings: Vec<Value> = judgement
        .report
        .findings()
        .map(|(severity, finding)| {
            json!({
                "code": finding.rule.code,
                "name": finding.rule.name,
                "severity": severity.name(),
                "clause": finding.rule.clause,
                "line": finding.place.line,
                "pointer": finding.place.pointer,
                "message": finding.rule.title,
                "detail": finding.detail,
            })
        })
        .collect();
    let collection = judgement.receipt.as_ref().map(|receipt| {
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
            "checksum": receipt.form.map(rutter_scp::Form::name),
        })
    });
    json!({
        "file": judgement.name,
        "kind": judgement.kind.name(),
        "verdict": match judgement.verdict() {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
        },
        "refused_by": judgement.refused.map(|rule| rule.code),
        "counts": judgement.report.counts(),
        "findings": findings,
        "collection": collection,
        "entries": judgement.entries,
    })
}
