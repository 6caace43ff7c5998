//! Survival as a table of text.

use std::fmt::Write;

use rutter_finding::visible;
use rutter_spxi::MarkerStatus;

use super::{Share, Stage, Survivals};

/// Widest name that is shown whole.
const WIDEST: usize = 32;

pub(super) fn of(all: &Survivals) -> String {
    let mut rows = vec![header()];
    for entity in &all.entities {
        rows.push(row(&entity.name, |stage| entity.share(stage)));
    }
    if 1 < all.entities.len() {
        rows.push(row("all", |stage| all.share(stage)));
    }
    let mut out = String::new();
    push_rows(&rows, &mut out);
    for entity in &all.entities {
        for marker in &entity.markers {
            let Some(stage) = marker.first_lost() else { continue };
            let near = match &marker.status {
                MarkerStatus::Near(found) => format!("; the page has: {}", visible(found)),
                MarkerStatus::Visible => String::new(),
                status => format!("; {} on the page", status.word()),
            };
            writeln!(
                out,
                "{}: first lost at {}: {}{near}",
                visible(&entity.name),
                stage.word(),
                visible(&marker.text)
            )
            .expect("a string takes everything");
        }
    }
    out
}

fn header() -> Vec<String> {
    let stages = Stage::ALL.iter().map(|stage| stage.word());
    ["entity".to_owned()].into_iter().chain(stages).collect()
}

fn row(name: &str, share: impl Fn(Stage) -> Option<Share>) -> Vec<String> {
    let mut shown = visible(name);
    if WIDEST < shown.chars().count() {
        shown = shown.chars().take(WIDEST - 1).chain(['\u{2026}']).collect();
    }
    let shares = Stage::ALL.iter().map(|stage| match share(*stage) {
        Some(share) => share.to_string(),
        None => "-".to_owned(),
    });
    [shown].into_iter().chain(shares).collect()
}

/// Rows of cells, each column as wide as its widest cell, the first to the
/// left and the others to the right.
pub(crate) fn push_rows(rows: &[Vec<String>], out: &mut String) {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    for row in rows {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(width - cell.chars().count());
            if column == 0 {
                out.push_str(cell);
                out.push_str(&gap);
            } else {
                out.push_str("  ");
                out.push_str(&gap);
                out.push_str(cell);
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
}
