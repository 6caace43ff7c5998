//! No bytes may make the reader panic, hang or pass its own limits; both feeds
//! must say the same; and what is accepted must be stable.
#![no_main]

use std::io::Cursor;

use rutter_finding::Finding;
use rutter_page::PageLimits;
use rutter_scp::{Limits, Options, ReadError, Reader, Receipt, Threads};

const LIMITS: Limits = Limits {
    decoded: 1 << 22,
    page: 1 << 16,
    metadata: 1 << 14,
    parts: PageLimits { blocks: 20, parts: 1000 },
    // Time is not what is tried here.
    page_millis: 1 << 40,
    ..Limits::SPEC
};

type Read = (Vec<String>, Vec<Finding>, Result<Receipt, ReadError>);

fn read(bytes: &[u8], threads: Threads) -> Read {
    let mut findings = Vec::new();
    let mut lines = Vec::new();
    let options = Options { limits: LIMITS, size: None, threads };
    let result = (|| {
        let mut reader = Reader::open(Cursor::new(bytes.to_vec()), options, &mut findings)?;
        while let Some(mut batch) = reader.batch(&mut findings)? {
            while let Some(record) = batch.next_page(&mut findings)? {
                assert!(record.text.len() <= LIMITS.page);
                assert!(record.page.content.len() <= LIMITS.parts.blocks);
                lines.push(record.text.to_owned());
            }
        }
        reader.finish_again(|| Ok(Cursor::new(bytes.to_vec())), &mut findings)
    })();
    (lines, findings, result)
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (lines, findings, result) = read(bytes, Threads::One);
    if let Ok(receipt) = &result {
        assert_eq!(receipt.tally.pages, lines.len() as u64);
        assert!(receipt.decoded <= LIMITS.decoded);
    }
    // The second thread costs much more than the reading; one input in four.
    if bytes.len() % 4 == 0 {
        let (others, other_findings, other) = read(bytes, Threads::Two);
        assert_eq!(lines, others);
        assert_eq!(findings, other_findings);
        assert_eq!(format!("{result:?}"), format!("{other:?}"));
    }
});
