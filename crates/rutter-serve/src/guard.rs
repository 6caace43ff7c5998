//! A connection that is watched: raw bytes are screened, and whoever takes too
//! long is cut.
//!
//! Four clocks, of which one runs at a time: for a head from its first byte to
//! its last, for the first head from the start, for a client that takes
//! nothing of an answer, and for one that asks for nothing. None runs while
//! every answer waits for us.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::metrics::Cut;
use crate::report::Activity;
use crate::screen::{Fault, Screen};
use crate::settings::Limits;

/// A stream with its guard.
pub(crate) struct Guarded<S> {
    inner: S,
    limits: Limits,
    activity: Arc<Activity>,
    /// `None` for HTTP/2, whose frames say where they end.
    screen: Option<Screen>,
    fault: Option<Fault>,
    timer: Pin<Box<Sleep>>,
    /// When the timer wakes us; it may be earlier than anything ends.
    armed: Option<Instant>,
    /// Since when the client takes nothing.
    stuck: Option<Instant>,
    last_write: Instant,
}

impl<S> Guarded<S> {
    pub(crate) fn new(
        inner: S,
        limits: &Limits,
        activity: &Arc<Activity>,
        screen: Option<Screen>,
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

    /// What was wrong with what came.
    pub(crate) fn fault(&self) -> Option<Fault> {
        // A head that did not come in time deserves a word, silence does not.
        let has_begun = self.screen.as_ref().is_some_and(|screen| screen.since().is_some());
        self.fault.or_else(|| (self.cut() == Some(Cut::Head) && has_begun).then_some(Fault::Late))
    }

    /// The beginning of the request line that was refused.
    pub(crate) fn request(&self) -> &[u8] {
        self.screen.as_ref().map_or(&[], Screen::request)
    }

    /// Why it was cut.
    pub(crate) fn cut(&self) -> Option<Cut> {
        self.activity.cut()
    }

    /// When the clock that runs is over, and what that means.
    fn deadline(&self) -> (Instant, Cut) {
        if let Some(stuck) = self.stuck {
            return (stuck + self.limits.stall, Cut::Stall);
        }
        if self.activity.is_busy() {
            // Nobody is cut because we are slow.
            if !self.activity.is_awaited() {
                return (Instant::now() + self.limits.stall, Cut::Stall);
            }
            // Where there are many answers at once, what is written may be
            // anything but an answer.
            let progress =
                if self.activity.is_shared() { self.activity.taken() } else { self.last_write };
            return (progress.max(self.activity.last()) + self.limits.stall, Cut::Stall);
        }
        if let Some(since) = self.screen.as_ref().and_then(Screen::since) {
            return (since + self.limits.head_time, Cut::Head);
        }
        if self.activity.is_new() {
            return (self.activity.opened() + self.limits.head_time, Cut::Head);
        }
        (self.activity.last() + self.limits.idle, Cut::Idle)
    }

    /// Sets the timer; an error where time is over.
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

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.fault.is_some() {
            // Requests before the fault are answered first; then comes an end.
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
                    && let Err((fault, good)) = screen.judge(bytes)
                {
                    this.fault = Some(fault);
                    buffer.set_filled(before + good);
                }
                Poll::Ready(result)
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
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

impl<S: AsyncRead + Unpin> Guarded<S> {
    /// Reads and forgets, so that the last answer is not lost with an end that
    /// comes too soon.
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
    use crate::report::Turn;

    #[test]
    fn ours_no_clock_runs_while_an_answer_waits_for_us() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        for activity in [Activity::new(), Activity::shared()] {
            let activity = Arc::new(activity);
            let guarded = Guarded::new((), &Limits::USUAL, &activity, None);
            // Whether the end of the clock moves on with time.
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
            one.set_turn(Turn::Theirs);
            assert!(is_still(), "the client has to take it");
            let two = activity.begin();
            assert!(is_still(), "another answer changes nothing");
            one.set_turn(Turn::Ours);
            assert!(!is_still());
            drop(two);
            assert!(!is_still());
            one.set_turn(Turn::Theirs);
            assert!(is_still());
        }
    }
}
