//! How much of what a site says is held: findings, adverts, addresses.
//!
//! A file is read to its end whatever it holds, so whoever writes it decides
//! how much it says. What is kept of it does not grow with that.

use std::collections::{BTreeMap, HashSet};

use rutter_fetch::Url;
use rutter_finding::{Finding, FindingSink, Rule};

use crate::said::{AdvertSaid, Said, SitemapSaid};

/// Adverts, children and links that are kept of one file.
const MOST_KEPT: usize = 10_000;
/// Findings of one rule that are kept of one file, and of a whole walk.
const MOST_IN_FILE: usize = 20;
const MOST_IN_WALK: usize = 1_000;

/// What may still be kept of the sitemaps of one walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// `scp:` elements.
    adverts: usize,
    /// Bytes of these, and of addresses.
    bytes: usize,
}

impl Room {
    /// A thousand sections with ten collections each, and every child of a
    /// large index, are well below this.
    pub(crate) const USUAL: Self = Self { adverts: 10_000, bytes: 16 << 20 };

    fn take_bytes(&mut self, n_bytes: usize) -> bool {
        let is_room = n_bytes <= self.bytes;
        if is_room {
            self.bytes -= n_bytes;
        }
        is_room
    }

    /// Takes an advert in; false where there is no room for it.
    pub(crate) fn advert(&mut self, (name, attributes, text): &AdvertSaid) -> bool {
        let fields = attributes.iter().map(|(key, value)| key.len() + value.len());
        let n_bytes = name.len() + text.len() + fields.sum::<usize>();
        if self.adverts == 0 || !self.take_bytes(n_bytes) {
            return false;
        }
        self.adverts -= 1;
        true
    }

    /// Takes in what is remembered of a file; tells whether all of it fits.
    pub(crate) fn remember(&mut self, said: &mut Said) -> bool {
        let Said::Sitemap(said) = said else { return true };
        let SitemapSaid { children, adverts, spxi, .. } = said;
        let n_before = children.len() + adverts.len() + spxi.len();
        adverts.retain(|advert| self.advert(advert));
        children.retain(|url| self.take_bytes(url.len()));
        spxi.retain(|url| self.take_bytes(url.len()));
        let is_whole = n_before == children.len() + adverts.len() + spxi.len();
        said.is_truncated |= !is_whole;
        is_whole
    }
}

/// Addresses, each once, made absolute, as many as there is room for.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl Addresses {
    /// Keeps an address; false where there is no room for it.
    pub(crate) fn keep(&mut self, base: &Url, href: &str, room: &mut Room) -> bool {
        let Ok(url) = base.join(href.trim()) else { return true };
        if !matches!(url.scheme(), "http" | "https") || self.seen.contains(url.as_str()) {
            return true;
        }
        if MOST_KEPT <= self.list.len() || !room.take_bytes(url.as_str().len()) {
            return false;
        }
        self.seen.insert(url.as_str().to_owned());
        self.list.push(url.into());
        true
    }

    pub(crate) fn finish(self) -> Vec<String> {
        self.list
    }
}

/// Keeps some findings of each rule, however many there are.
#[derive(Debug, Default)]
pub(crate) struct Capped {
    in_file: BTreeMap<&'static str, usize>,
    in_walk: BTreeMap<&'static str, usize>,
    kept: Vec<Finding>,
}

impl Capped {
    /// Gives what was kept of a file, and begins another.
    pub(crate) fn next_file(&mut self) -> Vec<Finding> {
        self.in_file.clear();
        std::mem::take(&mut self.kept)
    }

    /// Counts a finding that is kept elsewhere; false where there are enough.
    pub(crate) fn has_room(&mut self, rule: &Rule) -> bool {
        let in_walk = self.in_walk.entry(rule.code).or_default();
        *in_walk += 1;
        *in_walk <= MOST_IN_WALK
    }
}

impl FindingSink for Capped {
    fn report(&mut self, finding: Finding) {
        let in_file = self.in_file.entry(finding.rule.code).or_default();
        *in_file += 1;
        if *in_file <= MOST_IN_FILE && self.has_room(finding.rule) {
            self.kept.push(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advert(n_bytes: usize) -> AdvertSaid {
        let fields = vec![("a".repeat(n_bytes / 4), "b".repeat(n_bytes / 4))];
        ("c".repeat(n_bytes / 4), fields, "d".repeat(n_bytes / 4))
    }

    #[test]
    fn ours_adverts_are_bounded_in_number_and_in_bytes() {
        let mut room = Room::USUAL;
        assert_eq!((0..20_000).filter(|_| room.advert(&advert(40))).count(), 10_000);
        let mut room = Room::USUAL;
        assert_eq!((0..40).filter(|_| room.advert(&advert(1 << 20))).count(), 16);
        // What is remembered counts too, and says that it was cut.
        let adverts = vec![advert(1 << 20); 20];
        let mut said = Said::Sitemap(SitemapSaid { adverts, ..SitemapSaid::default() });
        let mut room = Room::USUAL;
        assert!(!room.remember(&mut said));
        let Said::Sitemap(said) = said else { panic!() };
        assert!(said.adverts.len() == 16 && said.is_truncated);
    }

    #[test]
    fn ours_addresses_are_kept_once_and_not_without_end() {
        let base = Url::parse("https://harbour.example/").unwrap();
        let (mut kept, mut room) = (Addresses::default(), Room::USUAL);
        // Comparing each with each would be ten thousand million comparisons.
        for round in 0..20 {
            for n in 0..20_000 {
                let is_kept = kept.keep(&base, &format!("/{n}"), &mut room);
                assert_eq!(is_kept, n < 10_000, "{round}");
            }
        }
        assert_eq!(kept.finish().len(), 10_000);
    }
}
