//! Says for each segment how likely it is content, and what spoke for and
//! against it.

use std::fmt::Write as _;

use crate::extraction::Why;
use crate::survey::Survey;
use crate::verdict::Reason;

use super::collect::Collector;
use super::context;
use super::features::{FEATURES, Row};
use super::model::{model, probability};
use super::page::PageType;

/// Reasons that are named for a segment.
const MOST_REASONS: usize = 3;
/// Characters of a segment that are shown.
const SHOWN: usize = 60;

/// What spoke for and against each segment.
pub(crate) struct Reasons {
    /// Empty where nothing is to be explained.
    strongest: Vec<String>,
}

impl Reasons {
    pub(crate) fn new(is_wanted: bool, n_segments: usize) -> Self {
        let n = if is_wanted { n_segments } else { 0 };
        Self { strongest: vec![String::new(); n] }
    }

    /// Notes the reasons of a segment from its row in the second stage.
    pub(crate) fn add(&mut self, idx: usize, row: &Row) {
        if let Some(slot) = self.strongest.get_mut(idx) {
            *slot = strongest(&model().second.contributions(row));
        }
    }

    /// The page type, then one explanation for each segment, where wanted.
    pub(crate) fn explain(
        &self,
        collector: &Collector<'_>,
        margins: &[f32],
        keep: &[bool],
        page_type: PageType,
    ) -> Vec<Why> {
        let segments = collector.survey.segments.iter().zip(margins).zip(keep);
        let mut out = Vec::with_capacity(self.strongest.len() + 1);
        if !self.strongest.is_empty() {
            out.push(Why {
                path: "page".to_owned(),
                reason: format!("page type {}", page_type.name()),
                is_kept: true,
                chars: collector.total.chars,
                start: String::new(),
            });
        }
        for (idx, (reasons, ((segment, margin), is_kept))) in
            self.strongest.iter().zip(segments).enumerate()
        {
            let reason = if segment.chars == 0 {
                Reason::Template.to_string()
            } else if collector.is_sure(idx) {
                let sure = if 0.0 < *margin { "text of the main part" } else { "furniture" };
                format!("{sure}, by the rules")
            } else {
                format!("{:.2} content: {reasons}", probability(*margin))
            };
            out.push(why(collector, idx, *is_kept, reason));
        }
        out
    }
}

fn why(collector: &Collector<'_>, idx: usize, is_kept: bool, reason: String) -> Why {
    let Collector { dom, survey, .. } = *collector;
    let segment = survey.segments.get(idx).copied().unwrap_or_default();
    let path: Vec<String> = dom.ancestors(segment.block).take(4).map(|up| dom.label(up)).collect();
    let path = path.into_iter().rev().collect::<Vec<_>>().join(" > ");
    let start = text_of(collector, survey, idx);
    Why { path, reason, is_kept, chars: segment.chars, start }
}

fn text_of(collector: &Collector<'_>, survey: &Survey, idx: usize) -> String {
    let Some(segment) = survey.segments.get(idx) else { return String::new() };
    let dom = collector.dom;
    let next = survey.segments.get(idx + 1).map_or(dom.len(), |next| next.at);
    let mut text = String::new();
    for at in segment.at..next.min(dom.item(segment.block).end) {
        if SHOWN * 4 < text.len() {
            break;
        }
        if !survey.marks(at).has(crate::survey::Marks::UNSEEN) {
            dom.append_text(at, &mut text);
        }
    }
    text.trim().chars().take(SHOWN).collect()
}

/// The features that moved the margin most, with the way they moved it.
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
