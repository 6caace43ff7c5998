//! The container, tried from outside.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod advert;
mod limits;
mod merge;
mod reader;
mod writer;

use std::io::{Cursor, Read};

use rutter_finding::{Finding, Rule};
use rutter_scp::{Options, ReadError, Reader, Receipt};

/// Reads a collection to its end: the lines of its pages, findings, outcome.
fn read(
    input: impl Read + Send + 'static,
    options: Options,
) -> (Vec<String>, Vec<Finding>, Result<Receipt, ReadError>) {
    let mut findings = Vec::new();
    let mut lines = Vec::new();
    let result = read_into(input, options, &mut lines, &mut findings);
    (lines, findings, result)
}

fn read_into(
    input: impl Read + Send + 'static,
    options: Options,
    lines: &mut Vec<String>,
    findings: &mut Vec<Finding>,
) -> Result<Receipt, ReadError> {
    let mut reader = Reader::open(input, options, findings)?;
    while let Some(mut batch) = reader.batch(findings)? {
        while let Some(record) = batch.next_page(findings)? {
            lines.push(record.text.to_owned());
        }
    }
    reader.finish(findings)
}

fn read_bytes(bytes: &[u8]) -> (Vec<String>, Vec<Finding>, Result<Receipt, ReadError>) {
    read(Cursor::new(bytes.to_vec()), Options::default())
}

/// The rule that refused a collection; panics where it was accepted.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, ReadError>) -> &'static Rule {
    match result {
        Err(ReadError::Refused(refusal)) => refusal.rule,
        other => panic!("not refused: {other:?}"),
    }
}
