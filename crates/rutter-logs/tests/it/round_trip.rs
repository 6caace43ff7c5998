//! Written records are parsed back unchanged, and no input stops the reader.

use std::io::Cursor;
use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rutter_logs::agents::recognize;
use rutter_logs::{
    AccessRecord, AccessTally, Artifact, ClientMonitor, LogItem, LogReader, OddClientThresholds,
    ReadLimits, RequestFilter, TallySettings, parse,
};
use rutter_page::Timestamp;

/// Text with critical characters: quotes, brackets, line ends, escapes, text direction.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("\\x".to_owned()),
        Just("\\x41".to_owned()),
        Just("\r\n".to_owned()),
        Just("\u{1b}[31m".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("] \"".to_owned()),
        Just(" [01/May/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 1".to_owned()),
        Just(" HTTP/1.1".to_owned()),
        Just("\0".to_owned()),
        Just("𝔞".to_owned()),
        "\\PC{0,6}",
        any::<char>().prop_map(String::from),
    ];
    vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

/// Text with a meaning: a lone hyphen means nothing in a log.
fn said() -> impl Strategy<Value = String> {
    nasty().prop_filter("it says something", |text| !matches!(text.as_str(), "" | "-"))
}

prop_compose! {
    fn record()(
        seconds in 0..4_000_000_000_i64,
        client in said(),
        token in option::of(said()),
        method in "[A-Z]{1,7}|M-SEARCH",
        target in nasty(),
        protocol in "HTTP/[0-3]\\.[01]",
        status in 100..1000_u16,
        bytes in any::<u64>(),
        referer in option::of(said()),
        user_agent in option::of(said()),
        micros in option::of(0..1_000_000_000_000_u64),
        retry_after in option::of(any::<u64>()),
    ) -> AccessRecord<'static> {
        let time = Timestamp::from_unix_seconds(seconds).unwrap();
        AccessRecord {
            token: token.map(Into::into),
            method: method.into(),
            target: target.into(),
            protocol: protocol.into(),
            bytes,
            referer: referer.map(Into::into),
            user_agent: user_agent.map(Into::into),
            duration: micros.map(Duration::from_micros),
            retry_after,
            ..AccessRecord::new(time, client, status)
        }
    }
}

fn is_plain(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

proptest! {
    #[test] // SCP-206
    fn parses_written_json(record in record()) {
        let line = record.to_json();
        prop_assert!(is_plain(&line), "{line}");
        prop_assert_eq!(parse(line.as_bytes()), Ok(record));
    }

    #[test]
    fn parses_written_combined_lines(record in record()) {
        let line = record.to_combined();
        prop_assert!(is_plain(&line), "{line}");
        let wanted = AccessRecord { duration: None, retry_after: None, ..record };
        prop_assert_eq!(parse(line.as_bytes()), Ok(wanted));
    }

    #[test]
    fn no_input_stops_the_reader(
        pieces in vec(prop_oneof![
            vec(any::<u8>(), 0..40),
            Just(b"\n".to_vec()),
            Just(b"{\"time\":\"2026-05-01T12:00:00Z\",\"client\":\"".to_vec()),
            Just(b"192.0.2.1 - - [01/May/2026:12:00:00 +0000] \"GET /".to_vec()),
            Just(b" HTTP/1.1\" 200 1 \"-\" \"GPTBot/1.2\"\n".to_vec()),
            Just(vec![0x1f, 0x8b, 8, 0]),
        ], 0..20),
        line in 1..100_usize,
    ) {
        let Ok(mut reader) = LogReader::open(Cursor::new(pieces.concat()), ReadLimits { line }) else {
            return Ok(());
        };
        let mut tally = AccessTally::new(TallySettings { fetches: 2, readers: 2, ..TallySettings::DEFAULT }, RequestFilter::default());
        let mut watch = ClientMonitor::new(OddClientThresholds { clients: 2, ..OddClientThresholds::DEFAULT });
        let mut n_items = 0;
        while let Ok(Some(item)) = reader.next_item() {
            n_items += 1;
            match item {
                LogItem::Record(_, record) => {
                    tally.add(&record);
                    watch.observe(&record);
                }
                LogItem::Broken(_, why, _) => tally.broken(why),
            }
        }
        let summary = tally.finish();
        let counted = summary.requests + summary.broken.values().sum::<u64>();
        prop_assert_eq!(counted, n_items);
    }

    #[test]
    fn classifies_any_name_and_path(text in nasty()) {
        let known = recognize(&text);
        prop_assert_eq!(recognize(&text), known);
        prop_assert!(Artifact::ALL.contains(&Artifact::of(&text)));
    }
}
