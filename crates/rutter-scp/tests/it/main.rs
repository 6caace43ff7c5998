//! Tests of the public interface of the crate.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod advert;
mod limits;
mod merge;
mod reader;
mod writer;

use std::io::{Cursor, Read};

use rutter_finding::{Finding, Rule};
use rutter_scp::{CollectionReader, ReadError, ReadOptions, ReadReceipt};

/// Reads a collection to its end: the lines of its pages, findings, outcome.
fn read(
    input: impl Read + Send + 'static,
    options: ReadOptions,
) -> (Vec<String>, Vec<Finding>, Result<ReadReceipt, ReadError>) {
    let mut findings = Vec::new();
    let mut lines = Vec::new();
    let result = read_into(input, options, &mut lines, &mut findings);
    (lines, findings, result)
}

fn read_into(
    input: impl Read + Send + 'static,
    options: ReadOptions,
    lines: &mut Vec<String>,
    findings: &mut Vec<Finding>,
) -> Result<ReadReceipt, ReadError> {
    let mut reader = CollectionReader::open(input, options, findings)?;
    while let Some(mut batch) = reader.batch(findings)? {
        while let Some(record) = batch.next_page(findings)? {
            lines.push(record.text.to_owned());
        }
    }
    reader.finish(findings)
}

fn read_bytes(bytes: &[u8]) -> (Vec<String>, Vec<Finding>, Result<ReadReceipt, ReadError>) {
    read(Cursor::new(bytes.to_vec()), ReadOptions::default())
}

/// Returns the rule that rejected a collection; panics if it was accepted.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, ReadError>) -> &'static Rule {
    match result {
        Err(ReadError::Refused(refusal)) => refusal.rule,
        other => panic!("not refused: {other:?}"),
    }
}
