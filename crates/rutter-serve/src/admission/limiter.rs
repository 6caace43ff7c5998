//! Limits the request rate of each client with a token bucket.
//!
//! The number of clients in the table is limited. A client that was dropped from the table starts
//! with a full bucket.

use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::admission::client::RequestClient;
use crate::admission::client_address::client_network;
use crate::admission::error::AdmissionError;
use crate::bounded_map::BoundedMap;
use crate::settings::RateLimit;

/// The client for which requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ClientKey {
    Address(IpAddr),
    /// A token, identified by the start of its hash.
    Token([u8; 8]),
}

/// The buckets of all clients.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    /// For each client, the time at which its bucket will be full.
    full: Mutex<BoundedMap<ClientKey, Instant>>,
}

impl RateLimiter {
    pub(crate) fn new(clients: usize) -> Self {
        Self { full: Mutex::new(BoundedMap::new(clients)) }
    }

    /// Counts a request against the rate of its token, or against the rate `default` of its client
    /// network.
    pub(crate) fn admit(
        &self,
        client: &RequestClient,
        default: Option<RateLimit>,
    ) -> Result<(), AdmissionError> {
        let (key, rate) = match (&client.grant, client.address, default) {
            (Some(grant), ..) => (ClientKey::Token(grant.key()), grant.rate),
            (None, Some(address), Some(rate)) => {
                (ClientKey::Address(client_network(address)), rate)
            }
            _ => return Ok(()),
        };
        self.take(key, rate, Instant::now()).map_err(AdmissionError::TooManyRequests)
    }

    /// Counts a request; returns how long the client must wait if it is above the limit.
    ///
    /// A bucket is stored as the time at which it will be full. Each request moves that time by one
    /// interval, up to `burst` intervals ahead.
    fn take(&self, client: ClientKey, rate: RateLimit, now: Instant) -> Result<(), Duration> {
        let capacity = rate.every.saturating_mul(rate.burst.max(1));
        let mut table = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let known = table.get(&client);
        let full = known.as_ref().map_or(now, |full| (**full).max(now));
        let next = full + rate.every;
        let wait = next.duration_since(now).saturating_sub(capacity);
        if !wait.is_zero() {
            return Err(wait);
        }
        match known {
            Some(full) => *full = next,
            None => table.insert(client, next, 1),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-204
    fn delays_requests_above_the_rate() {
        let limiter = RateLimiter::new(4);
        let rate = RateLimit { every: Duration::from_secs(2), burst: 3 };
        let one = ClientKey::Address("192.0.2.1".parse().unwrap());
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
        // Other clients have their own bucket, and the table stays small.
        for n in 0..1000_u32 {
            let other = ClientKey::Address(std::net::Ipv4Addr::from_bits(n).into());
            limiter.take(other, rate, start).unwrap();
        }
        assert!(limiter.full.lock().unwrap().len() <= 4);
    }
}
