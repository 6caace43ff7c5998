//! Time, as something that is handed in.
//!
//! Two clocks in one: the *moment*, which only runs forward and by which pace
//! and deadlines are kept, and the time of day, which may jump and is used
//! only for dates that others wrote or will read.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime};

use rutter_page::Timestamp;

/// A future without a name.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Tells the time and waits.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The time of day.
    fn now(&self) -> Timestamp;

    /// Time since some fixed beginning; never runs backward.
    fn moment(&self) -> Duration;

    /// Ends when the moment has come; what it guards ends before, or is late.
    fn deadline(&self, moment: Duration) -> Pending<'static, ()>;

    /// Waits for the moment because there is nothing to do before it. A clock
    /// of a rehearsal moves on by itself here.
    fn wait(&self, moment: Duration) -> Pending<'static, ()>;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock that begins now.
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

    fn moment(&self) -> Duration {
        self.start.elapsed()
    }

    fn deadline(&self, moment: Duration) -> Pending<'static, ()> {
        let wait = moment.saturating_sub(self.moment());
        Box::pin(tokio::time::sleep(wait))
    }

    fn wait(&self, moment: Duration) -> Pending<'static, ()> {
        self.deadline(moment)
    }
}

/// 1970, for a machine whose clock is outside the calendar.
fn epoch() -> Timestamp {
    Timestamp::from_unix_seconds(0).expect("1970 is inside the calendar")
}

/// A time of the system as a timestamp; `None` outside the calendar.
pub(crate) fn timestamp_of(time: SystemTime) -> Option<Timestamp> {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => Timestamp::from_nanos(i128::try_from(since.as_nanos()).ok()?),
        Err(before) => Timestamp::from_nanos(-i128::try_from(before.duration().as_nanos()).ok()?),
    }
}
