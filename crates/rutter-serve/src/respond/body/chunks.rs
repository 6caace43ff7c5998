//! Chunks of a response that are produced on demand, on blocking threads.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::sync::Semaphore;

/// Produces a response in chunks. A producer may wait for the disk and for nothing else.
pub(crate) trait ChunkProducer: Send {
    /// Returns the next chunk; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Bytes>>;
}

type ProducerOutput = (Box<dyn ChunkProducer>, io::Result<Option<Bytes>>);

/// A response that is produced on demand.
pub(super) struct ChunkStream {
    /// `None` while a thread runs the producer, and at the end.
    maker: Option<Box<dyn ChunkProducer>>,
    /// Limits the number of producers that run at once.
    turns: Arc<Semaphore>,
    work: Option<Pin<Box<dyn Future<Output = io::Result<ProducerOutput>> + Send>>>,
}

impl ChunkStream {
    /// Creates a stream; `turns` limits the number of producers that run at once.
    pub(super) fn new(maker: Box<dyn ChunkProducer>, turns: Arc<Semaphore>) -> Self {
        Self { maker: Some(maker), turns, work: None }
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
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
