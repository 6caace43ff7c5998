//! How often each client may come: a bucket of permissions for each, filled at
//! a steady rate.
//!
//! The table is bounded; a client that was forgotten starts with a full bucket.

use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::generations::Generations;
use crate::settings::Rate;

/// Whose requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Whose {
    Address(IpAddr),
    /// A token, by the start of its hash.
    Token([u8; 8]),
}

/// Buckets of clients.
#[derive(Debug)]
pub(crate) struct Limiter {
    /// When the bucket of a client will be full again.
    full: Mutex<Generations<Whose, Instant>>,
}

impl Limiter {
    pub(crate) fn new(clients: usize) -> Self {
        Self { full: Mutex::new(Generations::new(clients)) }
    }

    /// Counts a request; gives how long to wait where it is one too many.
    ///
    /// A bucket is the moment at which it will be full: a request moves it
    /// away by one, and may not move it further than the burst.
    pub(crate) fn take(&self, whose: Whose, rate: Rate, now: Instant) -> Result<(), Duration> {
        let room = rate.every.saturating_mul(rate.burst.max(1));
        let mut table = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let known = table.get(&whose);
        let full = known.as_ref().map_or(now, |full| (**full).max(now));
        let next = full + rate.every;
        let wait = next.duration_since(now).saturating_sub(room);
        if !wait.is_zero() {
            return Err(wait);
        }
        match known {
            Some(full) => *full = next,
            None => table.insert(whose, next, 1),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-204
    fn spec_requests_beyond_the_rate_must_wait() {
        let limiter = Limiter::new(4);
        let rate = Rate { every: Duration::from_secs(2), burst: 3 };
        let one = Whose::Address("192.0.2.1".parse().unwrap());
        let start = Instant::now();
        for _ in 0..3 {
            limiter.take(one, rate, start).unwrap();
        }
        assert_eq!(limiter.take(one, rate, start), Err(Duration::from_secs(2)));
        assert_eq!(
            limiter.take(one, rate, start + Duration::from_millis(500)),
            Err(Duration::from_millis(1500))
        );
        limiter.take(one, rate, start + Duration::from_secs(2)).unwrap();
        assert!(limiter.take(one, rate, start + Duration::from_secs(2)).is_err());
        // Others have their own, and the table stays small.
        for n in 0..1000_u32 {
            let other = Whose::Address(std::net::Ipv4Addr::from_bits(n).into());
            limiter.take(other, rate, start).unwrap();
        }
        assert!(limiter.full.lock().unwrap().len() <= 4);
    }
}
