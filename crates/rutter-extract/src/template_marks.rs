//! Marks the elements of a page that its site template repeats.
//!
//! Input: a page, a template version and the landmark. Output: the marked elements for the rules,
//! and the elements inside the landmark whose mark is removed because they are content.

use crate::classify::MainLandmark;
use crate::dom::Dom;
use crate::options::TemplateChoice;
use crate::survey::PageSurvey;
use crate::template::{self, PageSketch, TemplateVersionId};
use crate::verdict::{DropReason, gone};

/// Removes the marks of the template inside the landmark; on a page without a landmark, between the
/// first and the last prose of the page itself. Repeated text there is content, unless the
/// classifier gives it a low margin. Returns the elements that were marked.
pub(crate) fn take_back(
    dom: &Dom,
    survey: &PageSurvey,
    landmark: &MainLandmark,
    marked: &mut [Option<DropReason>],
) -> Vec<u32> {
    let mut ranges: Vec<_> = landmark.roots.iter().map(|root| dom.subtree(*root)).collect();
    if ranges.is_empty() {
        let is_gone = gone(dom, survey, marked);
        let own = survey.segments.iter().zip(is_gone);
        let own = own.filter(|(segment, is_gone)| !is_gone && segment.is_prose());
        let mut own = own.map(|(segment, _)| segment.block);
        let first = own.next();
        ranges.extend(first.and_then(|first| Some(first..own.next_back()?)));
    }
    let mut repeated = Vec::new();
    for range in ranges {
        for (at, reason) in range.clone().zip(marked.iter_mut().skip(range.start as usize)) {
            if reason.take().is_some() {
                repeated.push(at);
            }
        }
    }
    repeated
}

/// Marks the elements that the template repeats; returns the template version that was used.
pub(crate) fn mark(
    dom: &Dom,
    survey: &PageSurvey,
    how: &TemplateChoice,
    marked: &mut [Option<DropReason>],
) -> Option<TemplateVersionId> {
    let (templates, pinned) = match how {
        TemplateChoice::Nothing => return None,
        TemplateChoice::Fitting(templates) => (templates, None),
        TemplateChoice::Pinned(templates, id) => (templates, Some(*id)),
    };
    let lines = template::lines(dom, survey);
    let id = pinned.or_else(|| templates.fit(&PageSketch::of(dom, survey, &lines)))?;
    templates.get(id)?.mark(dom, survey, &lines, marked);
    Some(id)
}
