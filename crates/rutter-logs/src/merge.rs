//! Several logs as one, in the order of time.
//!
//! Logs of several servers, or of several names of one, cover the same days;
//! read one after the other, time would jump back, and what is counted within
//! a window would be wrong. Each log is taken to be in order, as servers write
//! it. A log is opened when time reaches its first line and closed at its end,
//! so rotated logs are open one at a time.
//!
//! Refuses: to end where one log cannot be read; it is left, and the others go
//! on.

use std::io;

use rutter_page::Timestamp;

use crate::read::{Item, Reader};

/// Logs that are open at once; the rest of those that overlap wait for one to
/// end, and what they hold comes late.
const MOST_OPEN: usize = 256;

/// A log that is to be merged.
pub struct Input {
    /// The time of its first request; logs without one come last.
    pub begins: Option<Timestamp>,
    /// Opens it.
    pub open: Box<dyn FnOnce() -> io::Result<Reader>>,
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").field("begins", &self.begins).finish_non_exhaustive()
    }
}

/// An open log, and the time of its next line.
#[derive(Debug)]
struct Open {
    idx: usize,
    reader: Reader,
    /// What is no request has no time and goes first.
    time: Option<Timestamp>,
}

/// Reads logs in the order of time.
#[derive(Debug)]
pub struct Merged {
    /// Those that are still closed, the first to be opened at the end.
    waiting: Vec<(usize, Input)>,
    open: Vec<Open>,
}

impl Merged {
    /// Takes logs in any order; they are told apart by their place in `inputs`.
    pub fn new(inputs: Vec<Input>) -> Self {
        let mut waiting: Vec<(usize, Input)> = inputs.into_iter().enumerate().collect();
        waiting.sort_by_key(|(_, input)| (input.begins.is_none(), input.begins));
        waiting.reverse();
        Self { waiting, open: Vec::new() }
    }

    /// Gives the next line of all logs to `take`, together with the place of
    /// its log; `false` at the end. An error belongs to the log that is named,
    /// and the others go on.
    pub fn next(
        &mut self,
        take: &mut dyn FnMut(usize, Item<'_>),
    ) -> Result<bool, (usize, io::Error)> {
        loop {
            let first = self.open.iter().enumerate().min_by_key(|(_, open)| open.time);
            let first = first.map(|(at, open)| (at, open.time));
            let is_next = match (first, self.waiting.last()) {
                (None, None) => return Ok(false),
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (Some((_, time)), Some((_, next))) => {
                    self.open.len() < MOST_OPEN
                        && next.begins.is_some_and(|begins| time.is_some_and(|now| begins <= now))
                }
            };
            if is_next {
                let Some((idx, input)) = self.waiting.pop() else { continue };
                let fail = |error| (idx, error);
                let mut reader = (input.open)().map_err(fail)?;
                let time = reader.next_time().map_err(fail)?;
                self.open.push(Open { idx, reader, time });
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

/// Gives one line and looks at the next; `false` where there is none.
fn step(
    open: &mut Open,
    is_alone: bool,
    take: &mut dyn FnMut(usize, Item<'_>),
) -> io::Result<bool> {
    let Some(item) = open.reader.next_item()? else { return Ok(false) };
    take(open.idx, item);
    // Nobody waits for its turn: the time of the next line need not be known.
    open.time = if is_alone { None } else { open.reader.next_time()? };
    Ok(true)
}
