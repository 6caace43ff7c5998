//! Passes batches to the reader and hashes them on the way.
//!
//! In inline mode, the calling thread decodes, hashes and parses. In threaded mode, a second thread
//! decodes ahead, and the thread that is idle hashes the next batch of the [`HashQueue`]. The queue
//! keeps the order of the batches, so the digest is exact. Buffers are reused; at most
//! [`MAX_BUFFERS`] exist, and a larger batch is the only one in memory.

use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TryRecvError, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::batch::{BATCH, BatchReader, LineBatch};
use crate::error::ReadError;
use crate::hash::TextHasher;

const MAX_BUFFERS: usize = 16;
const QUEUE: usize = 8;

/// Sizes of an input, known once the input was read to its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputSize {
    pub(crate) coded: u64,
    pub(crate) decoded: u64,
}

/// Source of batches of page lines.
pub(crate) enum BatchSource {
    /// The calling thread decodes and hashes.
    Inline(Box<InlineSource>),
    /// A second thread decodes; both threads hash.
    Threaded(ThreadedSource),
}

impl fmt::Debug for BatchSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inline(_) => "Inline",
            Self::Threaded(_) => "Threaded",
        })
    }
}

impl BatchSource {
    /// Advances to the next batch. Returns false after the last batch.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        match self {
            Self::Inline(feed) => feed.advance(),
            Self::Threaded(feed) => feed.advance(),
        }
    }

    /// Returns the current batch.
    pub(crate) fn current(&self) -> Option<&LineBatch> {
        match self {
            Self::Inline(feed) => feed.current.as_ref(),
            Self::Threaded(feed) => feed.current.as_deref(),
        }
    }

    /// Returns the hash of the text and the sizes. Call this only at the end of the text.
    pub(crate) fn finish(self) -> (TextHasher, InputSize) {
        match self {
            Self::Inline(feed) => {
                let totals = totals(&feed.batch_reader);
                (feed.hash, totals)
            }
            Self::Threaded(mut feed) => {
                feed.current = None;
                while !matches!(feed.hash_queue.hash_one(), HashAttempt::Nothing) {}
                let totals = feed.totals.unwrap_or(InputSize { coded: 0, decoded: 0 });
                (feed.hash_queue.take_hash(), totals)
            }
        }
    }
}

fn totals(batch_reader: &BatchReader) -> InputSize {
    InputSize { coded: batch_reader.meter().taken(), decoded: batch_reader.decoded() }
}

/// Source of batches that uses only the calling thread.
pub(crate) struct InlineSource {
    batch_reader: BatchReader,
    hash: TextHasher,
    current: Option<LineBatch>,
}

impl InlineSource {
    /// Creates a source. `first` is a batch that the caller has hashed already.
    pub(crate) fn new(
        batch_reader: BatchReader,
        hash: TextHasher,
        first: Option<LineBatch>,
    ) -> Self {
        Self { batch_reader, hash, current: first }
    }

    fn advance(&mut self) -> Result<bool, ReadError> {
        let buffer = self.current.take().map_or_else(Vec::new, |batch| kept(batch.into_buffer()));
        self.current = self.batch_reader.next(buffer)?;
        if let Some(batch) = &self.current {
            self.hash.update(batch.bytes());
        }
        Ok(self.current.is_some())
    }
}

/// Empties a buffer for reuse. Frees a buffer that grew for a long line.
fn kept(buffer: Vec<u8>) -> Vec<u8> {
    if BATCH < buffer.len() { Vec::new() } else { buffer }
}

enum BatchMessage {
    Batch(Arc<LineBatch>),
    End(Result<InputSize, ReadError>),
}

/// Source of batches that a second thread decodes.
pub(crate) struct ThreadedSource {
    messages: Receiver<BatchMessage>,
    returned_buffers: Sender<Vec<u8>>,
    hash_queue: Arc<HashQueue>,
    current: Option<Arc<LineBatch>>,
    totals: Option<InputSize>,
    is_over: bool,
}

impl ThreadedSource {
    pub(crate) fn new(
        batch_reader: BatchReader,
        hash: TextHasher,
        first: Option<LineBatch>,
    ) -> std::io::Result<Self> {
        let (messages_in, messages) = mpsc::sync_channel(QUEUE);
        let (returned_buffers, empties_out) = mpsc::channel();
        let hash_queue = Arc::new(HashQueue { queue: Mutex::default(), hash: Mutex::new(hash) });
        let decoder = DecodeThread {
            batch_reader,
            messages: messages_in,
            returned_buffers: empties_out,
            hash_queue: Arc::clone(&hash_queue),
            pool: Vec::new(),
            // The parser returns the buffer of the first batch like every other buffer.
            n_in_use: usize::from(first.is_some()),
        };
        // The thread is not joined: it ends with its input, or when this source is dropped.
        thread::Builder::new().spawn(move || decoder.run())?;
        let current = first.map(Arc::new);
        Ok(Self { messages, returned_buffers, hash_queue, current, totals: None, is_over: false })
    }

    fn advance(&mut self) -> Result<bool, ReadError> {
        if let Some(buffer) = self.current.take().and_then(Arc::into_inner) {
            self.give_back(buffer);
        }
        if self.is_over {
            return Ok(false);
        }
        let message = loop {
            match self.messages.try_recv() {
                Ok(message) => break Some(message),
                Err(TryRecvError::Disconnected) => break None,
                Err(TryRecvError::Empty) => {}
            }
            // No batch to parse yet: hash one, or wait.
            match self.hash_queue.try_hash_one() {
                HashAttempt::Freed(batch) => self.give_back(batch),
                HashAttempt::Shared => {}
                HashAttempt::Nothing => break self.messages.recv().ok(),
            }
        };
        match message {
            Some(BatchMessage::Batch(batch)) => {
                self.current = Some(batch);
                Ok(true)
            }
            Some(BatchMessage::End(end)) => {
                self.is_over = true;
                self.totals = Some(end?);
                Ok(false)
            }
            None => Err(std::io::Error::other("the decoding thread stopped").into()),
        }
    }

    fn give_back(&self, batch: LineBatch) {
        // If the decoding thread has ended, the buffer is not needed.
        drop(self.returned_buffers.send(batch.into_buffer()));
    }
}

/// The second thread: it decodes ahead, and hashes batches when the queue is full.
struct DecodeThread {
    batch_reader: BatchReader,
    messages: SyncSender<BatchMessage>,
    returned_buffers: Receiver<Vec<u8>>,
    hash_queue: Arc<HashQueue>,
    pool: Vec<Vec<u8>>,
    /// Number of buffers that are in the queue or at the parser.
    n_in_use: usize,
}

/// Error: the receiver of a channel was dropped.
struct ReceiverClosed;

impl DecodeThread {
    fn run(mut self) {
        // An error only means that the rest of the text is not needed.
        let _: Result<(), ReceiverClosed> = self.decode();
    }

    fn decode(&mut self) -> Result<(), ReceiverClosed> {
        loop {
            let buffer = self.buffer()?;
            let batch = match self.batch_reader.next(buffer) {
                Ok(Some(batch)) => Arc::new(batch),
                Ok(None) => {
                    let totals = totals(&self.batch_reader);
                    return self.send(BatchMessage::End(Ok(totals)));
                }
                Err(error) => return self.send(BatchMessage::End(Err(error))),
            };
            let is_large = BATCH < batch.bytes().len();
            self.n_in_use += 1;
            let n_waiting = self.hash_queue.push(Arc::clone(&batch));
            self.send(BatchMessage::Batch(batch))?;
            if QUEUE < n_waiting {
                self.hash_one();
            }
            if is_large {
                self.wait_until(0)?;
            }
        }
    }

    /// Returns an empty buffer: a reused one, or a new one while fewer than the maximum exist.
    fn buffer(&mut self) -> Result<Vec<u8>, ReceiverClosed> {
        self.collect();
        self.wait_until(MAX_BUFFERS - 1)?;
        Ok(self.pool.pop().unwrap_or_default())
    }

    /// Hashes batches, or waits, until at most `n_in_use` buffers are in use.
    fn wait_until(&mut self, n_in_use: usize) -> Result<(), ReceiverClosed> {
        while n_in_use < self.n_in_use {
            if self.hash_one() {
                continue;
            }
            let buffer = self.returned_buffers.recv().map_err(|_| ReceiverClosed)?;
            self.take_back(buffer);
        }
        Ok(())
    }

    fn collect(&mut self) {
        while let Ok(buffer) = self.returned_buffers.try_recv() {
            self.take_back(buffer);
        }
    }

    fn take_back(&mut self, buffer: Vec<u8>) {
        self.n_in_use -= 1;
        let buffer = kept(buffer);
        if !buffer.is_empty() {
            self.pool.push(buffer);
        }
    }

    /// Hashes one waiting batch. Returns false if no batch is waiting.
    fn hash_one(&mut self) -> bool {
        match self.hash_queue.hash_one() {
            HashAttempt::Nothing => return false,
            HashAttempt::Shared => {}
            HashAttempt::Freed(batch) => self.take_back(batch.into_buffer()),
        }
        true
    }

    /// Sends a message. While the channel is full, this thread hashes batches.
    fn send(&mut self, message: BatchMessage) -> Result<(), ReceiverClosed> {
        let mut message = message;
        loop {
            match self.messages.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(ReceiverClosed),
                Err(TrySendError::Full(back)) => message = back,
            }
            if !self.hash_one() {
                return self.messages.send(message).map_err(|_| ReceiverClosed);
            }
        }
    }
}

/// Result of an attempt to hash the next batch.
enum HashAttempt {
    /// No batch is waiting, or another thread is hashing.
    Nothing,
    /// The batch was hashed; the parser still uses it.
    Shared,
    /// The batch was hashed, and this is the last reference to it.
    Freed(LineBatch),
}

/// Batches that wait to be hashed, in order.
struct HashQueue {
    queue: Mutex<VecDeque<Arc<LineBatch>>>,
    hash: Mutex<TextHasher>,
}

impl HashQueue {
    fn push(&self, batch: Arc<LineBatch>) -> usize {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push_back(batch);
        queue.len()
    }

    fn pop(&self) -> Option<Arc<LineBatch>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Hashes the next batch of the queue.
    fn hash_one(&self) -> HashAttempt {
        // Lock the hash before the queue, so that batches are hashed in the order they are popped.
        let mut hash = self.hash.lock().unwrap_or_else(PoisonError::into_inner);
        self.hash_with(&mut hash)
    }

    /// Like `hash_one`, but returns at once if another thread is hashing.
    fn try_hash_one(&self) -> HashAttempt {
        match self.hash.try_lock() {
            Ok(mut hash) => self.hash_with(&mut hash),
            Err(_) => HashAttempt::Nothing,
        }
    }

    fn hash_with(&self, hash: &mut TextHasher) -> HashAttempt {
        let Some(batch) = self.pop() else { return HashAttempt::Nothing };
        hash.update(batch.bytes());
        Arc::into_inner(batch).map_or(HashAttempt::Shared, HashAttempt::Freed)
    }

    fn take_hash(&self) -> TextHasher {
        std::mem::take(&mut *self.hash.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
