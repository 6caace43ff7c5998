//! Every `fixtures/lines/*.log` is a case; and lines come whole, in whatever
//! pieces and wrapping.

use std::fmt::Write as _;
use std::io::{Cursor, Read, Write as _};

use rutter_logs::{Broken, Item, Limits, Reader};

/// Everything a reader says of an input.
fn told(input: impl Read + Send + 'static, limits: Limits) -> String {
    let mut reader = Reader::open(input, limits).unwrap();
    let mut told = String::new();
    while let Some(item) = reader.next_item().unwrap() {
        match item {
            Item::Record(line, record) => {
                writeln!(told, "{line} {}\n  {}", record.to_json(), record.to_combined()).unwrap();
            }
            Item::Broken(line, why, bytes) => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
                writeln!(told, "{line} broken: {why}: {start}").unwrap();
            }
        }
    }
    told
}

#[test] // ARC-065
fn ours_forms_of_logs() {
    insta::glob!("../fixtures/lines", "*.log", |path| {
        let bytes = std::fs::read(path).unwrap();
        insta::assert_snapshot!(told(Cursor::new(bytes), Limits::USUAL));
    });
}

/// Gives one byte at a time.
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
fn ours_pieces_and_wrapping_do_not_matter() {
    let bytes = std::fs::read(crate::fixture("report/harbour.log")).unwrap();
    let plain = told(Cursor::new(bytes.clone()), Limits::USUAL);
    assert_eq!(plain.lines().count(), 38 * 2 + 1);
    assert_eq!(told(Drops(Cursor::new(bytes.clone())), Limits::USUAL), plain);
    assert_eq!(told(Cursor::new(gzip(&bytes)), Limits::USUAL), plain);
    // Two members, cut in the middle of a line.
    let (one, two) = bytes.split_at(777);
    assert_eq!(told(Cursor::new([gzip(one), gzip(two)].concat()), Limits::USUAL), plain);
    let windows = String::from_utf8(bytes).unwrap().replace('\n', "\r\n\r\n");
    let told = told(Cursor::new(windows.into_bytes()), Limits::USUAL);
    assert_eq!(told.lines().count(), plain.lines().count());
}

#[test]
fn ours_damaged_gzip_is_an_error_and_not_the_end() {
    let bytes = std::fs::read(crate::fixture("report/harbour.log")).unwrap();
    let whole = gzip(&bytes);
    let mut reader =
        Reader::open(Cursor::new(whole[..whole.len() / 2].to_vec()), Limits::USUAL).unwrap();
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
fn ours_long_lines_are_passed_over_and_counted() {
    let good = "192.0.2.1 - - [01/May/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n";
    for length in [101, 1000, 70_000, 200_000, 1_000_000] {
        for ending in ["", "\n"] {
            let long = "x".repeat(length);
            let text = format!("{good}{long}\n{good}{long}{ending}");
            let limits = Limits { line: 100 };
            let mut reader = Reader::open(Cursor::new(text.into_bytes()), limits).unwrap();
            let mut seen = Vec::new();
            while let Some(item) = reader.next_item().unwrap() {
                seen.push(match item {
                    Item::Record(line, _) => (line, None),
                    Item::Broken(line, why, _) => (line, Some(why)),
                });
            }
            let long = Some(Broken::TooLong);
            assert_eq!(seen, [(1, None), (2, long), (3, None), (4, long)], "{length} {ending:?}");
        }
    }
}

#[test]
fn ours_a_line_as_long_as_the_limit_is_read() {
    let start = "192.0.2.1 - - [01/May/2026:12:00:00 +0000] \"GET /";
    let end = " HTTP/1.1\" 200 1";
    for line in [100, 65_536, 262_144] {
        let path = "x".repeat(line - start.len() - end.len());
        let text = format!("{start}{path}{end}\n{start}y{path}{end}");
        let mut reader = Reader::open(Cursor::new(text.into_bytes()), Limits { line }).unwrap();
        assert!(matches!(reader.next_item().unwrap(), Some(Item::Record(1, _))), "{line}");
        let second = reader.next_item().unwrap();
        assert!(matches!(second, Some(Item::Broken(2, Broken::TooLong, _))), "{line}");
        assert!(reader.next_item().unwrap().is_none());
    }
}
