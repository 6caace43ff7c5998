//! Reusable buffers for chunks of files.
//!
//! The buffers of parallel responses of one connection share a limit.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::monitor::activity::ConnectionActivity;

/// Chunk sizes of a file in bytes: `LARGE` while few files are sent, `SMALL` while many files are
/// sent.
pub(super) const LARGE: usize = 256 << 10;
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

/// Reusable buffers.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    large: Mutex<Vec<Vec<u8>>>,
    small: Mutex<Vec<Vec<u8>>>,
    n_large: AtomicUsize,
}

impl BufferPool {
    /// Returns a buffer for at most this many bytes.
    pub(super) fn lend(self: &Arc<Self>, wanted: u64) -> PooledBuffer {
        let is_large = (SMALL as u64) < wanted && self.try_large();
        let (list, size) = if is_large { (&self.large, LARGE) } else { (&self.small, SMALL) };
        let kept = list.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let buffer = kept.unwrap_or_else(|| vec![0; size]);
        PooledBuffer { buffer, length: 0, is_large, pool: Arc::clone(self), shared: None }
    }

    /// Returns a buffer for one of several responses of a connection. The more bytes are already
    /// buffered, the smaller the buffer. It is never much larger than `wanted`.
    pub(super) fn lend_shared(
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
pub(super) struct PooledBuffer {
    buffer: Vec<u8>,
    pub(super) length: usize,
    is_large: bool,
    pool: Arc<BufferPool>,
    /// The connection whose limit includes the buffer.
    shared: Option<Arc<ConnectionActivity>>,
}

impl PooledBuffer {
    pub(super) fn fill(
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
}
