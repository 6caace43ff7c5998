//! What a log says in sum: data for the three outputs beside it.
//!
//! A [`Tally`](crate::Tally) makes it. Rows and cells are in a fixed order, so
//! the same log gives the same bytes.

pub mod json;
pub mod svg;
pub mod text;

use std::collections::BTreeMap;

use rutter_page::Timestamp;

use crate::agents::{Class, Purpose};
use crate::artefact::Artefact;
use crate::parse::Broken;

/// All figures of one or several logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Requests that were counted.
    pub requests: u64,
    /// Bytes of their answers.
    pub bytes: u64,
    /// When the first and the last of them came.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Requests that the filter left out.
    pub left_out: u64,
    /// Lines that are no requests, by reason.
    pub broken: BTreeMap<Broken, u64>,
    /// AI agents: most requests first, then by name.
    pub agents: Vec<Row>,
    /// Everybody else, by kind.
    pub others: Vec<Row>,
    /// How long an answer counts as still known, in seconds.
    pub window: i64,
    /// What AI agents could have done without.
    pub savings: Savings,
    /// What did not fit into the tables.
    pub dropped: Dropped,
}

/// What one agent, or one kind of client, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Name of the agent or of the kind.
    pub name: &'static str,
    /// Kind of client.
    pub class: Class,
    /// What an AI agent reads for.
    pub purpose: Option<Purpose>,
    /// Who runs it.
    pub operator: Option<&'static str>,
    /// Answers of 400 and more, by status.
    pub errors: BTreeMap<u16, u64>,
    /// What it read, in the order of [`Artefact::ALL`]; only what it asked for.
    pub cells: Vec<Cell>,
}

/// What was asked for of one kind of artefact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The kind.
    pub artefact: Artefact,
    /// Requests of any method and with any answer.
    pub requests: u64,
    /// Bytes of all answers.
    pub bytes: u64,
    /// Different targets that were answered with 200, 206 or 304.
    pub distinct: u64,
    /// Tells whether `distinct` was counted and not estimated.
    pub is_exact: bool,
    /// Answers 200.
    pub full: u64,
    /// Answers 304.
    pub not_modified: u64,
    /// Answers of 400 and more.
    pub errors: u64,
    /// Full answers that the client most likely had already.
    pub again: u64,
    /// Bytes of those.
    pub again_bytes: u64,
    /// When the first of the requests came.
    pub first: Timestamp,
    /// When the last came.
    pub last: Timestamp,
}

/// What AI agents could have done without. The two ways are alternatives;
/// their savings do not add up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Savings {
    /// Answers that a conditional request would have made empty.
    pub again: u64,
    /// Bytes of those.
    pub again_bytes: u64,
    /// What collections would have saved, where their size is known.
    pub collections: Option<Collected>,
}

/// What collections would have saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collected {
    /// Files that hold the site together.
    pub files: u64,
    /// Their size.
    pub size: u64,
    /// Readers (a client under one agent's name) for whom it is less.
    pub readers: u64,
    /// Requests those would not have made.
    pub requests: u64,
    /// Bytes those would not have got.
    pub bytes: u64,
}

/// What did not fit into the tables; figures that lean on them are then lower
/// bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// Pairs of client and target that were forgotten before the end.
    pub fetches: u64,
    /// Readers that were forgotten before the end.
    pub readers: u64,
}

impl Row {
    /// Requests for all artefacts.
    pub fn requests(&self) -> u64 {
        self.cells.iter().map(|cell| cell.requests).sum()
    }

    /// Bytes of all answers.
    pub fn bytes(&self) -> u64 {
        self.cells.iter().map(|cell| cell.bytes).sum()
    }
}

impl Cell {
    /// Which part of all answers 200 and 304 was 304, in percent, rounded.
    pub fn unchanged_percent(&self) -> Option<u64> {
        let all = self.full + self.not_modified;
        (0 < all).then(|| (self.not_modified * 100 + all / 2) / all)
    }
}

/// Shows a number of bytes the way people read it.
pub fn bytes(n: u64) -> String {
    let mut tenths = u128::from(n) * 10;
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if tenths < 10_000 {
            break;
        }
        (tenths, unit) = ((tenths + 500) / 1000, larger);
    }
    if unit == "B" { format!("{n} B") } else { format!("{}.{} {unit}", tenths / 10, tenths % 10) }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn ours_sizes_read_well() {
        for (n, wanted) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (1049, "1.0 kB"),
            (1050, "1.1 kB"),
            (999_949, "999.9 kB"),
            (1_500_000, "1.5 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(n), wanted);
        }
    }
}
