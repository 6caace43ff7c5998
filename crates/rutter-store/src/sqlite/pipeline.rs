//! Compresses lines in worker threads and returns them in order.
//!
//! A staging with few lines compresses them in its own thread; a staging with many uses worker
//! threads, because compression takes half of the time of storing a page. Results are returned in
//! the order of the input.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::body::{Dictionary, LineCompressor};
use super::rows::StagedRow;
use crate::error::StorageError;

/// Maximum number of worker threads.
const MOST_WORKERS: usize = 4;

/// A batch of staged rows that a worker thread compresses.
struct CompressionJob {
    rows: Vec<StagedRow>,
    dictionary: Option<Dictionary>,
    answer: SyncSender<Result<Vec<StagedRow>, StorageError>>,
}

/// Compresses batches of staged rows in worker threads.
#[derive(Default)]
pub(super) struct CompressionPipeline {
    workers: Option<(Sender<CompressionJob>, usize)>,
    waiting: VecDeque<Receiver<Result<Vec<StagedRow>, StorageError>>>,
}

impl CompressionPipeline {
    /// Starts compressing rows in the background.
    pub(super) fn push(
        &mut self,
        rows: Vec<StagedRow>,
        dictionary: Option<&Dictionary>,
    ) -> Result<(), StorageError> {
        let (sender, _) = self.workers.get_or_insert_with(start);
        let (answer, receiver) = mpsc::sync_channel(1);
        sender
            .send(CompressionJob { rows, dictionary: dictionary.cloned(), answer })
            .map_err(|_| StorageError::Other("all compression threads have exited".into()))?;
        self.waiting.push_back(receiver);
        Ok(())
    }

    /// Returns the next batch of compressed rows; `None` if there is none. Waits for the batch if
    /// `all` is set, or if more batches are pending than the threads can process.
    pub(super) fn pull(&mut self, all: bool) -> Result<Option<Vec<StagedRow>>, StorageError> {
        let n_busy = self.workers.as_ref().map_or(0, |(_, n_workers)| 2 * n_workers);
        if !all && self.waiting.len() <= n_busy {
            return Ok(None);
        }
        let Some(receiver) = self.waiting.pop_front() else { return Ok(None) };
        let answer = receiver
            .recv()
            .map_err(|_| StorageError::Other("a compression thread has exited".into()))?;
        answer.map(Some)
    }
}

fn start() -> (Sender<CompressionJob>, usize) {
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    let n_workers = n_cores.clamp(1, MOST_WORKERS);
    let (sender, receiver) = mpsc::channel::<CompressionJob>();
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..n_workers {
        let receiver = Arc::clone(&receiver);
        thread::spawn(move || {
            loop {
                let job = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
                // The sender was dropped, so there are no more jobs.
                let Ok(CompressionJob { rows, dictionary, answer }) = job else { return };
                // Sending fails only if the staging was dropped, so the error is ignored.
                drop(answer.send(pack(rows, dictionary.as_ref())));
            }
        });
    }
    (sender, n_workers)
}

/// Compresses the lines of rows.
pub(super) fn pack(
    mut rows: Vec<StagedRow>,
    dictionary: Option<&Dictionary>,
) -> Result<Vec<StagedRow>, StorageError> {
    let mut packer = LineCompressor::new(dictionary)?;
    for row in &mut rows {
        if let Some(line) = row.line.take() {
            row.packed = Some(packer.pack(&line)?);
        }
    }
    Ok(rows)
}
