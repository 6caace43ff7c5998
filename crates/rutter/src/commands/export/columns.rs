//! What an export says of each page, and the form that says it as JSON Lines.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_page::{ReaderView, Timestamp};
use rutter_store::{PageRow, Withheld};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Sink, Table};
use crate::replica::Terms;

/// One page on its way out.
pub(super) struct Columns<'c> {
    pub(super) site: &'c str,
    pub(super) row: &'c PageRow,
    pub(super) terms: &'c Terms,
    /// The verified line; `None` where it is withheld.
    pub(super) line: Option<&'c str>,
    /// The page of the line, as a reader must see it.
    pub(super) view: Option<&'c ReaderView<'c>>,
}

/// The columns by their names, in their order.
#[derive(Debug, Serialize)]
pub(super) struct Named<'c> {
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

impl<'c> Columns<'c> {
    pub(super) fn named(&self) -> Named<'c> {
        let Self { site, row, terms, view, .. } = *self;
        Named {
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
            withheld: row.withheld.map(Withheld::word),
            consent: terms.consent,
            ai_indexable: terms.ai_indexable,
            auth_required: terms.auth_required,
            robots_directive: terms.robots_directive.as_deref(),
        }
    }
}

/// What of a page stands in its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// The page object as a reader must see it.
    Page,
    /// The stored line byte for byte.
    Raw,
    /// Plain text, as `text`.
    Text,
    /// Markdown, as `markdown`.
    Markdown,
}

/// One object per page.
pub(super) struct JsonLines<W> {
    to: W,
    body: Body,
}

impl<W: Write> JsonLines<W> {
    pub(super) fn new(to: W, body: Body) -> Self {
        Self { to, body }
    }
}

#[derive(Serialize)]
struct WithBody<'c> {
    #[serde(flatten)]
    named: Named<'c>,
    #[serde(flatten)]
    body: BTreeMap<&'static str, Option<Box<RawValue>>>,
}

impl<W: Write> Sink for JsonLines<W> {
    fn page(&mut self, columns: &Columns<'_>) -> anyhow::Result<()> {
        let text = |text: String| -> anyhow::Result<Box<RawValue>> {
            Ok(serde_json::value::to_raw_value(&text)?)
        };
        let Columns { line, view, .. } = *columns;
        let (name, value) = match self.body {
            Body::Page => ("page", view.map(|view| raw(&view.line())).transpose()?),
            Body::Raw => ("page", line.map(raw).transpose()?),
            Body::Text => ("text", view.map(|view| text(view.page.to_text())).transpose()?),
            Body::Markdown => {
                ("markdown", view.map(|view| text(view.page.to_markdown())).transpose()?)
            }
        };
        let body = BTreeMap::from([(name, value)]);
        serde_json::to_writer(&mut self.to, &WithBody { named: columns.named(), body })?;
        Ok(self.to.write_all(b"\n")?)
    }
}

impl<W: Write> Table for JsonLines<W> {
    fn finish(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn raw(json: &str) -> anyhow::Result<Box<RawValue>> {
    Ok(RawValue::from_string(json.to_owned())?)
}
