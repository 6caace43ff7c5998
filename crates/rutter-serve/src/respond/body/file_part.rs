//! A range of an open file as the content of a body.
//!
//! Bytes that the kernel has cached are read at once; other bytes are read on a blocking thread.

use std::fs::File;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use crate::monitor::activity::ConnectionActivity;
use crate::resolve::root_dir::FileIdentity;
use crate::respond::body::buffer_pool::{BufferPool, LARGE, PooledBuffer};

/// A range of an open file.
pub(crate) struct FilePart {
    file: Arc<File>,
    identity: FileIdentity,
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
        identity: FileIdentity,
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

    /// Returns the number of bytes that are not sent yet.
    pub(super) fn remaining(&self) -> u64 {
        self.end - self.at
    }

    pub(super) fn poll_next(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-205
    fn sends_throttled_responses_in_small_chunks() {
        use std::io::Write as _;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 9000]).unwrap();
        let identity = FileIdentity::of(&file).unwrap().unwrap();
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
