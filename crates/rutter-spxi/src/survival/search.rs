//! Finds all phrases of a large set in a text in one pass.
//!
//! Each phrase is identified by eight of its bytes, a window that few other phrases contain. A
//! filter finds candidate positions of the windows in the text. An Aho-Corasick automaton finds
//! shorter phrases and phrases without a rare window. This is three times as fast as one automaton
//! for all phrases, whose states do not fit into the processor cache.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

/// Number of bytes of the window that identifies a phrase.
const WINDOW: usize = 8;
/// Maximum number of windows of a phrase that are examined to find a rare one.
const TRIED: usize = 64;
/// Maximum number of phrases with the same window. A window of more phrases is not rare.
const MAX_SHARED: usize = 16;

/// A set of phrases, prepared for searching. Phrases may overlap, contain each other, and repeat.
#[derive(Debug)]
pub(crate) struct PhraseSearch {
    phrases: Vec<Phrase>,
    /// Index of the phrase of each id; `None` for an empty phrase.
    by_id: Vec<Option<usize>>,
    windows: HashMap<u64, Vec<usize>>,
    filter: PhraseWindowFilter,
    /// Automaton that finds the phrases in `rest`, in the order of `rest`.
    automaton: Option<AhoCorasick>,
    rest: Vec<usize>,
}

#[derive(Debug)]
struct Phrase {
    text: String,
    /// Ids with which the caller gave this phrase.
    ids: Vec<usize>,
    /// Offset of the window in the phrase; `None` if the automaton finds the phrase.
    window: Option<usize>,
}

impl PhraseSearch {
    pub(crate) fn new(texts: &[String]) -> Self {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let mut phrases: Vec<Phrase> = Vec::new();
        let mut by_id = Vec::with_capacity(texts.len());
        for (id, text) in texts.iter().enumerate() {
            if text.is_empty() {
                by_id.push(None);
                continue;
            }
            let at = *known.entry(text).or_insert(phrases.len());
            match phrases.get_mut(at) {
                Some(phrase) => phrase.ids.push(id),
                None => phrases.push(Phrase { text: text.clone(), ids: vec![id], window: None }),
            }
            by_id.push(Some(at));
        }
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for phrase in &phrases {
            for window in windows(&phrase.text).take(TRIED) {
                *counts.entry(window).or_default() += 1;
            }
        }
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut filter = PhraseWindowFilter::new(phrases.len());
        let mut rest = Vec::new();
        for (at, phrase) in phrases.iter_mut().enumerate() {
            let tried = windows(&phrase.text).take(TRIED).enumerate();
            let rarest = tried.min_by_key(|(_, window)| counts.get(window).copied());
            let rarest = rarest.filter(|(_, window)| {
                places.get(window).is_none_or(|shared| shared.len() < MAX_SHARED)
            });
            match rarest {
                Some((place, window)) => {
                    phrase.window = Some(place);
                    filter.add(window);
                    places.entry(window).or_default().push(at);
                }
                None => rest.push(at),
            }
        }
        let patterns = rest.iter().filter_map(|at| Some(&phrases.get(*at)?.text));
        // Building the automaton fails only for more phrases than fit into memory here.
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(patterns).ok();
        Self { phrases, by_id, windows: places, filter, automaton, rest }
    }

    /// Returns the ids of all phrases that a text contains.
    pub(crate) fn all(&self, text: &str) -> BTreeSet<usize> {
        let mut open = vec![true; self.phrases.len()];
        self.run(text, &mut open, &mut |_, _| true)
    }

    /// Returns the ids among `wanted` whose phrases a text contains.
    pub(crate) fn some(&self, text: &str, wanted: &[usize]) -> BTreeSet<usize> {
        self.each(text, wanted, |_, _| true)
    }

    /// Passes the positions of each wanted phrase to `take` until `take` returns true. Returns the
    /// ids for which `take` returned true.
    pub(crate) fn each(
        &self,
        text: &str,
        wanted: &[usize],
        mut take: impl FnMut(usize, Range<usize>) -> bool,
    ) -> BTreeSet<usize> {
        let mut open = vec![false; self.phrases.len()];
        let wanted: BTreeSet<usize> = wanted.iter().copied().collect();
        for id in &wanted {
            let at = self.by_id.get(*id).copied().flatten();
            if let Some(is_open) = at.and_then(|at| open.get_mut(at)) {
                *is_open = true;
            }
        }
        let mut found = self.run(text, &mut open, &mut |ids, place| {
            let own = ids.iter().filter(|id| wanted.contains(id));
            // A phrase may have several ids; call `take` for each of them.
            own.filter(|id| take(**id, place.clone())).count() != 0
        });
        found.retain(|id| wanted.contains(id));
        found
    }

    fn run(
        &self,
        text: &str,
        open: &mut [bool],
        take: &mut dyn FnMut(&[usize], Range<usize>) -> bool,
    ) -> BTreeSet<usize> {
        let mut out = BTreeSet::new();
        let is_open = |at: &usize| open.get(*at).is_some_and(|is_open| *is_open);
        let mut n_rest = self.rest.iter().filter(|at| is_open(at)).count();
        let mut n_known = open.iter().filter(|is_open| **is_open).count() - n_rest;
        let mut settle = |open: &mut [bool], at: usize, place: Range<usize>| {
            let (Some(is_open @ true), Some(phrase)) = (open.get_mut(at), self.phrases.get(at))
            else {
                return false;
            };
            let is_taken = take(&phrase.ids, place);
            if is_taken {
                *is_open = false;
                out.extend(&phrase.ids);
            }
            is_taken
        };
        if n_known != 0 {
            for (at, window) in windows(text).enumerate() {
                if !self.filter.has(window) {
                    continue;
                }
                for phrase in self.windows.get(&window).into_iter().flatten() {
                    let place = self.place_of(text, *phrase, at);
                    if place.is_some_and(|place| settle(open, *phrase, place)) {
                        n_known -= 1;
                    }
                }
                if n_known == 0 {
                    break;
                }
            }
        }
        if let Some(automaton) = self.automaton.as_ref().filter(|_| n_rest != 0) {
            for hit in automaton.find_overlapping_iter(text) {
                let phrase = self.rest.get(hit.pattern().as_usize());
                if phrase.is_some_and(|phrase| settle(open, *phrase, hit.range())) {
                    n_rest -= 1;
                    if n_rest == 0 {
                        break;
                    }
                }
            }
        }
        out
    }

    /// Returns the range of a phrase whose window is at position `at`.
    fn place_of(&self, text: &str, phrase: usize, at: usize) -> Option<Range<usize>> {
        let phrase = self.phrases.get(phrase)?;
        let start = at.checked_sub(phrase.window?)?;
        let place = start..start + phrase.text.len();
        (text.as_bytes().get(place.clone())? == phrase.text.as_bytes()).then_some(place)
    }
}

/// Returns every sequence of eight bytes of a text as a number, in order.
fn windows(text: &str) -> impl Iterator<Item = u64> {
    let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk));
    text.as_bytes().windows(WINDOW).map(number)
}

/// A Bloom filter: accepts all added windows and few others.
#[derive(Debug)]
struct PhraseWindowFilter {
    bits: Vec<u64>,
    shift: u32,
}

impl PhraseWindowFilter {
    /// Creates a filter with about a hundred bits per window, but not larger than the processor
    /// cache.
    fn new(n: usize) -> Self {
        let n_bits = (n.saturating_mul(64)).next_power_of_two().clamp(1 << 12, 1 << 24);
        Self { bits: vec![0; n_bits / 64], shift: 64 - n_bits.trailing_zeros() }
    }

    fn place(&self, window: u64) -> (usize, u32) {
        let hash = window.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        (usize::try_from(hash >> 6).unwrap_or(0), (hash & 63) as u32)
    }

    fn add(&mut self, window: u64) {
        let (at, bit) = self.place(window);
        if let Some(bits) = self.bits.get_mut(at) {
            *bits |= 1 << bit;
        }
    }

    fn has(&self, window: u64) -> bool {
        let (at, bit) = self.place(window);
        self.bits.get(at).is_some_and(|bits| bits >> bit & 1 == 1)
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn filter_and_automaton_find_the_same(
            phrases in prop::collection::vec("[ab]{0,14}", 0..80),
            text in "[ab]{0,120}",
        ) {
            let search = PhraseSearch::new(&phrases);
            let naive = |id: &usize| !phrases[*id].is_empty() && text.contains(&phrases[*id]);
            let expected: BTreeSet<usize> = (0..phrases.len()).filter(naive).collect();
            prop_assert_eq!(&search.all(&text), &expected);
            let wanted: Vec<usize> = (0..phrases.len()).step_by(3).collect();
            let mut first = BTreeMap::new();
            let some = search.each(&text, &wanted, |id, place| {
                first.insert(id, place);
                true
            });
            prop_assert_eq!(&some, &wanted.iter().copied().filter(|id| expected.contains(id)).collect());
            for (id, place) in first {
                prop_assert_eq!(text.find(&phrases[id]), Some(place.start));
            }
        }
    }

    #[test]
    fn phrases_without_rare_window_use_the_automaton() {
        let phrases: Vec<String> = (0..100).map(|n| "x".repeat(20 + n)).collect();
        let search = PhraseSearch::new(&phrases);
        assert!(search.rest.len() == phrases.len() - MAX_SHARED);
        assert_eq!(search.all(&"x".repeat(60)).len(), 41);
    }
}
