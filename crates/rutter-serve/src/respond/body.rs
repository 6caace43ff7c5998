//! Response bodies: bytes from memory, a range of an open file, or chunks produced on demand.
//!
//! A file is read in large chunks into reused buffers. Bytes that the kernel has cached are read at
//! once; other bytes are read on a blocking thread. No thread waits for a client: the next chunk is
//! produced when the previous chunk was sent. The responses of one HTTP/2 connection share a limit
//! for buffered bytes. If a file is truncated or modified while it is sent, the response fails, so
//! that a complete response never mixes two versions of a file.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::Semaphore;

use crate::monitor::activity::AwaitedSide;
use crate::monitor::report::RequestReport;

pub(crate) mod buffer_pool;
pub(crate) mod chunks;
pub(crate) mod file_part;

use chunks::{ChunkProducer, ChunkStream};
use file_part::FilePart;

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
        Self::new(BodyContent::Made(ChunkStream::new(maker, Arc::clone(turns))))
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
                AwaitedSide::Server
            } else {
                AwaitedSide::Client
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
            BodyContent::File(part) => part.remaining() == 0,
            BodyContent::Made(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            BodyContent::Empty => SizeHint::with_exact(0),
            BodyContent::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            BodyContent::File(part) => SizeHint::with_exact(part.remaining()),
            BodyContent::Made(_) => SizeHint::default(),
        }
    }
}
