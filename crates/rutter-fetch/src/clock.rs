//! Clocks: monotonic time for delays and timeouts, time of day for dates.
//!
//! The caller passes a [`Clock`] to the client, so that tests control time. Monotonic time never
//! decreases. The time of day may jump and is used only for dates in files and messages.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime};

use rutter_page::Timestamp;

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Returns the time and waits for a later time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time of day.
    fn now(&self) -> Timestamp;

    /// Returns the time since an arbitrary fixed start; it never decreases.
    fn monotonic(&self) -> Duration;

    /// Completes at the monotonic time `moment`; used as the timeout of another future.
    fn deadline(&self, moment: Duration) -> BoxFuture<'static, ()>;

    /// Completes at the monotonic time `moment`; used as a delay of the caller. A test clock
    /// advances to `moment` at once.
    fn sleep_until(&self, moment: Duration) -> BoxFuture<'static, ()>;
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Creates a clock whose monotonic time starts now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is where the time of day comes from")]
    fn now(&self) -> Timestamp {
        timestamp_of(SystemTime::now()).unwrap_or_else(epoch)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn deadline(&self, moment: Duration) -> BoxFuture<'static, ()> {
        let wait = moment.saturating_sub(self.monotonic());
        Box::pin(tokio::time::sleep(wait))
    }

    fn sleep_until(&self, moment: Duration) -> BoxFuture<'static, ()> {
        self.deadline(moment)
    }
}

/// Returns 1970, which replaces a system time outside of the supported range of dates.
fn epoch() -> Timestamp {
    Timestamp::from_unix_seconds(0).expect("1970 is a supported date")
}

/// Converts a system time to a timestamp; `None` if it is outside of the supported range of dates.
pub(crate) fn timestamp_of(time: SystemTime) -> Option<Timestamp> {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => Timestamp::from_nanos(i128::try_from(since.as_nanos()).ok()?),
        Err(before) => Timestamp::from_nanos(-i128::try_from(before.duration().as_nanos()).ok()?),
    }
}
