//! Logs as files: what is read from them, what is said of them.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod agents;
mod lines;
mod merge;
mod round_trip;
mod summary;
mod watch;

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use rutter_logs::{Item, Limits, Reader, Record};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// All records of a log, in order.
fn records(bytes: &[u8]) -> Vec<Record<'static>> {
    records_of(Cursor::new(bytes.to_vec()))
}

fn records_of(input: impl Read + Send + 'static) -> Vec<Record<'static>> {
    let mut reader = Reader::open(input, Limits::USUAL).unwrap();
    let mut records = Vec::new();
    while let Some(item) = reader.next_item().unwrap() {
        if let Item::Record(_, record) = item {
            records.push(record.into_owned());
        }
    }
    records
}
