//! A table of pages as CSV (RFC 4180).
//!
//! Refuses: to hand a spreadsheet something it would calculate. A cell that
//! begins like a formula gets an apostrophe in front, which shows it as text.

use std::io::{self, Write};

use rutter_finding::visible;

use super::columns::{Body, Named};
use super::{Columns, Sink, Table};

/// The names of the columns.
const HEAD: &str = "url,site,title,language,modified,digest,content_digest,source,first_seen,changed,withheld,\
    consent,ai_indexable,auth_required,robots_directive";

pub(super) struct Csv<W>(W, Body);

impl<W: Write> Csv<W> {
    /// Writes the names of the columns; `body` says what the last one holds.
    pub(super) fn new(mut to: W, body: Body) -> io::Result<Self> {
        let last = if body == Body::Markdown { "markdown" } else { "text" };
        write!(to, "{HEAD},{last}\r\n")?;
        Ok(Self(to, body))
    }
}

impl<W: Write> Sink for Csv<W> {
    fn page(&mut self, columns: &Columns<'_>) -> anyhow::Result<()> {
        let Named {
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
            (Some(view), Body::Markdown) => view.page.to_markdown(),
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

impl<W: Write> Table for Csv<W> {
    fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A cell as it is written.
fn quoted(cell: &str) -> String {
    let cell = neutral(cell);
    let is_plain = !cell.contains(['"', ',', '\r', '\n']) && cell.trim() == cell;
    if is_plain { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

/// Takes the power from what a spreadsheet would take for a formula.
fn neutral(cell: &str) -> String {
    // Some skip space first, and some know the wide forms too.
    let start = cell.trim_start().chars().next();
    let is_formula = start.is_some_and(|start| "=+-@|%＝＋－＠".contains(start));
    let is_odd = cell.starts_with(['\t', '\r', '\n']);
    if is_formula || is_odd { format!("'{cell}") } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test] // G02
    fn ours_no_cell_is_a_formula() {
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
