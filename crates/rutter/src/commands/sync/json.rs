//! What `rutter sync` says of each site, for programs.

use rutter_fetch::Url;
use rutter_sync::{Audit, Kind, Preview, Proof, Report};
use serde_json::{Value, json};

/// Why a site could not be synced, audited or looked at.
pub(super) fn of_failure(site: &Url, error: &anyhow::Error) -> Value {
    let site = site.origin().ascii_serialization();
    json!({ "version": 1, "site": site, "error": format!("{error:#}") })
}

/// What an audit proved.
pub(super) fn of_audit(audit: &Audit) -> Value {
    let sections: Vec<Value> = audit
        .sections
        .iter()
        .map(|(name, proof)| {
            let (code, detail) = match proof {
                Proof::ByState => ("by-state", ""),
                Proof::ByLines => ("by-lines", ""),
                Proof::Differs(text) => ("differs", text.as_str()),
                Proof::Open(text) => ("open", text.as_str()),
            };
            json!({ "section": name, "proof": code, "detail": detail })
        })
        .collect();
    json!({
        "version": 1,
        "site": audit.origin,
        "sections": sections,
        "faults": audit.faults,
        "marked": audit.marked,
        "requests": audit.requests,
        "bytes": audit.bytes,
    })
}

/// What came of the sync of a site.
pub(super) fn of_report(report: &Report) -> Value {
    let sections: serde_json::Map<String, Value> = report
        .sections
        .iter()
        .map(|(name, section)| {
            let value = json!({
                "pages": section.pages,
                "files": section.files,
                "reason": section.reason.to_string(),
                "proved": section.is_proved,
            });
            (name.clone(), value)
        })
        .collect();
    let troubles: Vec<Value> = report
        .troubles
        .iter()
        .map(|trouble| {
            let kind = match trouble.kind {
                Kind::Network => "network",
                Kind::Integrity => "integrity",
                Kind::Policy => "policy",
            };
            json!({
                "place": trouble.place,
                "kind": kind,
                "text": trouble.text,
                "mended": trouble.is_mended,
            })
        })
        .collect();
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|(url, finding)| json!({"url": url, "code": finding.rule.code, "detail": finding.detail}))
        .collect();
    let better = report.better.map(|better| {
        json!({"rung": better.rung.name(), "requests": better.requests, "bytes": better.bytes})
    });
    json!({
        "version": 1,
        "site": report.origin,
        "rung": report.rung.name(),
        "requests": report.requests,
        "bytes": report.bytes,
        "pages": report.pages,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "withheld": report.withheld,
        "sections": sections,
        "left_out": report.left_out_by_code(),
        "arc": report.arc,
        "entities": report.entities,
        "unlisted": {"pages": report.n_unlisted, "urls": report.unlisted},
        "better": better,
        "troubles": troubles,
        "findings": findings,
    })
}

/// What a sync would do.
pub(super) fn of_preview(preview: &Preview) -> Value {
    let steps: Option<Vec<Value>> = preview.plan.as_ref().map(|plan| {
        let steps = plan.steps.iter();
        steps
            .map(|(section, step)| {
                let files: Vec<Value> = step
                    .files()
                    .iter()
                    .map(|file| json!({"url": file.url, "size": file.size}))
                    .collect();
                json!({"section": section, "reason": step.reason.to_string(), "files": files})
            })
            .collect()
    });
    json!({
        "version": 1,
        "site": preview.origin,
        "rung": preview.rung.name(),
        "why": preview.why,
        "plan": steps,
        "pages": preview.pages,
        "requests": preview.requests,
        "bytes": preview.bytes,
    })
}
