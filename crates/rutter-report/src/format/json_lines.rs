//! JSON Lines: one object for each file, one for each finding, and a summary at the end. The member
//! `type` distinguishes these objects.

use std::io::{self, Write};

use serde_json::Value;

use crate::Outcome;
use crate::format::{json, put};

/// Writes an outcome as JSON Lines.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    for file in &outcome.files {
        for view in file.findings() {
            let mut finding = json::finding(&view);
            put(&mut finding, "file", view.file_report.path().as_ref());
            line(out, "finding", finding)?;
        }
        line(out, "file", json::facts(&file.file_report))?;
    }
    line(out, "summary", json::summary(outcome))
}

fn line(out: &mut dyn Write, kind: &str, mut value: Value) -> io::Result<()> {
    put(&mut value, "type", kind);
    serde_json::to_writer(&mut *out, &value)?;
    writeln!(out)
}
