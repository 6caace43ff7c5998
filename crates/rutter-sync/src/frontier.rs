//! Which pages are asked for one by one, and in which order.
//!
//! Addresses come from sitemaps, an ARC sitemap, llms.txt, links and the
//! replica itself; each is asked for once. What is turned away is counted, so
//! that nothing is left out silently.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use rutter_extract::{SAMPLE, sample_key};
use rutter_fetch::Url;
use rutter_page::Timestamp;

use crate::gate::{Gate, key_of};
use crate::keys::Keys;
use crate::left_out::{LeftOut, MOST_URLS};
use crate::limits::CrawlLimits;
use crate::report::Report;
use crate::trap::Traps;
use crate::variants;

/// Addresses that are turned away and known again, so that each is counted
/// once. Beyond these, an address counts as often as it is found.
const MOST_OVER: usize = 1_000_000;

/// A page to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) url: Url,
    /// When it is said to have changed.
    pub(crate) lastmod: Option<Timestamp>,
    /// A checksum by which it is known whether it changed (ARC-059).
    pub(crate) checksum: Option<String>,
    /// Links from the home page to here.
    pub(crate) depth: u32,
    /// Whether it is asked for without conditions.
    pub(crate) is_fresh: bool,
    /// Another spelling of the URL that was fetched before.
    pub(crate) spelling_of: Option<String>,
}

/// Pages that wait.
#[derive(Debug)]
pub(crate) struct Frontier<'g> {
    gate: &'g Gate,
    limits: &'g CrawlLimits,
    most: u64,
    most_found: u64,
    n_found: u64,
    /// Why nothing more may be fetched, where that is so.
    closed: Option<LeftOut>,
    /// What is listed or known.
    waiting: VecDeque<Target>,
    /// What pages linked to. They take turns, so that neither keeps the other
    /// from being reached where not all can be.
    found: VecDeque<Target>,
    is_turn_of_found: bool,
    /// Other spellings of URLs that wait here or are done: they come last, so
    /// that their content can be compared.
    spellings: VecDeque<Target>,
    spelled: HashSet<u64>,
    seen: HashSet<String>,
    /// What was turned away by a bound: only counted, and not without end.
    over: Keys,
    traps: Traps,
    /// Links that a bound turned away, for the next walk.
    left: Vec<(String, u32)>,
    /// What was turned away, by reason.
    left_out: BTreeMap<LeftOut, u64>,
    /// Some of it, with its distance from the home page.
    turned_away: BTreeMap<String, (LeftOut, u32)>,
    n_known: u64,
}

impl<'g> Frontier<'g> {
    /// Knows as many addresses as the limits say, and of those that links lead
    /// to so many.
    pub(crate) fn new(gate: &'g Gate, limits: &'g CrawlLimits, most_found: u64) -> Self {
        Self {
            gate,
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
            over: Keys::default(),
            traps: Traps::default(),
            left: Vec::new(),
            left_out: BTreeMap::new(),
            turned_away: BTreeMap::new(),
            n_known: 0,
        }
    }

    /// Adds an address that the site lists, with all its parameters.
    pub(crate) fn add(
        &mut self,
        address: &str,
        lastmod: Option<Timestamp>,
        checksum: Option<String>,
    ) {
        let Some(key) = key_of(address) else {
            return self.turn_away(address, 0, LeftOut::INVALID_URL);
        };
        if !self.gate.is_ours(&key) {
            return self.turn_away(&key, 0, LeftOut::OTHER_SITE);
        }
        if !self.gate.scope().has_url(&key) {
            return self.turn_away(&key, 0, LeftOut::SCOPE);
        }
        self.push(&key, lastmod, checksum, 0);
    }

    /// Adds an address that a walk by links starts from, also outside the
    /// scope: its links lead inside.
    pub(crate) fn start_from(&mut self, address: &str) {
        if let Some(key) = key_of(address).filter(|key| self.gate.is_ours(key)) {
            self.push(&key, None, None, 0);
        }
    }

    /// Adds an address that a page links to; traps and what is too far away are
    /// turned away.
    pub(crate) fn follow(&mut self, address: &str, depth: u32) {
        let Some((key, _)) = self.new_link(address) else { return };
        let key = self.without_parameters(key, depth);
        let Some((key, url)) = self.new_link(&key) else { return };
        if !self.gate.scope().has_url(&key) {
            return self.turn_away(&key, depth, LeftOut::SCOPE);
        }
        if self.limits.depth < depth {
            return self.turn_away(&key, depth, LeftOut::DEPTH_LIMIT);
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

    /// The URL without session and tracking parameters; what had some is
    /// listed as an alias.
    fn without_parameters(&mut self, key: String, depth: u32) -> String {
        let stripped = Some(()).filter(|()| self.limits.merges_variants);
        let Some(page) = stripped.and_then(|()| variants::stripped(&key)) else { return key };
        self.turn_away(&key, depth, LeftOut::alias(page.clone()));
        page
    }

    /// Turns a link away that is one too many on its page.
    pub(crate) fn leave_link(&mut self, address: &str, depth: u32) {
        if let Some((key, _)) = self.new_link(address) {
            self.turn_away(&key, depth, LeftOut::LINK_LIMIT);
        }
    }

    /// A link to a page of this site that is not known yet.
    fn new_link(&self, address: &str) -> Option<(String, Url)> {
        let key = key_of(address)?;
        if self.seen.contains(&key) || !self.gate.is_ours(&key) {
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
            return self.turn_away(key, depth, LeftOut::INVALID_URL);
        };
        self.seen.insert(key.to_owned());
        self.n_known += 1;
        if let Some((why, _)) = self.turned_away.remove(key) {
            // It was found in another place that is within bounds.
            let reason = if why.alias_of().is_some() { LeftOut::ALIAS } else { why };
            self.left_out.entry(reason).and_modify(|n| *n = n.saturating_sub(1));
        }
        // Where a bound cuts it later, it counts again.
        self.over.remove(key);
        let spelling_of = None;
        let target = Target { url, lastmod, checksum, depth, is_fresh: false, spelling_of };
        let spelling = variants::spelling(key).filter(|_| self.limits.merges_variants);
        let is_other = spelling.is_some_and(|spelling| !self.spelled.insert(spelling));
        let queue = match depth {
            _ if is_other => &mut self.spellings,
            0 => &mut self.waiting,
            _ => &mut self.found,
        };
        queue.push_back(target);
    }

    /// Counts an address once, as long as there is room to know it again.
    fn turn_away(&mut self, key: &str, depth: u32, why: LeftOut) {
        if self.over.len() < MOST_OVER && !self.over.insert(key) {
            return;
        }
        let reason = if why.alias_of().is_some() { LeftOut::ALIAS } else { why.clone() };
        *self.left_out.entry(reason).or_default() += 1;
        if self.turned_away.len() < MOST_URLS {
            self.turned_away.insert(key.to_owned(), (why, depth));
        }
    }

    /// Why no more addresses are taken.
    fn limit(&self) -> LeftOut {
        let is_full = self.limits.queue <= self.n_known;
        let limit = if is_full { LeftOut::QUEUE_LIMIT } else { LeftOut::PAGE_LIMIT };
        self.closed.clone().unwrap_or(limit)
    }

    /// Counts and lists what was turned away. A page that an earlier sync
    /// stored is not left out, although this one did not request it.
    pub(crate) fn report(&self, report: &mut Report, is_stored: &dyn Fn(&str) -> bool) {
        let mut n_stored: BTreeMap<&LeftOut, u64> = BTreeMap::new();
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

    /// Takes an address for listed that a listed one leads to.
    pub(crate) fn note(&mut self, key: &str) {
        self.seen.insert(key.to_owned());
    }

    /// Whether an address was listed, whatever became of it.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.seen.contains(key) || self.over.has(key) || MOST_OVER <= self.over.len()
    }

    /// Asks for a page once more, without conditions.
    pub(crate) fn again(&mut self, target: Target) {
        self.waiting.push_front(Target { is_fresh: true, ..target });
    }

    /// Whether something was turned away by a bound, so that not everything
    /// that is listed was seen.
    pub(crate) fn is_bounded(&self) -> bool {
        let limits = [LeftOut::PAGE_LIMIT, LeftOut::QUEUE_LIMIT, LeftOut::TIME_LIMIT];
        limits.iter().any(|limit| self.left_out.get(limit).is_some_and(|n| 0 < *n))
    }

    pub(crate) fn next(&mut self) -> Option<Target> {
        self.is_turn_of_found = !self.is_turn_of_found;
        let queues = if self.is_turn_of_found {
            [&mut self.found, &mut self.waiting]
        } else {
            [&mut self.waiting, &mut self.found]
        };
        queues.into_iter().find_map(VecDeque::pop_front)
    }

    /// No more pages may be asked for: whatever waits or comes is turned away.
    pub(crate) fn close(&mut self, why: LeftOut) {
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

    /// Lets other spellings of URLs be fetched, now that everything else is
    /// done; tells whether there are any.
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
            self.waiting.push_back(Target { spelling_of, ..target });
        }
        true
    }

    /// Turns a link away that the next walk may reach.
    fn leave(&mut self, key: &str, depth: u32) {
        if self.over.has(key) {
            return;
        }
        let is_kept = self.left.len() < self.limits.remembered_links;
        if is_kept {
            self.left.push((key.to_owned(), depth));
        }
        let why = if is_kept { self.limit() } else { LeftOut::REMEMBERED_LIMIT };
        self.turn_away(key, depth, why);
    }

    /// Keeps a link for a later walk without asking for it in this one.
    pub(crate) fn keep(&mut self, key: &str, depth: u32) {
        if self.left.len() < self.limits.remembered_links {
            self.left.push((key.to_owned(), depth));
        }
    }

    /// Links that are still to be followed, or that the number of pages cut,
    /// with their distance from the home page.
    pub(crate) fn links(&self) -> impl Iterator<Item = (String, u32)> {
        let found = self.found.iter().map(|target| (target.url.as_str().to_owned(), target.depth));
        let spellings = self.spellings.iter().filter(|target| 0 < target.depth);
        let spellings = spellings.map(|target| (target.url.as_str().to_owned(), target.depth));
        self.left.iter().cloned().chain(found).chain(spellings)
    }

    /// Links that any bound turned away. The bounds may be wider next time, and
    /// the pages that have these links may never be sent again.
    pub(crate) fn cut_links(&self) -> impl Iterator<Item = (String, u32)> {
        let cut = self.turned_away.iter().filter(|(_, (_, depth))| 0 < *depth);
        cut.map(|(key, (_, depth))| (key.clone(), *depth))
    }

    /// Puts what waits into the order of what `age` gives, where it is more
    /// than can be asked for: what comes first in it is surely reached.
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

    /// Puts addresses behind all others.
    pub(crate) fn put_last(&mut self, keys: &BTreeSet<String>) {
        if keys.is_empty() {
            return;
        }
        let is_last = |target: &Target| keys.contains(target.url.as_str());
        let all = std::mem::take(&mut self.waiting);
        let (last, first): (Vec<Target>, Vec<Target>) = all.into_iter().partition(is_last);
        self.waiting = first.into_iter().chain(last).collect();
    }

    pub(crate) fn n_known(&self) -> u64 {
        self.n_known
    }

    /// Puts the pages that templates are learned from first, but none of
    /// those that ended a walk; gives their addresses (design notes F).
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

/// Whether a link surely leads to something that is no page.
pub(crate) fn is_file(url: &Url) -> bool {
    const FILES: [&str; 28] = [
        "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "css", "js", "mjs", "json",
        "xml", "pdf", "zip", "gz", "tar", "zst", "mp3", "mp4", "webm", "ogg", "woff", "woff2",
        "ttf", "scp", "jsonld", "rss",
    ];
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, end)| FILES.contains(&end.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_each_address_is_asked_for_once_and_nothing_goes_silently() {
        let gate = Gate::new("https://h.example", &[]);
        let limits = CrawlLimits { queue: 2, ..CrawlLimits::default() };
        let mut frontier = Frontier::new(&gate, &limits, 2);
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
    fn link_that_is_too_deep_counts_until_it_is_found_nearer() {
        let gate = Gate::new("https://h.example", &[]);
        let limits = CrawlLimits { depth: 3, ..CrawlLimits::default() };
        let mut frontier = Frontier::new(&gate, &limits, 10);
        let mut report = Report::new("https://h.example", rutter_discover::Rung::Links);
        for path in ["a", "b"] {
            frontier.follow(&format!("https://h.example/{path}"), 4);
        }
        frontier.leave_link("https://h.example/c", 2);
        // Kept for a sync with wider bounds.
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
    fn link_that_is_found_nearer_and_then_cut_is_counted() {
        let gate = Gate::new("https://h.example", &[]);
        let limits = CrawlLimits { depth: 3, ..CrawlLimits::default() };
        let mut frontier = Frontier::new(&gate, &limits, 10);
        frontier.follow("https://h.example/a", 4);
        frontier.follow("https://h.example/a", 3);
        frontier.close(LeftOut::PAGE_LIMIT);
        let mut report = Report::new("https://h.example", rutter_discover::Rung::Links);
        frontier.report(&mut report, &|_| false);
        assert_eq!(report.left_out_by_code().into_iter().collect::<Vec<_>>(), [("page-limit", 1)]);
        let left: Vec<(String, u32)> = frontier.links().collect();
        assert_eq!(left, [("https://h.example/a".to_owned(), 3)]);
    }
}
