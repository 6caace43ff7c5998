//! The columns of an exported page, and the JSON Lines format.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_page::{ReaderView, Timestamp};
use rutter_store::{PageRow, WithheldReason};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{PageSink, StreamSink};
use crate::replica::UsageTerms;

/// A page to export.
pub(super) struct PageColumns<'c> {
    pub(super) site: &'c str,
    pub(super) row: &'c PageRow,
    pub(super) terms: &'c UsageTerms,
    /// The verified line of the page; `None` if the page is withheld.
    pub(super) line: Option<&'c str>,
    /// The page of the line, without unsafe URLs.
    pub(super) view: Option<&'c ReaderView<'c>>,
}

/// The columns of a page except the content, in the order of the output.
#[derive(Debug, Serialize)]
// More than 12 fields: one field per column.
pub(super) struct NamedColumns<'c> {
    pub(super) url: &'c str,
    pub(super) site: &'c str,
    pub(super) title: &'c str,
    pub(super) language: &'c str,
    pub(super) modified: Timestamp,
    pub(super) digest: String,
    pub(super) content_digest: Option<String>,
    pub(super) source: &'static str,
    pub(super) first_seen: Timestamp,
    pub(super) changed: Timestamp,
    pub(super) withheld: Option<&'static str>,
    pub(super) consent: &'static str,
    pub(super) ai_indexable: Option<bool>,
    pub(super) auth_required: Option<bool>,
    pub(super) robots_directive: Option<&'c str>,
}

impl<'c> PageColumns<'c> {
    pub(super) fn named(&self) -> NamedColumns<'c> {
        let Self { site, row, terms, view, .. } = *self;
        NamedColumns {
            url: &row.url,
            site,
            title: &row.title,
            language: &row.language,
            modified: row.modified,
            digest: row.digest.to_string(),
            content_digest: view.map(|view| view.content_digest().to_string()),
            source: row.source.word(),
            first_seen: row.first_seen,
            changed: row.changed,
            withheld: row.withheld.map(WithheldReason::word),
            consent: terms.consent,
            ai_indexable: terms.ai_indexable,
            auth_required: terms.auth_required,
            robots_directive: terms.robots_directive.as_deref(),
        }
    }
}

/// The format of the content of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFormat {
    /// The page object, without unsafe URLs.
    Page,
    /// The stored line byte for byte.
    Raw,
    /// Plain text, as `text`.
    Text,
    /// Markdown, as `markdown`.
    Markdown,
}

/// Writes one JSON object per page.
pub(super) struct JsonLinesSink<W> {
    to: W,
    body: BodyFormat,
}

impl<W: Write> JsonLinesSink<W> {
    pub(super) fn new(to: W, body: BodyFormat) -> Self {
        Self { to, body }
    }
}

#[derive(Serialize)]
struct PageWithBody<'c> {
    #[serde(flatten)]
    named: NamedColumns<'c>,
    #[serde(flatten)]
    body: BTreeMap<&'static str, Option<Box<RawValue>>>,
}

impl<W: Write> PageSink for JsonLinesSink<W> {
    fn page(&mut self, columns: &PageColumns<'_>) -> anyhow::Result<()> {
        let text = |text: String| -> anyhow::Result<Box<RawValue>> {
            Ok(serde_json::value::to_raw_value(&text)?)
        };
        let PageColumns { line, view, .. } = *columns;
        let (name, value) = match self.body {
            BodyFormat::Page => ("page", view.map(|view| raw(&view.line())).transpose()?),
            BodyFormat::Raw => ("page", line.map(raw).transpose()?),
            BodyFormat::Text => ("text", view.map(|view| text(view.page.to_text())).transpose()?),
            BodyFormat::Markdown => {
                ("markdown", view.map(|view| text(view.page.to_markdown())).transpose()?)
            }
        };
        let body = BTreeMap::from([(name, value)]);
        serde_json::to_writer(&mut self.to, &PageWithBody { named: columns.named(), body })?;
        Ok(self.to.write_all(b"\n")?)
    }
}

impl<W: Write> StreamSink for JsonLinesSink<W> {
    fn finish(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn raw(json: &str) -> anyhow::Result<Box<RawValue>> {
    Ok(RawValue::from_string(json.to_owned())?)
}
