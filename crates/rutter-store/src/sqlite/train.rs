//! A dictionary in the making, beside whatever else is done.
//!
//! Lines that came first are its samples, and wait for it; those behind them
//! are read, judged and hashed meanwhile. Which lines are compressed with it
//! does not depend on how long it takes.

use std::thread::{self, JoinHandle};

use super::body;
use super::rows::Row;
use crate::error::Storage;
use crate::model::PageRow;

/// Bytes of lines that wait at most.
pub(super) const MOST_WAITING: usize = 12 << 20;

/// A thread that trains.
pub(super) struct Training(JoinHandle<Option<Vec<u8>>>);

impl Training {
    pub(super) fn start(samples: Vec<String>) -> Self {
        Self(thread::spawn(move || body::train(&samples)))
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.is_finished()
    }

    /// The dictionary; `None` where the lines have nothing in common.
    pub(super) fn end(self) -> Option<Vec<u8>> {
        self.0.join().ok().flatten()
    }
}

/// Lines to train from: of those that came, and of stored ones where that is
/// too few.
pub(super) fn samples(
    fresh: &[Row],
    stored: impl FnOnce(usize) -> Result<Vec<(PageRow, String)>, Storage>,
) -> Result<Vec<String>, Storage> {
    let step = (fresh.len() / body::MOST_SAMPLES).max(1);
    let fresh = fresh.iter().step_by(step).filter_map(|row| row.line.as_ref());
    let mut samples: Vec<String> = Vec::new();
    let mut n_bytes = 0;
    for line in fresh.take(body::MOST_SAMPLES) {
        n_bytes += line.len();
        if body::MOST_SAMPLE_BYTES < n_bytes && !samples.is_empty() {
            return Ok(samples);
        }
        samples.push(line.clone());
    }
    if samples.len() < body::MOST_SAMPLES {
        for (_, line) in stored(body::MOST_SAMPLES - samples.len())? {
            n_bytes += line.len();
            if n_bytes < body::MOST_SAMPLE_BYTES {
                samples.push(line);
            }
        }
    }
    Ok(samples)
}
