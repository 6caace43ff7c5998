//! Writes lists of records as one JSON document or JSON Lines; commands write the text format
//! themselves.
//!
//! Input: one JSON object per record. Output: with `--format json` one document
//! `{"version": 1, NAME: [...]}`, with `--format jsonl` one object per line. Records are written
//! one by one, so that memory does not grow with their number. A command that fails does not
//! close the document, so that partial output is not valid JSON.

use clap::ValueEnum;

use crate::output::Output;

/// The arguments `--format` and `--json` of a command that prints records.
#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = RecordFormat::Text)]
    format: RecordFormat,
    /// Print JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// An output format for records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordFormat {
    /// Text for people
    Text,
    /// One JSON document
    Json,
    /// One JSON object per line
    Jsonl,
}

impl RecordArgs {
    pub(crate) fn format(&self) -> RecordFormat {
        if self.json { RecordFormat::Json } else { self.format }
    }

    pub(crate) fn is_text(&self) -> bool {
        self.format() == RecordFormat::Text
    }

    /// Returns a writer of records; a JSON document has the records under the key `name`.
    pub(crate) fn rows(&self, name: &'static str) -> RecordWriter {
        RecordWriter { format: self.format(), name, is_begun: false, last: None }
    }
}

/// Writes records as JSON or JSON Lines. Writes nothing if the format is text.
#[derive(Debug)]
pub(crate) struct RecordWriter {
    format: RecordFormat,
    name: &'static str,
    is_begun: bool,
    /// The last record, which is not printed yet: it is printed with a comma if another record
    /// follows.
    last: Option<String>,
}

impl RecordWriter {
    pub(crate) fn is_text(&self) -> bool {
        self.format == RecordFormat::Text
    }

    /// Writes one record, which is a JSON object on one line.
    pub(crate) fn push(&mut self, json: String, out: &mut Output) -> anyhow::Result<()> {
        match self.format {
            RecordFormat::Text => Ok(()),
            RecordFormat::Jsonl => out.exact(&json),
            RecordFormat::Json => {
                self.begin(out)?;
                match self.last.replace(json) {
                    Some(last) => out.exact(&format!("{last},")),
                    None => Ok(()),
                }
            }
        }
    }

    /// Prints the last record and closes the JSON document.
    pub(crate) fn finish(mut self, out: &mut Output) -> anyhow::Result<()> {
        if self.format != RecordFormat::Json {
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
