//! A stream that checks received bytes and closes slow connections.
//!
//! One of four timeouts runs at a time: for a head from its first byte to its last, for the first
//! head of a connection, for a client that does not read a response, and for an idle connection.
//! None runs while every response waits for the server.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::admission::screen::{HeadFault, HeadScreener};
use crate::monitor::activity::ConnectionActivity;
use crate::monitor::metrics::CutReason;
use crate::settings::ConnectionLimits;

/// A stream with checks and timeouts.
pub(crate) struct GuardedStream<S> {
    inner: S,
    limits: ConnectionLimits,
    activity: Arc<ConnectionActivity>,
    /// `None` for HTTP/2, whose frames carry their length.
    screen: Option<HeadScreener>,
    fault: Option<HeadFault>,
    timer: Pin<Box<Sleep>>,
    /// When the timer fires; this may be before the current deadline.
    armed: Option<Instant>,
    /// Since when a write has waited for the client.
    stuck: Option<Instant>,
    last_write: Instant,
}

impl<S> GuardedStream<S> {
    pub(crate) fn new(
        inner: S,
        limits: &ConnectionLimits,
        activity: &Arc<ConnectionActivity>,
        screen: Option<HeadScreener>,
    ) -> Self {
        let now = Instant::now();
        Self {
            inner,
            limits: *limits,
            activity: Arc::clone(activity),
            screen,
            fault: None,
            timer: Box::pin(tokio::time::sleep_until(now.into())),
            armed: None,
            stuck: None,
            last_write: now,
        }
    }

    /// Returns the fault of the received bytes.
    pub(crate) fn fault(&self) -> Option<HeadFault> {
        // An incomplete head gets a response, an idle connection does not.
        let has_begun = self.screen.as_ref().is_some_and(|screen| screen.since().is_some());
        self.fault.or_else(|| {
            (self.cut() == Some(CutReason::Head) && has_begun).then_some(HeadFault::Late)
        })
    }

    /// Returns the start of the rejected request line.
    pub(crate) fn request(&self) -> &[u8] {
        self.screen.as_ref().map_or(&[], HeadScreener::request)
    }

    /// Returns why the connection was closed.
    pub(crate) fn cut(&self) -> Option<CutReason> {
        self.activity.cut()
    }

    /// Returns the current deadline, and the reason that is recorded when it passes.
    fn deadline(&self) -> (Instant, CutReason) {
        if let Some(stuck) = self.stuck {
            return (stuck + self.limits.stall, CutReason::Stall);
        }
        if self.activity.is_busy() {
            // While all responses wait for the server, the deadline moves on with the time.
            if !self.activity.is_waiting_for_client() {
                return (Instant::now() + self.limits.stall, CutReason::Stall);
            }
            // On a connection with parallel responses, written bytes may be control frames, so only
            // the bytes of bodies count.
            let progress =
                if self.activity.is_shared() { self.activity.taken() } else { self.last_write };
            return (progress.max(self.activity.last()) + self.limits.stall, CutReason::Stall);
        }
        if let Some(since) = self.screen.as_ref().and_then(HeadScreener::since) {
            return (since + self.limits.head_time, CutReason::Head);
        }
        if self.activity.is_new() {
            return (self.activity.opened() + self.limits.head_time, CutReason::Head);
        }
        (self.activity.last() + self.limits.idle, CutReason::Idle)
    }

    /// Sets the timer; returns an error after the deadline.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        loop {
            let (deadline, why) = self.deadline();
            if deadline <= Instant::now() {
                self.activity.set_cut(why);
                return Err(io::ErrorKind::TimedOut.into());
            }
            if self.armed.is_none_or(|armed| deadline < armed) {
                self.timer.as_mut().reset(deadline.into());
                self.armed = Some(deadline);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Ok(());
            }
            self.armed = None;
        }
    }

    fn wrote(&mut self, cx: &mut Context<'_>, is_pending: bool) -> io::Result<()> {
        if is_pending {
            self.stuck.get_or_insert_with(Instant::now);
            return self.poll_time(cx);
        }
        if self.stuck.take().is_some() || self.activity.is_busy() {
            self.last_write = Instant::now();
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for GuardedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.fault.is_some() {
            // The responses to earlier requests are sent before the stream ends.
            if this.activity.is_busy() || this.stuck.is_some() {
                this.poll_time(cx)?;
                return Poll::Pending;
            }
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        match Pin::new(&mut this.inner).poll_read(cx, buffer) {
            Poll::Pending => {
                this.poll_time(cx)?;
                Poll::Pending
            }
            Poll::Ready(result) => {
                if result.is_ok()
                    && let Some(screen) = &mut this.screen
                    && let Some(bytes) = buffer.filled().get(before..)
                    && let Err((fault, good)) = screen.check(bytes)
                {
                    this.fault = Some(fault);
                    buffer.set_filled(before + good);
                }
                Poll::Ready(result)
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for GuardedStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.wrote(cx, result.is_pending())?;
        result
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.inner).poll_write_vectored(cx, slices);
        this.wrote(cx, result.is_pending())?;
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.inner).poll_flush(cx);
        this.wrote(cx, result.is_pending())?;
        result
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.inner).poll_shutdown(cx);
        this.wrote(cx, result.is_pending())?;
        result
    }
}

impl<S: AsyncRead + Unpin> GuardedStream<S> {
    /// Reads and discards all remaining bytes. If the socket were closed with unread bytes, the
    /// client could lose the last response.
    pub(crate) async fn read_to_end(&mut self) {
        let mut place = [0; 4096];
        std::future::poll_fn(|cx| {
            loop {
                let mut buffer = ReadBuf::new(&mut place);
                match Pin::new(&mut self.inner).poll_read(cx, &mut buffer) {
                    Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::activity::AwaitedSide;

    #[test]
    fn no_timeout_runs_while_a_response_waits_for_the_server() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        for activity in [ConnectionActivity::new(), ConnectionActivity::shared()] {
            let activity = Arc::new(activity);
            let guarded = GuardedStream::new((), &ConnectionLimits::DEFAULT, &activity, None);
            // Whether the deadline stays the same while time passes.
            let is_still = || {
                let (first, _) = guarded.deadline();
                let start = Instant::now();
                while start.elapsed() < std::time::Duration::from_millis(3) {
                    std::thread::yield_now();
                }
                guarded.deadline().0 == first
            };
            let mut one = activity.begin();
            assert!(!is_still(), "a file is hashed");
            one.set_waiting_for(AwaitedSide::Client);
            assert!(is_still(), "the client has to take it");
            let two = activity.begin();
            assert!(is_still(), "another answer changes nothing");
            one.set_waiting_for(AwaitedSide::Server);
            assert!(!is_still());
            drop(two);
            assert!(!is_still());
            one.set_waiting_for(AwaitedSide::Client);
            assert!(is_still());
        }
    }
}
