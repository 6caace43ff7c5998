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
use crate::trap::Traps;
use crate::urls::MOST_LEFT;

/// Why an address is turned away that is one too many.
const LIMIT: &str = "the limit of pages is reached";
/// Addresses that are turned away and counted, each once.
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
}

/// Pages that wait.
#[derive(Debug)]
pub(crate) struct Frontier<'g> {
    gate: &'g Gate,
    most: u64,
    most_found: u64,
    n_found: u64,
    /// What is listed or known.
    waiting: VecDeque<Target>,
    /// What pages linked to. They take turns, so that neither keeps the other
    /// from being reached where not all can be.
    found: VecDeque<Target>,
    is_turn_of_found: bool,
    seen: HashSet<String>,
    /// What was turned away by a bound: only counted, and not without end.
    over: Keys,
    traps: Traps,
    /// Links that a bound turned away, for the next walk.
    left: Vec<(String, u32)>,
    /// What was turned away, by reason.
    pub(crate) left_out: BTreeMap<String, u64>,
    n_known: u64,
}

impl<'g> Frontier<'g> {
    /// Knows at most so many addresses, and of those that links lead to so many.
    pub(crate) fn new(gate: &'g Gate, most: u64, most_found: u64) -> Self {
        Self {
            gate,
            most,
            most_found,
            n_found: 0,
            waiting: VecDeque::new(),
            found: VecDeque::new(),
            is_turn_of_found: true,
            seen: HashSet::new(),
            over: Keys::default(),
            traps: Traps::default(),
            left: Vec::new(),
            left_out: BTreeMap::new(),
            n_known: 0,
        }
    }

    fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
    }

    /// Adds an address that the site lists.
    pub(crate) fn add(
        &mut self,
        address: &str,
        lastmod: Option<Timestamp>,
        checksum: Option<String>,
    ) {
        let Some(key) = key_of(address) else { return self.leave_out("not an address of a page") };
        if !self.gate.is_ours(&key) {
            return self.leave_out("it is of another site");
        }
        self.push(&key, lastmod, checksum, 0);
    }

    /// Adds an address that a page links to; traps are turned away.
    pub(crate) fn follow(&mut self, address: &str, depth: u32) {
        let Some(key) = key_of(address) else { return };
        if self.seen.contains(&key) || !self.gate.is_ours(&key) {
            return;
        }
        let Ok(url) = Url::parse(&key) else { return };
        if is_file(&url) {
            return;
        }
        match self.traps.refuse(&url) {
            Some(reason) => self.turn_away(&key, reason),
            None if self.most <= self.n_known || self.most_found <= self.n_found => {
                self.leave(&key, depth);
            }
            None => {
                self.n_found += 1;
                self.push(&key, None, None, depth.max(1));
            }
        }
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
            return self.turn_away(key, LIMIT);
        }
        self.seen.insert(key.to_owned());
        let Ok(url) = Url::parse(key) else { return self.leave_out("not an address of a page") };
        self.n_known += 1;
        let target = Target { url, lastmod, checksum, depth, is_fresh: false };
        let queue = if depth == 0 { &mut self.waiting } else { &mut self.found };
        queue.push_back(target);
    }

    /// Counts an address once, as long as there is room to know it again.
    fn turn_away(&mut self, key: &str, reason: &str) {
        if self.over.len() < MOST_OVER && self.over.insert(key) {
            self.leave_out(reason);
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
        self.left_out.contains_key(LIMIT)
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
    pub(crate) fn close(&mut self) {
        self.most = 0;
        let (waiting, found) = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.found));
        for target in waiting {
            self.turn_away(target.url.as_str(), LIMIT);
        }
        for target in found {
            self.leave(target.url.as_str(), target.depth);
        }
    }

    /// Turns a link away that the next walk may reach.
    fn leave(&mut self, key: &str, depth: u32) {
        if self.left.len() < MOST_LEFT && !self.over.has(key) {
            self.left.push((key.to_owned(), depth));
        }
        self.turn_away(key, LIMIT);
    }

    /// Keeps a link for a later walk without asking for it in this one.
    pub(crate) fn keep(&mut self, key: &str, depth: u32) {
        if self.left.len() < MOST_LEFT {
            self.left.push((key.to_owned(), depth));
        }
    }

    /// Links that are still to be followed or were turned away by a bound,
    /// with their distance from the home page.
    pub(crate) fn links(&self) -> impl Iterator<Item = (String, u32)> {
        let found = self.found.iter().map(|target| (target.url.as_str().to_owned(), target.depth));
        self.left.iter().cloned().chain(found)
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
        let mut frontier = Frontier::new(&gate, 2, 2);
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
            frontier.left_out.iter().map(|(reason, n)| (reason.as_str(), *n)).collect();
        assert_eq!(
            left,
            [
                ("it is of another site", 1),
                ("not an address of a page", 1),
                ("the limit of pages is reached", 1)
            ]
        );
    }
}
