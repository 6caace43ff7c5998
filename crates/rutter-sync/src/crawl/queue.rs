//! Frontier of a crawl: the queue of URLs to fetch, and their order.
//!
//! Input: URLs from sitemaps, an ARC sitemap, llms.txt, links and the replica. Output: each
//! accepted URL once, as a [`CrawlTarget`]. Rejected URLs are counted, and listed with the
//! reason.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use rutter_extract::{SAMPLE, sample_key};
use rutter_fetch::Url;
use rutter_page::Timestamp;

use crate::consent::page_policy::{PagePolicy, key_of};
use crate::crawl::file_type::is_file;
use crate::crawl::traps::TrapDetector;
use crate::crawl::variants;
use crate::limits::CrawlLimits;
use crate::report::SyncReport;
use crate::report::left_out::{LeftOutReason, MOST_URLS};
use crate::state::url_set::UrlSet;

/// Maximum number of rejected URLs that are remembered, so that each is counted once. A URL
/// that is rejected after this number is counted each time it is found.
const MOST_OVER: usize = 1_000_000;

/// A URL to fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrawlTarget {
    pub(crate) url: Url,
    /// Date of the last change of the page, according to the sitemap or ARC sitemap that
    /// lists it.
    pub(crate) lastmod: Option<Timestamp>,
    /// Checksum in the ARC entry of the page, which shows whether the page changed
    /// (ARC-059).
    pub(crate) checksum: Option<String>,
    /// Number of links from the home page to this URL; 0 if a list contains the URL.
    pub(crate) depth: u32,
    /// Whether the URL is requested without validators.
    pub(crate) is_fresh: bool,
    /// A known URL with the same [`spelling`](variants::spelling), if there is one.
    pub(crate) spelling_of: Option<String>,
}

/// The queue of URLs that a crawl has to fetch.
#[derive(Debug)]
// More than 12 fields: two queues, and the facts about every URL that was offered to them.
pub(crate) struct Frontier<'g> {
    page_policy: &'g PagePolicy,
    limits: &'g CrawlLimits,
    most: u64,
    most_found: u64,
    n_found: u64,
    /// Reason why the frontier accepts no more URLs; `None` while it accepts them.
    closed: Option<LeftOutReason>,
    /// URLs that a list or the replica contains.
    waiting: VecDeque<CrawlTarget>,
    /// URLs from links. [`Frontier::next`] alternates between `waiting` and `found`, so
    /// that URLs of both queues are fetched even if a limit ends the crawl early.
    found: VecDeque<CrawlTarget>,
    is_turn_of_found: bool,
    /// Other spellings of known URLs. They are fetched last, when the content of the known
    /// pages is available for comparison.
    spellings: VecDeque<CrawlTarget>,
    spelled: HashSet<u64>,
    seen: HashSet<String>,
    /// Rejected URLs, at most [`MOST_OVER`].
    over: UrlSet,
    traps: TrapDetector,
    /// Links that this crawl does not fetch and the next crawl may fetch, with their depth.
    left: Vec<(String, u32)>,
    /// Number of rejected URLs by reason.
    left_out: BTreeMap<LeftOutReason, u64>,
    /// The first rejected URLs, with the reason and their depth.
    turned_away: BTreeMap<String, (LeftOutReason, u32)>,
    n_known: u64,
}

impl<'g> Frontier<'g> {
    /// Creates a frontier that accepts at most `most_found` URLs from links.
    pub(crate) fn new(
        page_policy: &'g PagePolicy,
        limits: &'g CrawlLimits,
        most_found: u64,
    ) -> Self {
        Self {
            page_policy,
            limits,
            most: limits.queue.max(most_found),
            most_found,
            n_found: 0,
            closed: None,
            waiting: VecDeque::new(),
            found: VecDeque::new(),
            is_turn_of_found: true,
            spellings: VecDeque::new(),
            spelled: HashSet::new(),
            seen: HashSet::new(),
            over: UrlSet::default(),
            traps: TrapDetector::default(),
            left: Vec::new(),
            left_out: BTreeMap::new(),
            turned_away: BTreeMap::new(),
            n_known: 0,
        }
    }

    /// Adds a URL that a list or the replica contains. Its parameters are kept.
    pub(crate) fn add(
        &mut self,
        address: &str,
        lastmod: Option<Timestamp>,
        checksum: Option<String>,
    ) {
        let Some(key) = key_of(address) else {
            return self.turn_away(address, 0, LeftOutReason::INVALID_URL);
        };
        if !self.page_policy.is_site_url(&key) {
            return self.turn_away(&key, 0, LeftOutReason::OTHER_SITE);
        }
        if !self.page_policy.scope().has_url(&key) {
            return self.turn_away(&key, 0, LeftOutReason::SCOPE);
        }
        self.push(&key, lastmod, checksum, 0);
    }

    /// Adds a URL that a crawl by links starts from. The URL may be outside of the scope,
    /// because its links may lead to pages inside.
    pub(crate) fn start_from(&mut self, address: &str) {
        if let Some(key) = key_of(address).filter(|key| self.page_policy.is_site_url(key)) {
            self.push(&key, None, None, 0);
        }
    }

    /// Adds a URL that a page links to. Crawler traps, URLs outside of the scope and URLs
    /// beyond the depth limit are rejected.
    pub(crate) fn follow(&mut self, address: &str, depth: u32) {
        let Some((key, _)) = self.new_link(address) else { return };
        let key = self.without_parameters(key, depth);
        let Some((key, url)) = self.new_link(&key) else { return };
        if !self.page_policy.scope().has_url(&key) {
            return self.turn_away(&key, depth, LeftOutReason::SCOPE);
        }
        if self.limits.depth < depth {
            return self.turn_away(&key, depth, LeftOutReason::DEPTH_LIMIT);
        }
        match self.traps.refuse(&url, self.limits) {
            Some(reason) => self.turn_away(&key, depth, reason),
            None if self.most <= self.n_known || self.most_found <= self.n_found => {
                self.leave(&key, depth);
            }
            None => {
                self.n_found += 1;
                self.push(&key, None, None, depth.max(1));
            }
        }
    }

    /// Returns a URL without session and tracking parameters. If parameters were removed,
    /// the original URL is left out as an alias.
    fn without_parameters(&mut self, key: String, depth: u32) -> String {
        let stripped = Some(()).filter(|()| self.limits.merges_variants);
        let Some(page) = stripped.and_then(|()| variants::strip_parameters(&key)) else {
            return key;
        };
        self.turn_away(&key, depth, LeftOutReason::alias(page.clone()));
        page
    }

    /// Rejects a link that is beyond the number of links followed from one page.
    pub(crate) fn leave_link(&mut self, address: &str, depth: u32) {
        if let Some((key, _)) = self.new_link(address) {
            self.turn_away(&key, depth, LeftOutReason::LINK_LIMIT);
        }
    }

    /// Returns the key and the URL of a link, if the link leads to a page of this site that
    /// is not queued yet.
    fn new_link(&self, address: &str) -> Option<(String, Url)> {
        let key = key_of(address)?;
        if self.seen.contains(&key) || !self.page_policy.is_site_url(&key) {
            return None;
        }
        let url = Url::parse(&key).ok().filter(|url| !is_file(url))?;
        Some((key, url))
    }

    fn push(
        &mut self,
        key: &str,
        lastmod: Option<Timestamp>,
        checksum: Option<String>,
        depth: u32,
    ) {
        if self.seen.contains(key) {
            return;
        }
        if self.most <= self.n_known {
            return self.turn_away(key, depth, self.limit());
        }
        let Ok(url) = Url::parse(key) else {
            return self.turn_away(key, depth, LeftOutReason::INVALID_URL);
        };
        self.seen.insert(key.to_owned());
        self.n_known += 1;
        if let Some((why, _)) = self.turned_away.remove(key) {
            // The URL was rejected before and is now accepted, so it is no longer counted
            // as rejected.
            let reason = if why.alias_of().is_some() { LeftOutReason::ALIAS } else { why };
            self.left_out.entry(reason).and_modify(|n| *n = n.saturating_sub(1));
        }
        // If a limit rejects the URL later, the URL is counted again.
        self.over.remove(key);
        let spelling_of = None;
        let target = CrawlTarget { url, lastmod, checksum, depth, is_fresh: false, spelling_of };
        let spelling = variants::spelling(key).filter(|_| self.limits.merges_variants);
        let is_other = spelling.is_some_and(|spelling| !self.spelled.insert(spelling));
        let queue = match depth {
            _ if is_other => &mut self.spellings,
            0 => &mut self.waiting,
            _ => &mut self.found,
        };
        queue.push_back(target);
    }

    /// Counts a rejected URL. A URL that is rejected again is not counted again, as long as
    /// [`MOST_OVER`] is not reached.
    fn turn_away(&mut self, key: &str, depth: u32, why: LeftOutReason) {
        if self.over.len() < MOST_OVER && !self.over.insert(key) {
            return;
        }
        let reason = if why.alias_of().is_some() { LeftOutReason::ALIAS } else { why.clone() };
        *self.left_out.entry(reason).or_default() += 1;
        if self.turned_away.len() < MOST_URLS {
            self.turned_away.insert(key.to_owned(), (why, depth));
        }
    }

    /// Returns the reason why the frontier accepts no more URLs.
    fn limit(&self) -> LeftOutReason {
        let is_full = self.limits.queue <= self.n_known;
        let limit = if is_full { LeftOutReason::QUEUE_LIMIT } else { LeftOutReason::PAGE_LIMIT };
        self.closed.clone().unwrap_or(limit)
    }

    /// Adds the rejected URLs to the report, except those of pages that an earlier sync
    /// stored.
    pub(crate) fn report(&self, report: &mut SyncReport, is_stored: &dyn Fn(&str) -> bool) {
        let mut n_stored: BTreeMap<&LeftOutReason, u64> = BTreeMap::new();
        for (key, (why, _)) in &self.turned_away {
            if why.alias_of().is_none() && is_stored(key) {
                *n_stored.entry(why).or_default() += 1;
            } else {
                report.list_left_out(key, why.clone());
            }
        }
        for (why, n) in &self.left_out {
            let n = n.saturating_sub(n_stored.get(why).copied().unwrap_or_default());
            if 0 < n {
                report.count_left_out(why.clone(), n);
            }
        }
    }

    /// Records a URL as listed without queuing it: a listed URL redirects to it, or its ARC
    /// entry contains a snapshot.
    pub(crate) fn note(&mut self, key: &str) {
        self.seen.insert(key.to_owned());
    }

    /// Returns whether a URL was accepted, recorded or rejected; `true` for every URL once
    /// [`MOST_OVER`] URLs were rejected.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.seen.contains(key) || self.over.has(key) || MOST_OVER <= self.over.len()
    }

    /// Queues a URL as the next one, to be requested again without validators.
    pub(crate) fn again(&mut self, target: CrawlTarget) {
        self.waiting.push_front(CrawlTarget { is_fresh: true, ..target });
    }

    /// Returns whether a limit rejected URLs, so that not every listed page was fetched.
    pub(crate) fn is_bounded(&self) -> bool {
        let limits =
            [LeftOutReason::PAGE_LIMIT, LeftOutReason::QUEUE_LIMIT, LeftOutReason::TIME_LIMIT];
        limits.iter().any(|limit| self.left_out.get(limit).is_some_and(|n| 0 < *n))
    }

    pub(crate) fn next(&mut self) -> Option<CrawlTarget> {
        self.is_turn_of_found = !self.is_turn_of_found;
        let queues = if self.is_turn_of_found {
            [&mut self.found, &mut self.waiting]
        } else {
            [&mut self.waiting, &mut self.found]
        };
        queues.into_iter().find_map(VecDeque::pop_front)
    }

    /// Ends the queue: waiting URLs, and URLs that are added later, are rejected.
    pub(crate) fn close(&mut self, why: LeftOutReason) {
        self.most = 0;
        let why = self.closed.get_or_insert(why).clone();
        let (waiting, found) = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.found));
        for target in waiting {
            self.turn_away(target.url.as_str(), 0, why.clone());
        }
        let spellings = std::mem::take(&mut self.spellings);
        let (listed, linked): (Vec<_>, Vec<_>) =
            spellings.into_iter().partition(|target| target.depth == 0);
        for target in listed {
            self.turn_away(target.url.as_str(), 0, why.clone());
        }
        for target in found.into_iter().chain(linked) {
            self.leave(target.url.as_str(), target.depth);
        }
    }

    /// Queues the other spellings of known URLs. Call this when all other URLs are fetched.
    /// Returns whether URLs were queued.
    pub(crate) fn release_spellings(&mut self) -> bool {
        let spellings = std::mem::take(&mut self.spellings);
        if spellings.is_empty() {
            return false;
        }
        let held: HashSet<&str> = spellings.iter().map(|it| it.url.as_str()).collect();
        let wanted: HashSet<u64> = held.iter().filter_map(|key| variants::spelling(key)).collect();
        let mut first: BTreeMap<u64, String> = BTreeMap::new();
        for key in self.seen.iter().filter(|key| !held.contains(key.as_str())) {
            if let Some(spelling) = variants::spelling(key).filter(|it| wanted.contains(it)) {
                first.insert(spelling, key.clone());
            }
        }
        for target in spellings {
            let spelling = variants::spelling(target.url.as_str());
            let spelling_of = spelling.and_then(|spelling| first.get(&spelling).cloned());
            self.waiting.push_back(CrawlTarget { spelling_of, ..target });
        }
        true
    }

    /// Rejects a link, and stores it for the next crawl as far as the limit allows.
    fn leave(&mut self, key: &str, depth: u32) {
        if self.over.has(key) {
            return;
        }
        let is_kept = self.left.len() < self.limits.remembered_links;
        if is_kept {
            self.left.push((key.to_owned(), depth));
        }
        let why = if is_kept { self.limit() } else { LeftOutReason::REMEMBERED_LIMIT };
        self.turn_away(key, depth, why);
    }

    /// Stores a link for the next crawl without fetching it in this one.
    pub(crate) fn keep(&mut self, key: &str, depth: u32) {
        if self.left.len() < self.limits.remembered_links {
            self.left.push((key.to_owned(), depth));
        }
    }

    /// Returns the links that this crawl has not fetched yet, and the links that are stored
    /// for the next crawl, with their depth.
    pub(crate) fn links(&self) -> impl Iterator<Item = (String, u32)> {
        let found = self.found.iter().map(|target| (target.url.as_str().to_owned(), target.depth));
        let spellings = self.spellings.iter().filter(|target| 0 < target.depth);
        let spellings = spellings.map(|target| (target.url.as_str().to_owned(), target.depth));
        self.left.iter().cloned().chain(found).chain(spellings)
    }

    /// Returns the links that were rejected, with their depth. They are stored because the
    /// limits of a later sync may be wider, and the response for an unchanged page does not
    /// contain its links.
    pub(crate) fn cut_links(&self) -> impl Iterator<Item = (String, u32)> {
        let cut = self.turned_away.iter().filter(|(_, (_, depth))| 0 < *depth);
        cut.map(|(key, (_, depth))| (key.clone(), *depth))
    }

    /// Sorts the waiting URLs by `age` if there are more than `most`, so that the URLs with
    /// the lowest `age` are fetched before a limit ends the crawl.
    pub(crate) fn sort_by_age<A: Ord, E>(
        &mut self,
        most: u64,
        mut age: impl FnMut(&str) -> Result<A, E>,
    ) -> Result<(), E> {
        if self.waiting.len() as u64 <= most {
            return Ok(());
        }
        let mut by_age = Vec::with_capacity(self.waiting.len());
        for target in std::mem::take(&mut self.waiting) {
            by_age.push((age(target.url.as_str())?, target));
        }
        by_age.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.waiting = by_age.into_iter().map(|(_, target)| target).collect();
        Ok(())
    }

    /// Moves the URLs in `keys` to the end of the queue.
    pub(crate) fn put_last(&mut self, keys: &BTreeSet<String>) {
        if keys.is_empty() {
            return;
        }
        let is_last = |target: &CrawlTarget| keys.contains(target.url.as_str());
        let all = std::mem::take(&mut self.waiting);
        let (last, first): (Vec<CrawlTarget>, Vec<CrawlTarget>) =
            all.into_iter().partition(is_last);
        self.waiting = first.into_iter().chain(last).collect();
    }

    pub(crate) fn n_known(&self) -> u64 {
        self.n_known
    }

    /// Moves the sample of pages for learning templates to the front of the queue, and
    /// returns their keys. Pages in `stops`, which ended an earlier crawl, are not part of
    /// the sample.
    pub(crate) fn sample_first(&mut self, stops: &BTreeSet<String>) -> BTreeSet<String> {
        let mut keys: Vec<([u8; 8], usize)> = self
            .waiting
            .iter()
            .enumerate()
            .filter(|(_, target)| !stops.contains(target.url.as_str()))
            .map(|(at, target)| (sample_key(target.url.as_str()), at))
            .collect();
        let n_sample = SAMPLE.min(keys.len());
        if n_sample < keys.len() {
            keys.select_nth_unstable(n_sample);
        }
        let places: BTreeSet<usize> = keys.iter().take(n_sample).map(|(_, at)| *at).collect();
        let all = std::mem::take(&mut self.waiting);
        let mut rest = VecDeque::with_capacity(all.len());
        let mut sample = BTreeSet::new();
        for (at, target) in all.into_iter().enumerate() {
            if places.contains(&at) {
                sample.insert(target.url.as_str().to_owned());
                self.waiting.push_back(target);
            } else {
                rest.push_back(target);
            }
        }
        self.waiting.append(&mut rest);
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_each_url_once_and_counts_the_others() {
        let page_policy = PagePolicy::new("https://h.example", &[]);
        let limits = CrawlLimits { queue: 2, ..CrawlLimits::default() };
        let mut frontier = Frontier::new(&page_policy, &limits, 2);
        frontier.add("https://h.example/a", None, None);
        frontier.add("https://H.example/a#part", None, None);
        frontier.add("https://other.example/", None, None);
        frontier.add("mailto:a@h.example", None, None);
        frontier.follow("https://h.example/b.png", 1);
        frontier.follow("https://h.example/b", 1);
        frontier.follow("https://h.example/c", 1);
        let order: Vec<String> =
            std::iter::from_fn(|| frontier.next()).map(|it| it.url.path().to_owned()).collect();
        assert_eq!(order, ["/a", "/b"]);
        let left: Vec<(&str, u64)> =
            frontier.left_out.iter().map(|(reason, n)| (reason.code(), *n)).collect();
        assert_eq!(left, [("invalid-url", 1), ("other-site", 1), ("queue-limit", 1)]);
    }

    #[test]
    fn deep_link_counts_until_it_is_found_at_less_depth() {
        let page_policy = PagePolicy::new("https://h.example", &[]);
        let limits = CrawlLimits { depth: 3, ..CrawlLimits::default() };
        let mut frontier = Frontier::new(&page_policy, &limits, 10);
        let mut report = SyncReport::new("https://h.example", crate::discover::AccessMethod::Links);
        for path in ["a", "b"] {
            frontier.follow(&format!("https://h.example/{path}"), 4);
        }
        frontier.leave_link("https://h.example/c", 2);
        // The rejected links are kept for a sync with wider limits.
        assert_eq!(frontier.cut_links().count(), 3);
        frontier.follow("https://h.example/b", 3);
        frontier.report(&mut report, &|_| false);
        assert_eq!(
            report.left_out_by_code().into_iter().collect::<Vec<_>>(),
            [("depth-limit", 1), ("link-limit", 1)]
        );
        let listed: Vec<&str> = report.left_out_urls.keys().map(String::as_str).collect();
        assert_eq!(listed, ["https://h.example/a", "https://h.example/c"]);
    }

    #[test]
    fn link_found_at_less_depth_and_then_cut_is_counted() {
        let page_policy = PagePolicy::new("https://h.example", &[]);
        let limits = CrawlLimits { depth: 3, ..CrawlLimits::default() };
        let mut frontier = Frontier::new(&page_policy, &limits, 10);
        frontier.follow("https://h.example/a", 4);
        frontier.follow("https://h.example/a", 3);
        frontier.close(LeftOutReason::PAGE_LIMIT);
        let mut report = SyncReport::new("https://h.example", crate::discover::AccessMethod::Links);
        frontier.report(&mut report, &|_| false);
        assert_eq!(report.left_out_by_code().into_iter().collect::<Vec<_>>(), [("page-limit", 1)]);
        let left: Vec<(String, u32)> = frontier.links().collect();
        assert_eq!(left, [("https://h.example/a".to_owned(), 3)]);
    }
}
