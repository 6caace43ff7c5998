//! Bodies of answers: bytes from memory, a part of an open file, or pieces that
//! are made as they are taken.
//!
//! A file is read in large pieces into buffers that are used again. What the
//! kernel has at hand is read at once; what it must fetch is read by a thread
//! that may wait. No thread waits for a client: a piece is made when the one
//! before was taken. Where a connection has many answers at once, they share
//! what may wait to be sent. A file that got shorter or was written to ends the answer
//! as broken, never as a mixture that looks whole.

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

use crate::beneath::Identity;
use crate::report::{Activity, Report, Turn};

/// Piece of a file while few are sent, and while many are.
const LARGE: usize = 256 << 10;
const SMALL: usize = 32 << 10;
/// Large pieces that exist at once.
const MOST_LARGE: usize = 32;
/// Small pieces that are kept for the next file.
const KEPT_SMALL: usize = 64;
/// Bytes of pieces that may wait on a connection with many answers at once, and
/// how large these are; beyond, pieces are tiny. Each answer has one piece at
/// most, so with 32 answers there are 64 KiB. That the others wait instead would
/// let a client that takes nothing of two answers have nothing of a third.
const SHARE: usize = 32 << 10;
const SHARED: [usize; 3] = [SMALL, 8 << 10, 2 << 10];
const TINY: usize = 1 << 10;

/// The body of an answer.
pub struct Body {
    content: Content,
    sent: u64,
    report: Option<Report>,
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("sent", &self.sent).finish_non_exhaustive()
    }
}

enum Content {
    Empty,
    Whole(Bytes),
    File(Box<FilePart>),
    Made(Making),
}

/// Makes an answer piece by piece. It may wait for a disk, but for nobody else.
pub(crate) trait Maker: Send {
    /// The next piece; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Bytes>>;
}

type Made = (Box<dyn Maker>, io::Result<Option<Bytes>>);

/// An answer that is made as it is taken.
struct Making {
    /// Away while it works; gone at the end.
    maker: Option<Box<dyn Maker>>,
    /// How many work at once.
    turns: Arc<Semaphore>,
    work: Option<Pin<Box<dyn Future<Output = io::Result<Made>> + Send>>>,
}

impl Making {
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
    fn new(content: Content) -> Self {
        Self { content, sent: 0, report: None }
    }

    pub(crate) fn empty() -> Self {
        Self::new(Content::Empty)
    }

    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::new(Content::Whole(bytes))
    }

    pub(crate) fn file(part: FilePart) -> Self {
        Self::new(Content::File(Box::new(part)))
    }

    /// Made piece by piece; `turns` says how many are at work at once.
    pub(crate) fn made(maker: Box<dyn Maker>, turns: &Arc<Semaphore>) -> Self {
        let turns = Arc::clone(turns);
        Self::new(Content::Made(Making { maker: Some(maker), turns, work: None }))
    }

    /// Who is told when it is over.
    pub(crate) fn reported(mut self, report: Report) -> Self {
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
        let shared = this.report.as_ref().and_then(Report::shared);
        let polled = match &mut this.content {
            Content::Empty => Poll::Ready(None),
            Content::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                this.content = Content::Empty;
                Poll::Ready((!bytes.is_empty()).then_some(Ok(bytes)))
            }
            Content::File(part) => part.poll_next(cx, shared),
            Content::Made(making) => making.poll_next(cx),
        };
        if let (Some(shared), true) = (shared, polled.is_ready()) {
            shared.took();
        }
        if let Some(report) = &mut this.report {
            // Whoever asks for more has taken what there was.
            report.set_turn(if polled.is_pending() { Turn::Ours } else { Turn::Theirs });
        }
        let next = ready!(polled);
        match next {
            Some(Ok(bytes)) => {
                this.sent += bytes.len() as u64;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Some(Err(error)) => {
                this.content = Content::Empty;
                Poll::Ready(Some(Err(error)))
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Empty => true,
            Content::Whole(bytes) => bytes.is_empty(),
            Content::File(part) => part.at == part.end,
            Content::Made(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Empty => SizeHint::with_exact(0),
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::File(part) => SizeHint::with_exact(part.end - part.at),
            Content::Made(_) => SizeHint::default(),
        }
    }
}

/// A part of an open file.
pub(crate) struct FilePart {
    file: Arc<File>,
    identity: Identity,
    at: u64,
    end: u64,
    pool: Arc<Pool>,
    reading: Option<JoinHandle<io::Result<Lent>>>,
    pace: Option<Pace>,
}

/// Not faster than so many bytes a second.
struct Pace {
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
        pool: &Arc<Pool>,
        bandwidth: Option<u64>,
    ) -> Self {
        let pace = bandwidth.map(|bandwidth| Pace {
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
        shared: Option<&Arc<Activity>>,
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

    /// Bytes of the next piece, at most. A slow answer comes in small pieces,
    /// several a second.
    fn wanted(&self) -> u64 {
        let most = self.pace.as_ref().map_or(LARGE as u64, |pace| (pace.bandwidth / 4).max(1));
        (self.end - self.at).min(most)
    }

    fn lend(&self, shared: Option<&Arc<Activity>>) -> Lent {
        match shared {
            Some(shared) => self.pool.lend_shared(shared, self.wanted()),
            None => self.pool.lend(self.wanted()),
        }
    }

    /// Reads what the kernel has at hand.
    fn read_now(&self, shared: Option<&Arc<Activity>>) -> io::Result<Lent> {
        #[cfg(target_os = "linux")]
        {
            use rustix::io::{Errno, ReadWriteFlags, preadv2};
            self.lend(shared).fill(self.wanted(), |buffer| {
                let mut slices = [IoSliceMut::new(buffer)];
                match preadv2(&self.file, &mut slices, self.at, ReadWriteFlags::NOWAIT) {
                    // File systems that cannot tell are asked by the thread.
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

    fn take(&mut self, lent: Lent) -> io::Result<Bytes> {
        let n = lent.length as u64;
        if n == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
        }
        self.at += n;
        // Before the last piece leaves, the file must still be the one it was;
        // that its name is gone meanwhile does not matter.
        if self.at == self.end && !self.identity.is_unwritten(&self.file)? {
            return Err(io::Error::other("the file was written to"));
        }
        if let Some(pace) = &mut self.pace {
            pace.sent += n;
        }
        Ok(Bytes::from_owner(lent))
    }
}

impl Pace {
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

/// Buffers that are used again.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    large: Mutex<Vec<Vec<u8>>>,
    small: Mutex<Vec<Vec<u8>>>,
    n_large: AtomicUsize,
}

impl Pool {
    /// A buffer for so many bytes or fewer.
    fn lend(self: &Arc<Self>, wanted: u64) -> Lent {
        let is_large = (SMALL as u64) < wanted && self.try_large();
        let (list, size) = if is_large { (&self.large, LARGE) } else { (&self.small, SMALL) };
        let kept = list.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let buffer = kept.unwrap_or_else(|| vec![0; size]);
        Lent { buffer, length: 0, is_large, pool: Arc::clone(self), shared: None }
    }

    /// A buffer for one of many answers of a connection: the smaller, the more
    /// waits there already, and not much larger than what is wanted.
    fn lend_shared(self: &Arc<Self>, shared: &Arc<Activity>, wanted: u64) -> Lent {
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
        Lent { buffer, length: 0, is_large: false, pool, shared }
    }

    fn try_large(&self) -> bool {
        if self.n_large.fetch_add(1, Ordering::Relaxed) < MOST_LARGE {
            return true;
        }
        self.n_large.fetch_sub(1, Ordering::Relaxed);
        false
    }
}

/// A buffer that goes back where it came from.
struct Lent {
    buffer: Vec<u8>,
    length: usize,
    is_large: bool,
    pool: Arc<Pool>,
    /// The connection it counts for.
    shared: Option<Arc<Activity>>,
}

impl Lent {
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

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.give_back(self.buffer.len());
        }
        if self.buffer.len() < SMALL {
            return;
        }
        let (list, most) = if self.is_large {
            self.pool.n_large.fetch_sub(1, Ordering::Relaxed);
            (&self.pool.large, MOST_LARGE)
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
    fn ours_many_answers_of_one_connection_share_what_waits() {
        let (pool, shared) = (Arc::new(Pool::default()), Arc::new(Activity::shared()));
        let lend = || pool.lend_shared(&shared, u64::MAX);
        let size = |lent: &[Lent]| lent.iter().map(|one| one.buffer.len()).sum::<usize>();
        let mut lent: Vec<Lent> = (0..32).map(|_| lend()).collect();
        assert_eq!(lent[0].buffer.len(), SMALL, "one alone is as fast as it can be");
        assert!(size(&lent) <= 64 << 10, "{}", size(&lent));
        // What was sent makes room, for larger pieces first.
        lent.remove(0);
        assert_eq!(lend().buffer.len(), SMALL);
        assert_eq!(pool.small.lock().unwrap().len(), 1);
        let mut few: Vec<Lent> = vec![pool.lend_shared(&shared, 100)];
        assert_eq!(size(&few), TINY, "nobody holds more than is wanted");
        lent.clear();
        few.extend([9000, 3000, 1500].map(|wanted| pool.lend_shared(&shared, wanted)));
        let sizes: Vec<usize> = few.iter().map(|one| one.buffer.len()).collect();
        assert_eq!(sizes, [TINY, SMALL, TINY, TINY]);
        few.remove(1);
        few.extend([3000, 1500, 9000].map(|wanted| pool.lend_shared(&shared, wanted)));
        let sizes: Vec<usize> = few.iter().map(|one| one.buffer.len()).collect();
        assert_eq!(sizes, [TINY, TINY, TINY, 8 << 10, 2 << 10, 8 << 10]);
        assert_eq!(pool.small.lock().unwrap().len(), 1, "others are not kept");
    }

    #[test] // SCP-205
    fn ours_a_slow_answer_comes_in_small_pieces() {
        use std::io::Write as _;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 9000]).unwrap();
        let identity = Identity::of(&file).unwrap().unwrap();
        let (file, pool) = (Arc::new(file), Arc::new(Pool::default()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for shared in [None, Some(Arc::new(Activity::shared()))] {
            let part = |bandwidth| {
                FilePart::new(Arc::clone(&file), identity, (0, 9000), &pool, Some(bandwidth))
            };
            let first = |mut part: FilePart| {
                let next = std::future::poll_fn(|cx| part.poll_next(cx, shared.as_ref()));
                runtime.block_on(next).unwrap().unwrap().len()
            };
            assert_eq!(first(part(4000)), 1000);
            assert_eq!(first(part(1)), 1, "it goes on");
        }
    }
}
