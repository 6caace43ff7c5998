//! Explains the decision about each segment.
//!
//! Input: a classified page and the contributions of its features. Output: one [`PartDecision`] per segment
//! with its probability and its strongest features. Does nothing unless explanations are requested.

use std::fmt::Write as _;

use crate::extraction::PartDecision;
use crate::survey::PageSurvey;
use crate::tabs::TabPanels;
use crate::verdict::DropReason;

use super::collect::FeatureCollector;
use super::context;
use super::features::{FEATURES, Row};
use super::model::{model, probability};
use super::page::PageType;
use super::{ClassifierInput, SelectedElement};

/// Maximum number of features that an explanation names.
const MOST_REASONS: usize = 3;
/// Number of characters of a segment that an explanation shows.
const SHOWN: usize = 60;

/// Collects the strongest features of each segment.
pub(crate) struct StrongestFeatures {
    /// For each segment, its strongest features as text; empty if no explanation is requested.
    strongest: Vec<String>,
}

impl StrongestFeatures {
    pub(crate) fn new(is_wanted: bool, n_segments: usize) -> Self {
        let n = if is_wanted { n_segments } else { 0 };
        Self { strongest: vec![String::new(); n] }
    }

    /// Stores the strongest features of a segment, computed from its row in the second stage.
    pub(crate) fn add(&mut self, idx: usize, row: &Row) {
        if let Some(slot) = self.strongest.get_mut(idx) {
            *slot = strongest(&model().second.contributions(row));
        }
    }

    /// Returns the page type and one explanation per segment; nothing if no explanation is
    /// requested.
    pub(crate) fn explain(
        &self,
        subject: &ClassifierInput<'_>,
        collector: &FeatureCollector<'_>,
        margins: &[f32],
        keep: &[bool],
        page_type: PageType,
    ) -> Vec<PartDecision> {
        if self.strongest.is_empty() {
            return Vec::new();
        }
        let said = SegmentMarks::of(subject, keep.len());
        let labels = labels(subject, keep);
        let segments = collector.survey.segments.iter().zip(margins).zip(keep);
        let mut out = Vec::with_capacity(self.strongest.len() + 1);
        out.push(PartDecision {
            path: "page".to_owned(),
            reason: format!("page type {}", page_type.name()),
            is_kept: true,
            chars: collector.total.chars,
            start: String::new(),
        });
        for (idx, (reasons, ((segment, margin), is_kept))) in
            self.strongest.iter().zip(segments).enumerate()
        {
            let is_label = !*is_kept && labels.get(idx) == Some(&true);
            let reason = if is_label {
                "kept as the label of its panel".to_owned()
            } else if segment.chars == 0 {
                format!("dropped by template: {}", DropReason::Template)
            } else if let Some(forced) = said.forced(idx) {
                let verdict = if forced.is_kept { "kept" } else { "dropped" };
                format!("{verdict} by selector `{}`", forced.selector)
            } else if said.is_outside(idx) {
                "outside the elements named as main content".to_owned()
            } else if said.is_repeated(idx) {
                let verdict = if *is_kept { "kept although" } else { "dropped by template:" };
                let score = probability(*margin);
                format!("{verdict} {}, {score:.2} content: {reasons}", DropReason::Template)
            } else if collector.is_sure(idx) {
                let sure = if 0.0 < *margin { "text of the main part" } else { "furniture" };
                format!("{sure}, by the rules")
            } else {
                format!("{:.2} content: {reasons}", probability(*margin))
            };
            out.push(why(collector, idx, *is_kept || is_label, reason));
        }
        out
    }
}

/// The owner selectors and template marks that apply to each segment.
struct SegmentMarks<'s> {
    subject: &'s ClassifierInput<'s>,
    /// For each segment, the last owner selector that matches it.
    forced: Vec<Option<&'s SelectedElement<'s>>>,
    /// For each segment, whether it is inside the landmark.
    inside: Vec<bool>,
    /// For each segment, whether it is inside the landmark and repeats on other pages of the site.
    repeated: Vec<bool>,
}

impl<'s> SegmentMarks<'s> {
    fn of(subject: &'s ClassifierInput<'s>, n_segments: usize) -> Self {
        let ClassifierInput { dom, survey, .. } = *subject;
        let mut forced = vec![None; n_segments];
        for one in subject.forced {
            forced.get_mut(survey.within(dom, one.at)).unwrap_or_default().fill(Some(one));
        }
        let marked = |elements: &[u32]| {
            let mut marked = vec![false; n_segments];
            for at in elements {
                marked.get_mut(survey.within(dom, *at)).unwrap_or_default().fill(true);
            }
            marked
        };
        let inside = marked(&subject.landmark.roots);
        Self { subject, forced, inside, repeated: marked(subject.repeated) }
    }

    fn forced(&self, idx: usize) -> Option<&'s SelectedElement<'s>> {
        self.forced.get(idx).copied().flatten()
    }

    /// Returns whether a segment is outside the content that the author or the site owner declares.
    fn is_outside(&self, idx: usize) -> bool {
        self.subject.landmark.is_declared && self.inside.get(idx) == Some(&false)
    }

    fn is_repeated(&self, idx: usize) -> bool {
        self.repeated.get(idx) == Some(&true)
    }
}

/// Returns, for each segment, whether it holds the label of a kept panel.
fn labels(subject: &ClassifierInput<'_>, keep: &[bool]) -> Vec<bool> {
    let ClassifierInput { dom, survey, .. } = *subject;
    let mut labels = vec![false; keep.len()];
    let Some(body) = dom.body else { return labels };
    for &(panel, label) in TabPanels::of(dom, &[body], &mut Vec::new()).pairs() {
        if !keep.get(survey.within(dom, panel)).is_some_and(|panel| panel.contains(&true)) {
            continue;
        }
        // One segment may hold several labels. A label belongs to the last segment that starts
        // before the end of the label.
        let end = dom.item(label).end;
        let n_before = survey.segments.partition_point(|segment| segment.at < end);
        if let Some(is_label) = n_before.checked_sub(1).and_then(|idx| labels.get_mut(idx)) {
            *is_label = true;
        }
    }
    labels
}

fn why(
    collector: &FeatureCollector<'_>,
    idx: usize,
    is_kept: bool,
    reason: String,
) -> PartDecision {
    let FeatureCollector { dom, survey, .. } = *collector;
    let segment = survey.segments.get(idx).copied().unwrap_or_default();
    let path: Vec<String> = dom.ancestors(segment.block).take(4).map(|up| dom.label(up)).collect();
    let path = path.into_iter().rev().collect::<Vec<_>>().join(" > ");
    let start = text_of(collector, survey, idx);
    PartDecision { path, reason, is_kept, chars: segment.chars, start }
}

fn text_of(collector: &FeatureCollector<'_>, survey: &PageSurvey, idx: usize) -> String {
    let Some(segment) = survey.segments.get(idx) else { return String::new() };
    let dom = collector.dom;
    let next = survey.segments.get(idx + 1).map_or(dom.len(), |next| next.at);
    let mut text = String::new();
    for at in segment.at..next.min(dom.item(segment.block).end) {
        if SHOWN * 4 < text.len() {
            break;
        }
        if !survey.marks(at).has(crate::survey::InheritedMarks::UNSEEN) {
            dom.append_text(at, &mut text);
        }
    }
    text.trim().chars().take(SHOWN).collect()
}

/// Returns the features with the largest contributions to the margin of a segment, with signed
/// values.
fn strongest(contributions: &[f32; 256]) -> String {
    let n_base = model().base.len();
    let mut order: Vec<usize> = (0..n_base + context::N).collect();
    order.sort_by(|a, b| contributions[*b].abs().total_cmp(&contributions[*a].abs()));
    let mut out = String::new();
    for id in order.into_iter().take(MOST_REASONS) {
        let name = match model().base.get(id) {
            Some(feature) => FEATURES.get(usize::from(*feature)).map_or("", |feature| feature.name),
            None => context::NAMES.get(id - n_base).copied().unwrap_or(""),
        };
        let gap = if out.is_empty() { "" } else { ", " };
        let _ = write!(out, "{gap}{name} {:+.1}", contributions[id]);
    }
    out
}
