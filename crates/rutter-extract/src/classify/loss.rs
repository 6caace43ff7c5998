//! Text of the main landmark that is not kept.

use super::Subject;
use super::collect::{Collector, INSIDE};

/// Share of the landmark's text above which its loss is reported.
const MOST_LOST: f32 = 0.2;
/// Characters of a landmark below which nothing is reported.
const FEWEST_CHARS: u32 = 200;
/// Characters of the dropped text that are shown.
const SHOWN: usize = 60;

/// How much of the landmark's text was dropped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loss {
    /// From 0 to 1.
    pub(crate) share: f32,
    /// Where the largest dropped part lies.
    pub(crate) place: String,
    /// How it begins.
    pub(crate) start: String,
}

impl Loss {
    /// The loss of a page, where it is worth a finding.
    pub(crate) fn of(
        subject: &Subject<'_>,
        collector: &Collector<'_>,
        keep: &[bool],
    ) -> Option<Self> {
        let (dom, survey) = (subject.dom, subject.survey);
        // What the owner drops is not lost.
        let dropped = subject.forced.iter().filter(|(_, is_kept)| !is_kept);
        let dropped: Vec<_> = dropped.map(|(at, _)| survey.within(dom, *at)).collect();
        let (mut all, mut lost) = (0_u32, 0_u32);
        // The largest run of dropped segments: its first one, and its characters.
        let (mut largest, mut run) = ((0_usize, 0_u32), (0_usize, 0_u32));
        for root in &subject.landmark.roots {
            for idx in survey.within(dom, *root) {
                let (Some(segment), Some(keep)) = (survey.segments.get(idx), keep.get(idx)) else {
                    continue;
                };
                // Links and what is furniture by its element are no text of the page.
                let is_element = collector.rules.get(idx).is_some_and(|rule| rule & !INSIDE == 5);
                let is_meant = dropped.iter().any(|range| range.contains(&idx));
                if segment.chars < segment.link_chars * 2 || is_element || is_meant {
                    continue;
                }
                all += segment.chars;
                if *keep {
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
        let share = lost as f32 / all.max(1) as f32;
        if all < FEWEST_CHARS || share <= MOST_LOST {
            return None;
        }
        let block = survey.segments.get(largest.0)?.block;
        let start = dom.words(block).chars().take(SHOWN).collect();
        Some(Self { share, place: dom.label(block), start })
    }
}
