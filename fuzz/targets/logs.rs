//! Log reader, tally and watch never panic or hang; and a record that was read is read again from
//! its written line.
#![no_main]

use std::io::Cursor;

use rutter_logs::{
    RequestFilter, LogItem, ReadLimits, LogReader, TallySettings, AccessTally, OddClientThresholds, ClientMonitor, parse, summary,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = ReadLimits { line: 2048 };
    let Ok(mut reader) = LogReader::open(Cursor::new(bytes.to_vec()), limits) else { return };
    let settings = TallySettings { fetches: 8, readers: 8, distinct: 4, ..TallySettings::DEFAULT };
    let mut tally = AccessTally::new(settings, RequestFilter::default());
    let mut watch = ClientMonitor::new(OddClientThresholds { clients: 4, pages: 3, ..OddClientThresholds::DEFAULT });
    while let Ok(Some(item)) = reader.next_item() {
        match item {
            LogItem::Record(_, record) => {
                tally.add(&record);
                watch.observe(&record);
                let line = record.to_json();
                let again = parse(line.as_bytes()).expect("our own line is read");
                assert_eq!((again.time, &again.target), (record.time, &record.target));
                assert_eq!(again.to_json(), line);
                let line = record.to_combined();
                assert!(line.bytes().all(|byte| matches!(byte, b' '..=b'~')));
                let again = parse(line.as_bytes()).expect("our own line is read");
                assert_eq!(again.status, record.status);
            }
            LogItem::Broken(_, why, _) => tally.broken(why),
        }
    }
    let chart = summary::svg::chart(&tally.finish());
    assert!(chart.ends_with("</svg>\n"));
});
