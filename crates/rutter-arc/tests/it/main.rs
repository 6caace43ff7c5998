//! Tests of the crate by document format.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod delta;
mod json;
mod pointer;
mod policy;
mod snapshot;
mod yaml;

use rutter_arc::{ArcDocumentKind, ArcEntry, ArcError, ArcReceipt, Limits, open_sitemap};
use rutter_finding::Finding;
use rutter_page::{IntoOwned, PageUrl, Timestamp};

/// Result of reading a document.
pub(crate) struct Read {
    pub(crate) entries: Vec<ArcEntry<'static>>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) result: Result<ArcReceipt, ArcError>,
}

impl Read {
    /// Code and pointer of each finding.
    pub(crate) fn said(&self) -> Vec<(&'static str, &str)> {
        let said = |it: &'_ Finding| (it.rule.code, it.place.pointer.as_str().to_owned().leak());
        self.findings.iter().map(said).map(|(code, place)| (code, &*place)).collect()
    }

    /// Code of the rule that rejected the document.
    pub(crate) fn refused(&self) -> Option<&'static str> {
        match &self.result {
            Err(ArcError::Refused(refusal)) => Some(refusal.rule.code),
            _ => None,
        }
    }
}

pub(crate) fn read(bytes: &[u8], form: ArcDocumentKind, limits: Limits) -> Read {
    let mut findings = Vec::new();
    let mut entries = Vec::new();
    let result = (|| {
        let mut reader = open_sitemap(bytes, form, limits)?;
        while let Some(entry) = reader.next(&mut findings, |entry| entry.into_owned())? {
            entries.push(entry);
        }
        reader.finish(&mut findings)
    })();
    Read { entries, findings, result }
}

pub(crate) fn json(text: &str) -> Read {
    read(text.as_bytes(), ArcDocumentKind::Json, Limits::DEFAULT)
}

/// A document around some entries.
pub(crate) fn document(pages: &str) -> String {
    format!(
        "{{\"arc_sitemap_version\":\"2.1\",\"site\":\"https://harbour.example\",\
         \"generated_at\":\"2026-05-01T00:00:00Z\",\"pages\":[{pages}]}}"
    )
}

pub(crate) fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

pub(crate) fn url(path: &str) -> PageUrl<'static> {
    PageUrl::parse(format!("https://harbour.example/{path}")).unwrap()
}
