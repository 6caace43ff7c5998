//! Every `fixtures/lines/*.log` is a case; lines are read completely, however the input is split or
//! compressed.

use std::fmt::Write as _;
use std::io::{Cursor, Read, Write as _};

use rutter_logs::{LineError, LogItem, LogReader, ReadLimits};

/// Returns everything that a reader reports about an input.
fn reported(input: impl Read + Send + 'static, limits: ReadLimits) -> String {
    let mut reader = LogReader::open(input, limits).unwrap();
    let mut reported = String::new();
    while let Some(item) = reader.next_item().unwrap() {
        match item {
            LogItem::Record(line, record) => {
                writeln!(reported, "{line} {}\n  {}", record.to_json(), record.to_combined())
                    .unwrap();
            }
            LogItem::Broken(line, why, bytes) => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
                writeln!(reported, "{line} broken: {why}: {start}").unwrap();
            }
        }
    }
    reported
}

#[test] // ARC-065
fn parses_log_formats() {
    insta::glob!("../fixtures/lines", "*.log", |path| {
        let bytes = std::fs::read(path).unwrap();
        insta::assert_snapshot!(reported(Cursor::new(bytes), ReadLimits::DEFAULT));
    });
}

/// Returns one byte at a time.
struct Drops(Cursor<Vec<u8>>);

impl Read for Drops {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = buf.len().min(1);
        self.0.read(&mut buf[..n])
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn reads_split_and_compressed_input() {
    let bytes = std::fs::read(crate::fixture("report/harbour.log")).unwrap();
    let plain = reported(Cursor::new(bytes.clone()), ReadLimits::DEFAULT);
    assert_eq!(plain.lines().count(), 38 * 2 + 1);
    assert_eq!(reported(Drops(Cursor::new(bytes.clone())), ReadLimits::DEFAULT), plain);
    assert_eq!(reported(Cursor::new(gzip(&bytes)), ReadLimits::DEFAULT), plain);
    // Two gzip members, split in the middle of a line.
    let (one, two) = bytes.split_at(777);
    assert_eq!(reported(Cursor::new([gzip(one), gzip(two)].concat()), ReadLimits::DEFAULT), plain);
    let windows = String::from_utf8(bytes).unwrap().replace('\n', "\r\n\r\n");
    let reported = reported(Cursor::new(windows.into_bytes()), ReadLimits::DEFAULT);
    assert_eq!(reported.lines().count(), plain.lines().count());
}

#[test]
fn damaged_gzip_is_an_error() {
    let bytes = std::fs::read(crate::fixture("report/harbour.log")).unwrap();
    let whole = gzip(&bytes);
    let mut reader =
        LogReader::open(Cursor::new(whole[..whole.len() / 2].to_vec()), ReadLimits::DEFAULT)
            .unwrap();
    let error = loop {
        match reader.next_item() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the end was reached"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
}

#[test]
fn skips_and_counts_long_lines() {
    let good = "192.0.2.1 - - [01/May/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n";
    for length in [101, 1000, 70_000, 200_000, 1_000_000] {
        for ending in ["", "\n"] {
            let long = "x".repeat(length);
            let text = format!("{good}{long}\n{good}{long}{ending}");
            let limits = ReadLimits { line: 100 };
            let mut reader = LogReader::open(Cursor::new(text.into_bytes()), limits).unwrap();
            let mut seen = Vec::new();
            while let Some(item) = reader.next_item().unwrap() {
                seen.push(match item {
                    LogItem::Record(line, _) => (line, None),
                    LogItem::Broken(line, why, _) => (line, Some(why)),
                });
            }
            let long = Some(LineError::TooLong);
            assert_eq!(seen, [(1, None), (2, long), (3, None), (4, long)], "{length} {ending:?}");
        }
    }
}

#[test]
fn reads_a_line_of_the_maximum_length() {
    let start = "192.0.2.1 - - [01/May/2026:12:00:00 +0000] \"GET /";
    let end = " HTTP/1.1\" 200 1";
    for line in [100, 65_536, 262_144] {
        let path = "x".repeat(line - start.len() - end.len());
        let text = format!("{start}{path}{end}\n{start}y{path}{end}");
        let mut reader =
            LogReader::open(Cursor::new(text.into_bytes()), ReadLimits { line }).unwrap();
        assert!(matches!(reader.next_item().unwrap(), Some(LogItem::Record(1, _))), "{line}");
        let second = reader.next_item().unwrap();
        assert!(matches!(second, Some(LogItem::Broken(2, LineError::TooLong, _))), "{line}");
        assert!(reader.next_item().unwrap().is_none());
    }
}
