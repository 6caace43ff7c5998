//! Hands batches to the reader and hashes them on the way.
//!
//! Inline, everything happens on the caller's thread. Threaded, a second
//! thread decodes ahead, and hashing floats: whichever thread has nothing
//! better to do takes the next batch of the [`Lane`]. The lane keeps the
//! order, so the digest is exact. Buffers come back and are used again; at
//! most [`MOST_BUFFERS`] exist, and a larger one travels alone.

use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TryRecvError, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::batch::{BATCH, Batch, Cutter};
use crate::error::ReadError;
use crate::hash::TailHash;

const MOST_BUFFERS: usize = 16;
const QUEUE: usize = 8;

/// What is known of the input once it has been read to its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Totals {
    pub(crate) coded: u64,
    pub(crate) decoded: u64,
}

/// Where batches come from.
pub(crate) enum Feed {
    /// Decoded and hashed here.
    Inline(Box<Inline>),
    /// Decoded by another thread, hashed by either.
    Threaded(Threaded),
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inline(_) => "Inline",
            Self::Threaded(_) => "Threaded",
        })
    }
}

impl Feed {
    /// Moves to the next batch; false at the end of the text.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        match self {
            Self::Inline(feed) => feed.advance(),
            Self::Threaded(feed) => feed.advance(),
        }
    }

    /// The batch at hand.
    pub(crate) fn current(&self) -> Option<&Batch> {
        match self {
            Self::Inline(feed) => feed.current.as_ref(),
            Self::Threaded(feed) => feed.current.as_deref(),
        }
    }

    /// The digest so far and the totals; only asked for at the end.
    pub(crate) fn finish(self) -> (TailHash, Totals) {
        match self {
            Self::Inline(feed) => {
                let totals = totals(&feed.cutter);
                (feed.hash, totals)
            }
            Self::Threaded(mut feed) => {
                feed.current = None;
                while !matches!(feed.lane.hash_one(), Hashed::Nothing) {}
                let totals = feed.totals.unwrap_or(Totals { coded: 0, decoded: 0 });
                (feed.lane.take_hash(), totals)
            }
        }
    }
}

fn totals(cutter: &Cutter) -> Totals {
    Totals { coded: cutter.intake().taken(), decoded: cutter.decoded() }
}

/// The feed without a thread.
pub(crate) struct Inline {
    cutter: Cutter,
    hash: TailHash,
    current: Option<Batch>,
}

impl Inline {
    /// `first` has been hashed by whoever looked at line 1.
    pub(crate) fn new(cutter: Cutter, hash: TailHash, first: Option<Batch>) -> Self {
        Self { cutter, hash, current: first }
    }

    fn advance(&mut self) -> Result<bool, ReadError> {
        let buffer = self.current.take().map_or_else(Vec::new, |batch| kept(batch.into_buffer()));
        self.current = self.cutter.next(buffer)?;
        if let Some(batch) = &self.current {
            self.hash.update(batch.bytes());
        }
        Ok(self.current.is_some())
    }
}

/// A buffer worth keeping: one that grew for a long line is let go.
fn kept(buffer: Vec<u8>) -> Vec<u8> {
    if BATCH < buffer.len() { Vec::new() } else { buffer }
}

enum Message {
    Batch(Arc<Batch>),
    End(Result<Totals, ReadError>),
}

/// The feed with a second thread.
pub(crate) struct Threaded {
    messages: Receiver<Message>,
    empties: Sender<Vec<u8>>,
    lane: Arc<Lane>,
    current: Option<Arc<Batch>>,
    totals: Option<Totals>,
    is_over: bool,
}

impl Threaded {
    pub(crate) fn new(
        cutter: Cutter,
        hash: TailHash,
        first: Option<Batch>,
    ) -> std::io::Result<Self> {
        let (messages_in, messages) = mpsc::sync_channel(QUEUE);
        let (empties, empties_out) = mpsc::channel();
        let lane = Arc::new(Lane { queue: Mutex::default(), hash: Mutex::new(hash) });
        let decoder = Decoding {
            cutter,
            messages: messages_in,
            empties: empties_out,
            lane: Arc::clone(&lane),
            pool: Vec::new(),
            // The first batch comes back like every other.
            n_out: usize::from(first.is_some()),
        };
        // Nobody joins it: it ends with its input, or when we are gone.
        thread::Builder::new().spawn(move || decoder.run())?;
        let current = first.map(Arc::new);
        Ok(Self { messages, empties, lane, current, totals: None, is_over: false })
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
            // Nothing to parse yet: hash, or wait.
            match self.lane.try_hash_one() {
                Hashed::Freed(batch) => self.give_back(batch),
                Hashed::Shared => {}
                Hashed::Nothing => break self.messages.recv().ok(),
            }
        };
        match message {
            Some(Message::Batch(batch)) => {
                self.current = Some(batch);
                Ok(true)
            }
            Some(Message::End(end)) => {
                self.is_over = true;
                self.totals = Some(end?);
                Ok(false)
            }
            None => Err(std::io::Error::other("the decoding thread stopped").into()),
        }
    }

    fn give_back(&self, batch: Batch) {
        // The other side may be gone; then nobody needs the buffer.
        drop(self.empties.send(batch.into_buffer()));
    }
}

/// The second thread: decodes ahead, hashes when the queue is full.
struct Decoding {
    cutter: Cutter,
    messages: SyncSender<Message>,
    empties: Receiver<Vec<u8>>,
    lane: Arc<Lane>,
    pool: Vec<Vec<u8>>,
    /// Buffers that are somewhere between here and the parser.
    n_out: usize,
}

/// The parser has gone away.
struct Gone;

impl Decoding {
    fn run(mut self) {
        // Gone only means that nobody waits for the rest.
        let _: Result<(), Gone> = self.decode();
    }

    fn decode(&mut self) -> Result<(), Gone> {
        loop {
            let buffer = self.buffer()?;
            let batch = match self.cutter.next(buffer) {
                Ok(Some(batch)) => Arc::new(batch),
                Ok(None) => {
                    let totals = totals(&self.cutter);
                    return self.send(Message::End(Ok(totals)));
                }
                Err(error) => return self.send(Message::End(Err(error))),
            };
            let is_large = BATCH < batch.bytes().len();
            self.n_out += 1;
            let n_waiting = self.lane.push(Arc::clone(&batch));
            self.send(Message::Batch(batch))?;
            if QUEUE < n_waiting {
                self.hash_one();
            }
            if is_large {
                self.wait_until(0)?;
            }
        }
    }

    /// An empty buffer: one that came back, or a new one while there are few.
    fn buffer(&mut self) -> Result<Vec<u8>, Gone> {
        self.collect();
        self.wait_until(MOST_BUFFERS - 1)?;
        Ok(self.pool.pop().unwrap_or_default())
    }

    /// Hashes or waits until at most so many buffers are out.
    fn wait_until(&mut self, n_out: usize) -> Result<(), Gone> {
        while n_out < self.n_out {
            if self.hash_one() {
                continue;
            }
            let buffer = self.empties.recv().map_err(|_| Gone)?;
            self.take_back(buffer);
        }
        Ok(())
    }

    fn collect(&mut self) {
        while let Ok(buffer) = self.empties.try_recv() {
            self.take_back(buffer);
        }
    }

    fn take_back(&mut self, buffer: Vec<u8>) {
        self.n_out -= 1;
        let buffer = kept(buffer);
        if !buffer.is_empty() {
            self.pool.push(buffer);
        }
    }

    /// Hashes a waiting batch; false where none waits.
    fn hash_one(&mut self) -> bool {
        match self.lane.hash_one() {
            Hashed::Nothing => return false,
            Hashed::Shared => {}
            Hashed::Freed(batch) => self.take_back(batch.into_buffer()),
        }
        true
    }

    /// Sends when there is room; hashes until then.
    fn send(&mut self, message: Message) -> Result<(), Gone> {
        let mut message = message;
        loop {
            match self.messages.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(Gone),
                Err(TrySendError::Full(back)) => message = back,
            }
            if !self.hash_one() {
                return self.messages.send(message).map_err(|_| Gone);
            }
        }
    }
}

/// What became of an attempt to hash the next batch.
enum Hashed {
    /// None waits, or another thread is at it.
    Nothing,
    /// Done; somebody else still reads it.
    Shared,
    /// Done, and this was its last owner.
    Freed(Batch),
}

/// Batches that wait to be hashed, in order.
struct Lane {
    queue: Mutex<VecDeque<Arc<Batch>>>,
    hash: Mutex<TailHash>,
}

impl Lane {
    fn push(&self, batch: Arc<Batch>) -> usize {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push_back(batch);
        queue.len()
    }

    fn pop(&self) -> Option<Arc<Batch>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Hashes the next batch.
    fn hash_one(&self) -> Hashed {
        // The hash is locked first, so that batches are hashed as popped.
        let mut hash = self.hash.lock().unwrap_or_else(PoisonError::into_inner);
        self.hash_with(&mut hash)
    }

    /// The same, but does not wait for a thread that is hashing.
    fn try_hash_one(&self) -> Hashed {
        match self.hash.try_lock() {
            Ok(mut hash) => self.hash_with(&mut hash),
            Err(_) => Hashed::Nothing,
        }
    }

    fn hash_with(&self, hash: &mut TailHash) -> Hashed {
        let Some(batch) = self.pop() else { return Hashed::Nothing };
        hash.update(batch.bytes());
        Arc::into_inner(batch).map_or(Hashed::Shared, Hashed::Freed)
    }

    fn take_hash(&self) -> TailHash {
        std::mem::take(&mut *self.hash.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
