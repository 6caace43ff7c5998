//! For people: tables, and a few sentences about what could be saved.

use std::io::{self, Write};

use rutter_page::Timestamp;

use super::{Cell, Row, Summary, bytes};
use crate::agents::Purpose;

/// Writes everything a summary holds.
pub fn write(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    head(out, summary)?;
    if !summary.agents.is_empty() {
        let mut table = Table::new(&AGENTS);
        for row in &summary.agents {
            push_agent(&mut table, row);
        }
        table.write(out)?;
    }
    if !summary.others.is_empty() {
        let mut table = Table::new(&OTHERS);
        for row in summary.others.iter().map(other) {
            table.push(row);
        }
        table.write(out)?;
    }
    savings(out, summary)?;
    dropped(out, summary)
}

fn head(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    write!(out, "{}", count(summary.requests, "request"))?;
    if let Some((first, last)) = summary.span {
        write!(out, ", {first} to {last}, {}", bytes(summary.bytes))?;
    }
    let by_ai: u64 = summary.agents.iter().map(Row::requests).sum();
    let agents = count(summary.agents.len() as u64, "AI agent");
    write!(out, "; {by_ai} by {agents}")?;
    if 0 < summary.left_out {
        write!(out, "; {} left out", summary.left_out)?;
    }
    let broken: u64 = summary.broken.values().sum();
    if 0 < broken {
        write!(out, "; {} unreadable", count(broken, "line"))?;
    }
    writeln!(out)
}

const AGENTS: [(&str, Side); 11] = [
    ("AI agent", Side::Left),
    ("purpose", Side::Left),
    ("operator", Side::Left),
    ("artefact", Side::Left),
    ("requests", Side::Right),
    ("distinct", Side::Right),
    ("bytes", Side::Right),
    ("304", Side::Right),
    ("errors", Side::Right),
    ("again", Side::Right),
    ("first and last", Side::Left),
];

fn push_agent(table: &mut Table, row: &Row) {
    for (idx, cell) in row.cells.iter().enumerate() {
        let mut cells = if idx == 0 {
            let purpose = row.purpose.map_or("", Purpose::name);
            vec![row.name.to_owned(), purpose.to_owned(), row.operator.unwrap_or("-").to_owned()]
        } else {
            vec![String::new(); 3]
        };
        let percent = cell.unchanged_percent();
        cells.extend([
            cell.artefact.name().to_owned(),
            cell.requests.to_string(),
            distinct(cell),
            bytes(cell.bytes),
            percent.map_or("-".to_owned(), |percent| format!("{percent} %")),
            cell.errors.to_string(),
            cell.again.to_string(),
            format!("{}  {}", minute(cell.first), minute(cell.last)),
        ]);
        table.push(cells);
    }
}

fn distinct(cell: &Cell) -> String {
    let about = if cell.is_exact { "" } else { "~" };
    format!("{about}{}", cell.distinct)
}

fn minute(time: Timestamp) -> String {
    let text = time.to_string().replace('T', " ");
    text.get(..16).unwrap_or(&text).to_owned()
}

const OTHERS: [(&str, Side); 5] = [
    ("others", Side::Left),
    ("requests", Side::Right),
    ("bytes", Side::Right),
    ("errors", Side::Right),
    ("again", Side::Right),
];

fn other(row: &Row) -> Vec<String> {
    let sum = |of: fn(&Cell) -> u64| row.cells.iter().map(of).sum::<u64>();
    vec![
        row.name.to_owned(),
        row.requests().to_string(),
        bytes(row.bytes()),
        sum(|cell| cell.errors).to_string(),
        sum(|cell| cell.again).to_string(),
    ]
}

fn savings(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    if summary.agents.is_empty() {
        return Ok(());
    }
    let all: u64 = summary.agents.iter().map(Row::bytes).sum();
    let savings = &summary.savings;
    writeln!(
        out,
        "\nRead again within {} h, same size, never asked whether it changed: {}, {}.",
        summary.window / 3600,
        count(savings.again, "answer"),
        bytes(savings.again_bytes)
    )?;
    writeln!(
        out,
        "Conditional requests would have saved AI agents {} of {} ({} %).",
        bytes(savings.again_bytes),
        bytes(all),
        percent(savings.again_bytes, all)
    )?;
    match &savings.collections {
        None => writeln!(
            out,
            "Collections: none was fetched here, so their size is not known; --collection tells it."
        ),
        Some(collected) if collected.readers == 0 => writeln!(
            out,
            "Collections ({}, {}) would have saved nothing: nobody read more than they hold.",
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

fn dropped(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let dropped = summary.dropped;
    if 0 < dropped.fetches {
        let n = dropped.fetches;
        writeln!(
            out,
            "Forgotten for want of room: {n} pairs of client and target; \"again\" is a lower bound."
        )?;
    }
    if 0 < dropped.readers {
        let n = dropped.readers;
        writeln!(
            out,
            "Forgotten for want of room: {n} readers; what collections save is a lower bound."
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
enum Side {
    Left,
    Right,
}

/// Rows in columns as wide as they need to be.
struct Table {
    columns: &'static [(&'static str, Side)],
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(columns: &'static [(&'static str, Side)]) -> Self {
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
                    Side::Left => format!("{cell:<width$}"),
                    Side::Right => format!("{cell:>width$}"),
                };
                line.push_str(&cell);
                line.push_str("  ");
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
