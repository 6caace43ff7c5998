//! Judges what ARC publishes: sitemaps in JSON and YAML, the changes of a day,
//! pointers in JSON-LD, policies.
//!
//! Form and consent are judged by `rutter-arc`; what no format should carry,
//! secrets and personal data, is looked for here.

use std::io;

use rutter_arc::pointer::{self, Found};
use rutter_arc::{
    ArcError, Entry, Form, Head, Judge, Limits, Policy, Whole, day_of_name, form, open, rules,
};
use rutter_finding::{Finding, FindingSink, Place};
use rutter_page::Private;

use crate::signpost::{SNIFFED, read};
use crate::{Judging, Kind, Subject};

/// Sees by its name, then by its first bytes, whether a file is one of ARC.
pub(crate) fn kind(name: &str, start: &[u8]) -> Option<Kind> {
    let is_day = name.contains("arc-sitemap-deltas") && day_of_name(name).is_some();
    match file_name(name) {
        "arc-policy.json" => return Some(Kind::ArcPolicy),
        "arc-sitemap.json" | "arc-sitemap.yaml" | "arc-sitemap.yml" | "arc-sitemap.jsonld" => {
            return Some(Kind::Arc);
        }
        _ if is_day => return Some(Kind::Arc),
        _ => {}
    }
    form(start).map(|form| match form {
        Form::Policy => Kind::ArcPolicy,
        Form::Json | Form::Yaml | Form::Pointer => Kind::Arc,
    })
}

/// Whether the first bytes are those of a pointer in JSON-LD.
pub(crate) fn is_pointer(start: &[u8]) -> bool {
    form(start) == Some(Form::Pointer)
}

fn file_name(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".gz").unwrap_or(name)
}

/// Judges a sitemap, the changes of a day, or a pointer, and hands each entry
/// on; gives the number of entries and what stands beside them.
pub(crate) fn sitemap(
    subject: &Subject<'_>,
    judging: &Judging,
    take: &mut dyn FnMut(&Entry<'_>, u64),
    sink: &mut dyn FindingSink,
) -> Result<(u64, Head), ArcError> {
    let by_name = match file_name(&subject.name).rsplit('.').next() {
        Some("yaml" | "yml") => Form::Yaml,
        Some("jsonld") => Form::Pointer,
        _ => Form::Json,
    };
    let form = form(&read(subject, SNIFFED)?).unwrap_or(by_name);
    if form == Form::Pointer && pointer::read((subject.open)()?.0, sink)? != Found::Sitemap {
        return Ok((0, Head::default()));
    }
    let mut reader = open((subject.open)()?.0, form, Limits::USUAL)?;
    let mut judge = Judge::new(judging.now);
    while reader
        .visit(sink, |entry, idx, sink| {
            judge.see(&entry, idx, sink);
            take(&entry, idx);
            look_for_private(&entry, idx, sink);
        })?
        .is_some()
    {}
    let receipt = reader.finish(sink)?;
    let whole = day_of_name(&subject.name).map_or(Whole::Sitemap, Whole::Day);
    judge.finish(&receipt, whole, sink);
    Ok((receipt.pages, receipt.head))
}

/// Judges a policy.
pub(crate) fn policy(subject: &Subject<'_>, sink: &mut dyn FindingSink) -> io::Result<()> {
    Policy::read((subject.open)()?.0, sink)?;
    Ok(())
}

fn look_for_private(entry: &Entry<'_>, idx: u64, sink: &mut dyn FindingSink) {
    let mut look = |name: &str, text: &str| {
        let found = Private::of(text);
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
