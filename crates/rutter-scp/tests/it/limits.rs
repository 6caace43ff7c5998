//! Limits: bombs, giants and nests. What is large here is made here.

use std::io::{self, Cursor, Read, Write};

use rutter_page::PageLimits;
use rutter_scp::{Limits, Options, Reader, Threads, rules};
use rutter_testkit::{gzip, page, snapshot, with_checksum, zstd};

use crate::{read, read_bytes, refused};

/// A snapshot whose one page is `n` spaces of text.
fn padded(n: usize) -> String {
    let text = " ".repeat(n);
    let line = page(0, 1).replace("Berth 0 at 1", &text);
    snapshot(&[line])
}

/// A gzip file of a text and then `n` zeros, never held in memory.
fn bomb(n: u64) -> Vec<u8> {
    let mut encoder = flate2_encoder();
    encoder.write_all(padded(10).as_bytes()).unwrap();
    io::copy(&mut io::repeat(b' ').take(n), &mut encoder).unwrap();
    encoder.finish().unwrap()
}

fn flate2_encoder() -> flate2::write::GzEncoder<Vec<u8>> {
    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best())
}

/// Counts what is taken, so that a test can see how early a reader stops.
struct Watched(Cursor<Vec<u8>>, std::sync::Arc<std::sync::atomic::AtomicU64>);

impl Read for Watched {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buf)?;
        self.1.fetch_add(n as u64, std::sync::atomic::Ordering::Relaxed);
        Ok(n)
    }
}

#[test] // SCP-098 SCP-176
fn spec_a_bomb_is_refused_before_it_goes_off() {
    // About 1000 to 1: 200 MB from 200 KB.
    let bytes = bomb(200_000_000);
    assert!(bytes.len() < 400_000);
    for (size, threads) in
        [(None, Threads::One), (Some(bytes.len() as u64), Threads::One), (None, Threads::Two)]
    {
        let taken = std::sync::Arc::default();
        let input = Watched(Cursor::new(bytes.clone()), std::sync::Arc::clone(&taken));
        let (_, _, result) = read(input, Options { size, threads, ..Options::default() });
        assert_eq!(*refused(result), rules::RATIO);
        // With the size unknown it stops as soon as what came in cannot
        // account for what came out.
        if size.is_none() {
            let taken = taken.load(std::sync::atomic::Ordering::Relaxed);
            assert!(taken <= 2 * (128 << 10) + 4, "{taken} bytes were taken");
        }
    }
}

#[test] // SCP-098 D34
fn spec_ratio_counts_from_one_mebibyte() {
    // A07: small files may be as repetitive as they like.
    let small = padded(900_000);
    assert!(100 * gzip(small.as_bytes()).len() < small.len());
    read_bytes(&gzip(small.as_bytes())).2.unwrap();
    let large = padded(2 << 20);
    assert_eq!(*refused(read_bytes(&gzip(large.as_bytes())).2), rules::RATIO);
    // The same text is fine plain, and where the limit allows it.
    read_bytes(large.as_bytes()).2.unwrap();
    let limits = Limits { ratio: 2000, ..Limits::DEFAULT };
    let input = Cursor::new(gzip(large.as_bytes()));
    read(input, Options { limits, ..Options::default() }).2.unwrap();
}

#[test] // SCP-098
fn spec_ratio_just_below_the_limit_passes() {
    let text = padded(2 << 20);
    let bytes = gzip(text.as_bytes());
    let exact = (text.len() as u64).div_ceil(bytes.len() as u64);
    for (ratio, is_fine) in [(exact, true), (exact - 1, false)] {
        let limits = Limits { ratio, ..Limits::DEFAULT };
        let size = Some(bytes.len() as u64);
        let options = Options { limits, size, ..Options::default() };
        let (_, _, result) = read(Cursor::new(bytes.clone()), options);
        assert_eq!(result.is_ok(), is_fine, "{ratio}");
    }
}

#[test] // SCP-098
fn spec_a_bomb_inside_a_skipped_layer_is_refused() {
    // gzip around a million empty skippable zstd frames: no text ever comes
    // out, so only the layer in between shows the ratio.
    let frame = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
    let frames: Vec<u8> = frame.iter().copied().cycle().take(8 * 1_000_000).collect();
    assert_eq!(*refused(read_bytes(&gzip(&frames)).2), rules::RATIO);
}

#[test] // SCP-006
fn spec_three_layers_are_one_too_many() {
    let text = padded(10);
    let twice = gzip(&zstd(text.as_bytes()));
    read_bytes(&twice).2.unwrap();
    assert_eq!(*refused(read_bytes(&gzip(&twice)).2), rules::TOO_MANY_CODINGS);
}

#[test] // A06
fn ours_a_window_beyond_the_limit_is_refused() {
    // A zstd frame header that asks for 2 GiB: magic, no size, window 31.
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3];
    bytes.extend_from_slice(&[0x01, 0x00, 0x00]);
    assert_eq!(*refused(read_bytes(&bytes).2), rules::DECODE_FAILED);
}

#[test] // SCP-177 SCP-178
fn spec_file_sizes_are_bounded_on_both_sides_of_the_coding() {
    let text = padded(10);
    let coded = Limits { coded: text.len() as u64 - 1, ..Limits::SPEC };
    let decoded = Limits { decoded: text.len() as u64 - 1, ..Limits::SPEC };
    let plain = text.clone().into_bytes();
    for (limits, bytes) in [(coded, plain), (decoded, gzip(text.as_bytes()))] {
        for size in [None, Some(bytes.len() as u64)] {
            let options = Options { limits, size, ..Options::default() };
            let (_, _, result) = read(Cursor::new(bytes.clone()), options);
            assert_eq!(*refused(result), rules::TOO_LARGE);
        }
    }
    assert_eq!(Limits::SPEC.coded, 50_000_000_000);
    assert_eq!(Limits::SPEC.decoded, 500_000_000_000);
}

#[test] // SCP-179
fn spec_a_page_over_the_limit_is_skipped_and_hashed() {
    let lines = vec![page(0, 1), page(1, 1).replace("Berth", &"x".repeat(2_000_000)), page(2, 1)];
    let text = snapshot(&lines);
    for limit in [1000, 300_000, 1_999_999] {
        for threads in [Threads::One, Threads::Two] {
            let limits = Limits { page: limit, ..Limits::DEFAULT };
            let options = Options { limits, threads, ..Options::default() };
            let (read, findings, receipt) = read(Cursor::new(text.clone().into_bytes()), options);
            assert_eq!(read, [lines[0].clone(), lines[2].clone()]);
            assert_eq!(*findings[0].rule, rules::PAGE_TOO_LARGE);
            assert_eq!(findings[0].place.line, Some(3));
            assert_eq!(receipt.unwrap().tally.skipped, 1);
        }
    }
    assert_eq!(Limits::SPEC.page, 100_000_000);
}

#[test] // SCP-179 SCP-181
fn spec_a_line_without_end_is_not_held() {
    // A11: 150 MB without a newline, made as it is read.
    let head = snapshot(&[page(0, 1)]);
    let head = head.replacen("\"checksum\"", "\"other\"", 1);
    let endless = io::repeat(b'x').take(150_000_000);
    let input = Cursor::new(format!("{head}\n").into_bytes()).chain(endless);
    let limits = Limits { page: 1_000_000, ..Limits::DEFAULT };
    let (lines, findings, receipt) = read(input, Options { limits, ..Options::default() });
    assert_eq!(lines.len(), 1);
    assert_eq!(*findings[0].rule, rules::PAGE_TOO_LARGE);
    assert_eq!(receipt.unwrap().tally.lines, 3);
}

#[test] // SCP-180
fn spec_more_than_1000_blocks_skip_the_page() {
    let blocks = |n: usize| vec!["{\"type\":\"text\",\"text\":\"x\"}"; n].join(",");
    let with = |n: usize| {
        let line = page(0, 1);
        let (start, _) = line.split_once("\"content\":").unwrap();
        format!("{start}\"content\":[{}]}}", blocks(n))
    };
    assert_eq!(read_bytes(snapshot(&[with(1000)]).as_bytes()).0.len(), 1);
    let (lines, findings, receipt) = read_bytes(snapshot(&[with(1001), page(1, 1)]).as_bytes());
    assert_eq!(lines, [page(1, 1)]);
    assert_eq!(*findings[0].rule, rutter_page::rules::TOO_MANY_BLOCKS);
    receipt.unwrap();
}

#[test] // SCP-183
fn spec_a_page_of_millions_of_parts_is_not_built() {
    let cells = "\"\",".repeat(PageLimits::COUNTED_FROM / 3 + 10);
    let line = page(0, 1).replace(
        "{\"type\":\"text\",\"text\":\"Berth 0 at 1\"}",
        &format!("{{\"type\":\"list\",\"ordered\":true,\"items\":[{cells}\"\"]}}"),
    );
    let parts = PageLimits { parts: 1000, ..PageLimits::SPEC };
    let limits = Limits { parts, ..Limits::DEFAULT };
    let input = Cursor::new(snapshot(std::slice::from_ref(&line)).into_bytes());
    let (lines, findings, receipt) = read(input, Options { limits, ..Options::default() });
    assert!(lines.is_empty());
    assert_eq!(*findings[0].rule, rutter_page::rules::TOO_MANY_PARTS);
    receipt.unwrap();
    // It must still be JSON.
    let broken = snapshot(&[line.replace("]}]}", "]}]")]);
    let input = Cursor::new(broken.into_bytes());
    let (_, _, result) = read(input, Options { limits, ..Options::default() });
    assert_eq!(*refused(result), rutter_page::rules::INVALID_JSON);
}

#[test] // SCP-182
fn spec_a_page_that_takes_too_long_refuses_the_file() {
    let long = page(0, 1).replace("Berth", &"x".repeat(3_000_000));
    let text = snapshot(&[long, page(1, 1)]);
    // No time at all: any large page is late, and small ones are not timed.
    let limits = Limits { page_millis: 0, ..Limits::DEFAULT };
    let options = Options { limits, ..Options::default() };
    let (_, _, result) = read(Cursor::new(text.into_bytes()), options);
    assert_eq!(*refused(result), rules::PAGE_TOO_SLOW);
    let small = snapshot(&[page(0, 1), page(1, 1)]);
    read(Cursor::new(small.into_bytes()), options).2.unwrap();
}

#[test] // SCP-183
fn spec_metadata_is_bounded() {
    let members = format!(
        "\"id\":\"a\",\"section\":\"all\",\"type\":\"snapshot\",\"generated\":\
         \"2026-05-02T00:00:00Z\",\"version\":\"0.1\",\"x\":\"{}\"",
        "y".repeat(5 << 20)
    );
    let text = with_checksum(&members, &[page(0, 1)]);
    assert_eq!(*refused(read_bytes(text.as_bytes()).2), rules::METADATA_TOO_LARGE);
    let endless = io::repeat(b'{').take(1 << 30);
    let opened = Reader::open(endless, Options::default(), &mut ());
    assert_eq!(*refused(opened), rules::METADATA_TOO_LARGE);
}

#[test] // SCP-183
fn spec_deep_nests_neither_pass_nor_overflow() {
    // A22: 100,000 deep, in every place where a value may stand.
    let nest = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for line in [
        page(0, 1).replacen("\"title\"", &format!("\"schema\":{{\"x\":{nest}}},\"title\""), 1),
        page(0, 1).replacen("\"title\"", &format!("\"unknown\":{nest},\"title\""), 1),
        page(0, 1).replacen("\"Page 0\"", &nest, 1),
        page(0, 1).replacen("\"Berth 0 at 1\"", &nest, 1),
        page(0, 1).replacen("\"type\":\"text\",", &format!("\"x\":{nest},\"type\":\"text\","), 1),
        page(0, 1).replacen(
            "{\"type\":\"text\",\"text\":\"Berth 0 at 1\"}",
            &format!("{{\"type\":\"audio\",\"name\":\"n\",\"url\":\"https://h.example/\",\"partOf\":{{\"name\":\"n\",\"x\":{nest}}}}}"),
            1,
        ),
        nest.clone(),
    ] {
        let (_, _, result) = read_bytes(snapshot(&[line]).as_bytes());
        refused(result);
    }
}
