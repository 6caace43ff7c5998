//! The SCP reader never panics, hangs or exceeds its limits; both feeds give the same result; and
//! accepted collections stay accepted.
#![no_main]

use std::io::Cursor;

use rutter_finding::Finding;
use rutter_page::PageLimits;
use rutter_scp::{Limits, ReadOptions, ReadError, CollectionReader, ReadReceipt, ReaderThreads};

const LIMITS: Limits = Limits {
    decoded: 1 << 22,
    page: 1 << 16,
    metadata: 1 << 14,
    parts: PageLimits { blocks: 20, parts: 1000 },
    // Time is not what is tried here.
    page_millis: 1 << 40,
    ..Limits::SPEC
};

type Read = (Vec<String>, Vec<Finding>, Result<ReadReceipt, ReadError>);

fn read(bytes: &[u8], threads: ReaderThreads) -> Read {
    let mut findings = Vec::new();
    let mut lines = Vec::new();
    let options = ReadOptions { limits: LIMITS, size: None, threads };
    let result = (|| {
        let mut reader = CollectionReader::open(Cursor::new(bytes.to_vec()), options, &mut findings)?;
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
    let (lines, findings, result) = read(bytes, ReaderThreads::One);
    if let Ok(receipt) = &result {
        assert_eq!(receipt.tally.pages, lines.len() as u64);
        assert!(receipt.decoded <= LIMITS.decoded);
    }
    // The second thread costs much more than the reading; one input in four.
    if bytes.len() % 4 == 0 {
        let (others, other_findings, other) = read(bytes, ReaderThreads::Two);
        assert_eq!(lines, others);
        assert_eq!(findings, other_findings);
        assert_eq!(format!("{result:?}"), format!("{other:?}"));
    }
});
