//! Guard rails: rules that override the model on every page.
//!
//! Input: one decision per segment. Output: corrected decisions. Tables and lists are kept or
//! dropped as a unit, tabs and details are kept as one; note boxes and asides inside running text
//! are content; a heading is kept only with its text, and a text only with its heading.

use html5ever::local_name;

use crate::dom::Dom;
use crate::hint::ElementHints;
use crate::note;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;
use crate::verdict::{DropReason, RegionKind};

use super::collect::FeatureCollector;
use super::landmark::MainLandmark;
use super::segment_states::{INSIDE, state};
use super::text::flag;

/// Maximum number of prose characters in a cell of a data table; a table with a longer cell is a
/// layout table.
const LONGEST_CELL: u32 = 600;

/// Classes of containers whose children are tabs.
const TABS: [&str; 8] = [
    "tabs-container",
    "tabbed-set",
    "sd-tab-set",
    "sphinx-tabs",
    "vp-code-group",
    "code-group",
    "tab-set",
    "nav-tabs-wrapper",
];

/// Corrects the decisions of the classifier about the segments of a page.
pub(crate) struct GuardRails<'r> {
    pub(crate) collector: &'r FeatureCollector<'r>,
    pub(crate) landmark: &'r MainLandmark,
    /// For each segment, its margin minus its threshold.
    pub(crate) margins: &'r [f32],
}

/// How the segments of an element are decided together.
#[derive(PartialEq, Eq)]
enum DecisionUnit {
    /// All segments are kept or dropped by their mean margin.
    Whole,
    /// All segments are kept if their mean margin is positive; otherwise each segment keeps its own
    /// decision.
    Panels,
    /// All segments are kept if the text around the element is kept.
    Box,
}

impl GuardRails<'_> {
    /// Corrects the decisions in `keep`.
    pub(crate) fn apply(&self, keep: &mut [bool]) {
        self.captions(keep);
        self.units(keep);
        self.headings(keep);
    }

    /// Keeps captions between kept segments, if the rules keep them. The model often drops
    /// captions, because they are separate from the text.
    fn captions(&self, keep: &mut [bool]) {
        let first = keep.iter().position(|keep| *keep);
        let last = keep.iter().rposition(|keep| *keep);
        let (Some(first), Some(last)) = (first, last) else { return };
        let FeatureCollector { dom, survey, states, .. } = self.collector;
        let hull = keep.iter_mut().enumerate().take(last + 1).skip(first.saturating_sub(2));
        for (idx, keep) in hull {
            let (Some(segment), Some(bits)) = (survey.segments.get(idx), states.get(idx)) else {
                continue;
            };
            let is_caption = segment.marks.has(InheritedMarks::CAPTION)
                || survey.hints(segment.block).has(ElementHints::CAPTION)
                || dom.item(segment.block).tag == Tag::Figure;
            if is_caption && bits & state::KEPT != 0 {
                *keep = true;
            }
        }
    }

    fn units(&self, keep: &mut [bool]) {
        let FeatureCollector { dom, survey, .. } = *self.collector;
        let Some(body) = dom.body else { return };
        let mut counts = Vec::with_capacity(keep.len() + 1);
        let mut count = 0_usize;
        counts.push(count);
        for is_kept in keep.iter() {
            count += usize::from(*is_kept);
            counts.push(count);
        }
        let mut at = body + 1;
        while at < dom.item(body).end {
            let item = dom.item(at);
            if item.tag == Tag::Text {
                at += 1;
                continue;
            }
            let range = survey.within(dom, at);
            let n_kept = counts[range.end] - counts[range.start];
            // An element with only kept segments, or without segments, needs no correction.
            if n_kept == range.len() {
                at = item.end;
                continue;
            }
            let Some(unit) = self.unit(at) else {
                at += 1;
                continue;
            };
            let is_kept = match unit {
                DecisionUnit::Whole | DecisionUnit::Panels => {
                    n_kept != 0 && 0.0 < self.mean(&range)
                }
                DecisionUnit::Box => self.is_in_text(at, &range, keep),
            };
            if is_kept || unit == DecisionUnit::Whole {
                self.set(range, keep, is_kept, &unit);
                if is_kept {
                    self.keep_notes(at, keep);
                }
                at = item.end;
            } else {
                at += 1;
            }
        }
    }

    /// Keeps the admonitions inside a kept element.
    fn keep_notes(&self, unit: u32, keep: &mut [bool]) {
        let FeatureCollector { dom, survey, .. } = *self.collector;
        for at in dom.subtree(unit).skip(1) {
            let is_box = matches!(
                dom.item(at).tag,
                Tag::Div | Tag::Section | Tag::Aside | Tag::Custom | Tag::Blockquote
            );
            if is_box && note::kind(dom, survey, at).is_some() {
                keep.get_mut(survey.within(dom, at)).unwrap_or_default().fill(true);
            }
        }
    }

    /// Keeps or drops the segments of an element. Segments that the rules name stay dropped, such
    /// as tab labels and summaries that only say "expand".
    fn set(
        &self,
        range: std::ops::Range<usize>,
        keep: &mut [bool],
        is_kept: bool,
        unit: &DecisionUnit,
    ) {
        let states = self.collector.states.get(range.clone()).unwrap_or_default();
        for (keep, bits) in keep.get_mut(range).unwrap_or_default().iter_mut().zip(states) {
            let is_named = bits & state::NAMED != 0;
            if !is_kept || !is_named || *unit == DecisionUnit::Box {
                *keep = is_kept;
            }
        }
    }

    fn mean(&self, range: &std::ops::Range<usize>) -> f32 {
        let segments = self.collector.survey.segments.get(range.clone()).unwrap_or_default();
        let margins = self.margins.get(range.clone()).unwrap_or_default();
        let (mut sum, mut all) = (0.0, 0.0);
        for (segment, margin) in segments.iter().zip(margins) {
            let chars = segment.chars.min(400) as f32;
            sum += chars * margin.clamp(-2.0, 2.0);
            all += chars;
        }
        if 0.0 < all { sum / all } else { 0.0 }
    }

    fn unit(&self, at: u32) -> Option<DecisionUnit> {
        let FeatureCollector { dom, survey, .. } = *self.collector;
        let tag = dom.item(at).tag;
        match tag {
            Tag::Table => is_data_table(dom, survey, at).then_some(DecisionUnit::Whole),
            Tag::Ul | Tag::Ol | Tag::Dl | Tag::Menu => {
                let is_plain = !dom.subtree(at).any(|at| {
                    let tag = dom.item(at).tag;
                    tag.heading().is_some() || matches!(tag, Tag::Article | Tag::Table)
                });
                is_plain.then_some(DecisionUnit::Whole)
            }
            Tag::Blockquote if note::kind(dom, survey, at).is_none() => {
                let has_heading = dom.subtree(at).any(|at| dom.item(at).tag.heading().is_some());
                (!has_heading).then_some(DecisionUnit::Whole)
            }
            Tag::Details => Some(DecisionUnit::Panels),
            Tag::Div | Tag::Section | Tag::Aside | Tag::Custom | Tag::Blockquote | Tag::P => {
                if is_tab_group(dom, at) {
                    return Some(DecisionUnit::Panels);
                }
                let is_side = tag == Tag::Aside || survey.hints(at).has(ElementHints::SIDE);
                let is_box = is_side || note::kind(dom, survey, at).is_some();
                is_box.then_some(DecisionUnit::Box)
            }
            _ => None,
        }
    }

    /// Returns whether a box is part of running text: the segments before and after the box are
    /// kept and in the same parent element, and the box is not a list of links.
    fn is_in_text(&self, at: u32, range: &std::ops::Range<usize>, keep: &[bool]) -> bool {
        let FeatureCollector { dom, survey, .. } = *self.collector;
        let sum = survey.sum(dom, at);
        if 0.4 < sum.link_share() || sum.chars == 0 {
            return false;
        }
        // Banners and notices of the site are not part of the text.
        let reason = self.collector.rules.get(range.start).map_or(0, |rule| rule & !INSIDE);
        let is_boxed = DropReason::Name(RegionKind::Sidebar).code() == reason;
        if DropReason::Element.code() < reason && !is_boxed {
            return false;
        }
        let is_note = note::kind(dom, survey, at).is_some();
        let parent = dom.item(at).parent;
        let is_kept_sibling = |idx: Option<usize>| {
            idx.and_then(|idx| Some((*keep.get(idx)?, survey.segments.get(idx)?)))
                .is_some_and(|(kept, segment)| kept && dom.subtree(parent).contains(&segment.at))
        };
        let before = is_kept_sibling(range.start.checked_sub(1));
        let behind = is_kept_sibling(Some(range.end));
        if is_note {
            return before || behind || self.landmark.has(dom, at);
        }
        before && behind && self.landmark.has(dom, at)
    }

    /// Drops headings whose text is dropped, and keeps the headings of kept text.
    fn headings(&self, keep: &mut [bool]) {
        let FeatureCollector { dom, survey, known, .. } = self.collector;
        // For each heading level: whether the section of the next higher segment has kept text, and
        // whether it has dropped text.
        let (mut kept, mut dropped) = ([false; 7], [false; 7]);
        // Index of the next segment that is not a heading.
        let mut next: Option<usize> = None;
        for (idx, segment) in survey.segments.iter().enumerate().rev() {
            let Some(is_kept) = keep.get(idx).copied() else { continue };
            let level = dom.item(segment.block).tag.heading();
            let Some(level) = level.filter(|_| segment.marks.has(InheritedMarks::HEADING)) else {
                let seen = if is_kept { &mut kept } else { &mut dropped };
                seen.fill(true);
                next = Some(idx);
                continue;
            };
            let slot = usize::from(level);
            if is_kept {
                let is_bare = !kept[slot] && dropped[slot] && level != 1;
                // A segment without characters is template text that was removed from the survey.
                let is_shared =
                    next.and_then(|next| survey.segments.get(next)).is_some_and(|s| s.chars == 0);
                let is_weak = self.margins.get(idx).is_some_and(|margin| *margin < 1.0);
                if is_bare && (is_weak || is_shared) {
                    keep[idx] = false;
                }
            } else if let Some(text) = next
                && keep.get(text).copied().unwrap_or(false)
                && let Some(other) = survey.segments.get(text)
            {
                let around = dom.item(segment.block).parent;
                let is_near = dom.subtree(around).contains(&other.at);
                let announces = known.get(idx).is_some_and(|known| known.text.has(flag::ELSEWHERE));
                if is_near && !announces {
                    keep[idx] = true;
                }
            }
            kept[slot..].fill(false);
            dropped[slot..].fill(false);
        }
    }
}

fn is_data_table(dom: &Dom, survey: &PageSurvey, at: u32) -> bool {
    let mut is_data = false;
    for inner in dom.subtree(at).skip(1) {
        let tag = dom.item(inner).tag;
        if tag == Tag::Table || matches!(tag.heading(), Some(1..=3)) {
            return false;
        }
        if matches!(tag, Tag::Td | Tag::Th) {
            if LONGEST_CELL < survey.sum(dom, inner).prose {
                return false;
            }
            is_data = true;
        }
    }
    is_data
}

/// Returns whether the children of an element are tabs and their panels.
fn is_tab_group(dom: &Dom, at: u32) -> bool {
    if !matches!(dom.item(at).tag, Tag::Div | Tag::Section | Tag::Custom) {
        return false;
    }
    if let Some(class) = dom.attr(at, &local_name!("class"))
        && class.split_ascii_whitespace().any(|token| TABS.contains(&token))
    {
        return true;
    }
    let is_panel = |child: &u32| dom.attr(*child, &local_name!("role")) == Some("tabpanel");
    dom.children(at).take(64).filter(is_panel).nth(1).is_some()
}
