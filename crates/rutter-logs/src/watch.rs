//! Detects clients that behave unusually, one record at a time.
//!
//! A client is an IP address (for IPv6, a /64 network) together with a token name. For each client,
//! a [`ClientMonitor`] keeps counts within a time window; the window starts with the first request
//! of the client, and a new window starts when the old one is over. Each rule gives at most one finding per
//! client and window. Records may be out of order, because servers write a record when a response
//! ends; the order within a window does not matter. A record that is older than the window only
//! increases the count of [`ClientMonitor::late`].
//!
//! [`OddClientThresholds::clients`] bounds the memory; the monitor drops inactive clients. A client that
//! fetches images and style sheets with its pages, as a browser does, is not reported for fetching
//! page by page (LG001).

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};

use rutter_finding::{Finding, Place, Rule, quoted};

use crate::agents::recognize;
use crate::artifact::{Artifact, path};
use crate::bounded::{DistinctCounter, HashSeed, RecentTable};
use crate::record::AccessRecord;
use crate::rules;

/// Maximum number of seconds of a `Retry-After` header that rule LG002 takes into account.
const MAX_WAIT: i64 = 86_400;

/// Maximum number of collections whose downloads are counted per client.
const COLLECTIONS: usize = 16;

/// Thresholds of the rules for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OddClientThresholds {
    /// Length of the time window in seconds.
    pub window: i64,
    /// Maximum number of clients that are monitored at a time.
    pub clients: usize,
    /// LG001 reports a client that fetched at least this many distinct pages.
    pub pages: u64,
    /// Whether the site is known to have collections; if false, a request for a collection in the
    /// log proves that the site has some (LG001).
    pub has_collections: bool,
    /// LG002 reports a client that sent at least this many requests while it should wait.
    pub early: u64,
    /// Seconds that a client should wait after a 429 response without `Retry-After` (LG002).
    pub wait: i64,
    /// Seconds after a 429 response in which requests are not counted, because the client may have
    /// sent them before (LG002).
    pub grace: i64,
    /// LG003 reports a client that requested at least this many distinct restricted paths.
    pub closed: u64,
    /// Path prefixes below which a path with status 404 counts as restricted, too (LG003).
    pub closed_paths: Vec<String>,
    /// LG004 reports a client that got at least this many responses with status 401.
    pub refused: u64,
    /// LG005 reports a client that got the same collection, with status 200, at least this many
    /// times. A log does not show which responses the client read to the end.
    pub downloads: u64,
}

impl OddClientThresholds {
    /// Default thresholds, which neither a person nor a polite program reaches in a day.
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

impl Default for OddClientThresholds {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Counts of the requests of one client within its current window.
#[derive(Debug, Default)]
struct ClientWindow {
    /// Times of the earliest and the latest record within the window, in Unix seconds.
    since: i64,
    last: i64,
    requests: u64,
    pages: DistinctCounter,
    assets: u64,
    /// Number of requests for artifacts that replace requests for pages.
    spared: u64,
    closed: DistinctCounter,
    refused: u64,
    /// Fingerprint and number of downloads of each collection; at most [`COLLECTIONS`] entries.
    collections: Vec<(u64, u64)>,
    /// Time of the first 429 response of the current wait, and the time when the wait ends.
    wait: Option<(i64, i64)>,
    early: u64,
    /// Rules that were already reported in this window, one bit for each rule.
    reported: u8,
}

/// Detects clients that behave unusually, from one access record after the other.
#[derive(Debug)]
pub struct ClientMonitor {
    thresholds: OddClientThresholds,
    clients: RecentTable<ClientWindow>,
    has_collections: bool,
    late: u64,
    seed: HashSeed,
}

impl ClientMonitor {
    /// Creates a monitor that has not seen any client.
    pub fn new(thresholds: OddClientThresholds) -> Self {
        let has_collections = thresholds.has_collections;
        let clients = RecentTable::new(thresholds.clients);
        Self { clients, thresholds, has_collections, late: 0, seed: HashSeed::random() }
    }

    /// Returns the number of records that were older than the window of their client, and therefore
    /// ignored.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Tells the monitor that the site has collections, before a client fetches one.
    pub fn expect_collections(&mut self) {
        self.has_collections = true;
    }

    /// Counts a request and returns new findings about the client that sent it.
    pub fn observe(&mut self, record: &AccessRecord<'_>) -> Vec<Finding> {
        let limits = &self.thresholds;
        let now = record.time.unix_seconds();
        let artifact = Artifact::of(&record.target);
        let is_good = matches!(record.status, 200 | 206 | 304);
        self.has_collections |= artifact.is_collection() && is_good;
        let token = record.token.as_deref().unwrap_or_default();
        let address = address(&record.client);
        let client = self.clients.get(self.seed.of(&[&address, token]), ClientWindow::default);
        if client.requests == 0 || limits.window < now.saturating_sub(client.since) {
            // A wait that was not over continues in the new window.
            *client = ClientWindow {
                since: now,
                last: now,
                wait: client.wait,
                ..ClientWindow::default()
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
            // A HEAD request transfers no content, so it does not replace requests for pages.
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

impl ClientWindow {
    /// Counts a download of a collection; if too many collections are known, drops the one with the
    /// fewest downloads.
    fn count_download(&mut self, target: u64) {
        if let Some((_, n)) = self.collections.iter_mut().find(|(known, _)| *known == target) {
            *n += 1;
        } else if self.collections.len() < COLLECTIONS {
            self.collections.push((target, 1));
        } else if let Some(rarest) = self.collections.iter_mut().min_by_key(|(_, n)| *n) {
            *rarest = (target, 1);
        }
    }

    /// Counts requests that the client sent while it should wait. A record contains the time at
    /// which the response ended, so the duration is subtracted to get the time of the request.
    fn count_early_requests(
        &mut self,
        record: &AccessRecord<'_>,
        now: i64,
        limits: &OddClientThresholds,
    ) {
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

    /// Returns the findings of all rules that this request was the first to break in the window.
    fn check_rules(
        &mut self,
        record: &AccessRecord<'_>,
        has_collections: bool,
        limits: &OddClientThresholds,
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

/// Returns the network that identifies a client: the IPv4 address itself, the /64 network of an
/// IPv6 address (which usually belongs to one customer), or the IPv4 address inside an IPv4-mapped
/// address.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => IpAddr::V4(four),
            None => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX))),
        },
    }
}

/// Returns the client network of an address in a log; returns a host name unchanged.
fn address(written: &str) -> Cow<'_, str> {
    match written.parse::<IpAddr>() {
        Ok(six @ IpAddr::V6(_)) => Cow::Owned(client_network(six).to_string()),
        _ => Cow::Borrowed(written),
    }
}

/// Describes the client of a record for the text of a finding.
fn who(record: &AccessRecord<'_>) -> String {
    let name = recognize(record.user_agent.as_deref().unwrap_or_default()).name();
    let token = record.token.as_deref().map_or(String::new(), |token| {
        let token = quoted(token);
        format!(" with token {token}")
    });
    format!("{} as {name}{token}", quoted(&record.client))
}

/// Returns how many fingerprints a counter must store to detect that a threshold is reached.
fn bound(threshold: u64) -> usize {
    usize::try_from(threshold).unwrap_or(usize::MAX).clamp(1, 1024)
}

/// Returns whether a path starts with one of the prefixes `beginnings`.
fn is_below(path: &str, beginnings: &[String]) -> bool {
    beginnings.iter().any(|beginning| path.starts_with(beginning.as_str()))
}
