//! Chooses the margins above which segments of a page are kept.
//!
//! Input: the margins and lengths of all segments. Output: [`Thresholds`] for segments that the
//! rules keep, leave undecided, or drop, inside and outside the landmark.
//!
//! The score of a page is the F1 of its kept characters. If the margins are calibrated, its
//! expected value is largest when exactly those segments are kept whose probability is at least
//! half of that value. So the threshold is near 0 on a page with clear margins, and lower on a
//! page of cards and short lines, where the margins are small.

use super::page::PageType;

/// Margins above which a segment is kept: inside the landmark, and outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Thresholds {
    /// Segments that the rules keep.
    pub(crate) kept: [f32; 2],
    /// Segments about which the rules are undecided.
    pub(crate) open: [f32; 2],
    /// Segments that the rules would drop because of an element or a name.
    pub(crate) named: [f32; 2],
}

/// Threshold below every margin of a scored segment, so that the segment is kept.
pub(crate) const WHOLE: f32 = -8.0;
/// Minimum threshold outside the landmark of documentation, where menus and footers are.
const BESIDE_DOCUMENTATION: f32 = 1.0;
/// Minimum threshold outside the landmark of other pages, where titles can be, too.
const BESIDE: f32 = 0.5;
/// Offset of the threshold for segments that the rules keep or drop; chosen by cross-validation
/// (`training/MODEL.md`).
const KEPT: f32 = -0.3;
const NAMED: f32 = 0.4;
/// Minimum threshold of a page.
const LOWEST: f32 = -6.0;

impl Thresholds {
    /// Computes the thresholds of a page; `segments` are pairs of characters and margin.
    ///
    /// In the landmark of documentation, nearly all segments are kept except those that the rules
    /// name.
    pub(crate) fn of(
        page_type: PageType,
        has_landmark: bool,
        segments: impl Iterator<Item = (u32, f32)>,
    ) -> Self {
        if page_type == PageType::Documentation {
            let [kept, open, named] = if has_landmark {
                [BESIDE_DOCUMENTATION, BESIDE_DOCUMENTATION, 2.0]
            } else {
                [-2.0, -0.35, 2.0]
            };
            return Self { kept: [WHOLE, kept], open: [-4.0, open], named: [1.0, named] };
        }
        let inside = best_threshold(segments);
        let outside = if has_landmark { inside.max(BESIDE) } else { inside };
        let both = [inside, outside];
        Self {
            kept: both.map(|threshold| threshold + KEPT),
            open: both,
            named: both.map(|threshold| threshold + NAMED),
        }
    }
}

/// Returns the threshold with the largest expected F1 of the page.
fn best_threshold(segments: impl Iterator<Item = (u32, f32)>) -> f32 {
    let mut likely: Vec<(f64, f64)> = segments
        .filter(|(chars, _)| *chars != 0)
        .map(|(chars, margin)| (likelihood(margin.into()), f64::from(chars)))
        .collect();
    likely.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let wanted: f64 = likely.iter().map(|(likelihood, chars)| likelihood * chars).sum();
    let (mut kept, mut right, mut best) = (0.0, 0.0, 0.0_f64);
    for (likelihood, chars) in likely {
        kept += chars;
        right += likelihood * chars;
        best = best.max(2.0 * right / (kept + wanted));
    }
    margin_of(best / 2.0)
}

/// Converts a margin to a probability (the logistic function).
///
/// Uses only additions, multiplications and divisions, so that the result is the same on every
/// machine.
fn likelihood(margin: f64) -> f64 {
    // (1 - x/1024)^1024 is close to exp(-x).
    let mut power = 1.0 - margin.clamp(-12.0, 12.0) / 1024.0;
    for _ in 0..10 {
        power *= power;
    }
    1.0 / (1.0 + power)
}

/// Returns the margin whose probability is `wanted`, by bisection; at least [`LOWEST`] and at most
/// 0.
fn margin_of(wanted: f64) -> f32 {
    let (mut low, mut high) = (f64::from(LOWEST), 0.0);
    for _ in 0..24 {
        let middle = f64::midpoint(low, high);
        if likelihood(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "a threshold needs no more")]
    let margin = high as f32;
    margin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihood_is_close_to_the_logistic_function() {
        for (margin, wanted) in [(0.0, 0.5), (1.0, 0.7311), (-1.0, 0.2689), (-6.0, 0.0025)] {
            assert!((likelihood(margin) - wanted).abs() < 0.002, "{margin}");
        }
    }

    #[test]
    fn a_page_without_doubt_has_a_threshold_near_zero() {
        let sure = [(500, 9.0), (400, 9.0), (300, -9.0)];
        assert!(-0.01 < best_threshold(sure.into_iter()));
    }

    #[test]
    fn doubt_lowers_the_threshold() {
        let doubtful = [(100, 0.2), (100, -0.4), (100, -0.6), (100, -0.8), (100, -3.0)];
        let threshold = best_threshold(doubtful.into_iter());
        assert!(threshold < -0.5 && LOWEST < threshold, "{threshold}");
    }

    #[test]
    fn empty_pages_have_the_lowest_threshold() {
        assert!((best_threshold(std::iter::empty()) - LOWEST).abs() < 1e-3);
    }
}
