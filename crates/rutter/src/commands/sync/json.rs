//! JSON output of `rutter sync`: one object for each site.

use rutter_fetch::Url;
use rutter_sync::{AuditReport, ProblemKind, SectionProof, SyncPreview, SyncReport};
use serde_json::{Value, json};

/// Returns the object for a site that failed.
pub(super) fn of_failure(site: &Url, error: &anyhow::Error) -> Value {
    let site = site.origin().ascii_serialization();
    json!({ "version": 1, "site": site, "error": format!("{error:#}") })
}

/// Returns the object for an audit.
pub(super) fn of_audit(audit: &AuditReport) -> Value {
    let sections: Vec<Value> = audit
        .sections
        .iter()
        .map(|(name, proof)| {
            let (code, detail) = match proof {
                SectionProof::ByState => ("by-state", ""),
                SectionProof::ByLines => ("by-lines", ""),
                SectionProof::Differs(text) => ("differs", text.as_str()),
                SectionProof::Unproven(text) => ("open", text.as_str()),
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

/// Returns the object for a completed sync.
pub(super) fn of_report(report: &SyncReport) -> Value {
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
        .problems
        .iter()
        .map(|trouble| {
            let kind = match trouble.kind {
                ProblemKind::Network => "network",
                ProblemKind::Integrity => "integrity",
                ProblemKind::Policy => "policy",
            };
            json!({
                "place": trouble.place,
                "kind": kind,
                "text": trouble.text,
                "mended": trouble.is_resolved,
            })
        })
        .collect();
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|(url, finding)| json!({"url": url, "code": finding.rule.code, "detail": finding.detail}))
        .collect();
    let better = report.better_method.map(|better| {
        json!({"rung": better.method.name(), "requests": better.requests, "bytes": better.bytes})
    });
    json!({
        "version": 1,
        "site": report.origin,
        "rung": report.method.name(),
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

/// Returns the object for the plan of a sync.
pub(super) fn of_preview(preview: &SyncPreview) -> Value {
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
        "rung": preview.method.name(),
        "why": preview.why,
        "plan": steps,
        "pages": preview.pages,
        "requests": preview.requests,
        "bytes": preview.bytes,
    })
}
