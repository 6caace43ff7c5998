//! Computes the features of the second stage.
//!
//! Input: the margins of the first stage and the probabilities of the page types. Output: the
//! context columns of a row: the margins of the segment, its neighbours and its ancestors, and the
//! page type.

use super::collect::{FeatureCollector, LEVELS};
use super::features::Row;
use super::model::N_TYPES;

/// Names of the context features, in the order of their columns.
pub(crate) const NAMES: [&str; N] = [
    "score",
    "score-3",
    "score-2",
    "score-1",
    "score+1",
    "score+2",
    "score+3",
    "level1",
    "level2",
    "level3",
    "level4",
    "level5",
    "landmark",
    "group",
    "kept",
    "before",
    "share",
    "window8",
    "window25",
    "article",
    "documentation",
    "forum",
    "product",
    "listing",
    "collection",
    "service",
];
/// Number of context features.
pub(crate) const N: usize = 19 + N_TYPES;

const WINDOWS: [usize; 2] = [8, 25];

/// Computes the context features from the first-stage scores of a page.
pub(crate) struct ContextFeatures<'c> {
    collector: &'c FeatureCollector<'c>,
    scores: &'c [f32],
    /// For each segment, two sums over the segments before it: characters times score, and
    /// characters.
    sums: Vec<(f64, f64)>,
    groups: Vec<(f32, u32)>,
    types: [f32; N_TYPES],
}

impl<'c> ContextFeatures<'c> {
    pub(crate) fn new(
        collector: &'c FeatureCollector<'c>,
        scores: &'c [f32],
        types: [f32; N_TYPES],
    ) -> Self {
        let mut sums = Vec::with_capacity(scores.len() + 1);
        let mut groups = vec![(0.0, 0); collector.groups.len()];
        let mut sum = (0.0, 0.0);
        sums.push(sum);
        let known = collector.survey.segments.iter().zip(&collector.known);
        for ((segment, known), &score) in known.zip(scores) {
            let chars = f64::from(segment.chars);
            sum = (sum.0 + f64::from(score) * chars, sum.1 + chars);
            sums.push(sum);
            if let Some(group) = groups.get_mut(known.group as usize) {
                *group = (group.0 + score, group.1 + 1);
            }
        }
        Self { collector, scores, sums, groups, types }
    }

    fn mean(&self, from: usize, to: usize) -> f32 {
        let (Some(start), Some(end)) = (self.sums.get(from), self.sums.get(to)) else { return 0.0 };
        #[expect(clippy::cast_possible_truncation, reason = "a share needs no more")]
        let mean = ((end.0 - start.0) / (end.1 - start.1).max(1.0)) as f32;
        mean
    }

    /// Writes the context features to a row, starting at column `first`.
    pub(crate) fn fill(&self, idx: usize, row: &mut Row, first: usize) {
        let (n, collector) = (self.scores.len(), self.collector);
        let score = |at: usize| self.scores.get(at).copied().unwrap_or(-1.0);
        let Some(known) = collector.known.get(idx) else { return };
        let mut slots = row.iter_mut().skip(first);
        let mut put = |value: f32| {
            if let Some(slot) = slots.next() {
                *slot = value;
            }
        };
        put(score(idx));
        for back in [3, 2, 1] {
            put(idx.checked_sub(back).map_or(-1.0, score));
        }
        for ahead in [1, 2, 3] {
            put(score(idx + ahead));
        }
        for at in known.levels.into_iter().take(LEVELS) {
            let range = collector.survey.within(collector.dom, at);
            put(self.mean(range.start, range.end));
        }
        let landmark = known.landmark.map(|at| collector.survey.within(collector.dom, at));
        put(landmark.map_or(-1.0, |range| self.mean(range.start, range.end)));
        let (sum, size) = self.groups.get(known.group as usize).copied().unwrap_or((0.0, 1));
        put(sum / size.max(1) as f32);
        let total = self.sums.last().copied().unwrap_or((0.0, 0.0));
        let before = self.sums.get(idx).copied().unwrap_or((0.0, 0.0));
        #[expect(clippy::cast_possible_truncation, reason = "shares need no more")]
        {
            put(log2(total.0 as f32 + 1.0));
            put((before.0 / total.0.max(1.0)) as f32);
            put((total.0 / total.1.max(1.0)) as f32);
        }
        for reach in WINDOWS {
            put(self.mean(idx.saturating_sub(reach), (idx + reach + 1).min(n)));
        }
        for value in self.types {
            put(value);
        }
    }
}

/// Returns the logarithm to base 2. It is interpolated linearly between powers of two, so that it
/// is the same on every machine.
fn log2(value: f32) -> f32 {
    (value.max(1.0).to_bits() >> 8) as f32 * (1.0 / 32768.0) - 127.0
}
