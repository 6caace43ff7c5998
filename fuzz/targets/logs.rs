//! No bytes may make the reader, the tally or the watch panic or hang; and what
//! was read from a line is read again from the line we would write.
#![no_main]

use std::io::Cursor;

use rutter_logs::{
    Filter, Item, Limits, Reader, Settings, Tally, Thresholds, Watch, parse, summary,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { line: 2048 };
    let Ok(mut reader) = Reader::open(Cursor::new(bytes.to_vec()), limits) else { return };
    let settings = Settings { fetches: 8, readers: 8, distinct: 4, ..Settings::USUAL };
    let mut tally = Tally::new(settings, Filter::default());
    let mut watch = Watch::new(Thresholds { clients: 4, pages: 3, ..Thresholds::USUAL });
    while let Ok(Some(item)) = reader.next_item() {
        match item {
            Item::Record(_, record) => {
                tally.see(&record);
                watch.see(&record);
                let line = record.to_json();
                let again = parse(line.as_bytes()).expect("our own line is read");
                assert_eq!((again.time, &again.target), (record.time, &record.target));
                assert_eq!(again.to_json(), line);
                let line = record.to_combined();
                assert!(line.bytes().all(|byte| matches!(byte, b' '..=b'~')));
                let again = parse(line.as_bytes()).expect("our own line is read");
                assert_eq!(again.status, record.status);
            }
            Item::Broken(_, why, _) => tally.broken(why),
        }
    }
    let chart = summary::svg::chart(&tally.finish());
    assert!(chart.ends_with("</svg>\n"));
});
