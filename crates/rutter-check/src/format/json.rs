//! For programs: one JSON document, described by `docs/schemas/check.schema.json`. Its
//! `format` is raised when a program that reads it would misread.

use std::io::{self, Write};

use rutter_finding::{Mode, Verdict};
use serde_json::{Value, json};

use crate::Judgement;
use crate::format::put;
use crate::layer::{self, scores_of};
use crate::outcome::{Judged, Outcome, SEVERITIES, Told};

/// The version of the form.
pub const FORMAT: u64 = 1;

/// Writes an outcome as one document.
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

/// What a run came to, without its files.
pub(crate) fn summary(outcome: &Outcome) -> Value {
    let counts: serde_json::Map<String, Value> = SEVERITIES
        .into_iter()
        .map(|severity| (format!("{}s", severity.name()), outcome.count(severity).into()))
        .collect();
    json!({
        "format": FORMAT,
        "version": outcome.version,
        "mode": match outcome.mode {
            Mode::Lenient => "lenient",
            Mode::Strict => "strict",
        },
        "fail_on": outcome.fail_on.name(),
        "fails": outcome.fails(),
        "totals": counts,
        "ignored": outcome.ignored,
        "known": outcome.known,
        "gone": outcome.gone,
    })
}

pub(crate) fn finding(told: &Told<'_>) -> Value {
    let finding = told.finding;
    json!({
        "code": finding.rule.code,
        "name": finding.rule.name,
        "layer": finding.rule.layer(),
        "severity": told.severity.name(),
        "clause": finding.rule.clause,
        "line": told.line(),
        "column": told.column(),
        "pointer": finding.place.pointer,
        "message": finding.rule.title,
        "detail": finding.detail,
        "fix": finding.rule.fix,
        "excerpt": told.excerpt.map(|excerpt| excerpt.text.as_str()),
        "fingerprint": told.fingerprint(),
    })
}

fn file(judged: &Judged) -> Value {
    let mut file = facts(&judged.judgement);
    put(&mut file, "findings", judged.findings().map(|told| finding(&told)).collect::<Vec<_>>());
    file
}

/// What is said of a file, without its findings.
pub(crate) fn facts(judgement: &Judgement) -> Value {
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
        "file": judgement.path(),
        "root": judgement.root,
        "kind": judgement.kind.name(),
        "verdict": match judgement.verdict() {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
        },
        "refused_by": judgement.refused.map(|rule| rule.code),
        "counts": judgement.report.counts(),
        "not_kept": judgement.report.not_kept(),
        "collection": collection,
        "entries": judgement.entries,
    })
}
