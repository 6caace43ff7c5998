//! For programs: one JSON document. Its `format` is raised when a program that
//! reads it would misread.

use std::io::{self, Write};

use rutter_finding::Report;
use serde_json::{Value, json};

use super::{Cell, Row, Summary};
use crate::agents::{Purpose, source};

/// Writes a summary and what was odd as one document.
pub fn write(out: &mut dyn Write, summary: &Summary, odd: &Report) -> io::Result<()> {
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
        "left_out": summary.left_out,
        "unreadable": broken,
        "agents": summary.agents.iter().map(row).collect::<Vec<_>>(),
        "others": summary.others.iter().map(row).collect::<Vec<_>>(),
        "savings": {
            "window_seconds": summary.window,
            "conditional": { "answers": savings.again, "bytes": savings.again_bytes },
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

fn row(row: &Row) -> Value {
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

fn cell(cell: &Cell) -> Value {
    json!({
        "artefact": cell.artefact.name(),
        "requests": cell.requests,
        "bytes": cell.bytes,
        "distinct": cell.distinct,
        "distinct_is_exact": cell.is_exact,
        "full": cell.full,
        "not_modified": cell.not_modified,
        "errors": cell.errors,
        "again": { "answers": cell.again, "bytes": cell.again_bytes },
        "first": cell.first,
        "last": cell.last,
    })
}
