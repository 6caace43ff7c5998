//! Lines on their way to being compressed, in order.
//!
//! Few lines are compressed where they are; many by threads of their own,
//! because compression is half of what it takes to keep a page. Answers come
//! in the order of the lines whichever thread is done first.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::body::{Dictionary, Packer};
use super::rows::Row;
use crate::error::Storage;

/// Threads at most.
const MOST_WORKERS: usize = 4;

/// Rows whose lines are to be compressed.
struct Job {
    rows: Vec<Row>,
    dictionary: Option<Dictionary>,
    answer: SyncSender<Result<Vec<Row>, Storage>>,
}

/// Compresses batches of rows.
#[derive(Default)]
pub(super) struct Pipeline {
    workers: Option<(Sender<Job>, usize)>,
    waiting: VecDeque<Receiver<Result<Vec<Row>, Storage>>>,
}

impl Pipeline {
    /// Hands rows in to be compressed beside whatever else is done.
    pub(super) fn push(
        &mut self,
        rows: Vec<Row>,
        dictionary: Option<&Dictionary>,
    ) -> Result<(), Storage> {
        let (sender, _) = self.workers.get_or_insert_with(start);
        let (answer, receiver) = mpsc::sync_channel(1);
        sender
            .send(Job { rows, dictionary: dictionary.cloned(), answer })
            .map_err(|_| Storage::Other("the compressing threads are gone".into()))?;
        self.waiting.push_back(receiver);
        Ok(())
    }

    /// Gives rows back in the order they came: the next ones where `all`, else
    /// only where more are waiting than threads can be busy with.
    pub(super) fn pull(&mut self, all: bool) -> Result<Option<Vec<Row>>, Storage> {
        let n_busy = self.workers.as_ref().map_or(0, |(_, n_workers)| 2 * n_workers);
        if !all && self.waiting.len() <= n_busy {
            return Ok(None);
        }
        let Some(receiver) = self.waiting.pop_front() else { return Ok(None) };
        let answer =
            receiver.recv().map_err(|_| Storage::Other("a compressing thread is gone".into()))?;
        answer.map(Some)
    }
}

fn start() -> (Sender<Job>, usize) {
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    let n_workers = n_cores.clamp(1, MOST_WORKERS);
    let (sender, receiver) = mpsc::channel::<Job>();
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..n_workers {
        let receiver = Arc::clone(&receiver);
        thread::spawn(move || {
            loop {
                let job = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
                // Nobody is left to hand in more.
                let Ok(Job { rows, dictionary, answer }) = job else { return };
                // Nobody may be left to take the answer, either.
                drop(answer.send(pack(rows, dictionary.as_ref())));
            }
        });
    }
    (sender, n_workers)
}

/// Compresses the lines of these rows.
pub(super) fn pack(
    mut rows: Vec<Row>,
    dictionary: Option<&Dictionary>,
) -> Result<Vec<Row>, Storage> {
    let mut packer = Packer::new(dictionary)?;
    for row in &mut rows {
        if let Some(line) = row.line.take() {
            row.packed = Some(packer.pack(&line)?);
        }
    }
    Ok(rows)
}
