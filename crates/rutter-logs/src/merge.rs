//! Merges several access logs into one sequence in the order of time.
//!
//! Logs of several servers or virtual hosts cover the same days. If one log were read after
//! another, time would jump back, and counts within a time window would be wrong. The lines of each
//! log are assumed to be in order of time. A log is opened when the merge reaches the time of its
//! first line, and closed at its end, so rotated logs are open one at a time.
//!
//! After a read error in one log, the merge skips the rest of that log and continues with the other
//! logs.

use std::io;

use rutter_page::Timestamp;

use crate::read::{LogItem, LogReader};

/// Maximum number of logs that are open at once; further overlapping logs wait until an open log
/// ends, and their lines come late.
const MAX_OPEN: usize = 256;

/// A log to merge.
pub struct LogInput {
    /// Time of the first request in the log; `None` sorts the log last.
    pub begins: Option<Timestamp>,
    /// Function that opens the log.
    pub open: Box<dyn FnOnce() -> io::Result<LogReader>>,
}

impl std::fmt::Debug for LogInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").field("begins", &self.begins).finish_non_exhaustive()
    }
}

/// An open log with the time of its next line.
#[derive(Debug)]
struct OpenLog {
    idx: usize,
    reader: LogReader,
    /// Time of the next line; `None` if that line is not a request. Such lines come first.
    time: Option<Timestamp>,
}

/// Reads the lines of several logs in the order of time.
#[derive(Debug)]
pub struct MergedLogs {
    /// Logs that are not open yet, in reverse order of opening.
    waiting: Vec<(usize, LogInput)>,
    open: Vec<OpenLog>,
}

impl MergedLogs {
    /// Creates a merge of logs in any order; [`MergedLogs::next`] identifies a log by its index in
    /// `inputs`.
    pub fn new(inputs: Vec<LogInput>) -> Self {
        let mut waiting: Vec<(usize, LogInput)> = inputs.into_iter().enumerate().collect();
        waiting.sort_by_key(|(_, input)| (input.begins.is_none(), input.begins));
        waiting.reverse();
        Self { waiting, open: Vec::new() }
    }

    /// Passes the earliest line that is left in all logs to `take`, with the index of its log;
    /// returns `false` after the last line. An error contains the index of the log that failed; the
    /// next call continues with the other logs.
    pub fn next(
        &mut self,
        take: &mut dyn FnMut(usize, LogItem<'_>),
    ) -> Result<bool, (usize, io::Error)> {
        loop {
            let first = self.open.iter().enumerate().min_by_key(|(_, open)| open.time);
            let first = first.map(|(at, open)| (at, open.time));
            let is_next = match (first, self.waiting.last()) {
                (None, None) => return Ok(false),
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (Some((_, time)), Some((_, next))) => {
                    self.open.len() < MAX_OPEN
                        && next.begins.is_some_and(|begins| time.is_some_and(|now| begins <= now))
                }
            };
            if is_next {
                let Some((idx, input)) = self.waiting.pop() else { continue };
                let fail = |error| (idx, error);
                let mut reader = (input.open)().map_err(fail)?;
                let time = reader.next_time().map_err(fail)?;
                self.open.push(OpenLog { idx, reader, time });
                continue;
            }
            let Some((at, _)) = first else { continue };
            let is_alone = self.open.len() == 1 && self.waiting.is_empty();
            let Some(open) = self.open.get_mut(at) else { continue };
            match step(open, is_alone, take) {
                Ok(true) => return Ok(true),
                Ok(false) => drop(self.open.swap_remove(at)),
                Err(error) => return Err((self.open.swap_remove(at).idx, error)),
            }
        }
    }
}

/// Passes one line of a log to `take` and reads the time of the next line; returns `false` at the
/// end of the log.
fn step(
    open: &mut OpenLog,
    is_alone: bool,
    take: &mut dyn FnMut(usize, LogItem<'_>),
) -> io::Result<bool> {
    let Some(item) = open.reader.next_item()? else { return Ok(false) };
    take(open.idx, item);
    // With a single log, the time of the next line is not needed.
    open.time = if is_alone { None } else { open.reader.next_time()? };
    Ok(true)
}
