//! Many phrases in one text: all that stand there, in one pass.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// Phrases, ready to be looked for. Phrases may lie in each other, and be the
/// same.
#[derive(Debug)]
pub(crate) struct Search {
    automaton: Option<AhoCorasick>,
    /// The phrases by pattern: the same one may have several ids.
    ids: Vec<Vec<usize>>,
    /// The pattern of an id; an empty phrase has none.
    patterns: Vec<Option<usize>>,
}

impl Search {
    pub(crate) fn new(phrases: &[String]) -> Self {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let mut distinct: Vec<&str> = Vec::new();
        let mut ids: Vec<Vec<usize>> = Vec::new();
        let mut patterns = Vec::with_capacity(phrases.len());
        for (id, phrase) in phrases.iter().enumerate() {
            if phrase.is_empty() {
                patterns.push(None);
                continue;
            }
            let pattern = *known.entry(phrase).or_insert_with(|| {
                distinct.push(phrase);
                ids.push(Vec::new());
                distinct.len() - 1
            });
            if let Some(ids) = ids.get_mut(pattern) {
                ids.push(id);
            }
            patterns.push(Some(pattern));
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&distinct);
        // Only more than 2^31 bytes of phrases are refused.
        Self { automaton: automaton.ok(), ids, patterns }
    }

    /// The ids of all phrases that stand in a text.
    pub(crate) fn all(&self, text: &str) -> BTreeSet<usize> {
        let mut open = vec![true; self.ids.len()];
        self.run(text, &mut open, self.ids.len(), |_, _| true)
    }

    /// The same among some.
    pub(crate) fn some(&self, text: &str, wanted: &[usize]) -> BTreeSet<usize> {
        let found = self.each(text, wanted, |_, _| true);
        found.into_iter().filter(|id| wanted.contains(id)).collect()
    }

    /// Hands every place of a wanted phrase out, until it is taken.
    pub(crate) fn each(
        &self,
        text: &str,
        wanted: &[usize],
        mut take: impl FnMut(usize, Range<usize>) -> bool,
    ) -> BTreeSet<usize> {
        let mut open = vec![false; self.ids.len()];
        let mut n_open = 0;
        for id in wanted {
            let pattern = self.patterns.get(*id).copied().flatten();
            if let Some(is_open @ false) = pattern.and_then(|pattern| open.get_mut(pattern)) {
                *is_open = true;
                n_open += 1;
            }
        }
        self.run(text, &mut open, n_open, |ids, place| {
            ids.iter().fold(false, |is_taken, id| take(*id, place.clone()) || is_taken)
        })
    }

    fn run(
        &self,
        text: &str,
        open: &mut [bool],
        mut n_open: usize,
        mut take: impl FnMut(&[usize], Range<usize>) -> bool,
    ) -> BTreeSet<usize> {
        let mut out = BTreeSet::new();
        let Some(automaton) = self.automaton.as_ref().filter(|_| n_open != 0) else { return out };
        for hit in automaton.find_overlapping_iter(text) {
            let pattern = hit.pattern().as_usize();
            let Some(is_open @ true) = open.get_mut(pattern) else { continue };
            let ids = self.ids.get(pattern).map_or(&[][..], Vec::as_slice);
            if take(ids, hit.range()) {
                *is_open = false;
                out.extend(ids);
                n_open -= 1;
                if n_open == 0 {
                    break;
                }
            }
        }
        out
    }
}
