//! Merges several logs in the order of time.

use std::io::{self, Cursor, Read};

use rutter_logs::{
    ClientMonitor, LogInput, LogItem, LogReader, MergedLogs, OddClientThresholds, ReadLimits,
};
use rutter_page::Timestamp;

const START: i64 = 1_777_636_800;

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_unix_seconds(START + seconds).unwrap()
}

/// Returns a log with a restricted path at each of these times.
fn log(name: &str, times: impl IntoIterator<Item = i64>) -> Vec<u8> {
    let line = |at: i64| {
        let time = time(at);
        format!(
            "{{\"time\":\"{time}\",\"client\":\"192.0.2.1\",\"method\":\"GET\",\"target\":\"/{name}/{at}\",\"status\":403,\"bytes\":0}}\n"
        )
    };
    times.into_iter().map(line).collect::<String>().into_bytes()
}

fn input(bytes: Vec<u8>) -> LogInput {
    let begins = crate::records_of(Cursor::new(bytes.clone())).first().map(|record| record.time);
    LogInput { begins, open: Box::new(|| LogReader::open(Cursor::new(bytes), ReadLimits::DEFAULT)) }
}

/// Returns the logs and times of all lines, in order; `None` for a line that is not a request.
fn merged(inputs: Vec<LogInput>) -> (Vec<(usize, Option<Timestamp>)>, Vec<usize>) {
    let (mut lines, mut failed) = (Vec::new(), Vec::new());
    let mut merged = MergedLogs::new(inputs);
    loop {
        let mut take = |idx, item: LogItem<'_>| match item {
            LogItem::Record(_, record) => lines.push((idx, Some(record.time))),
            LogItem::Broken(..) => lines.push((idx, None)),
        };
        match merged.next(&mut take) {
            Ok(true) => {}
            Ok(false) => return (lines, failed),
            Err((idx, _)) => failed.push(idx),
        }
    }
}

#[test]
fn merges_logs_by_time() {
    let logs = [
        log("late", [50, 70]),
        log("even", (0..30).map(|n| 2 * n)),
        log("odd", (0..30).map(|n| 2 * n + 1)),
        [b"noise\n\n".to_vec(), log("noisy", [10])].concat(),
        Vec::new(),
        zstd::encode_all(log("packed", [5, 6]).as_slice(), 3).unwrap(),
    ];
    let (lines, failed) = merged(logs.map(input).into_iter().collect());
    assert_eq!((lines.len(), failed.len()), (2 + 30 + 30 + 2 + 2, 0));
    let times: Vec<Timestamp> = lines.iter().filter_map(|(_, time)| *time).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(lines.iter().filter(|(_, time)| time.is_none()).count(), 1);
}

/// A reader that ends with an error.
struct Torn(Cursor<Vec<u8>>);

impl Read for Torn {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("torn")),
            n => Ok(n),
        }
    }
}

#[test]
fn an_unreadable_log_does_not_end_the_others() {
    let torn = LogInput {
        begins: Some(time(0)),
        open: Box::new(|| {
            LogReader::open(Torn(Cursor::new(log("torn", [0, 1]))), ReadLimits::DEFAULT)
        }),
    };
    let gone = LogInput { begins: None, open: Box::new(|| Err(io::ErrorKind::NotFound.into())) };
    let (lines, failed) = merged(vec![torn, gone, input(log("fine", 0..9))]);
    assert_eq!(failed, [0, 1]);
    assert_eq!(lines.iter().filter(|(idx, _)| *idx == 2).count(), 9);
    assert!(lines.iter().any(|(idx, _)| *idx == 0), "what could be read counts");
}

#[test]
fn names_unsupported_compression() {
    for (start, name) in [(&b"BZh91AY&SY"[..], "bzip2"), (b"\xfd7zXZ\0", "xz")] {
        let error = LogReader::open(start, ReadLimits::DEFAULT).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test] // ARC-065
fn reversed_order_causes_no_findings() {
    let thresholds =
        OddClientThresholds { window: 3600, closed: 20, ..OddClientThresholds::DEFAULT };
    // Two per day for a month, the newest first: never twenty within an hour.
    let mut watch = ClientMonitor::new(thresholds.clone());
    let backwards = (0..60).rev().map(|n| n * 43_200);
    let records = crate::records(&log("a", backwards));
    assert!(records.iter().all(|record| watch.observe(record).is_empty()));
    assert_eq!(watch.late(), 59);
    // Twenty within an hour are reported in any order, with their time span.
    let mut watch = ClientMonitor::new(thresholds);
    let records = crate::records(&log("a", (0..20).rev().map(|n| n * 60)));
    let found: Vec<_> = records.iter().flat_map(|record| watch.observe(record)).collect();
    assert!(found[0].detail.ends_with("20 restricted paths in 1140 s"), "{}", found[0].detail);
    assert_eq!(watch.late(), 0);
}
