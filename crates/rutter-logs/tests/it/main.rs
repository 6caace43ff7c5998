//! Tests with log files: parsing, summaries, findings.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod agents;
mod lines;
mod merge;
mod round_trip;
mod summary;
mod watch;

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use rutter_logs::{AccessRecord, LogItem, LogReader, ReadLimits};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Returns all records of a log, in order.
fn records(bytes: &[u8]) -> Vec<AccessRecord<'static>> {
    records_of(Cursor::new(bytes.to_vec()))
}

fn records_of(input: impl Read + Send + 'static) -> Vec<AccessRecord<'static>> {
    let mut reader = LogReader::open(input, ReadLimits::DEFAULT).unwrap();
    let mut records = Vec::new();
    while let Some(item) = reader.next_item().unwrap() {
        if let LogItem::Record(_, record) = item {
            records.push(record.into_owned());
        }
    }
    records
}
