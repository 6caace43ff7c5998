//! For programs that read line by line: an object for each file and each
//! finding, and one that sums up. `type` says which.

use std::io::{self, Write};

use serde_json::Value;

use crate::Outcome;
use crate::format::{json, put};

/// Writes an outcome as lines.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    for file in &outcome.files {
        for told in file.findings() {
            let mut finding = json::finding(&told);
            put(&mut finding, "file", told.judgement.path().as_ref());
            line(out, "finding", finding)?;
        }
        line(out, "file", json::facts(&file.judgement))?;
    }
    line(out, "summary", json::summary(outcome))
}

fn line(out: &mut dyn Write, kind: &str, mut value: Value) -> io::Result<()> {
    put(&mut value, "type", kind);
    serde_json::to_writer(&mut *out, &value)?;
    writeln!(out)
}
