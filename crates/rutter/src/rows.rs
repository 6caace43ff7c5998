//! Output of commands that print many records: text, one JSON document or JSON Lines.
//!
//! Input: one JSON object per record, as it becomes known. Output: with `--format json` one
//! document `{"version": 1, NAME: [...]}`, with `--format jsonl` one object per line. Records are
//! written as they come, so that a list of any length needs memory for one record.
//! A command that fails does not close the document, so that a part is not taken for the whole.

use clap::ValueEnum;

use crate::output::Output;

/// `--format` and `--json` of a command that prints records.
#[derive(Debug, clap::Args)]
pub(crate) struct RowArgs {
    /// How to print it
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    format: RowFormat,
    /// Short form of `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// A form of a list of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// One JSON object per line
    Jsonl,
}

impl RowArgs {
    pub(crate) fn format(&self) -> RowFormat {
        if self.json { RowFormat::Json } else { self.format }
    }

    pub(crate) fn is_text(&self) -> bool {
        self.format() == RowFormat::Text
    }

    /// The records, which a document has under this name.
    pub(crate) fn rows(&self, name: &'static str) -> Rows {
        Rows { format: self.format(), name, is_begun: false, last: None }
    }
}

/// Writes records. Prints nothing where text is wanted.
#[derive(Debug)]
pub(crate) struct Rows {
    format: RowFormat,
    name: &'static str,
    is_begun: bool,
    /// The record that was not printed yet: a comma follows it where another one comes.
    last: Option<String>,
}

impl Rows {
    pub(crate) fn is_text(&self) -> bool {
        self.format == RowFormat::Text
    }

    /// Writes one record, a JSON object on one line.
    pub(crate) fn push(&mut self, json: String, out: &mut Output) -> anyhow::Result<()> {
        match self.format {
            RowFormat::Text => Ok(()),
            RowFormat::Jsonl => out.exact(&json),
            RowFormat::Json => {
                self.begin(out)?;
                match self.last.replace(json) {
                    Some(last) => out.exact(&format!("{last},")),
                    None => Ok(()),
                }
            }
        }
    }

    /// Ends the document.
    pub(crate) fn finish(mut self, out: &mut Output) -> anyhow::Result<()> {
        if self.format != RowFormat::Json {
            return Ok(());
        }
        self.begin(out)?;
        if let Some(last) = self.last.take() {
            out.exact(&last)?;
        }
        out.exact("]}")
    }

    fn begin(&mut self, out: &mut Output) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.is_begun, true) {
            return Ok(());
        }
        out.exact(&format!("{{\"version\":1,\"{}\":[", self.name))
    }
}
