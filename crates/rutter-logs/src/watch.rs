//! Detects clients that behave unusually, one record at a time.
//!
//! A client is an address (for IPv6, its /64) together with its token. For each client, a
//! [`ClientMonitor`] keeps counts within a time window that starts with the first request and
//! restarts when it is over; each rule gives at most one finding per window. Records may be out of
//! order, because servers write them when a response ends: all counts belong to one window
//! regardless of order. A record that is older than the window is not evaluated, but counted
//! ([`ClientMonitor::late`]).
//!
//! Memory is bounded by [`Thresholds::clients`]; inactive clients are dropped. A client that
//! fetches images and style sheets with its pages, as a browser does, is not reported for reading
//! pages.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};

use rutter_finding::{Finding, Place, Rule, quoted};

use crate::agents::recognize;
use crate::artifact::{Artifact, path};
use crate::bounded::{DistinctCounter, HashSeed, RecentTable};
use crate::record::AccessRecord;
use crate::rules;

/// Longest `Retry-After` that is enforced.
const MAX_WAIT: i64 = 86_400;

/// Collections counted per client.
const COLLECTIONS: usize = 16;

/// Thresholds of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thresholds {
    /// Length of the time window in seconds.
    pub window: i64,
    /// Most clients monitored at a time.
    pub clients: usize,
    /// Distinct pages fetched by one client (LG001).
    pub pages: u64,
    /// Whether the site has collections; otherwise a collection in the log shows it (LG001).
    pub has_collections: bool,
    /// Requests of one client while it should wait (LG002).
    pub early: u64,
    /// Seconds to wait if the response did not say (LG002).
    pub wait: i64,
    /// Seconds after a 429 in which requests may still be in flight (LG002).
    pub grace: i64,
    /// Distinct restricted paths requested by one client (LG003).
    pub closed: u64,
    /// Path prefixes below which a 404 also means restricted (LG003).
    pub closed_paths: Vec<String>,
    /// Responses with 401 to one client (LG004).
    pub refused: u64,
    /// Responses with 200 and the same collection to one client (LG005); a log does not say which
    /// of them were read to the end.
    pub downloads: u64,
}

impl Thresholds {
    /// Values that neither a person nor a polite program reaches in a day.
    pub const DEFAULT: Self = Self {
        window: 86_400,
        clients: 4096,
        pages: 500,
        has_collections: false,
        early: 10,
        wait: 10,
        grace: 2,
        closed: 20,
        closed_paths: Vec::new(),
        refused: 50,
        downloads: 10,
    };
}

impl Default for Thresholds {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Counts of one client within its window.
#[derive(Debug, Default)]
struct MonitoredClient {
    /// The first and the last time within the window.
    since: i64,
    last: i64,
    requests: u64,
    pages: DistinctCounter,
    assets: u64,
    /// Requests for files that replace pages.
    spared: u64,
    closed: DistinctCounter,
    refused: u64,
    /// Collections and how often each was fetched; at most [`COLLECTIONS`].
    collections: Vec<(u64, u64)>,
    /// When it was first asked to wait, and until when.
    wait: Option<(i64, i64)>,
    early: u64,
    /// Rules that were reported already, one bit each.
    reported: u8,
}

/// Detects unusual clients.
#[derive(Debug)]
pub struct ClientMonitor {
    thresholds: Thresholds,
    clients: RecentTable<MonitoredClient>,
    has_collections: bool,
    late: u64,
    seed: HashSeed,
}

impl ClientMonitor {
    /// Creates a monitor without clients.
    pub fn new(thresholds: Thresholds) -> Self {
        let has_collections = thresholds.has_collections;
        let clients = RecentTable::new(thresholds.clients);
        Self { clients, thresholds, has_collections, late: 0, seed: HashSeed::random() }
    }

    /// Returns the number of records that were too old to be evaluated.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Records that the site has collections, before one is fetched.
    pub fn expect_collections(&mut self) {
        self.has_collections = true;
    }

    /// Records a request and returns new findings about its client.
    pub fn observe(&mut self, record: &AccessRecord<'_>) -> Vec<Finding> {
        let limits = &self.thresholds;
        let now = record.time.unix_seconds();
        let artifact = Artifact::of(&record.target);
        let is_good = matches!(record.status, 200 | 206 | 304);
        self.has_collections |= artifact.is_collection() && is_good;
        let token = record.token.as_deref().unwrap_or_default();
        let address = address(&record.client);
        let client = self.clients.get(self.seed.of(&[&address, token]), MonitoredClient::default);
        if client.requests == 0 || limits.window < now.saturating_sub(client.since) {
            // A wait continues in the next window.
            *client = MonitoredClient {
                since: now,
                last: now,
                wait: client.wait,
                ..MonitoredClient::default()
            };
        }
        if limits.window < client.last.saturating_sub(now) {
            self.late += 1;
            return Vec::new();
        }
        (client.since, client.last) = (client.since.min(now), client.last.max(now));
        client.requests += 1;
        let target = || HashSeed::FIXED.of(&[path(&record.target)]);
        match record.status {
            200 | 206 | 304 if artifact == Artifact::Page => {
                client.pages.add(target(), bound(limits.pages));
            }
            200 | 206 | 304 if artifact == Artifact::Asset => client.assets += 1,
            // A HEAD request for the size replaces no page.
            200 | 206 | 304 if artifact.replaces_pages() && &*record.method == "GET" => {
                client.spared += 1;
            }
            401 | 403 => {
                client.closed.add(target(), bound(limits.closed));
                client.refused += u64::from(record.status == 401);
            }
            404 if is_below(path(&record.target), &limits.closed_paths) => {
                client.closed.add(target(), bound(limits.closed));
            }
            _ => {}
        }
        if record.status == 200 && artifact.is_collection() && &*record.method == "GET" {
            client.count_download(target());
        }
        client.count_early_requests(record, now, limits);
        client.check_rules(record, self.has_collections, limits)
    }
}

impl MonitoredClient {
    /// Counts a collection; if there are too many, the least frequent one is dropped.
    fn count_download(&mut self, target: u64) {
        if let Some((_, n)) = self.collections.iter_mut().find(|(known, _)| *known == target) {
            *n += 1;
        } else if self.collections.len() < COLLECTIONS {
            self.collections.push((target, 1));
        } else if let Some(rarest) = self.collections.iter_mut().min_by_key(|(_, n)| *n) {
            *rarest = (target, 1);
        }
    }

    /// Counts requests during a wait. A record has the time of the response, so its duration is
    /// subtracted.
    fn count_early_requests(&mut self, record: &AccessRecord<'_>, now: i64, limits: &Thresholds) {
        if let Some((first, until)) = self.wait {
            let seconds = record.duration.map_or(0, |duration| duration.as_secs());
            let asked = now.saturating_sub(i64::try_from(seconds).unwrap_or(i64::MAX));
            self.early += u64::from(first.saturating_add(limits.grace) < asked && asked < until);
            if until <= now {
                self.wait = None;
            }
        }
        if record.status == 429 {
            let reported = record.retry_after.and_then(|seconds| i64::try_from(seconds).ok());
            let until = now.saturating_add(reported.unwrap_or(limits.wait).clamp(0, MAX_WAIT));
            let (first, old) = self.wait.unwrap_or((now, until));
            self.wait = Some((first, old.max(until)));
        }
    }

    /// Returns the findings that this request causes.
    fn check_rules(
        &mut self,
        record: &AccessRecord<'_>,
        has_collections: bool,
        limits: &Thresholds,
    ) -> Vec<Finding> {
        let is_reading = has_collections && self.spared == 0 && limits.pages <= self.pages.count();
        let downloads = self.collections.iter().map(|(_, n)| *n).max().unwrap_or(0);
        let broken = [
            // A browser fetches style sheets and images with its pages.
            is_reading && self.assets.saturating_mul(10) < self.pages.count(),
            limits.early <= self.early,
            limits.closed <= self.closed.count(),
            limits.refused <= self.refused,
            limits.downloads <= downloads,
        ];
        let mut findings = Vec::new();
        for (idx, is_broken) in broken.into_iter().enumerate() {
            if !is_broken || self.reported & (1 << idx) != 0 {
                continue;
            }
            self.reported |= 1 << idx;
            let (rule, n, what): (&'static Rule, u64, &str) = match idx {
                0 => (&rules::PAGE_BY_PAGE, self.pages.count(), "pages"),
                1 => (&rules::IGNORES_RATE_LIMIT, self.early, "requests before the wait was over"),
                2 => (&rules::SCRAPES_CLOSED_PATHS, self.closed.count(), "restricted paths"),
                3 => (&rules::MANY_REFUSED_TOKENS, self.refused, "refusals"),
                _ => (&rules::SAME_COLLECTION_AGAIN, downloads, "downloads of the same file"),
            };
            let span = self.last - self.since;
            let detail = format!("{}: {n} {what} in {span} s", who(record));
            findings.push(Finding::new(rule, Place::WHOLE, detail));
        }
        findings
    }
}

/// Returns the network that an address counts as: for IPv6 its /64, which one customer has; for an
/// IPv4-mapped address the IPv4 address.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => IpAddr::V4(four),
            None => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX))),
        },
    }
}

/// Returns the client network of a logged address; a host name stays as it is.
fn address(written: &str) -> Cow<'_, str> {
    match written.parse::<IpAddr>() {
        Ok(six @ IpAddr::V6(_)) => Cow::Owned(client_network(six).to_string()),
        _ => Cow::Borrowed(written),
    }
}

/// Describes a client for a finding.
fn who(record: &AccessRecord<'_>) -> String {
    let name = recognize(record.user_agent.as_deref().unwrap_or_default()).name();
    let token = record.token.as_deref().map_or(String::new(), |token| {
        let token = quoted(token);
        format!(" with token {token}")
    });
    format!("{} as {name}{token}", quoted(&record.client))
}

/// Returns how many fingerprints must be stored to detect that a threshold is reached.
fn bound(threshold: u64) -> usize {
    usize::try_from(threshold).unwrap_or(usize::MAX).clamp(1, 1024)
}

/// Returns whether a path starts with one of these prefixes.
fn is_below(path: &str, beginnings: &[String]) -> bool {
    beginnings.iter().any(|beginning| path.starts_with(beginning.as_str()))
}
