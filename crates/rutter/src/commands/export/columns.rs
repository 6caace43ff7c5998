//! What an export says of each page, and the form that says it as JSON Lines.

use std::io::{self, Write};

use rutter_page::Timestamp;
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
        let Self { site, row, terms, .. } = *self;
        Named {
            url: &row.url,
            site,
            title: &row.title,
            language: &row.language,
            modified: row.modified,
            digest: row.digest.to_string(),
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

/// One object per page; the line stands in it byte for byte.
pub(super) struct JsonLines<W>(W);

impl<W: Write> JsonLines<W> {
    pub(super) fn new(to: W) -> Self {
        Self(to)
    }
}

#[derive(Serialize)]
struct WithPage<'c> {
    #[serde(flatten)]
    named: Named<'c>,
    page: Option<&'c RawValue>,
}

impl<W: Write> Sink for JsonLines<W> {
    fn page(&mut self, columns: &Columns<'_>) -> anyhow::Result<()> {
        let page: Option<&RawValue> = columns.line.map(serde_json::from_str).transpose()?;
        serde_json::to_writer(&mut self.0, &WithPage { named: columns.named(), page })?;
        Ok(self.0.write_all(b"\n")?)
    }
}

impl<W: Write> Table for JsonLines<W> {
    fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
