//! Decides when the next request may be sent to a host.
//!
//! The client obeys the longest of three delays: `Crawl-delay` of robots.txt, `crawl_rate` of ARC,
//! and its own setting. A pause applies to all URLs of the host, not only to the URL that caused
//! it.

use std::time::Duration;

/// Maximum delay that the client obeys. Single pages are not fetched from a host that asks for a
/// longer delay (D52).
pub const MAX_CRAWL_DELAY: Duration = Duration::from_secs(30);
/// Length of the first pause after a failure without `Retry-After` (D11).
pub const FIRST_BACKOFF: Duration = Duration::from_secs(30);
/// Maximum pause without `Retry-After`, before jitter.
const MAX_BACKOFF: Duration = Duration::from_hours(1);

/// Delay and pauses of one host.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct HostPace {
    /// `Crawl-delay` of robots.txt.
    pub(crate) robots: Option<Duration>,
    /// `crawl_rate` of ARC, or another delay set by the caller.
    pub(crate) caller: Option<Duration>,
    /// Monotonic time of the last request or response.
    last: Option<Duration>,
    /// Monotonic time before which no request is sent.
    paused: Duration,
    /// Number of consecutive failures.
    failures: u32,
}

impl HostPace {
    /// Returns the longest of the three delays, without the limit of [`MAX_CRAWL_DELAY`]. `own` is
    /// the client's setting.
    pub(crate) fn requested_delay(&self, own: Duration) -> Duration {
        own.max(self.robots.unwrap_or_default()).max(self.caller.unwrap_or_default())
    }

    /// Returns the delay that the client obeys, which is at most the longer of [`MAX_CRAWL_DELAY`]
    /// and `own`.
    pub(crate) fn delay(&self, own: Duration) -> Duration {
        self.requested_delay(own).min(MAX_CRAWL_DELAY.max(own))
    }

    /// Returns the earliest monotonic time at which the next request may be sent.
    ///
    /// A delay that became known after the last request is counted from that request, too.
    pub(crate) fn ready_at(&self, own: Duration) -> Duration {
        self.last.map_or(Duration::ZERO, |last| last + self.delay(own)).max(self.paused)
    }

    /// Records that a request was sent, answered or abandoned. The delay is counted from the latest
    /// of these events, so that a slow host is not contacted again at once.
    pub(crate) fn record_activity(&mut self, moment: Duration) {
        self.last = Some(self.last.unwrap_or_default().max(moment));
    }

    /// Records a success: the next pause has its initial length again.
    pub(crate) fn reset_failures(&mut self) {
        self.failures = 0;
    }

    /// Starts a pause after a failure and returns its length. `retry_after` is the pause that the
    /// server asked for; `jitter` is a random number from 0 to 1.
    pub(crate) fn pause(
        &mut self,
        moment: Duration,
        retry_after: Option<Duration>,
        jitter: f64,
    ) -> Duration {
        let wait = retry_after.unwrap_or_else(|| backoff(self.failures, jitter));
        self.failures = self.failures.saturating_add(1);
        self.paused = self.paused.max(moment + wait);
        wait
    }
}

/// Returns the length of a pause: 30 s, doubled with each failure, plus up to 25 % of jitter, so
/// that clients do not return at the same time.
fn backoff(failures: u32, jitter: f64) -> Duration {
    let doubled = FIRST_BACKOFF.saturating_mul(1 << failures.min(16)).min(MAX_BACKOFF);
    doubled + doubled.mul_f64(0.25 * jitter.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test] // ARC-036 D52
    fn obeys_the_longest_delay() {
        for (robots, caller, own, wanted) in [
            (None, None, 1, 1),
            (Some(5), None, 1, 5),
            (Some(1), Some(2), 0, 2),
            (Some(1), Some(2), 3, 3),
            (Some(300), None, 1, 30),
            (Some(300), None, 60, 60),
        ] {
            let mut pace =
                HostPace { robots: robots.map(s), caller: caller.map(s), ..HostPace::default() };
            pace.record_activity(s(100));
            assert_eq!(pace.ready_at(s(own)), s(100 + wanted), "{robots:?} {caller:?} {own}");
        }
    }

    #[test] // SCP-207 D11
    fn doubles_pauses_up_to_a_limit() {
        let mut pace = HostPace::default();
        for wanted in [30, 60, 120, 240, 480, 960, 1920, 3600, 3600] {
            assert_eq!(pace.pause(s(0), None, 0.0), s(wanted));
        }
        pace.reset_failures();
        assert_eq!(pace.pause(s(0), None, 1.0), Duration::from_millis(37_500));
        assert_eq!(pace.pause(s(0), Some(s(5)), 1.0), s(5));
        // A short `Retry-After` does not shorten a running pause.
        assert_eq!(pace.ready_at(s(1)), s(3600));
    }
}
