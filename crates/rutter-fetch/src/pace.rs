//! When a host may be asked again.
//!
//! The slowest of three wishes counts: robots.txt, `crawl_rate` of ARC, our
//! own setting. A pause is for the whole host, whichever address caused it.

use std::time::Duration;

/// The longest `Crawl-delay` that is kept to; a host that wants more gets no
/// requests for single pages at all (D52).
pub const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// The first pause after trouble without a word about how long (D11).
pub const FIRST_BACKOFF: Duration = Duration::from_secs(30);
/// No pause of our own choosing is longer.
const LONGEST_BACKOFF: Duration = Duration::from_hours(1);

/// What is known of one host.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pace {
    /// `Crawl-delay` of robots.txt.
    pub(crate) robots: Option<Duration>,
    /// `crawl_rate` of ARC, or another wish the caller knows of.
    pub(crate) asked: Option<Duration>,
    /// When the last request was sent, or its answer was there.
    last: Option<Duration>,
    /// Nothing is sent before this moment.
    paused: Duration,
    /// Troubles in a row.
    strikes: u32,
}

impl Pace {
    /// The wish that counts, not yet held to [`LONGEST_DELAY`].
    pub(crate) fn wished(&self, own: Duration) -> Duration {
        own.max(self.robots.unwrap_or_default()).max(self.asked.unwrap_or_default())
    }

    /// The wish that counts, as it is kept to.
    pub(crate) fn delay(&self, own: Duration) -> Duration {
        self.wished(own).min(LONGEST_DELAY.max(own))
    }

    /// The first moment at which a request may be sent.
    ///
    /// A wish that became known after the last request counts for it, too.
    pub(crate) fn ready_at(&self, own: Duration) -> Duration {
        self.last.map_or(Duration::ZERO, |last| last + self.delay(own)).max(self.paused)
    }

    /// A request is sent, or its answer is there, or will not come. The pause
    /// runs from the last of these, so that a slow host is not asked at once.
    pub(crate) fn touched(&mut self, moment: Duration) {
        self.last = Some(self.last.unwrap_or_default().max(moment));
    }

    /// All went well.
    pub(crate) fn calm(&mut self) {
        self.strikes = 0;
    }

    /// The host asks for rest, or there was trouble; gives the length of the
    /// pause. `spread` is a random number from 0 to 1.
    pub(crate) fn pause(
        &mut self,
        moment: Duration,
        wish: Option<Duration>,
        spread: f64,
    ) -> Duration {
        let wait = wish.unwrap_or_else(|| backoff(self.strikes, spread));
        self.strikes = self.strikes.saturating_add(1);
        self.paused = self.paused.max(moment + wait);
        wait
    }
}

/// 30 s, doubled with each trouble, and up to a quarter more by chance, so
/// that many readers do not come back at once.
fn backoff(strikes: u32, spread: f64) -> Duration {
    let doubled = FIRST_BACKOFF.saturating_mul(1 << strikes.min(16)).min(LONGEST_BACKOFF);
    doubled + doubled.mul_f64(0.25 * spread.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test] // ARC-036 D52
    fn spec_the_slowest_wish_counts() {
        for (robots, asked, own, wanted) in [
            (None, None, 1, 1),
            (Some(5), None, 1, 5),
            (Some(1), Some(2), 0, 2),
            (Some(1), Some(2), 3, 3),
            (Some(300), None, 1, 30),
            (Some(300), None, 60, 60),
        ] {
            let mut pace = Pace { robots: robots.map(s), asked: asked.map(s), ..Pace::default() };
            pace.touched(s(100));
            assert_eq!(pace.ready_at(s(own)), s(100 + wanted), "{robots:?} {asked:?} {own}");
        }
    }

    #[test] // SCP-207 D11
    fn spec_pauses_double_and_end() {
        let mut pace = Pace::default();
        for wanted in [30, 60, 120, 240, 480, 960, 1920, 3600, 3600] {
            assert_eq!(pace.pause(s(0), None, 0.0), s(wanted));
        }
        pace.calm();
        assert_eq!(pace.pause(s(0), None, 1.0), Duration::from_millis(37_500));
        assert_eq!(pace.pause(s(0), Some(s(5)), 1.0), s(5));
        // A short wish does not shorten a pause that is under way.
        assert_eq!(pace.ready_at(s(1)), s(3600));
    }
}
