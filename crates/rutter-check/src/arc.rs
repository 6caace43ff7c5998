//! Checks ARC files: sitemaps in JSON and YAML, dated deltas, JSON-LD pointers and
//! policies.
//!
//! The crate `rutter-arc` checks format and consent. This module also searches for secrets and
//! personal data.

use rutter_report::FileKind;
use std::io;

use rutter_arc::pointer::{self, JsonLdFile};
use rutter_arc::{
    ArcDocumentKind, ArcEntry, ArcError, ArcPolicy, ExpectedDocument, Limits, SitemapChecker,
    SitemapHeader, detect_format, open_sitemap, parse_delta_file_name, rules,
};
use rutter_finding::{Finding, FindingSink, Place};
use rutter_page::SensitiveData;

use crate::signpost::{SNIFFED, read};
use crate::{CheckOptions, CheckTarget};

/// Detects an ARC file by its name or, for an unknown name, by its first bytes.
pub(crate) fn kind(name: &str, start: &[u8]) -> Option<FileKind> {
    let is_day = name.contains("arc-sitemap-deltas") && parse_delta_file_name(name).is_some();
    match file_name(name) {
        "arc-policy.json" => return Some(FileKind::ArcPolicy),
        "arc-sitemap.json" | "arc-sitemap.yaml" | "arc-sitemap.yml" | "arc-sitemap.jsonld" => {
            return Some(FileKind::Arc);
        }
        _ if is_day => return Some(FileKind::Arc),
        _ => {}
    }
    detect_format(start).map(|form| match form {
        ArcDocumentKind::Policy => FileKind::ArcPolicy,
        ArcDocumentKind::Json | ArcDocumentKind::Yaml | ArcDocumentKind::Pointer => FileKind::Arc,
    })
}

/// Returns whether the first bytes are those of a JSON-LD pointer.
pub(crate) fn is_pointer(start: &[u8]) -> bool {
    detect_format(start) == Some(ArcDocumentKind::Pointer)
}

fn file_name(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".gz").unwrap_or(name)
}

/// Checks a sitemap, delta or pointer and passes each entry to a callback. Returns the number of
/// entries and the header of the document.
pub(crate) fn sitemap(
    subject: &CheckTarget<'_>,
    check_options: &CheckOptions,
    take: &mut dyn FnMut(&ArcEntry<'_>, u64),
    sink: &mut dyn FindingSink,
) -> Result<(u64, SitemapHeader), ArcError> {
    let by_name = match file_name(&subject.name).rsplit('.').next() {
        Some("yaml" | "yml") => ArcDocumentKind::Yaml,
        Some("jsonld") => ArcDocumentKind::Pointer,
        _ => ArcDocumentKind::Json,
    };
    let form = detect_format(&read(subject, SNIFFED)?).unwrap_or(by_name);
    if form == ArcDocumentKind::Pointer
        && pointer::read((subject.open)()?.0, sink)? != JsonLdFile::Sitemap
    {
        return Ok((0, SitemapHeader::default()));
    }
    let mut reader = open_sitemap((subject.open)()?.0, form, Limits::DEFAULT)?;
    let mut judge = SitemapChecker::new(check_options.now);
    while reader
        .visit(sink, |entry, idx, sink| {
            judge.check_entry(&entry, idx, sink);
            take(&entry, idx);
            look_for_private(&entry, idx, sink);
        })?
        .is_some()
    {}
    let receipt = reader.finish(sink)?;
    let whole = parse_delta_file_name(&subject.name)
        .map_or(ExpectedDocument::Sitemap, ExpectedDocument::Day);
    judge.finish(&receipt, whole, sink);
    Ok((receipt.pages, receipt.head))
}

/// Checks an ARC policy.
pub(crate) fn policy(subject: &CheckTarget<'_>, sink: &mut dyn FindingSink) -> io::Result<()> {
    ArcPolicy::read((subject.open)()?.0, sink)?;
    Ok(())
}

fn look_for_private(entry: &ArcEntry<'_>, idx: u64, sink: &mut dyn FindingSink) {
    let mut look = |name: &str, text: &str| {
        let found = SensitiveData::find_in(text);
        let place = || Place { line: None, pointer: format!("/pages/{idx}/{name}") };
        for (kind, mark) in &found.secrets {
            let detail = format!("{kind} {mark}");
            sink.report(Finding::new(&rules::SECRET, place(), detail));
        }
        if let Some(personal) = found.personal() {
            sink.report(Finding::new(&rules::PERSONAL_DATA, place(), personal));
        }
    };
    if let Some(summary) = &entry.ai_summary {
        look("ai_summary", summary);
    }
    for (n, tag) in entry.ai_tags.iter().enumerate() {
        look(&format!("ai_tags/{n}"), tag);
    }
    if let Some(snapshot) = &entry.ai_snapshot {
        look("ai_snapshot", snapshot.get());
    }
}
