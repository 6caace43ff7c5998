//! Exports pages as CSV (RFC 4180).
//!
//! A cell that starts like a formula gets a leading apostrophe, so that a spreadsheet shows it as
//! text and does not evaluate it.

use std::io::{self, Write};

use rutter_finding::visible;

use super::columns::{BodyFormat, NamedColumns};
use super::{PageColumns, PageSink, StreamSink};

/// The names of the columns.
const HEAD: &str = "url,site,title,language,modified,digest,content_digest,source,first_seen,changed,withheld,\
    consent,ai_indexable,auth_required,robots_directive";

pub(super) struct CsvSink<W>(W, BodyFormat);

impl<W: Write> CsvSink<W> {
    /// Writes the names of the columns; `body` selects the format of the content, which is the last
    /// column.
    pub(super) fn new(mut to: W, body: BodyFormat) -> io::Result<Self> {
        let last = if body == BodyFormat::Markdown { "markdown" } else { "text" };
        write!(to, "{HEAD},{last}\r\n")?;
        Ok(Self(to, body))
    }
}

impl<W: Write> PageSink for CsvSink<W> {
    fn page(&mut self, columns: &PageColumns<'_>) -> anyhow::Result<()> {
        let NamedColumns {
            url,
            site,
            title,
            language,
            modified,
            digest,
            content_digest,
            source,
            first_seen,
            changed,
            withheld,
            consent,
            ai_indexable,
            auth_required,
            robots_directive,
        } = columns.named();
        let text = match (columns.view, self.1) {
            (Some(view), BodyFormat::Markdown) => view.page.to_markdown(),
            (Some(view), _) => view.page.to_text(),
            (None, _) => String::new(),
        };
        let flag = |flag: Option<bool>| flag.map_or("", |flag| if flag { "true" } else { "false" });
        let times = [modified, first_seen, changed].map(|time| time.to_string());
        let [modified, first_seen, changed] = &times;
        let cells = [
            visible(url),
            visible(site),
            visible(title),
            visible(language),
            modified.clone(),
            digest,
            content_digest.unwrap_or_default(),
            source.to_owned(),
            first_seen.clone(),
            changed.clone(),
            withheld.unwrap_or_default().to_owned(),
            consent.to_owned(),
            flag(ai_indexable).to_owned(),
            flag(auth_required).to_owned(),
            visible(robots_directive.unwrap_or_default()),
            text,
        ];
        let row: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        self.0.write_all(row.join(",").as_bytes())?;
        Ok(self.0.write_all(b"\r\n")?)
    }
}

impl<W: Write> StreamSink for CsvSink<W> {
    fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Quotes a cell.
fn quoted(cell: &str) -> String {
    let cell = neutral(cell);
    let is_plain = !cell.contains(['"', ',', '\r', '\n']) && cell.trim() == cell;
    if is_plain { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

/// Adds an apostrophe to a cell that a spreadsheet would evaluate as a formula.
fn neutral(cell: &str) -> String {
    // Some spreadsheets skip white space before a formula, and some accept full-width characters.
    let start = cell.trim_start().chars().next();
    let is_formula = start.is_some_and(|start| "=+-@|%＝＋－＠".contains(start));
    let is_odd = cell.starts_with(['\t', '\r', '\n']);
    if is_formula || is_odd { format!("'{cell}") } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test] // G02
    fn cells_are_never_formulas() {
        for (cell, written) in [
            ("Tides", "Tides"),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            (" =1", "' =1"),
            ("\t=1", "'\t=1"),
            ("\n=1", "\"'\n=1\""),
            ("＝1", "'＝1"),
            ("|calc", "'|calc"),
            ("a=1", "a=1"),
            ("a,b", "\"a,b\""),
            ("say \"=1\"", "\"say \"\"=1\"\"\""),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("", ""),
        ] {
            assert_eq!(quoted(cell), written, "{cell:?}");
        }
    }
}
