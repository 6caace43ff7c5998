//! Looks for clients that behave oddly, one record after the other.
//!
//! A client is an address (of IPv6 the /64 it belongs to), together with its
//! token where it has one. Of each,
//! a [`Watch`] keeps a few counts within a window of time that begins with its
//! first request and begins anew when it is over; of each rule and window
//! there is one finding at most. Records may come out of order, as servers
//! write them when the answer is over: everything that is counted together lies
//! within one window, whatever came first. A record that is older than that is
//! not judged, but counted ([`Watch::late`]).
//!
//! Refuses: to keep more clients than [`Thresholds::clients`] (who was not heard
//! of for a while is forgotten), to say who a client is beyond what it said of
//! itself, and to judge a client that fetches what a browser fetches: pictures
//! and styles beside its pages.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};

use rutter_finding::{Finding, Place, Rule, quoted};

use crate::agents::recognise;
use crate::artefact::{Artefact, path};
use crate::bounded::{Distinct, Recent, Seed};
use crate::record::Record;
use crate::rules;

/// Nobody is held to a `Retry-After` of more than a day.
const LONGEST_WAIT: i64 = 86_400;

/// Collections of one client that are told apart.
const COLLECTIONS: usize = 16;

/// From when on something is odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thresholds {
    /// How long counts are kept, in seconds.
    pub window: i64,
    /// Clients that are watched at a time.
    pub clients: usize,
    /// Different pages by one client that are too many (LG001).
    pub pages: u64,
    /// Tells that there are collections; else one in the log tells (LG001).
    pub has_collections: bool,
    /// Requests of one client while it should wait (LG002).
    pub early: u64,
    /// Seconds to wait where the answer did not say (LG002).
    pub wait: i64,
    /// Seconds after a 429 in which requests may still be under way (LG002).
    pub grace: i64,
    /// Different closed paths one client may try (LG003).
    pub closed: u64,
    /// Beginnings of paths where a 404 also means closed (LG003).
    pub closed_paths: Vec<String>,
    /// Answers 401 to one client (LG004).
    pub refused: u64,
    /// Answers 200 with the same collection to one client (LG005); a log does
    /// not tell which of them were taken to their end.
    pub downloads: u64,
}

impl Thresholds {
    /// What a person would not do in a day, nor a polite program.
    pub const USUAL: Self = Self {
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
        Self::USUAL
    }
}

/// What is known of one client within its window.
#[derive(Debug, Default)]
struct Client {
    /// The first and the last time within the window.
    since: i64,
    last: i64,
    requests: u64,
    pages: Distinct,
    assets: u64,
    /// Files it took that spare pages.
    spared: u64,
    closed: Distinct,
    refused: u64,
    /// Collections it took, and how often; at most [`COLLECTIONS`].
    collections: Vec<(u64, u64)>,
    /// When it was first asked to wait, and until when.
    wait: Option<(i64, i64)>,
    early: u64,
    /// Rules it has broken already, one bit each.
    told: u8,
}

/// Watches clients.
#[derive(Debug)]
pub struct Watch {
    thresholds: Thresholds,
    clients: Recent<Client>,
    has_collections: bool,
    late: u64,
    seed: Seed,
}

impl Watch {
    /// Nobody is known yet.
    pub fn new(thresholds: Thresholds) -> Self {
        let has_collections = thresholds.has_collections;
        let clients = Recent::new(thresholds.clients);
        Self { clients, thresholds, has_collections, late: 0, seed: Seed::random() }
    }

    /// Records that came too late to be judged with their time.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Says that the site has collections, before anybody took one.
    pub fn expect_collections(&mut self) {
        self.has_collections = true;
    }

    /// Takes a request and says what is odd about its client from now on.
    pub fn see(&mut self, record: &Record<'_>) -> Vec<Finding> {
        let limits = &self.thresholds;
        let now = record.time.unix_seconds();
        let artefact = Artefact::of(&record.target);
        let is_good = matches!(record.status, 200 | 206 | 304);
        self.has_collections |= artefact.is_collection() && is_good;
        let token = record.token.as_deref().unwrap_or_default();
        let address = address(&record.client);
        let client = self.clients.get(self.seed.of(&[&address, token]), Client::default);
        if client.requests == 0 || limits.window < now.saturating_sub(client.since) {
            // A wait goes on into the next window.
            *client = Client { since: now, last: now, wait: client.wait, ..Client::default() };
        }
        if limits.window < client.last.saturating_sub(now) {
            self.late += 1;
            return Vec::new();
        }
        (client.since, client.last) = (client.since.min(now), client.last.max(now));
        client.requests += 1;
        let target = || Seed::FIXED.of(&[path(&record.target)]);
        match record.status {
            200 | 206 | 304 if artefact == Artefact::Page => {
                client.pages.add(target(), bound(limits.pages));
            }
            200 | 206 | 304 if artefact == Artefact::Asset => client.assets += 1,
            // To ask how large it is spares no page.
            200 | 206 | 304 if artefact.spares_pages() && &*record.method == "GET" => {
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
        if record.status == 200 && artefact.is_collection() && &*record.method == "GET" {
            client.download(target());
        }
        client.heed(record, now, limits);
        client.judge(record, self.has_collections, limits)
    }
}

impl Client {
    /// Counts a collection; where there are too many, the rarest is forgotten.
    fn download(&mut self, target: u64) {
        if let Some((_, n)) = self.collections.iter_mut().find(|(known, _)| *known == target) {
            *n += 1;
        } else if self.collections.len() < COLLECTIONS {
            self.collections.push((target, 1));
        } else if let Some(rarest) = self.collections.iter_mut().min_by_key(|(_, n)| *n) {
            *rarest = (target, 1);
        }
    }

    /// Counts what is asked for while the client should wait. An answer that
    /// took long was asked for before it was over, which is when it is written.
    fn heed(&mut self, record: &Record<'_>, now: i64, limits: &Thresholds) {
        if let Some((first, until)) = self.wait {
            let seconds = record.duration.map_or(0, |duration| duration.as_secs());
            let asked = now.saturating_sub(i64::try_from(seconds).unwrap_or(i64::MAX));
            self.early += u64::from(first.saturating_add(limits.grace) < asked && asked < until);
            if until <= now {
                self.wait = None;
            }
        }
        if record.status == 429 {
            let told = record.retry_after.and_then(|seconds| i64::try_from(seconds).ok());
            let until = now.saturating_add(told.unwrap_or(limits.wait).clamp(0, LONGEST_WAIT));
            let (first, old) = self.wait.unwrap_or((now, until));
            self.wait = Some((first, old.max(until)));
        }
    }

    /// Everything that has become odd with this request.
    fn judge(
        &mut self,
        record: &Record<'_>,
        has_collections: bool,
        limits: &Thresholds,
    ) -> Vec<Finding> {
        let is_reading = has_collections && self.spared == 0 && limits.pages <= self.pages.count();
        let downloads = self.collections.iter().map(|(_, n)| *n).max().unwrap_or(0);
        let broken = [
            // A browser fetches styles and pictures beside its pages.
            is_reading && self.assets.saturating_mul(10) < self.pages.count(),
            limits.early <= self.early,
            limits.closed <= self.closed.count(),
            limits.refused <= self.refused,
            limits.downloads <= downloads,
        ];
        let mut findings = Vec::new();
        for (idx, is_broken) in broken.into_iter().enumerate() {
            if !is_broken || self.told & (1 << idx) != 0 {
                continue;
            }
            self.told |= 1 << idx;
            let (rule, n, what): (&'static Rule, u64, &str) = match idx {
                0 => (&rules::PAGE_BY_PAGE, self.pages.count(), "pages"),
                1 => (&rules::IGNORES_RATE_LIMIT, self.early, "requests before it was time"),
                2 => (&rules::SCRAPES_CLOSED_PATHS, self.closed.count(), "closed paths"),
                3 => (&rules::MANY_REFUSED_TOKENS, self.refused, "refusals"),
                _ => (&rules::SAME_COLLECTION_AGAIN, downloads, "times the same file"),
            };
            let span = self.last - self.since;
            let detail = format!("{}: {n} {what} in {span} s", who(record));
            findings.push(Finding::new(rule, Place::WHOLE, detail));
        }
        findings
    }
}

/// What an address counts as: one customer has a whole /64 of IPv6, and an
/// IPv4 address that came as IPv6 is one.
pub fn household(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => IpAddr::V4(four),
            None => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX))),
        },
    }
}

/// A client's address as it counts; one that is none counts as it is written.
fn address(written: &str) -> Cow<'_, str> {
    match written.parse::<IpAddr>() {
        Ok(six @ IpAddr::V6(_)) => Cow::Owned(household(six).to_string()),
        _ => Cow::Borrowed(written),
    }
}

/// A client as it showed itself.
fn who(record: &Record<'_>) -> String {
    let name = recognise(record.user_agent.as_deref().unwrap_or_default()).name();
    let token = record.token.as_deref().map_or(String::new(), |token| {
        let token = quoted(token);
        format!(" with token {token}")
    });
    format!("{} as {name}{token}", quoted(&record.client))
}

/// How many fingerprints are kept to see that this many were reached.
fn bound(threshold: u64) -> usize {
    usize::try_from(threshold).unwrap_or(usize::MAX).clamp(1, 1024)
}

/// Tells whether a path begins with one of these.
fn is_below(path: &str, beginnings: &[String]) -> bool {
    beginnings.iter().any(|beginning| path.starts_with(beginning.as_str()))
}
