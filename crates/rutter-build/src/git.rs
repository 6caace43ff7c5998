//! When files last changed according to the site's history.

use std::path::Path;
use std::process::Command;

use rutter_page::Timestamp;

use crate::table::{Table, hash_of};

/// Times by path below the folder; empty where there is no history.
pub(crate) fn dates(folder: &Path) -> Table<Timestamp> {
    let mut dates = Vec::new();
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["log", "--format=%x01%ct", "--name-only", "--relative", "-z", "--", "."])
        .output();
    let Ok(output) = output else { return Table::default() };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut time = None;
    for part in text.split(['\0', '\n']).filter(|part| !part.is_empty()) {
        match part.strip_prefix('\u{1}') {
            Some(seconds) => {
                time = seconds.trim().parse().ok().and_then(Timestamp::from_unix_seconds);
            }
            // The newest commit comes first.
            None => {
                if let Some(time) = time {
                    dates.push((hash_of(part), time));
                }
            }
        }
    }
    Table::of(dates)
}
