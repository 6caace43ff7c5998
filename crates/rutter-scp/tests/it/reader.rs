//! Tests of reading: integrity, threads, unusual inputs.

use std::io::Cursor;

use proptest::prelude::*;
use rutter_page::{Digest, LineDigest, Page};
use rutter_scp::{
    ChecksumForm, CollectionHeader, CollectionReader, FormatVersion, Limits, ReadError,
    ReadOptions, ReaderThreads, rules,
};
use rutter_testkit::{ChunkedReader, FailingReader, gzip, page, snapshot, zstd};

use crate::{read, read_bytes, refused};

fn sample(n: usize) -> (Vec<String>, String) {
    let lines: Vec<_> = (0..n).map(|n| page(n, 1)).collect();
    let text = snapshot(&lines);
    (lines, text)
}

#[test] // SCP-002 SCP-003 SCP-090 SCP-215 SCP-216
fn plain_gzip_and_zstd_read_the_same() {
    let (lines, text) = sample(3);
    for bytes in [text.clone().into_bytes(), gzip(text.as_bytes()), zstd(text.as_bytes())] {
        let (read, findings, receipt) = read_bytes(&bytes);
        let receipt = receipt.unwrap();
        assert_eq!(read, lines);
        assert_eq!(findings, []);
        assert_eq!(receipt.form, Some(ChecksumForm::Excised));
        assert_eq!((receipt.coded, receipt.decoded), (bytes.len() as u64, text.len() as u64));
    }
}

#[test] // SCP-023
fn version_0_1_is_the_current_one_and_is_read_without_a_finding() {
    let (lines, text) = sample(2);
    assert!(text.contains("\"version\":\"0.1\""));
    let (read, findings, receipt) = read_bytes(text.as_bytes());
    assert_eq!((read, findings), (lines, vec![]));
    let version = receipt.unwrap().header.version;
    assert_eq!((version.major, version.minor), (0, 1));
    assert_eq!(version, FormatVersion::CURRENT);
}

#[test] // SCP-214
fn json_lines_are_read_with_every_line_end() {
    let (lines, text) = sample(3);
    // Without a checksum: line ends are hashed.
    let text = text.replacen("\"checksum\"", "\"other\"", 1);
    for (form, text) in [
        ("no end of the last line", text.clone()),
        ("LF", format!("{text}\n")),
        ("CR LF", format!("{}\r\n", text.replace('\n', "\r\n"))),
    ] {
        let (read, findings, receipt) = read_bytes(text.as_bytes());
        assert_eq!(read, lines, "{form}");
        // The missing checksum and the CR LF line ends are reported.
        let is_told = findings.iter().any(|it| *it.rule == rules::CARRIAGE_RETURN);
        assert_eq!(is_told, form == "CR LF", "{findings:?}");
        let tally = receipt.unwrap().tally;
        assert_eq!((tally.lines, tally.pages), (4, 3), "{form}");
    }
    // Only line ends separate objects.
    for between in ["", " ", ","] {
        let one_line = text.replace('\n', between);
        assert!(read_bytes(one_line.as_bytes()).2.is_err(), "{between:?}");
    }
}

#[test] // SCP-024 SCP-025 SCP-028 SCP-029 SCP-030
fn changing_any_byte_outside_the_checksum_is_detected() {
    let (_, text) = sample(2);
    let start = text.find(",\"checksum\"").unwrap();
    let end = text.find("\"}}\n").unwrap() + 1;
    for at in (0..start).chain(end..text.len()) {
        for flip in [0x01, 0x20, 0x80] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= flip;
            let (_, _, result) = read_bytes(&bytes);
            assert!(result.is_err(), "byte {at} ^ {flip:#x} was not noticed");
        }
    }
}

#[test] // SCP-027 SCP-029 SCP-164
fn changed_checksum_digits_are_detected() {
    let (_, text) = sample(2);
    let at = text.find("sha256:").unwrap() + 7;
    for position in at..at + 64 {
        let mut bytes = text.clone().into_bytes();
        bytes[position] = if bytes[position] == b'0' { b'1' } else { b'0' };
        assert_eq!(*refused(read_bytes(&bytes).2), rules::CHECKSUM_MISMATCH);
    }
}

#[test] // D02
fn less_common_checksum_forms_need_a_second_reading() {
    let (_, text) = sample(2);
    let digits = text.find("sha256:").unwrap() + 7;
    let mut zeroed = text;
    zeroed.replace_range(digits..digits + 64, &"0".repeat(64));
    let digest = Digest::of(zeroed.as_bytes()).to_string();
    zeroed.replace_range(digits - 7..digits + 64, &digest);
    for bytes in [zeroed.clone().into_bytes(), gzip(zeroed.as_bytes())] {
        let open = |findings: &mut Vec<_>| {
            CollectionReader::open(Cursor::new(bytes.clone()), ReadOptions::default(), findings)
                .unwrap()
        };
        let mut findings = Vec::new();
        let result = open(&mut findings).finish(&mut findings);
        assert_eq!(*refused(result), rules::CHECKSUM_MISMATCH);
        let reader = open(&mut findings);
        let receipt = reader.finish_again(|| Ok(Cursor::new(bytes.clone())), &mut findings);
        assert_eq!(receipt.unwrap().form, Some(ChecksumForm::Zeroed));
    }
}

#[test] // SCP-090 SCP-095
fn rejects_truncated_file_at_any_length() {
    let (_, text) = sample(3);
    for bytes in [gzip(text.as_bytes()), zstd(text.as_bytes()), text.into_bytes()] {
        for end in 0..bytes.len() {
            let (_, _, result) = read_bytes(&bytes[..end]);
            assert!(result.is_err(), "cut at {end} of {} was not noticed", bytes.len());
        }
    }
}

#[test] // SCP-095
fn rejects_bytes_after_the_end() {
    let (_, text) = sample(3);
    for mut bytes in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
        for tail in [&b"x"[..], b"garbage", b"\0\0\0\0\0\0\0\0"] {
            let length = bytes.len();
            bytes.extend_from_slice(tail);
            assert_eq!(*refused(read_bytes(&bytes).2), rules::DECODE_FAILED, "{tail:?}");
            bytes.truncate(length);
        }
    }
}

#[test] // A05
fn several_members_or_frames_are_one_file() {
    let (lines, text) = sample(50);
    let parts = |code: fn(&[u8]) -> Vec<u8>| -> Vec<u8> {
        text.as_bytes().chunks(1).flat_map(code).collect()
    };
    for bytes in [parts(gzip), parts(zstd)] {
        let (read, _, receipt) = read_bytes(&bytes);
        receipt.unwrap();
        assert_eq!(read, lines);
    }
}

#[test]
fn owned_pages_are_read_one_by_one_and_finish_verifies() {
    let (lines, text) = sample(5);
    let mut findings = Vec::new();
    let input = Cursor::new(text.into_bytes());
    let mut reader = CollectionReader::open(input, ReadOptions::default(), &mut findings).unwrap();
    let first: Vec<_> = reader.pages(&mut findings).take(2).map(Result::unwrap).collect();
    assert_eq!(first.iter().map(Page::to_line).collect::<Vec<_>>(), lines[..2]);
    // Pages that were not requested are read and checked too.
    assert_eq!(reader.finish(&mut findings).unwrap().tally.pages, 5);
}

#[test] // SCP-030
fn finish_checks_pages_that_were_not_requested() {
    let mut lines: Vec<_> = (0..5).map(|n| page(n, 1)).collect();
    lines[4] = "{\"url\":\"https://harbour.example/9\"}".to_owned();
    let mut findings = Vec::new();
    let input = Cursor::new(snapshot(&lines).into_bytes());
    let reader = CollectionReader::open(input, ReadOptions::default(), &mut findings).unwrap();
    assert_eq!(*refused(reader.finish(&mut findings)), rutter_page::rules::PAGE_FIELD_MISSING);
}

#[test] // SCP-029 SCP-030 SCP-095 SCP-096
fn no_receipt_after_an_error() {
    let mut lines: Vec<_> = (0..9).map(|n| page(n, 1)).collect();
    lines[4] = "{\"url\":".to_owned();
    let broken = snapshot(&lines).replacen("\"checksum\"", "\"other\"", 1);
    let good = snapshot(&[page(0, 1)]).replacen("\"checksum\"", "\"other\"", 1);
    let mut cut = gzip(good.as_bytes());
    cut.truncate(cut.len() - 4);
    for bytes in [broken.into_bytes(), cut] {
        for threads in [ReaderThreads::One, ReaderThreads::Two] {
            let options = ReadOptions { threads, ..ReadOptions::default() };
            // Without a readable line 1 there is no reader.
            let input = Cursor::new(bytes.clone());
            let Ok(mut reader) = CollectionReader::open(input, options, &mut ()) else { continue };
            let first = reader.pages(&mut ()).find_map(Result::err);
            let again = reader.pages(&mut ()).find_map(Result::err);
            assert_eq!(format!("{first:?}"), format!("{again:?}"));
            refused(reader.finish(&mut ()));
        }
    }
}

#[test] // SCP-028
fn two_threads_give_the_same_digest() {
    let lines: Vec<_> = (0..60_000).map(|n| page(n, 1)).collect();
    let text = zstd(snapshot(&lines).as_bytes());
    for is_slow in [false, true] {
        let options = ReadOptions { threads: ReaderThreads::Two, ..ReadOptions::default() };
        let mut reader =
            CollectionReader::open(Cursor::new(text.clone()), options, &mut ()).unwrap();
        let mut n_read = 0;
        while let Some(mut batch) = reader.batch(&mut ()).unwrap() {
            while let Some(record) = batch.next_page(&mut ()).unwrap() {
                assert_eq!(record.text, lines[n_read]);
                // A busy caller lets the queues fill up.
                if is_slow {
                    (0..20).for_each(|_| assert_ne!(record.digest(), LineDigest::of(b"")));
                }
                n_read += 1;
            }
        }
        assert_eq!(reader.finish(&mut ()).unwrap().form, Some(ChecksumForm::Excised));
    }
}

#[test]
fn read_failure_is_an_io_error() {
    let (_, text) = sample(5);
    for bytes in [text.clone().into_bytes(), zstd(text.as_bytes())] {
        for threads in [ReaderThreads::One, ReaderThreads::Two] {
            let input = FailingReader { bytes: Cursor::new(bytes.clone()) };
            let (_, _, result) = read(input, ReadOptions { threads, ..ReadOptions::default() });
            assert!(matches!(result, Err(ReadError::Io(_))), "{result:?}");
        }
    }
}

#[test]
fn reader_can_be_dropped_before_the_end() {
    let lines: Vec<_> = (0..20_000).map(|n| page(n, 1)).collect();
    let text = snapshot(&lines).into_bytes();
    let options = ReadOptions { threads: ReaderThreads::Two, ..ReadOptions::default() };
    let mut reader = CollectionReader::open(Cursor::new(text), options, &mut ()).unwrap();
    assert!(reader.next(&mut (), |_| ()).unwrap().is_some());
    drop(reader);
}

#[test] // D95
fn line_1_round_trips() {
    for line in [
        r#"{"collection":{"id":"a","section":"blog","type":"delta","generated":"2026-05-01T00:00:00Z","version":"0.1","since":"2026-04-30T00:00:00Z","x-note":{"b": [1,  2]},"rutter":{"from":"0123456789abcdef0123456789abcdef","state":"00000000000000000000000000000001","pages":3,"removed":["https://harbour.example/x"]},"checksum":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}"#,
        r#"{"collection":{"id":"a","section":"blog","type":"snapshot","generated":"2026-05-01T00:00:00Z","version":"0.1"}}"#,
    ] {
        let header = CollectionHeader::parse(line, &mut ()).unwrap();
        assert_eq!(header.to_line(), line);
    }
}

/// Text with an error at a position, or without an error.
fn damaged(fault: u8, at: usize) -> Vec<u8> {
    let mut lines: Vec<_> = (0..40).map(|n| page(n, 1)).collect();
    let at = at % lines.len();
    lines[at] = match fault {
        0 => lines[at].clone(),
        1 => lines[at].replace("\"type\":\"text\"", "\"type\":\"tide\""),
        2 => lines[at].replace("https:", "gopher:"),
        3 => lines[at].replace("2026-05-01T", "sometime"),
        4 => "{\"url\":".to_owned(),
        5 => String::new(),
        6 => format!("{}\r", lines[at]),
        7 => format!("{{\"url\":\"{}\"}}", "x".repeat(700_000)),
        _ => lines[at].replace("\"title\"", "\"titel\""),
    };
    snapshot(&lines).into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn threads_and_chunk_sizes_change_nothing(
        fault in 0_u8..9,
        at in 0_usize..40,
        sizes in prop::collection::vec(1_usize..5000, 1..5),
        coding in 0_u8..3,
        page_limit in prop::sample::select(vec![2000_usize, 300_000, 1_000_000]),
    ) {
        let text = damaged(fault, at);
        let bytes = match coding { 0 => text, 1 => gzip(&text), _ => zstd(&text) };
        let limits = Limits { page: page_limit, ..Limits::DEFAULT };
        let plain = read(Cursor::new(bytes.clone()), ReadOptions { limits, ..ReadOptions::default() });
        for threads in [ReaderThreads::One, ReaderThreads::Two] {
            let input = ChunkedReader::new(bytes.clone(), sizes.clone());
            let other = read(input, ReadOptions { limits, threads, size: None });
            prop_assert_eq!(&plain.0, &other.0);
            prop_assert_eq!(&plain.1, &other.1);
            prop_assert_eq!(format!("{:?}", plain.2), format!("{:?}", other.2));
        }
    }
}

#[test]
fn reports_no_line_ends_in_a_file_of_another_kind() {
    let (_, findings, result) = read_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\r\n");
    assert_eq!(*refused(result), rules::NOT_TEXT);
    assert_eq!(findings, []);
}
