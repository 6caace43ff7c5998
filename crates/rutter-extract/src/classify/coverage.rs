//! Measures which share of the text in the main landmark is kept.
//!
//! Input: a classified page and one decision per segment. Output: a [`Coverage`].
//! Returns nothing for pages without a landmark and for landmarks with little text.

use super::ClassifierInput;
use super::collect::FeatureCollector;
use super::segment_states::{INSIDE, state};
use crate::coverage::{Coverage, DroppedPart};

/// Share of dropped text in the landmark above which a finding is reported.
const MOST_LOST: f32 = 0.2;
/// Number of characters of dropped text that the finding shows.
const SHOWN: usize = 60;

impl Coverage {
    /// Returns whether so much text of the landmark is dropped that a finding is reported.
    pub(crate) fn is_lossy(&self) -> bool {
        MOST_LOST < (self.total - self.kept) as f32 / self.total.max(1) as f32
    }

    /// Returns the coverage of a page; `None` if the page has no landmark, or if the landmark has
    /// fewer than [`Coverage::FEWEST`] characters.
    pub(crate) fn of(
        subject: &ClassifierInput<'_>,
        collector: &FeatureCollector<'_>,
        keep: &[bool],
    ) -> Option<Self> {
        let (dom, survey) = (subject.dom, subject.survey);
        // Parts that the site owner drops do not count as lost.
        let dropped = subject.forced.iter().filter(|forced| !forced.is_kept);
        let mut is_meant = vec![false; survey.segments.len()];
        for range in dropped.map(|forced| survey.within(dom, forced.at)) {
            is_meant.get_mut(range).unwrap_or_default().fill(true);
        }
        // If the classifier keeps no segment, the page has the region of the rules.
        let is_empty = !keep.contains(&true);
        let is_kept = |idx: usize| {
            let bits = collector.states.get(idx).copied().unwrap_or(0);
            keep.get(idx) == Some(&true) || (is_empty && bits & state::KEPT != 0)
        };
        let (mut all, mut lost) = (0_u32, 0_u32);
        // The longest run of dropped segments, and the current run: first segment and number of
        // characters.
        let (mut largest, mut run) = ((0_usize, 0_u32), (0_usize, 0_u32));
        for root in &subject.landmark.roots {
            for idx in survey.within(dom, *root) {
                let Some(segment) = survey.segments.get(idx) else { continue };
                // Links, menus and elements that never hold content (`DropReason::Element`) are not
                // counted.
                let is_element = collector.rules.get(idx).is_some_and(|rule| rule & !INSIDE == 5)
                    || collector.states.get(idx).is_some_and(|bits| bits & state::MENU != 0);
                let is_meant = is_meant.get(idx) == Some(&true);
                if segment.chars < segment.link_chars * 2 || is_element || is_meant {
                    continue;
                }
                all += segment.chars;
                if is_kept(idx) {
                    run = (idx + 1, 0);
                    continue;
                }
                lost += segment.chars;
                run = (if run.1 == 0 { idx } else { run.0 }, run.1 + segment.chars);
                if largest.1 < run.1 {
                    largest = run;
                }
            }
        }
        if all < Self::FEWEST {
            return None;
        }
        let block = survey.segments.get(largest.0).filter(|_| 0 < largest.1);
        let largest = block.map(|segment| DroppedPart {
            place: dom.label(segment.block),
            start: dom.words(segment.block).chars().take(SHOWN).collect(),
        });
        Some(Self { kept: all - lost, total: all, largest })
    }
}
