//! Prints the results of syncs, audits and dry runs as text.

use rutter_fetch::redact;
use rutter_finding::{FindingSink, Report as Findings, Strictness, visible};
use rutter_sync::plan::PlanReason;
use rutter_sync::{AuditReport, SectionProof, SyncPreview, SyncReport};

use super::SHOWN_UNLISTED;
use crate::commands::{counted, format_bytes, method_text, print_findings};
use crate::output::Output;

/// Prints the result of the sync of one site.
pub(super) fn write_text(report: &SyncReport, out: &mut Output) -> anyhow::Result<()> {
    let SyncReport { origin, method, requests, pages, added, changed, removed, withheld, .. } =
        report;
    let cost = format!("{}, {}", counted(*requests, "request"), format_bytes(report.bytes));
    writeln!(out.summary(), "{origin}: synced by {} ({cost})", method_text(method.name()))?;
    let without = match withheld {
        0 => String::new(),
        n => format!(", {n} of them without content"),
    };
    let pages = counted(*pages, "page");
    let what = format!("{added} added, {changed} changed, {removed} removed");
    writeln!(out.summary(), "  {pages} in the replica{without}: {what}")?;
    for (name, section) in &report.sections {
        let proof = if section.is_proved { ", verified" } else { "" };
        let files = match section.files {
            0 => "no file applied".to_owned(),
            n => format!("{} applied", counted(n, "file")),
        };
        writeln!(
            out.summary(),
            "  section `{}`: {}, {files} ({}){proof}",
            visible(name),
            counted(section.pages, "page"),
            section.reason
        )?;
    }
    if let Some(n_entries) = report.arc {
        writeln!(out.summary(), "  ARC sitemap: {} read", counted(n_entries, "entry"))?;
    }
    if let Some(n_entities) = report.entities {
        writeln!(out.summary(), "  SPXI index: {} read", counted(n_entities, "entity"))?;
    }
    for (reason, n_pages) in &report.left_out {
        writeln!(
            out.summary(),
            "  not stored: {} ({})",
            counted(*n_pages, "page"),
            visible(&reason.to_string())
        )?;
    }
    if 0 < report.n_unlisted {
        let pages = counted(report.n_unlisted, "page");
        writeln!(out.summary(), "  {pages} found by links but listed in no sitemap:")?;
        for url in report.unlisted.iter().take(SHOWN_UNLISTED) {
            writeln!(out.summary(), "    {}", visible(url))?;
        }
        let n_more = report.n_unlisted.saturating_sub(SHOWN_UNLISTED as u64);
        if 0 < n_more {
            writeln!(out.summary(), "    and {n_more} more; --json lists up to 1000")?;
        }
    }
    if let Some(better) = &report.better_method {
        writeln!(
            out.summary(),
            "  if the site offered {}, this sync would take {}, about {}",
            method_text(better.method.name()),
            counted(better.requests, "request"),
            format_bytes(better.bytes)
        )?;
    }
    write_problems(report, out);
    Ok(())
}

/// Prints the problems of a sync and the findings about the files of the site.
fn write_problems(report: &SyncReport, out: &mut Output) {
    for trouble in &report.problems {
        let weight = if trouble.is_resolved { "note" } else { "warning" };
        out.warn(format_args!("{weight}: {}: {}", visible(&trouble.place), visible(&trouble.text)));
    }
    if report.sections.values().any(|section| section.reason == PlanReason::Waiting) {
        out.warn("hint: to apply it, use --allow-mass-delete or raise --quota-pages");
    }
    let mut by_url: Vec<(String, Findings)> = Vec::new();
    for (url, finding) in &report.findings {
        if by_url.last().is_none_or(|(last, _)| last != url) {
            by_url.push((url.clone(), Findings::new(Strictness::Lenient)));
        }
        if let Some((_, findings)) = by_url.last_mut() {
            findings.report(finding.clone());
        }
    }
    for (url, findings) in &by_url {
        print_findings(url, findings, out);
    }
}

pub(super) fn write_audit(audit: &AuditReport, out: &mut Output) -> anyhow::Result<()> {
    let cost = format!("{}, {}", counted(audit.requests, "request"), format_bytes(audit.bytes));
    writeln!(out.data(), "{}: {cost}", audit.origin)?;
    for (name, proof) in &audit.sections {
        let (word, detail) = match proof {
            SectionProof::ByState => ("verified by its state", ""),
            SectionProof::ByLines => ("verified page by page", ""),
            SectionProof::Differs(text) => ("differs", text.as_str()),
            SectionProof::Unproven(text) => ("not verified", text.as_str()),
        };
        let gap = if detail.is_empty() { "" } else { ": " };
        writeln!(out.data(), "  {}: {word}{gap}{}", visible(name), visible(detail))?;
    }
    for fault in &audit.faults {
        writeln!(out.data(), "  error: {}", visible(fault))?;
    }
    if 0 < audit.marked {
        let pages = counted(audit.marked, "damaged page");
        writeln!(out.data(), "  {pages} to be fetched again by the next sync")?;
    }
    Ok(())
}

pub(super) fn write_preview(preview: &SyncPreview, out: &mut Output) -> anyhow::Result<()> {
    let SyncPreview { origin, method, why, .. } = preview;
    writeln!(
        out.data(),
        "{origin}: would be synced by {} ({})",
        method_text(method.name()),
        visible(&redact(why))
    )?;
    if let Some(plan) = &preview.plan {
        for (section, step) in &plan.steps {
            let (files, size) = (counted(step.requests(), "file"), format_bytes(step.bytes()));
            let section = visible(section);
            writeln!(out.data(), "  section `{section}`: {files}, {size} ({})", step.reason)?;
            for file in step.files() {
                let url = visible(&redact(&file.url));
                writeln!(out.data(), "    {url}  {}", format_bytes(file.size))?;
            }
        }
    }
    if let Some(pages) = preview.pages {
        writeln!(out.data(), "  single pages: at most {}", counted(pages, "request"))?;
    }
    let cost = format!("{}, {}", counted(preview.requests, "request"), format_bytes(preview.bytes));
    out.say(format_args!("discovery took {cost}"));
    Ok(())
}
