//! Text output of a [`LogSummary`]: tables, and sentences about possible savings.

use std::io::{self, Write};

use rutter_page::Timestamp;

use super::{ArtifactCounts, ClientRow, LogSummary, bytes};
use crate::agents::Purpose;

/// Writes a summary as text.
pub fn write(out: &mut dyn Write, summary: &LogSummary) -> io::Result<()> {
    head(out, summary)?;
    if !summary.agents.is_empty() {
        let mut table = TextTable::new(&AGENTS);
        for row in &summary.agents {
            push_agent(&mut table, row);
        }
        table.write(out)?;
    }
    if !summary.others.is_empty() {
        let mut table = TextTable::new(&OTHERS);
        for row in summary.others.iter().map(other) {
            table.push(row);
        }
        table.write(out)?;
    }
    savings(out, summary)?;
    dropped(out, summary)
}

fn head(out: &mut dyn Write, summary: &LogSummary) -> io::Result<()> {
    write!(out, "{}", count(summary.requests, "request"))?;
    if let Some((first, last)) = summary.span {
        write!(out, ", {first} to {last}, {}", bytes(summary.bytes))?;
    }
    let by_ai: u64 = summary.agents.iter().map(ClientRow::requests).sum();
    let agents = count(summary.agents.len() as u64, "AI agent");
    write!(out, "; {by_ai} by {agents}")?;
    if 0 < summary.filtered_out {
        write!(out, "; {} excluded by the filter", summary.filtered_out)?;
    }
    let broken: u64 = summary.broken.values().sum();
    if 0 < broken {
        write!(out, "; {} unreadable", count(broken, "line"))?;
    }
    writeln!(out)
}

const AGENTS: [(&str, ColumnAlignment); 11] = [
    ("AI agent", ColumnAlignment::Left),
    ("purpose", ColumnAlignment::Left),
    ("operator", ColumnAlignment::Left),
    ("artifact", ColumnAlignment::Left),
    ("requests", ColumnAlignment::Right),
    ("distinct", ColumnAlignment::Right),
    ("bytes", ColumnAlignment::Right),
    ("304", ColumnAlignment::Right),
    ("errors", ColumnAlignment::Right),
    ("repeated", ColumnAlignment::Right),
    ("first and last", ColumnAlignment::Left),
];

fn push_agent(table: &mut TextTable, row: &ClientRow) {
    for (idx, cell) in row.cells.iter().enumerate() {
        let mut cells = if idx == 0 {
            let purpose = row.purpose.map_or("", Purpose::name);
            vec![row.name.to_owned(), purpose.to_owned(), row.operator.unwrap_or("-").to_owned()]
        } else {
            vec![String::new(); 3]
        };
        let percent = cell.unchanged_percent();
        cells.extend([
            cell.artifact.name().to_owned(),
            cell.requests.to_string(),
            distinct(cell),
            bytes(cell.bytes),
            percent.map_or("-".to_owned(), |percent| format!("{percent} %")),
            cell.errors.to_string(),
            cell.repeated.to_string(),
            format!("{}  {}", minute(cell.first), minute(cell.last)),
        ]);
        table.push(cells);
    }
}

fn distinct(cell: &ArtifactCounts) -> String {
    let about = if cell.is_exact { "" } else { "~" };
    format!("{about}{}", cell.distinct)
}

fn minute(time: Timestamp) -> String {
    let text = time.to_string().replace('T', " ");
    text.get(..16).unwrap_or(&text).to_owned()
}

const OTHERS: [(&str, ColumnAlignment); 5] = [
    ("others", ColumnAlignment::Left),
    ("requests", ColumnAlignment::Right),
    ("bytes", ColumnAlignment::Right),
    ("errors", ColumnAlignment::Right),
    ("repeated", ColumnAlignment::Right),
];

fn other(row: &ClientRow) -> Vec<String> {
    let sum = |of: fn(&ArtifactCounts) -> u64| row.cells.iter().map(of).sum::<u64>();
    vec![
        row.name.to_owned(),
        row.requests().to_string(),
        bytes(row.bytes()),
        sum(|cell| cell.errors).to_string(),
        sum(|cell| cell.repeated).to_string(),
    ]
}

fn savings(out: &mut dyn Write, summary: &LogSummary) -> io::Result<()> {
    if summary.agents.is_empty() {
        return Ok(());
    }
    let all: u64 = summary.agents.iter().map(ClientRow::bytes).sum();
    let savings = &summary.savings;
    writeln!(
        out,
        "\nDownloaded again within {} h with the same size and without a conditional request: {}, {}.",
        summary.window / 3600,
        count(savings.repeated, "response"),
        bytes(savings.repeated_bytes)
    )?;
    writeln!(
        out,
        "Conditional requests would have saved AI agents {} of {} ({} %).",
        bytes(savings.repeated_bytes),
        bytes(all),
        percent(savings.repeated_bytes, all)
    )?;
    match &savings.collections {
        None => {
            writeln!(out, "Collections: none was fetched in this log, so their size is unknown.")
        }
        Some(collected) if collected.readers == 0 => writeln!(
            out,
            "Collections ({}, {}) would have saved nothing: no reader fetched more than they contain.",
            count(collected.files, "file"),
            bytes(collected.size)
        ),
        Some(collected) => writeln!(
            out,
            "Collections ({}, {}) would have saved {} {} and {}.",
            count(collected.files, "file"),
            bytes(collected.size),
            count(collected.readers, "reader"),
            count(collected.requests, "request"),
            bytes(collected.bytes)
        ),
    }
}

fn dropped(out: &mut dyn Write, summary: &LogSummary) -> io::Result<()> {
    let dropped = summary.dropped;
    if 0 < dropped.fetches {
        let n = dropped.fetches;
        writeln!(
            out,
            "Dropped to limit memory: {n} pairs of client and target; \"repeated\" is a lower bound."
        )?;
    }
    if 0 < dropped.readers {
        let n = dropped.readers;
        writeln!(
            out,
            "Dropped to limit memory: {n} readers; the savings by collections are a lower bound."
        )?;
    }
    Ok(())
}

pub use rutter_finding::counted as count;

fn percent(part: u64, whole: u64) -> u128 {
    let whole = u128::from(whole);
    (u128::from(part) * 100 + whole / 2).checked_div(whole).unwrap_or(0)
}

#[derive(Debug, Clone, Copy)]
enum ColumnAlignment {
    Left,
    Right,
}

/// A text table whose columns are as wide as their content.
struct TextTable {
    columns: &'static [(&'static str, ColumnAlignment)],
    rows: Vec<Vec<String>>,
}

impl TextTable {
    fn new(columns: &'static [(&'static str, ColumnAlignment)]) -> Self {
        Self { columns, rows: vec![columns.iter().map(|(name, _)| (*name).to_owned()).collect()] }
    }

    fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = |idx: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(idx));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        writeln!(out)?;
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, (_, side)), width) in row.iter().zip(self.columns).zip(&widths) {
                let cell = match side {
                    ColumnAlignment::Left => format!("{cell:<width$}"),
                    ColumnAlignment::Right => format!("{cell:>width$}"),
                };
                line.push_str(&cell);
                line.push_str("  ");
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
