//! Trains a compression dictionary in a background thread.
//!
//! The first lines of a staging are the samples. They wait for the dictionary, while later lines
//! are read and hashed. Which lines are compressed with the dictionary does not depend on the
//! duration of the training.

use std::thread::{self, JoinHandle};

use super::body;
use super::rows::StagedRow;
use crate::error::StorageError;
use crate::model::PageRow;

/// Maximum total size of the lines that wait for the dictionary, in bytes.
pub(super) const MOST_WAITING: usize = 12 << 20;

/// A thread that trains a compression dictionary.
pub(super) struct DictionaryTraining(JoinHandle<Option<Vec<u8>>>);

impl DictionaryTraining {
    pub(super) fn start(samples: Vec<String>) -> Self {
        Self(thread::spawn(move || body::train(&samples)))
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits for the trained dictionary; returns `None` if the lines have too little in common.
    pub(super) fn end(self) -> Option<Vec<u8>> {
        self.0.join().ok().flatten()
    }
}

/// Returns the lines from which the dictionary is trained: new lines, and stored lines if there are
/// too few new lines.
pub(super) fn samples(
    fresh: &[StagedRow],
    stored: impl FnOnce(usize) -> Result<Vec<(PageRow, String)>, StorageError>,
) -> Result<Vec<String>, StorageError> {
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
