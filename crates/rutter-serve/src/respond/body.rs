//! Response bodies: bytes from memory, a range of an open file, or chunks produced on demand.
//!
//! A file is read in large chunks into reused buffers. Bytes that the kernel has cached are read at
//! once; other bytes are read on a blocking thread. No thread waits for a client: the next chunk is
//! produced when the previous chunk was sent. The responses of one HTTP/2 connection share a limit
//! for buffered bytes. If a file is truncated or modified while it is sent, the response fails, so
//! that a complete response never mixes two versions of a file.

use std::fmt;
use std::fs::File;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use crate::monitor::report::{ConnectionActivity, RequestReport, WaitingFor};
use crate::resolve::root_dir::Identity;

/// Chunk sizes of a file in bytes: `LARGE` while few files are sent, `SMALL` while many files are
/// sent.
const LARGE: usize = 256 << 10;
const SMALL: usize = 32 << 10;
/// Maximum number of large buffers in use at once.
const MAX_LARGE: usize = 32;
/// Maximum number of small buffers that are kept for reuse.
const KEPT_SMALL: usize = 64;
/// `SHARE` limits the bytes that are buffered for one connection with parallel responses; `SHARED`
/// lists the buffer sizes. Beyond the limit, a response gets a buffer of `TINY` bytes. Each
/// response has at most one buffer, so 32 responses hold at most 64 KiB. A response does not wait
/// for a free buffer, because a client that does not read two responses would then block the third.
const SHARE: usize = 32 << 10;
const SHARED: [usize; 3] = [SMALL, 8 << 10, 2 << 10];
const TINY: usize = 1 << 10;

/// The body of a response.
pub struct Body {
    content: BodyContent,
    sent: u64,
    report: Option<RequestReport>,
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("sent", &self.sent).finish_non_exhaustive()
    }
}

enum BodyContent {
    Empty,
    Whole(Bytes),
    File(Box<FilePart>),
    Made(ChunkStream),
}

/// Produces a response in chunks. A producer may wait for the disk and for nothing else.
pub(crate) trait ChunkProducer: Send {
    /// Returns the next chunk; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Bytes>>;
}

type ProducerOutput = (Box<dyn ChunkProducer>, io::Result<Option<Bytes>>);

/// A response that is produced on demand.
struct ChunkStream {
    /// `None` while a thread runs the producer, and at the end.
    maker: Option<Box<dyn ChunkProducer>>,
    /// Limits the number of producers that run at once.
    turns: Arc<Semaphore>,
    work: Option<Pin<Box<dyn Future<Output = io::Result<ProducerOutput>> + Send>>>,
}

impl ChunkStream {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.work.is_none() {
            let Some(mut maker) = self.maker.take() else { return Poll::Ready(None) };
            let turns = Arc::clone(&self.turns);
            self.work = Some(Box::pin(async move {
                let turn = turns.acquire_owned().await;
                let work = move || {
                    let piece = maker.next();
                    drop(turn);
                    (maker, piece)
                };
                tokio::task::spawn_blocking(work).await.map_err(io::Error::other)
            }));
        }
        let Some(work) = &mut self.work else { return Poll::Ready(None) };
        let made = ready!(work.as_mut().poll(cx));
        self.work = None;
        Poll::Ready(match made {
            Ok((maker, Ok(Some(piece)))) => {
                self.maker = Some(maker);
                Some(Ok(piece))
            }
            Ok((_, Ok(None))) => None,
            Ok((_, Err(error))) | Err(error) => Some(Err(error)),
        })
    }
}

impl Body {
    fn new(content: BodyContent) -> Self {
        Self { content, sent: 0, report: None }
    }

    pub(crate) fn empty() -> Self {
        Self::new(BodyContent::Empty)
    }

    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::new(BodyContent::Whole(bytes))
    }

    pub(crate) fn file(part: FilePart) -> Self {
        Self::new(BodyContent::File(Box::new(part)))
    }

    /// Creates a body from a producer; `turns` limits the number of producers that run at once.
    pub(crate) fn made(maker: Box<dyn ChunkProducer>, turns: &Arc<Semaphore>) -> Self {
        let turns = Arc::clone(turns);
        Self::new(BodyContent::Made(ChunkStream { maker: Some(maker), turns, work: None }))
    }

    /// Sets the report that is completed when the body ends.
    pub(crate) fn reported(mut self, report: RequestReport) -> Self {
        self.report = Some(report);
        self
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if let Some(report) = &mut self.report {
            report.sent(self.sent);
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        let shared = this.report.as_ref().and_then(RequestReport::shared);
        let polled = match &mut this.content {
            BodyContent::Empty => Poll::Ready(None),
            BodyContent::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                this.content = BodyContent::Empty;
                Poll::Ready((!bytes.is_empty()).then_some(Ok(bytes)))
            }
            BodyContent::File(part) => part.poll_next(cx, shared),
            BodyContent::Made(making) => making.poll_next(cx),
        };
        if let (Some(shared), true) = (shared, polled.is_ready()) {
            shared.took();
        }
        if let Some(report) = &mut this.report {
            // While a chunk is produced, the response waits for the server, otherwise for the
            // client.
            report.set_waiting_for(if polled.is_pending() {
                WaitingFor::Server
            } else {
                WaitingFor::Client
            });
        }
        let next = ready!(polled);
        match next {
            Some(Ok(bytes)) => {
                this.sent += bytes.len() as u64;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Some(Err(error)) => {
                this.content = BodyContent::Empty;
                Poll::Ready(Some(Err(error)))
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            BodyContent::Empty => true,
            BodyContent::Whole(bytes) => bytes.is_empty(),
            BodyContent::File(part) => part.at == part.end,
            BodyContent::Made(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            BodyContent::Empty => SizeHint::with_exact(0),
            BodyContent::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            BodyContent::File(part) => SizeHint::with_exact(part.end - part.at),
            BodyContent::Made(_) => SizeHint::default(),
        }
    }
}

/// A range of an open file.
pub(crate) struct FilePart {
    file: Arc<File>,
    identity: Identity,
    at: u64,
    end: u64,
    pool: Arc<BufferPool>,
    reading: Option<JoinHandle<io::Result<PooledBuffer>>>,
    pace: Option<Throttle>,
}

/// Limits the bytes per second of one response.
struct Throttle {
    bandwidth: u64,
    start: Instant,
    sent: u64,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl FilePart {
    pub(crate) fn new(
        file: Arc<File>,
        identity: Identity,
        (at, end): (u64, u64),
        pool: &Arc<BufferPool>,
        bandwidth: Option<u64>,
    ) -> Self {
        let pace = bandwidth.map(|bandwidth| Throttle {
            bandwidth: bandwidth.max(1),
            start: Instant::now(),
            sent: 0,
            sleep: None,
        });
        let pool = Arc::clone(pool);
        Self { file, identity, at, end, pool, reading: None, pace }
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        shared: Option<&Arc<ConnectionActivity>>,
    ) -> Poll<Option<io::Result<Bytes>>> {
        if self.at == self.end {
            return Poll::Ready(None);
        }
        if let Some(pace) = &mut self.pace {
            ready!(pace.poll_due(cx));
        }
        let result = match &mut self.reading {
            Some(reading) => {
                let result = ready!(Pin::new(reading).poll(cx));
                self.reading = None;
                result.unwrap_or_else(|error| Err(io::Error::other(error)))
            }
            None => match self.read_now(shared) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let (file, at) = (Arc::clone(&self.file), self.at);
                    let (lent, wanted) = (self.lend(shared), self.wanted());
                    let read = move || lent.fill(wanted, |buffer| file.read_at(buffer, at));
                    self.reading = Some(tokio::task::spawn_blocking(read));
                    return self.poll_next(cx, shared);
                }
                result => result,
            },
        };
        Poll::Ready(Some(result.and_then(|lent| self.take(lent))))
    }

    /// Returns the size of the next chunk. A throttled response is sent in small chunks, several
    /// per second.
    fn wanted(&self) -> u64 {
        let most = self.pace.as_ref().map_or(LARGE as u64, |pace| (pace.bandwidth / 4).max(1));
        (self.end - self.at).min(most)
    }

    fn lend(&self, shared: Option<&Arc<ConnectionActivity>>) -> PooledBuffer {
        match shared {
            Some(shared) => self.pool.lend_shared(shared, self.wanted()),
            None => self.pool.lend(self.wanted()),
        }
    }

    /// Reads bytes that the kernel has cached; returns `WouldBlock` if the bytes are not cached.
    fn read_now(&self, shared: Option<&Arc<ConnectionActivity>>) -> io::Result<PooledBuffer> {
        #[cfg(target_os = "linux")]
        {
            use rustix::io::{Errno, ReadWriteFlags, preadv2};
            self.lend(shared).fill(self.wanted(), |buffer| {
                let mut slices = [IoSliceMut::new(buffer)];
                match preadv2(&self.file, &mut slices, self.at, ReadWriteFlags::NOWAIT) {
                    // If the file system does not support this call, a blocking thread reads the
                    // bytes.
                    Err(Errno::OPNOTSUPP | Errno::NOSYS) => Err(io::ErrorKind::WouldBlock.into()),
                    result => Ok(result?),
                }
            })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = shared;
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    fn take(&mut self, lent: PooledBuffer) -> io::Result<Bytes> {
        let n = lent.length as u64;
        if n == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file was truncated"));
        }
        self.at += n;
        // Before the last chunk is sent, the file must be unchanged. It may have been deleted.
        if self.at == self.end && !self.identity.is_unwritten(&self.file)? {
            return Err(io::Error::other("the file was modified while it was sent"));
        }
        if let Some(pace) = &mut self.pace {
            pace.sent += n;
        }
        Ok(Bytes::from_owner(lent))
    }
}

impl Throttle {
    fn poll_due(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        #[expect(clippy::cast_precision_loss, reason = "a pace need not be exact")]
        let due = self.start + Duration::from_secs_f64(self.sent as f64 / self.bandwidth as f64);
        if due <= Instant::now() {
            return Poll::Ready(());
        }
        let sleep =
            self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due.into())));
        if sleep.deadline() != due.into() {
            sleep.as_mut().reset(due.into());
        }
        sleep.as_mut().poll(cx)
    }
}

/// Reusable buffers.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    large: Mutex<Vec<Vec<u8>>>,
    small: Mutex<Vec<Vec<u8>>>,
    n_large: AtomicUsize,
}

impl BufferPool {
    /// Returns a buffer for at most this many bytes.
    fn lend(self: &Arc<Self>, wanted: u64) -> PooledBuffer {
        let is_large = (SMALL as u64) < wanted && self.try_large();
        let (list, size) = if is_large { (&self.large, LARGE) } else { (&self.small, SMALL) };
        let kept = list.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let buffer = kept.unwrap_or_else(|| vec![0; size]);
        PooledBuffer { buffer, length: 0, is_large, pool: Arc::clone(self), shared: None }
    }

    /// Returns a buffer for one of several responses of a connection. The more bytes are already
    /// buffered, the smaller the buffer. It is never much larger than `wanted`.
    fn lend_shared(
        self: &Arc<Self>,
        shared: &Arc<ConnectionActivity>,
        wanted: u64,
    ) -> PooledBuffer {
        let is_of_use = |size: usize| {
            let less = SHARED.iter().filter(|other| **other < size).max().unwrap_or(&TINY);
            (*less as u64) < wanted
        };
        let size = SHARED
            .into_iter()
            .filter(|size| is_of_use(*size))
            .find(|size| shared.try_lend(*size, SHARE));
        if size == Some(SMALL) {
            let mut lent = self.lend(SMALL as u64);
            lent.shared = Some(Arc::clone(shared));
            return lent;
        }
        let (buffer, pool) = (vec![0; size.unwrap_or(TINY)], Arc::clone(self));
        let shared = size.map(|_| Arc::clone(shared));
        PooledBuffer { buffer, length: 0, is_large: false, pool, shared }
    }

    fn try_large(&self) -> bool {
        if self.n_large.fetch_add(1, Ordering::Relaxed) < MAX_LARGE {
            return true;
        }
        self.n_large.fetch_sub(1, Ordering::Relaxed);
        false
    }
}

/// A buffer that returns to its pool when dropped.
struct PooledBuffer {
    buffer: Vec<u8>,
    length: usize,
    is_large: bool,
    pool: Arc<BufferPool>,
    /// The connection whose limit includes the buffer.
    shared: Option<Arc<ConnectionActivity>>,
}

impl PooledBuffer {
    fn fill(
        mut self,
        wanted: u64,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Self> {
        let most = usize::try_from(wanted).unwrap_or(usize::MAX).min(self.buffer.len());
        self.length = read(self.buffer.get_mut(..most).unwrap_or_default())?;
        Ok(self)
    }
}

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.give_back(self.buffer.len());
        }
        if self.buffer.len() < SMALL {
            return;
        }
        let (list, most) = if self.is_large {
            self.pool.n_large.fetch_sub(1, Ordering::Relaxed);
            (&self.pool.large, MAX_LARGE)
        } else {
            (&self.pool.small, KEPT_SMALL)
        };
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() < most {
            list.push(std::mem::take(&mut self.buffer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_of_one_connection_share_the_buffer_limit() {
        let (pool, shared) =
            (Arc::new(BufferPool::default()), Arc::new(ConnectionActivity::shared()));
        let lend = || pool.lend_shared(&shared, u64::MAX);
        let size = |lent: &[PooledBuffer]| lent.iter().map(|one| one.buffer.len()).sum::<usize>();
        let mut lent: Vec<PooledBuffer> = (0..32).map(|_| lend()).collect();
        assert_eq!(lent[0].buffer.len(), SMALL, "a single response gets a full buffer");
        assert!(size(&lent) <= 64 << 10, "{}", size(&lent));
        // Sent bytes are available again, for larger buffers first.
        lent.remove(0);
        assert_eq!(lend().buffer.len(), SMALL);
        assert_eq!(pool.small.lock().unwrap().len(), 1);
        let mut few: Vec<PooledBuffer> = vec![pool.lend_shared(&shared, 100)];
        assert_eq!(size(&few), TINY, "a buffer is not larger than needed");
        lent.clear();
        few.extend([9000, 3000, 1500].map(|wanted| pool.lend_shared(&shared, wanted)));
        let sizes: Vec<usize> = few.iter().map(|one| one.buffer.len()).collect();
        assert_eq!(sizes, [TINY, SMALL, TINY, TINY]);
        few.remove(1);
        few.extend([3000, 1500, 9000].map(|wanted| pool.lend_shared(&shared, wanted)));
        let sizes: Vec<usize> = few.iter().map(|one| one.buffer.len()).collect();
        assert_eq!(sizes, [TINY, TINY, TINY, 8 << 10, 2 << 10, 8 << 10]);
        assert_eq!(pool.small.lock().unwrap().len(), 1, "other sizes are not pooled");
    }

    #[test] // SCP-205
    fn sends_throttled_responses_in_small_chunks() {
        use std::io::Write as _;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 9000]).unwrap();
        let identity = Identity::of(&file).unwrap().unwrap();
        let (file, pool) = (Arc::new(file), Arc::new(BufferPool::default()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for shared in [None, Some(Arc::new(ConnectionActivity::shared()))] {
            let part = |bandwidth| {
                FilePart::new(Arc::clone(&file), identity, (0, 9000), &pool, Some(bandwidth))
            };
            let first = |mut part: FilePart| {
                let next = std::future::poll_fn(|cx| part.poll_next(cx, shared.as_ref()));
                runtime.block_on(next).unwrap().unwrap().len()
            };
            assert_eq!(first(part(4000)), 1000);
            assert_eq!(first(part(1)), 1, "at least one byte");
        }
    }
}
