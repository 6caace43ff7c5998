//! Several logs as one: in the order of time, whatever each of them is.

use std::io::{self, Cursor, Read};

use rutter_logs::{Input, Item, Limits, Merged, Reader, Thresholds, Watch};
use rutter_page::Timestamp;

const START: i64 = 1_777_636_800;

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_unix_seconds(START + seconds).unwrap()
}

/// A log with a closed path at each of these times.
fn log(name: &str, times: impl IntoIterator<Item = i64>) -> Vec<u8> {
    let line = |at: i64| {
        let time = time(at);
        format!(
            "{{\"time\":\"{time}\",\"client\":\"192.0.2.1\",\"method\":\"GET\",\"target\":\"/{name}/{at}\",\"status\":403,\"bytes\":0}}\n"
        )
    };
    times.into_iter().map(line).collect::<String>().into_bytes()
}

fn input(bytes: Vec<u8>) -> Input {
    let begins = crate::records_of(Cursor::new(bytes.clone())).first().map(|record| record.time);
    Input { begins, open: Box::new(|| Reader::open(Cursor::new(bytes), Limits::USUAL)) }
}

/// The logs and times of all lines, in the order they come; `None` for what is
/// no request.
fn merged(inputs: Vec<Input>) -> (Vec<(usize, Option<Timestamp>)>, Vec<usize>) {
    let (mut lines, mut failed) = (Vec::new(), Vec::new());
    let mut merged = Merged::new(inputs);
    loop {
        let mut take = |idx, item: Item<'_>| match item {
            Item::Record(_, record) => lines.push((idx, Some(record.time))),
            Item::Broken(..) => lines.push((idx, None)),
        };
        match merged.next(&mut take) {
            Ok(true) => {}
            Ok(false) => return (lines, failed),
            Err((idx, _)) => failed.push(idx),
        }
    }
}

#[test]
fn ours_logs_of_the_same_days_are_read_by_time() {
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

/// Ends with an error.
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
fn ours_a_log_that_cannot_be_read_does_not_end_the_others() {
    let torn = Input {
        begins: Some(time(0)),
        open: Box::new(|| Reader::open(Torn(Cursor::new(log("torn", [0, 1]))), Limits::USUAL)),
    };
    let gone = Input { begins: None, open: Box::new(|| Err(io::ErrorKind::NotFound.into())) };
    let (lines, failed) = merged(vec![torn, gone, input(log("fine", 0..9))]);
    assert_eq!(failed, [0, 1]);
    assert_eq!(lines.iter().filter(|(idx, _)| *idx == 2).count(), 9);
    assert!(lines.iter().any(|(idx, _)| *idx == 0), "what could be read counts");
}

#[test]
fn ours_what_other_packers_packed_is_refused_by_name() {
    for (start, name) in [(&b"BZh91AY&SY"[..], "bzip2"), (b"\xfd7zXZ\0", "xz")] {
        let error = Reader::open(start, Limits::USUAL).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test] // ARC-065
fn ours_time_that_runs_backwards_makes_nobody_odd() {
    let thresholds = Thresholds { window: 3600, closed: 20, ..Thresholds::USUAL };
    // Two a day for a month, the newest first: never twenty within an hour.
    let mut watch = Watch::new(thresholds.clone());
    let backwards = (0..60).rev().map(|n| n * 43_200);
    let records = crate::records(&log("a", backwards));
    assert!(records.iter().all(|record| watch.see(record).is_empty()));
    assert_eq!(watch.late(), 59);
    // Twenty within an hour are odd in any order, and the time is told.
    let mut watch = Watch::new(thresholds);
    let records = crate::records(&log("a", (0..20).rev().map(|n| n * 60)));
    let found: Vec<_> = records.iter().flat_map(|record| watch.see(record)).collect();
    assert!(found[0].detail.ends_with("20 closed paths in 1140 s"), "{}", found[0].detail);
    assert_eq!(watch.late(), 0);
}
