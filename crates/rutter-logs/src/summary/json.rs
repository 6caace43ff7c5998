//! JSON output of a [`LogSummary`]. The member `format` is a version number; it increases with a
//! change that makes older programs misread the document.

use std::io::{self, Write};

use rutter_finding::Report;
use serde_json::{Value, json};

use super::{ArtifactCounts, ClientRow, LogSummary};
use crate::agents::{Purpose, source};

/// Writes a summary and its findings as one JSON document.
pub fn write(out: &mut dyn Write, summary: &LogSummary, odd: &Report) -> io::Result<()> {
    let findings: Vec<Value> = odd
        .findings()
        .map(|(severity, finding)| {
            json!({
                "code": finding.rule.code,
                "name": finding.rule.name,
                "severity": severity.name(),
                "clause": finding.rule.clause,
                "line": finding.place.line,
                "message": finding.rule.title,
                "detail": finding.detail,
            })
        })
        .collect();
    let broken: serde_json::Map<String, Value> =
        summary.broken.iter().map(|(why, n)| (why.code().to_owned(), json!(n))).collect();
    let savings = &summary.savings;
    let document = json!({
        "format": 1,
        "agents_from": source(),
        "requests": summary.requests,
        "bytes": summary.bytes,
        "first": summary.span.map(|(first, _)| first),
        "last": summary.span.map(|(_, last)| last),
        "left_out": summary.filtered_out,
        "unreadable": broken,
        "agents": summary.agents.iter().map(row).collect::<Vec<_>>(),
        "others": summary.others.iter().map(row).collect::<Vec<_>>(),
        "savings": {
            "window_seconds": summary.window,
            "conditional": { "answers": savings.repeated, "bytes": savings.repeated_bytes },
            "collections": savings.collections.as_ref().map(|collected| json!({
                "files": collected.files,
                "size": collected.size,
                "readers": collected.readers,
                "requests": collected.requests,
                "bytes": collected.bytes,
            })),
        },
        "forgotten": { "fetches": summary.dropped.fetches, "readers": summary.dropped.readers },
        "findings": findings,
        "findings_not_listed": odd.not_kept(),
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn row(row: &ClientRow) -> Value {
    let errors: serde_json::Map<String, Value> =
        row.errors.iter().map(|(status, n)| (status.to_string(), json!(n))).collect();
    json!({
        "name": row.name,
        "class": row.class.name(),
        "purpose": row.purpose.map(Purpose::name),
        "operator": row.operator,
        "requests": row.requests(),
        "bytes": row.bytes(),
        "errors": errors,
        "artefacts": row.cells.iter().map(cell).collect::<Vec<_>>(),
    })
}

fn cell(cell: &ArtifactCounts) -> Value {
    json!({
        "artefact": cell.artifact.name(),
        "requests": cell.requests,
        "bytes": cell.bytes,
        "distinct": cell.distinct,
        "distinct_is_exact": cell.is_exact,
        "full": cell.full,
        "not_modified": cell.not_modified,
        "errors": cell.errors,
        "again": { "answers": cell.repeated, "bytes": cell.repeated_bytes },
        "first": cell.first,
        "last": cell.last,
    })
}
