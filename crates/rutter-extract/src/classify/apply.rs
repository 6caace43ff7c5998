//! Converts per-segment decisions to a region.
//!
//! Input: the page, the region of the rules and one decision per segment. Output: a [`MainRegion`] with
//! one root and the elements and texts below it that are dropped.

use super::MainLandmark;
use crate::dom::Dom;
use crate::region::MainRegion;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;
use crate::verdict::DropReason;

/// Input of [`region`]: the page, the region of the rules, and the decision about each segment.
pub(crate) struct RegionInput<'d> {
    pub(crate) dom: &'d Dom,
    pub(crate) survey: &'d PageSurvey,
    pub(crate) landmark: &'d MainLandmark,
    /// The region that the rules chose.
    pub(crate) rules: &'d MainRegion,
    /// For each segment, whether it is kept.
    pub(crate) keep: &'d [bool],
}

/// Builds the region that holds the kept segments.
pub(crate) fn region(decided: &RegionInput<'_>, confidence: f32) -> MainRegion {
    let RegionInput { dom, survey, rules, keep, .. } = *decided;
    let mut counts = Vec::with_capacity(keep.len() + 1);
    let mut count = 0_usize;
    counts.push(count);
    for is_kept in keep {
        count += usize::from(*is_kept);
        counts.push(count);
    }
    let mut builder = RegionBuilder {
        decided,
        counts,
        in_rules: in_rules(dom, rules),
        dropped: vec![None; dom.items.len()],
    };
    let root = builder.root();
    let Some(root) = root else {
        return MainRegion { roots: Vec::new(), dropped: builder.dropped, confidence };
    };
    builder.descend(root);
    builder.drop_texts(survey);
    MainRegion { roots: vec![root], dropped: builder.dropped, confidence }
}

struct RegionBuilder<'b, 'd> {
    decided: &'b RegionInput<'d>,
    /// For each segment, the number of kept segments before it.
    counts: Vec<usize>,
    /// For each item, whether it is inside the region of the rules.
    in_rules: Vec<bool>,
    dropped: Vec<Option<DropReason>>,
}

impl RegionBuilder<'_, '_> {
    fn kept(&self, range: &std::ops::Range<usize>) -> usize {
        match (self.counts.get(range.start), self.counts.get(range.end)) {
            (Some(before), Some(behind)) => behind - before,
            _ => 0,
        }
    }

    /// Returns the landmark if it holds all kept segments, because it also holds their images;
    /// otherwise the innermost element that holds all kept segments.
    fn root(&self) -> Option<u32> {
        let RegionInput { dom, survey, landmark, keep, .. } = *self.decided;
        let all = keep.iter().filter(|is_kept| **is_kept).count();
        if let [root] = landmark.roots.as_slice()
            && self.kept(&survey.within(dom, *root)) == all
        {
            return Some(*root);
        }
        let first = keep.iter().position(|is_kept| *is_kept)?;
        let block = survey.segments.get(first)?.block;
        dom.ancestors(block).find(|at| self.kept(&survey.within(dom, *at)) == all)
    }

    /// Marks the elements below `root` that hold no kept segment as dropped.
    fn descend(&mut self, root: u32) {
        let RegionInput { dom, survey, rules, .. } = *self.decided;
        let mut at = root + 1;
        while at < dom.item(root).end {
            let item = dom.item(at);
            if item.tag == Tag::Text {
                at += 1;
                continue;
            }
            let range = survey.within(dom, at);
            if range.is_empty() {
                // No segment starts in this element: it is an image, a recording, a script with a
                // formula, or text inside a segment that starts before it. Such text has the
                // decision of its segment.
                let is_part = !item.tag.is_block()
                    && !item.tag.is_silent()
                    && dom.subtree(at).any(|at| !dom.text(at).trim().is_empty());
                if !is_part && !self.is_beside_kept(at, range.start) {
                    self.dropped[at as usize] = Some(reason(at, rules));
                }
                at = item.end;
                continue;
            }
            // Inline elements are not dropped as a whole, because one may start in one segment and
            // end in another.
            let is_box = item.tag.is_block() || item.tag == Tag::Custom;
            if is_box && self.kept(&range) == 0 && self.holds_picture(at, &range) {
                self.drop_segments(range);
                at += 1;
                continue;
            }
            if is_box && self.kept(&range) == 0 {
                self.dropped[at as usize] = Some(reason(at, rules));
                at = item.end;
                continue;
            }
            at += 1;
        }
    }

    /// Returns whether an element without text belongs to the content: it is inside the region of
    /// the rules, or the segments before and after it are kept.
    fn is_beside_kept(&self, at: u32, next: usize) -> bool {
        let keep = self.decided.keep;
        if self.in_rules.get(at as usize).copied().unwrap_or(false) {
            return true;
        }
        let is_kept = |idx: Option<usize>| idx.and_then(|idx| keep.get(idx)).copied();
        is_kept(next.checked_sub(1)).unwrap_or(false) && is_kept(Some(next)).unwrap_or(false)
    }

    /// Returns whether an element without kept text holds an image of the content: the rules keep
    /// the image, and there is kept text before and after the element.
    fn holds_picture(&self, at: u32, range: &std::ops::Range<usize>) -> bool {
        let dom = self.decided.dom;
        let is_inside = self.counts.get(range.start).is_some_and(|before| 0 < *before)
            && self.counts.get(range.end) < self.counts.last();
        let is_picture = |at: u32| {
            dom.item(at).tag == Tag::Img && self.in_rules.get(at as usize).copied().unwrap_or(false)
        };
        is_inside && dom.subtree(at).any(is_picture)
    }

    /// Drops the texts of dropped segments whose block element also holds kept segments.
    fn drop_texts(&mut self, survey: &PageSurvey) {
        let RegionInput { dom, keep, .. } = *self.decided;
        for (idx, segment) in survey.segments.iter().enumerate() {
            let is_kept = keep.get(idx).copied().unwrap_or(true);
            if !is_kept && self.kept(&survey.within(dom, segment.block)) != 0 {
                self.drop_segments(idx..idx + 1);
            }
        }
    }

    /// Marks the texts of segments, and the links around these texts, as dropped.
    fn drop_segments(&mut self, range: std::ops::Range<usize>) {
        let RegionInput { dom, survey, .. } = *self.decided;
        for idx in range {
            let Some(segment) = survey.segments.get(idx) else { continue };
            let next = survey.segments.get(idx + 1).map_or(dom.len(), |next| next.at);
            for at in segment.at..next.min(dom.item(segment.block).end) {
                let is_part = matches!(dom.item(at).tag, Tag::Text | Tag::A);
                if is_part && !survey.marks(at).has(InheritedMarks::UNSEEN) {
                    self.dropped[at as usize] = Some(DropReason::Classifier);
                }
            }
            // Also drops a link around the text, unless the link continues in the next segment.
            for up in dom.ancestors(segment.at).take_while(|up| *up != segment.block) {
                let is_link = dom.item(up).tag == Tag::A;
                if is_link && dom.item(up).end <= next {
                    self.dropped[up as usize] = Some(DropReason::Classifier);
                }
            }
        }
    }
}

/// Returns the reason why the rules dropped an element; [`DropReason::Classifier`] if they did not drop
/// it.
fn reason(at: u32, rules: &MainRegion) -> DropReason {
    rules.dropped.get(at as usize).copied().flatten().unwrap_or(DropReason::Classifier)
}

/// Returns, for each item, whether it is inside the region of the rules.
fn in_rules(dom: &Dom, rules: &MainRegion) -> Vec<bool> {
    let mut inside = vec![false; dom.items.len()];
    for root in &rules.roots {
        let range = dom.subtree(*root);
        if let Some(part) = inside.get_mut(range.start as usize..range.end as usize) {
            part.fill(true);
        }
    }
    let mut at = 0;
    while let Some(found) = rules.dropped.get(at as usize..).and_then(super::first_some) {
        at += found;
        let range = dom.subtree(at);
        if let Some(part) = inside.get_mut(range.start as usize..range.end as usize) {
            part.fill(false);
        }
        at = range.end;
    }
    inside
}
