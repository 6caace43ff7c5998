//! Formats the survival of markers as a text table.

use std::fmt::Write;

use crate::MarkerStatus;
use rutter_finding::visible;

use super::{KeptShare, PathStage, SiteSurvival};

/// Maximum width of a name in characters.
const MAX_NAME_WIDTH: usize = 32;

pub(super) fn of(all: &SiteSurvival) -> String {
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
            .expect("writing to a string never fails");
        }
    }
    out
}

fn header() -> Vec<String> {
    let stages = PathStage::ALL.iter().map(|stage| stage.word());
    ["entity".to_owned()].into_iter().chain(stages).collect()
}

fn row(name: &str, share: impl Fn(PathStage) -> Option<KeptShare>) -> Vec<String> {
    let mut shown = visible(name);
    if MAX_NAME_WIDTH < shown.chars().count() {
        shown = shown.chars().take(MAX_NAME_WIDTH - 1).chain(['\u{2026}']).collect();
    }
    let shares = PathStage::ALL.iter().map(|stage| match share(*stage) {
        Some(share) => share.to_string(),
        None => "-".to_owned(),
    });
    [shown].into_iter().chain(shares).collect()
}

/// Appends rows of cells. Every column is as wide as its widest cell. The first column is
/// left-aligned; the others are right-aligned.
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
