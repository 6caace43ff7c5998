//! Decides with a trained model which segments of a page are content.
//!
//! Input: the tree, the survey, and the region chosen by the rules of [`region`](crate::region),
//! which are features of each segment. Output: a region, the page type and the coverage of the
//! landmark. The first stage scores each segment alone; the second also uses the scores of its
//! neighbours and the page type. Guard rails ([`rails`]) override the model; a page with text
//! never has empty content. See `training/` for how the model is made.

mod apply;
mod collect;
mod context;
mod coverage;
pub(crate) mod dump;
mod explain;
pub(crate) mod features;
mod frame;
mod groups;
mod landmark;
mod model;
mod page;
mod rails;
mod segment_states;
mod text;
mod threshold;

pub use page::PageType;

pub(crate) use crate::verdict::first_some;
pub(crate) use landmark::MainLandmark;

use crate::coverage::Coverage;
use crate::dom::Dom;
use crate::extraction::PartDecision;
use crate::meta::FoundMetadata;
use crate::region::MainRegion;
use crate::selector::Selector;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;
use crate::verdict::DropReason;

use collect::FeatureCollector;
use context::ContextFeatures;
use explain::StrongestFeatures;
use features::{FIRST_PAGE, N, Row};
use model::{N_TYPES, ScoreBatch, model, probability};
use rails::GuardRails;
use segment_states::state;
use threshold::{Thresholds, WHOLE};

/// Margin above which text in the landmark that repeats on other pages of the site is kept.
const KEEP_REPEATED: f32 = 0.4;
/// If the model keeps this share of the landmark, other text of the landmark that the rules keep is
/// kept, too, unless its margin is below [`BOILERPLATE`].
const CLEAN: f32 = 0.95;
const BOILERPLATE: f32 = -2.0;
/// Margin above which a paragraph in the landmark that the rules keep is kept.
const PARAGRAPH: f32 = -2.5;
/// Margin above which a line with the date of an article is kept.
const DATED: f32 = 2.0;
/// Margins of the segments that are not scored: [`SURE`] for dropped, [`KEPT_WHOLE`] for kept
/// segments.
const SURE: f32 = -9.0;
const KEPT_WHOLE: f32 = 3.0;

/// Maximum number of characters after the last footer of the landmark that are dropped.
const MOST_BEHIND_FOOTER: u32 = 120;
/// Maximum number of segments that are classified. Above it the rules alone decide, because the
/// features of a segment need some hundred bytes.
const MOST_SEGMENTS: usize = 200_000;

/// The page to be classified, with the input of the classifier.
pub(crate) struct ClassifierInput<'s> {
    pub(crate) dom: &'s Dom,
    pub(crate) survey: &'s PageSurvey,
    pub(crate) found: &'s FoundMetadata,
    pub(crate) landmark: &'s MainLandmark,
    /// Elements inside the landmark that repeat on other pages of the site. They are content,
    /// unless the model gives them a low margin.
    pub(crate) repeated: &'s [u32],
    /// Elements that owner selectors keep, then elements that owner selectors drop.
    pub(crate) forced: &'s [SelectedElement<'s>],
    /// Whether the page is the first page of its site.
    pub(crate) is_home: bool,
    /// Whether the caller requests an explanation for each segment.
    pub(crate) explain: bool,
}

/// An element that a selector of the site owner matches.
pub(crate) struct SelectedElement<'s> {
    pub(crate) at: u32,
    pub(crate) is_kept: bool,
    pub(crate) selector: &'s Selector,
}

/// The decision of the classifier about a page.
#[derive(Debug)]
pub(crate) struct PageDecision {
    /// The region that holds the kept segments.
    pub(crate) region: MainRegion,
    /// The page type; `None` if the page has too many segments to be scored.
    pub(crate) page_type: Option<PageType>,
    /// Share of the text in the landmark that is kept.
    pub(crate) coverage: Option<Coverage>,
    /// Why each segment was kept or dropped; empty if no explanation is requested.
    pub(crate) why: Vec<PartDecision>,
}

/// Returns the checksum of the model, for callers that record which model read a page.
///
/// The checksum is not an input of a page: a page whose source did not change keeps its published
/// content, even if a new model would decide differently.
pub fn model_version() -> u32 {
    model().version
}

/// Decides which segments of a page are kept; `rules` is the region that the rules would keep.
pub(crate) fn classify(subject: &ClassifierInput<'_>, rules: MainRegion) -> PageDecision {
    let ClassifierInput { dom, survey, landmark, .. } = *subject;
    if MOST_SEGMENTS < survey.segments.len() {
        let mut region = rules;
        drop_forced(subject, &mut region);
        return PageDecision { region, page_type: None, coverage: None, why: Vec::new() };
    }
    let mut collector = FeatureCollector::new(dom, survey, subject.found, &rules, landmark);
    let types = page_types(&collector);
    let page_type = best(types);
    if page_type == PageType::Documentation {
        collector.keep_text();
    }
    let collector = collector;
    let mut reasons = StrongestFeatures::new(subject.explain, survey.segments.len());
    let margins = margins(&collector, types, |idx, row| reasons.add(idx, row));
    let above = above_threshold(subject, &collector, &margins, page_type);
    // Template text outside the landmark has no characters left in the survey.
    let is_left = |idx: usize| survey.segments.get(idx).is_some_and(|segment| segment.chars != 0);
    let mut keep: Vec<bool> =
        above.iter().enumerate().map(|(idx, above)| 0.0 < *above && is_left(idx)).collect();
    GuardRails { collector: &collector, landmark, margins: &above }.apply(&mut keep);
    for (keep, bits) in keep.iter_mut().zip(&collector.states) {
        *keep &= bits & state::FURNITURE == 0;
    }
    drop_behind_footer(subject, &mut keep);
    for SelectedElement { at, is_kept, .. } in subject.forced {
        if let Some(part) = keep.get_mut(survey.within(dom, *at)) {
            part.fill(*is_kept);
        }
    }
    for (idx, keep) in keep.iter_mut().enumerate() {
        *keep &= is_left(idx);
    }
    let mut region = if keep.contains(&true) {
        let confidence =
            if landmark.is_declared { 1.0 } else { confidence(survey, &margins, &keep) };
        let decided = apply::RegionInput { dom, survey, landmark, rules: &rules, keep: &keep };
        apply::region(&decided, confidence)
    } else {
        // A page with text never has empty content: if the model keeps nothing, the region of the
        // rules is used.
        rules
    };
    drop_forced(subject, &mut region);
    let coverage = Coverage::of(subject, &collector, &keep);
    let page_type = reported(page_type, subject.is_home);
    let why = reasons.explain(subject, &collector, &margins, &keep, page_type);
    PageDecision { region, page_type: Some(page_type), coverage, why }
}

/// Returns the page type to report: the first page of a site is `Home`, unless it is an article or
/// documentation.
fn reported(page_type: PageType, is_home: bool) -> PageType {
    match page_type {
        PageType::Article | PageType::Documentation => page_type,
        _ if is_home => PageType::Home,
        _ => page_type,
    }
}

/// Drops a short text after the last footer of the landmark, such as a build stamp. Some generators
/// put stamps inside `<main>`.
fn drop_behind_footer(subject: &ClassifierInput<'_>, keep: &mut [bool]) {
    let ClassifierInput { dom, survey, landmark, .. } = *subject;
    for root in &landmark.roots {
        let is_footer = |at: &u32| dom.item(*at).tag == Tag::Footer;
        let Some(footer) = dom.subtree(*root).rev().find(is_footer) else { continue };
        // The footer of a quotation, or of an article in a list, does not end the page.
        let is_inner = dom.ancestors(footer).take_while(|up| up != root).any(|up| {
            matches!(dom.item(up).tag, Tag::Blockquote | Tag::Figure | Tag::Article | Tag::Li)
        });
        let behind = survey.within(dom, footer).end..survey.within(dom, *root).end;
        if !is_inner && survey.sum_of(behind.clone()).chars <= MOST_BEHIND_FOOTER {
            keep.get_mut(behind).unwrap_or_default().fill(false);
        }
    }
}

/// Marks the elements that owner selectors drop.
fn drop_forced(subject: &ClassifierInput<'_>, region: &mut MainRegion) {
    for SelectedElement { at, .. } in subject.forced.iter().filter(|forced| !forced.is_kept) {
        if let Some(reason) = region.dropped.get_mut(*at as usize) {
            *reason = Some(DropReason::Owner);
        }
        // A root of the region may be inside the dropped element.
        let dropped = subject.dom.subtree(*at);
        region.roots.retain(|root| !dropped.contains(root));
    }
}

/// Returns the margin of each segment minus its threshold.
fn above_threshold(
    subject: &ClassifierInput<'_>,
    collector: &FeatureCollector<'_>,
    margins: &[f32],
    page_type: PageType,
) -> Vec<f32> {
    let ClassifierInput { dom, survey, landmark, .. } = *subject;
    let scored = survey.segments.iter().map(|segment| segment.chars).zip(margins.iter().copied());
    let mut thresholds = Thresholds::of(page_type, !landmark.roots.is_empty(), scored);
    if CLEAN <= clean_share(collector, margins) {
        thresholds.kept[0] = thresholds.kept[0].min(BOILERPLATE);
    }
    if landmark.is_declared {
        (thresholds.kept[0], thresholds.open[0], thresholds.named[0]) = (WHOLE, WHOLE, WHOLE);
    }
    let mut above: Vec<f32> = Vec::with_capacity(margins.len());
    let segments = survey.segments.iter().zip(&collector.known);
    for ((margin, bits), (segment, known)) in margins.iter().zip(&collector.states).zip(segments) {
        let is_outside = bits & state::LANDMARK == 0;
        let [inside, outside] = if bits & state::NAMED != 0 {
            thresholds.named
        } else if bits & state::KEPT != 0 {
            thresholds.kept
        } else {
            thresholds.open
        };
        // A line with a time that the rules name usually tells when the article was written.
        let is_dated = bits & state::NAMED != 0
            && page_type == PageType::Article
            && known.text.has(text::flag::TIME);
        let threshold = match is_outside {
            _ if is_dated => DATED,
            true if landmark.is_declared => f32::MAX,
            true => outside,
            false => inside,
        };
        let is_paragraph =
            !is_outside && bits & state::KEPT != 0 && segment.marks.has(InheritedMarks::PARAGRAPH);
        above.push(margin - if is_paragraph { threshold.min(PARAGRAPH) } else { threshold });
    }
    for at in subject.repeated {
        let range = survey.within(dom, *at);
        let margins = margins.get(range.clone()).unwrap_or_default();
        for (above, margin) in above.get_mut(range).unwrap_or_default().iter_mut().zip(margins) {
            *above = margin - KEEP_REPEATED;
        }
    }
    above
}

/// Returns the share that the model keeps of the text that is in the landmark and not named by the
/// rules.
fn clean_share(collector: &FeatureCollector<'_>, margins: &[f32]) -> f32 {
    let (mut kept, mut all) = (0_u32, 0_u32);
    let segments = collector.survey.segments.iter().zip(&collector.states);
    for ((segment, bits), margin) in segments.zip(margins) {
        if bits & (state::LANDMARK | state::NAMED) == state::LANDMARK {
            all += segment.chars;
            kept += if 0.0 < *margin { segment.chars } else { 0 };
        }
    }
    if all == 0 { 0.0 } else { kept as f32 / all as f32 }
}

/// Returns the mean score of the kept segments, weighted by their characters.
fn confidence(survey: &PageSurvey, margins: &[f32], keep: &[bool]) -> f32 {
    let (mut sum, mut all) = (0.0, 0.0);
    for ((segment, margin), keep) in survey.segments.iter().zip(margins).zip(keep) {
        if *keep {
            sum += segment.chars as f32 * probability(*margin);
            all += segment.chars as f32;
        }
    }
    if 0.0 < all { sum / all } else { 0.0 }
}

/// Returns the probability of each page type.
fn page_types(collector: &FeatureCollector<'_>) -> [f32; N_TYPES] {
    let mut row: Row = [0.0; 256];
    row[..N - FIRST_PAGE].copy_from_slice(&collector.page);
    model().types.margins(&row).map(probability)
}

fn best(types: [f32; N_TYPES]) -> PageType {
    let mut best = (PageType::Article, f32::MIN);
    for (kind, score) in PageType::LEARNED.into_iter().zip(types) {
        if best.1 < score {
            best = (kind, score);
        }
    }
    best.0
}

/// Returns the second-stage margin of each segment; `each` is called with the index and the row of
/// each scored segment.
fn margins(
    collector: &FeatureCollector<'_>,
    types: [f32; N_TYPES],
    mut each: impl FnMut(usize, &Row),
) -> Vec<f32> {
    let model = model();
    let n = collector.survey.segments.len();
    let n_base = model.base.len();
    let unscored = |bits: &u8| if bits & state::WHOLE != 0 { KEPT_WHOLE } else { SURE };
    let mut out: Vec<f32> = collector.states.iter().map(unscored).collect();
    let mut first: Vec<f32> = out.iter().map(|margin| probability(*margin)).collect();
    let mut base = Vec::with_capacity(n * n_base);
    let mut batch = ScoreBatch::new(&model.first, |idx, margin| {
        if let Some(score) = first.get_mut(idx) {
            *score = probability(margin);
        }
    });
    collector.rows(|idx, row| {
        base.extend(model.base.iter().map(|id| row[usize::from(*id)]));
        batch.push(idx, row);
    });
    batch.finish();
    let context = ContextFeatures::new(collector, &first, types);
    let mut row: Row = [0.0; 256];
    let mut batch = ScoreBatch::new(&model.second, |idx, margin| {
        if let Some(out) = out.get_mut(idx) {
            *out = margin;
        }
    });
    let open = (0..n).filter(|idx| !collector.is_sure(*idx));
    for (values, idx) in base.chunks_exact(n_base.max(1)).zip(open) {
        if let Some(slots) = row.get_mut(..n_base) {
            slots.copy_from_slice(values);
            context.fill(idx, &mut row, n_base);
            each(idx, &row);
            batch.push(idx, &row);
        }
    }
    batch.finish();
    out
}
