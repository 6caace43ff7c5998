//! Chooses the region of a page that is its main content, by rules.
//!
//! Input: the tree, the survey and elements known not to be content. Output: a [`MainRegion`]. Prose
//! adds to the weight of a segment, links and labels subtract from it; elements that [`verdict`]
//! excludes do not count. The element with the largest total is the root, and [`prune`] drops
//! parts of it. A page that has text never has an empty region.

use crate::dom::Dom;
use crate::hint::ElementHints;
use crate::prune;
use crate::survey::{InheritedMarks, PageSurvey, Segment};
use crate::tag::Tag;
use crate::verdict::{self, DropReason, gone, has_heading, has_title};

/// The main content of a page.
#[derive(Debug)]
pub(crate) struct MainRegion {
    /// The elements that form the main content, in document order; no element is inside another.
    pub(crate) roots: Vec<u32>,
    /// For each item, the reason why it and its descendants are left out.
    pub(crate) dropped: Vec<Option<DropReason>>,
    pub(crate) confidence: f32,
}

/// Finds the main content. `marked` holds the reasons of the elements that are known not to be
/// content.
pub(crate) fn find(dom: &Dom, survey: &PageSurvey, marked: Vec<Option<DropReason>>) -> MainRegion {
    let Some(body) = dom.body else {
        return MainRegion { roots: Vec::new(), dropped: Vec::new(), confidence: 0.0 };
    };
    let total = survey.sum(dom, body);
    let mut dropped = marked;
    verdict::ban(dom, survey, body, total, &mut dropped);
    if dom.is_marked {
        // The author marks the main content.
        let mut roots: Vec<u32> = Vec::new();
        for at in dom.subtree(body) {
            let is_inside = roots.last().is_some_and(|last| at < dom.item(*last).end);
            if !is_inside && roots.len() < 256 && dom.attribute(at, "data-pagefind-body").is_some()
            {
                roots.push(at);
            }
        }
        if roots.iter().any(|root| survey.sum(dom, *root).chars != 0) {
            return MainRegion { roots, dropped, confidence: 1.0 };
        }
    }
    let left = RemainingSums::of(dom, survey, &dropped);
    let (root, weight) = heaviest(dom, survey, body, &dropped, &left);
    let root = column(dom, survey, root);
    let root = widen(dom, survey, body, root, weight, &left);
    let root = tighten(dom, survey, root, &dropped, &left);
    let root = lift(dom, survey, root, &dropped);
    let mut roots = leads(dom, survey, body, root, &dropped);
    roots.push(root);
    // Also adds footnotes that are below the main content.
    let notes = dom.following(root).take(MOST_LEADS).filter(|at| {
        let names = ["class", "id"].iter().filter_map(|name| dom.attribute(*at, name));
        names.into_iter().any(|name| name.contains("footnotes"))
    });
    roots.extend(notes);
    prune::prune(dom, survey, root, &mut dropped);
    // A page with text never has empty content.
    let mut is_gone = gone(dom, survey, &dropped);
    let is_left = |root: &u32| is_gone[survey.within(dom, *root)].contains(&false);
    if total.chars != 0 && !roots.iter().any(is_left) {
        for (item, reason) in dom.items.iter().zip(&mut dropped) {
            // A `noscript` element with a request to turn on scripts is not content of the page.
            if !matches!(item.tag, Tag::Noscript | Tag::Button) {
                *reason = None;
            }
        }
        roots = vec![body];
        is_gone = gone(dom, survey, &dropped);
    }
    let confidence = confidence(dom, survey, &roots, &is_gone);
    MainRegion { roots, dropped, confidence }
}

/// Returns the confidence from 0 to 1: the share of the page's prose that is inside the region, not
/// counting dropped prose. It is lower if the region has fewer than 400 characters of prose.
fn confidence(dom: &Dom, survey: &PageSurvey, roots: &[u32], is_gone: &[bool]) -> f32 {
    let (mut inside, mut outside) = (0, 0);
    for (segment, is_gone) in survey.segments.iter().zip(is_gone) {
        if *is_gone || !segment.is_prose() {
            continue;
        }
        if roots.iter().any(|root| dom.subtree(*root).contains(&segment.at)) {
            inside += segment.plain();
        } else {
            outside += segment.plain();
        }
    }
    let share = inside as f32 / (inside + outside).max(1) as f32;
    share * (0.5 + 0.5 * (inside as f32 / 400.0).min(1.0))
}

/// Prefix sums over the segments that are not dropped.
struct RemainingSums(Vec<RemainingTotals>);

/// Totals of the segments of an element that are not dropped.
#[derive(Clone, Copy, Default)]
struct RemainingTotals {
    chars: u32,
    prose: u32,
    weight: f32,
}

impl RemainingSums {
    fn of(dom: &Dom, survey: &PageSurvey, dropped: &[Option<DropReason>]) -> Self {
        let mut sum = RemainingTotals::default();
        let mut sums = Vec::with_capacity(survey.segments.len() + 1);
        sums.push(sum);
        for (segment, is_gone) in survey.segments.iter().zip(gone(dom, survey, dropped)) {
            if !is_gone {
                sum.chars += segment.chars;
                sum.weight += weight(dom, survey, segment);
                if segment.is_prose() {
                    sum.prose += segment.plain();
                }
            }
            sums.push(sum);
        }
        Self(sums)
    }

    fn within(&self, dom: &Dom, survey: &PageSurvey, at: u32) -> RemainingTotals {
        let range = survey.within(dom, at);
        let (before, behind) = (self.0[range.start], self.0[range.end]);
        RemainingTotals {
            chars: behind.chars - before.chars,
            prose: behind.prose - before.prose,
            weight: behind.weight - before.weight,
        }
    }
}

/// Returns the body if no element has enough prose: an index, a table of releases, a page of
/// diagrams. Otherwise returns `root`.
fn widen(
    dom: &Dom,
    survey: &PageSurvey,
    body: u32,
    root: u32,
    weight: f32,
    left: &RemainingSums,
) -> u32 {
    let kept = |at: u32| left.within(dom, survey, at).chars;
    let (all, inside) = (kept(body), kept(root));
    // The region has little prose, or it is one of several parts with a similar amount of prose.
    let is_little = weight <= LITTLE && inside * 2 < all;
    let is_one_of_many = weight <= MANY && inside * 4 < all;
    if !is_little && !is_one_of_many {
        return root;
    }
    let mut parts = dom.subtree(body).filter(|at| dom.item(*at).tag == Tag::Main);
    parts.find(|at| all <= kept(*at) * 2).unwrap_or(body)
}

/// Returns a larger element if `root` is a list or definition with paragraphs beside it: the
/// content is then the element that holds both.
fn lift(dom: &Dom, survey: &PageSurvey, root: u32, dropped: &[Option<DropReason>]) -> u32 {
    let mut root = root;
    while matches!(
        dom.item(root).tag,
        Tag::Dl | Tag::Dd | Tag::Ul | Tag::Ol | Tag::Li | Tag::Pre | Tag::Blockquote
    ) {
        let is_text = |at: &u32| {
            let sum = survey.sum(dom, *at);
            matches!(dom.item(*at).tag, Tag::P | Tag::Dd)
                && dropped[*at as usize].is_none()
                && 40 <= sum.chars - sum.link_chars
        };
        let has_text = dom.preceding(root).take(MOST_LEADS).any(|at| is_text(&at))
            || dom.following(root).take(MOST_LEADS).any(|at| is_text(&at));
        if !has_text {
            break;
        }
        root = dom.item(root).parent;
    }
    root
}

/// Weight below which a region is replaced by a larger element.
const LITTLE: f32 = 500.0;
/// Weight below which a region with less than a quarter of the page's text is replaced.
const MANY: f32 = 1500.0;

/// Returns the descendant whose name marks it as content and that holds nearly all of the text.
fn tighten(
    dom: &Dom,
    survey: &PageSurvey,
    root: u32,
    dropped: &[Option<DropReason>],
    left: &RemainingSums,
) -> u32 {
    let kept = |at: u32| left.within(dom, survey, at).prose;
    let all = kept(root);
    let is_single =
        dom.subtree(root).filter(|at| dom.item(*at).tag == Tag::Article).nth(1).is_none();
    let mut best = root;
    let mut at = root + 1;
    while at < dom.item(best).end {
        let item = dom.item(at);
        if dropped[at as usize].is_some()
            || u64::from(survey.sum(dom, at).prose) * 100 < u64::from(all) * SINGLE
        {
            at = item.end;
            continue;
        }
        let needed = match called_content(dom, survey, at) {
            NameCertainty::Surely if item.tag == Tag::Article && is_single => SINGLE,
            NameCertainty::Surely => LOOSE,
            NameCertainty::Perhaps => TIGHT,
            NameCertainty::Nothing => {
                at += 1;
                continue;
            }
        };
        if item.tag != Tag::Text && u64::from(all) * needed <= u64::from(kept(at)) * 100 {
            best = at;
        }
        at += 1;
    }
    best
}

/// Minimum share of the text, in per cent, that an element must hold to replace the region. A name
/// that certainly marks content needs a lower share.
const SINGLE: u64 = 55;
const LOOSE: u64 = 75;
const TIGHT: u64 = 85;

/// Certainty with which the tag or name of an element marks it as content.
enum NameCertainty {
    Surely,
    Perhaps,
    Nothing,
}

fn called_content(dom: &Dom, survey: &PageSurvey, at: u32) -> NameCertainty {
    let hints = survey.hints(at);
    if matches!(dom.item(at).tag, Tag::Article | Tag::Main) {
        return NameCertainty::Surely;
    }
    match (hints.has(ElementHints::CONTENT), hints.has(ElementHints::STRONG)) {
        (true, true) => NameCertainty::Surely,
        (true, false) => NameCertainty::Perhaps,
        _ => NameCertainty::Nothing,
    }
}

/// Returns the column of a layout table that holds most of its text; `root` if there is none.
fn column(dom: &Dom, survey: &PageSurvey, root: u32) -> u32 {
    if !matches!(dom.item(root).tag, Tag::Table | Tag::Tbody | Tag::Tr) {
        return root;
    }
    let all = survey.sum(dom, root).prose;
    let mut cells = dom.subtree(root).filter(|at| dom.item(*at).tag == Tag::Td);
    // The innermost cell with more than 70 % of the prose.
    let most = cells.rfind(|at| all * 7 < survey.sum(dom, *at).prose * 10);
    most.unwrap_or(root)
}

/// Returns the elements before the region that hold the title or the lead of the text.
fn leads(
    dom: &Dom,
    survey: &PageSurvey,
    body: u32,
    root: u32,
    dropped: &[Option<DropReason>],
) -> Vec<u32> {
    let mut found = Vec::new();
    let inner = survey.sum(dom, root);
    let is_untitled = !dom.items.iter().any(|item| item.tag == Tag::H1);
    let mut at = root;
    for _ in 0..6 {
        if at == body || matches!(dom.item(at).tag, Tag::Main | Tag::Body) {
            break;
        }
        let parent = dom.item(at).parent;
        let outer = survey.sum(dom, parent);
        if inner.chars.max(300) * 3 < outer.chars {
            break;
        }
        let is_inside = dom.ancestors(parent).any(|up| dom.item(up).tag == Tag::Article);
        let is_near = dom.item(at).tag != Tag::Article;
        let mut here = Vec::new();
        for sibling in dom.preceding(at).take(MOST_LEADS) {
            if dom.item(sibling).tag == Tag::Text
                || dropped[sibling as usize].is_some()
                || survey.marks(sibling).has(InheritedMarks::UNSEEN)
            {
                continue;
            }
            let sum = survey.sum(dom, sibling);
            let is_title = if is_inside || is_untitled {
                has_heading(dom, sibling)
            } else {
                has_title(dom, sibling)
            };
            let is_lead = (is_title || 0 < sum.prose)
                && sum.link_share() < 0.3
                && sum.chars < 800
                && 0 < sum.chars;
            if is_lead {
                here.push(sibling);
            } else if let Some(title) =
                dom.subtree(sibling).find(|at| dom.item(*at).tag == Tag::H1).filter(|_| is_near)
            {
                // Only the title is added, not the element around it.
                here.push(title);
            }
        }
        here.reverse();
        found.splice(0..0, here);
        at = parent;
    }
    found
}

/// Maximum number of siblings of the region that are checked, on each level.
const MOST_LEADS: usize = 20;

/// Returns the weight that a segment adds to the elements around it; negative for links and labels.
fn weight(dom: &Dom, survey: &PageSurvey, segment: &Segment) -> f32 {
    let (plain, links) = (segment.plain() as f32, segment.link_chars as f32);
    let share = links / (segment.chars.max(1)) as f32;
    if segment.marks.has(InheritedMarks::PRE) {
        return plain * 0.5;
    }
    if segment.marks.has(InheritedMarks::HEADING) && !(segment.is_prose() && 100 < segment.chars) {
        return if 0.9 < share && 4 <= segment.words { -20.0 } else { 5.0 };
    }
    if 0.5 < share {
        // A linked name is part of a reference; a linked phrase leads to another page.
        let is_name = segment.words <= 2
            && (segment.marks.has(InheritedMarks::CODE)
                || match dom.item(segment.block).tag {
                    Tag::Dt => true,
                    Tag::Td | Tag::Th => survey.within(dom, segment.block).len() == 1,
                    _ => false,
                });
        return if is_name { -4.0 - links * 0.2 } else { -20.0 - links * 0.5 };
    }
    if segment.is_prose() {
        return plain - links * 0.5;
    }
    if segment.marks.has(InheritedMarks::CELL) {
        return -1.0;
    }
    -8.0 + plain * 0.1
}

/// Returns whether an element with this tag can hold the main content.
fn is_container(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Body
            | Tag::Div
            | Tag::Main
            | Tag::Article
            | Tag::Section
            | Tag::Td
            | Tag::Center
            | Tag::Custom
            | Tag::Form
            | Tag::Details
            | Tag::Fieldset
            | Tag::Table
            | Tag::Tbody
            | Tag::Tr
            | Tag::Li
            | Tag::Ul
            | Tag::Ol
            | Tag::Dl
            | Tag::Dd
            | Tag::Header
            | Tag::Aside
            | Tag::Pre
            | Tag::LlmOnly
    )
}

/// Returns the element whose segments have the largest weight, and this weight.
fn heaviest(
    dom: &Dom,
    survey: &PageSurvey,
    body: u32,
    dropped: &[Option<DropReason>],
    left: &RemainingSums,
) -> (u32, f32) {
    let mut best = (body, f32::MIN);
    let mut at = body;
    while at < dom.item(body).end {
        let item = dom.item(at);
        if dropped[at as usize].is_some() | survey.marks(at).has(InheritedMarks::UNSEEN) {
            at = item.end;
            continue;
        }
        if !is_container(item.tag) {
            at += 1;
            continue;
        }
        // An item of a list is not the main content, unless it is as long as a page.
        let is_item =
            matches!(item.tag, Tag::Li | Tag::Dd | Tag::Tr) && survey.sum(dom, at).prose < 1000;
        if !is_item {
            let mut weight = left.within(dom, survey, at).weight;
            let hints = survey.hints(at);
            let is_strong = hints.has(ElementHints::CONTENT) && hints.has(ElementHints::STRONG);
            if is_strong || item.tag == Tag::Article || item.tag == Tag::Main {
                weight = weight.max(0.0) * 1.1 + 100.0;
            } else if hints.has(ElementHints::CONTENT) {
                weight = weight * 1.03 + 10.0;
            }
            // If two elements have the same weight, the inner one is used.
            if best.1 <= weight {
                best = (at, weight);
            }
        }
        at += 1;
    }
    best
}
