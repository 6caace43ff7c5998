//! Measures which share of the text in the main landmark is kept.
//!
//! Input: a classified page and one decision per segment. Output: a [`Coverage`].
//! Returns nothing for pages without a landmark and for landmarks with little text.

use super::Subject;
use super::collect::{Collector, INSIDE, state};
use crate::coverage::{Coverage, DroppedPart};

/// Share of the landmark's text above which its loss is reported.
const MOST_LOST: f32 = 0.2;
/// Characters of the dropped text that are shown.
const SHOWN: usize = 60;

impl Coverage {
    /// Whether so much is dropped that it is worth a finding.
    pub(crate) fn is_lossy(&self) -> bool {
        MOST_LOST < (self.total - self.kept) as f32 / self.total.max(1) as f32
    }

    /// The coverage of a page; `None` for one without a landmark, or with one of
    /// few characters.
    pub(crate) fn of(
        subject: &Subject<'_>,
        collector: &Collector<'_>,
        keep: &[bool],
    ) -> Option<Self> {
        let (dom, survey) = (subject.dom, subject.survey);
        // Parts that the owner drops do not count as lost.
        let dropped = subject.forced.iter().filter(|forced| !forced.is_kept);
        let mut is_meant = vec![false; survey.segments.len()];
        for range in dropped.map(|forced| survey.within(dom, forced.at)) {
            is_meant.get_mut(range).unwrap_or_default().fill(true);
        }
        // If the classifier keeps nothing, the rules decide.
        let is_empty = !keep.contains(&true);
        let is_kept = |idx: usize| {
            let bits = collector.states.get(idx).copied().unwrap_or(0);
            keep.get(idx) == Some(&true) || (is_empty && bits & state::KEPT != 0)
        };
        let (mut all, mut lost) = (0_u32, 0_u32);
        // The largest run of dropped segments: its first one, and its characters.
        let (mut largest, mut run) = ((0_usize, 0_u32), (0_usize, 0_u32));
        for root in &subject.landmark.roots {
            for idx in survey.within(dom, *root) {
                let Some(segment) = survey.segments.get(idx) else { continue };
                // Links and what is furniture by its element are no text of the page.
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
