//! Computes the state of each segment: what the hand-written rules, menus and contents lists say.

use html5ever::local_name;

use crate::dom::Dom;
use crate::prune;
use crate::region::MainRegion;
use crate::survey::PageSurvey;
use crate::tag::Tag;

use super::landmark::MainLandmark;

/// Bits of [`FeatureCollector::states`].
pub(crate) mod state {
    /// The segment is inside the landmark.
    pub(crate) const LANDMARK: u8 = 1;
    /// The segment is dropped without being scored.
    pub(crate) const SURE: u8 = 2;
    /// The rules would drop the segment because of its element, its name or its text.
    pub(crate) const NAMED: u8 = 4;
    /// The segment is never content, also inside the landmark: buttons, tables of contents, share
    /// links.
    pub(crate) const FURNITURE: u8 = 8;
    /// The rules keep the segment.
    pub(crate) const KEPT: u8 = 16;
    /// The segment is kept without being scored.
    pub(crate) const WHOLE: u8 = 32;
    /// The segment is part of a menu, of tab labels, or of the table of contents of the page.
    pub(crate) const MENU: u8 = 64;
}

/// Bit of [`FeatureCollector::rules`]: the segment is inside the region of the rules.
pub(crate) const INSIDE: u8 = 0x80;
/// Returns, for each segment, a code for the decision of the rules, and its state bits.
pub(super) fn rules(
    dom: &Dom,
    survey: &PageSurvey,
    region: &MainRegion,
    landmark: &MainLandmark,
) -> (Vec<u8>, Vec<u8>) {
    let n = survey.segments.len();
    let (mut rules, mut states) = (vec![0; n], vec![0; n]);
    for root in &region.roots {
        for rule in rules.get_mut(survey.within(dom, *root)).unwrap_or_default() {
            *rule = INSIDE;
        }
    }
    for root in &landmark.roots {
        for bits in states.get_mut(survey.within(dom, *root)).unwrap_or_default() {
            *bits = state::LANDMARK;
        }
    }
    let common = common_reasons(dom, survey, region);
    let mut at = 0;
    while let Some(found) = region.dropped.get(at as usize..).and_then(super::first_some) {
        at += found;
        if let Some(reason) = region.dropped.get(at as usize).copied().flatten() {
            let is_common = common[usize::from(reason.code())];
            let range = survey.within(dom, at);
            let is_frame = matches!(dom.item(at).tag, Tag::Nav | Tag::Header | Tag::Footer);
            if is_start_of_code(dom, survey, at, range.start) {
                at = dom.item(at).end;
                continue;
            }
            for rule in rules.get_mut(range.clone()).unwrap_or_default() {
                *rule |= reason.code();
            }
            for bits in states.get_mut(range).unwrap_or_default() {
                let is_inside = *bits & state::LANDMARK != 0;
                let is_furniture = reason.is_sure_in_landmark() && !is_common;
                let is_sure = dom.item(at).tag == Tag::Nav
                    || if is_inside {
                        is_furniture
                    } else {
                        reason.is_sure() && (is_frame || !is_common)
                    };
                *bits |= if is_sure { state::SURE } else { 0 };
                *bits |= if reason.is_named() { state::NAMED } else { 0 };
                *bits |= if is_furniture { state::FURNITURE } else { 0 };
            }
        }
        at = dom.item(at).end;
    }
    mark_menus(dom, survey, landmark, &mut states);
    mark_contents(dom, survey, &mut states);
    for (rule, bits) in rules.iter().zip(&mut states) {
        *bits |= if *rule == INSIDE { state::KEPT } else { 0 };
    }
    (rules, states)
}

/// Returns, for each reason code, whether the rules would drop more than 30 % of the text of the
/// page for that reason; menus, headers and footers do not count. Such a reason is weak evidence:
/// the results of a search page or a form around the whole page are the content.
pub(super) fn common_reasons(dom: &Dom, survey: &PageSurvey, region: &MainRegion) -> [bool; 128] {
    let mut chars = [0_u32; 128];
    let (mut at, mut frames) = (0, 0);
    while let Some(found) = region.dropped.get(at as usize..).and_then(super::first_some) {
        at += found;
        let reason = region.dropped.get(at as usize).copied().flatten();
        let n = survey.sum_of(survey.within(dom, at)).chars;
        if matches!(dom.item(at).tag, Tag::Nav | Tag::Header | Tag::Footer) {
            frames += n;
        } else if let Some(reason) = reason {
            chars[usize::from(reason.code())] += n;
        }
        at = dom.item(at).end;
    }
    let total = survey.sum_of(0..survey.segments.len()).chars.saturating_sub(frames);
    chars.map(|n| u64::from(total) * 3 < u64::from(n) * 10)
}

/// Marks segments in `nav` elements inside the landmark as dropped, if the landmark has other text,
/// and segments in `nav` and `footer` elements outside the landmark.
pub(super) fn mark_menus(
    dom: &Dom,
    survey: &PageSurvey,
    landmark: &MainLandmark,
    states: &mut [u8],
) {
    const LEAST_TEXT: u32 = 60;
    let has_text = landmark.roots.iter().any(|root| survey.sum(dom, *root).chars != 0);
    if let Some(body) = dom.body.filter(|_| has_text) {
        let mut at = body;
        while at < dom.item(body).end {
            let item = dom.item(at);
            let is_beside = matches!(item.tag, Tag::Nav | Tag::Footer)
                && !landmark.roots.iter().any(|root| dom.subtree(at).contains(root));
            if landmark.roots.contains(&at) {
                at = item.end;
                continue;
            }
            if is_beside {
                for bits in states.get_mut(survey.within(dom, at)).unwrap_or_default() {
                    *bits |= state::SURE;
                }
            }
            at = if is_beside { item.end } else { at + 1 };
        }
    }
    for root in &landmark.roots {
        let mut menus = Vec::new();
        let mut at = *root;
        while at < dom.item(*root).end {
            let item = dom.item(at);
            let is_menu = item.tag == Tag::Nav && at != *root;
            if is_menu {
                menus.push(survey.within(dom, at));
            }
            at = if is_menu { item.end } else { at + 1 };
        }
        let n_chars: u32 = menus.iter().map(|range| survey.sum_of(range.clone()).chars).sum();
        if survey.sum(dom, *root).chars - n_chars < LEAST_TEXT {
            continue;
        }
        for range in menus {
            for bits in states.get_mut(range).unwrap_or_default() {
                *bits |= state::SURE | state::MENU;
            }
        }
    }
}

/// Returns whether a dropped element is a button or label at the start of a code block. The first
/// segment of such an element is the code itself.
pub(super) fn is_start_of_code(dom: &Dom, survey: &PageSurvey, at: u32, first: usize) -> bool {
    let is_inline = !dom.item(at).tag.is_block();
    let block = survey.segments.get(first).map(|segment| segment.block);
    is_inline && block.is_some_and(|block| block < at && dom.item(block).tag == Tag::Pre)
}

/// Marks tab labels and the table of contents of the page as dropped, also inside the landmark. A
/// table of contents with most of the text of the page is the content and is not marked.
pub(super) fn mark_contents(dom: &Dom, survey: &PageSurvey, states: &mut [u8]) {
    let Some(body) = dom.body else { return };
    let total = survey.sum(dom, body).chars;
    let mut at = body + 1;
    while at < dom.item(body).end {
        let item = dom.item(at);
        let is_group = matches!(item.tag, Tag::Ul | Tag::Ol | Tag::Div | Tag::Section | Tag::Nav);
        if !is_group {
            at += 1;
            continue;
        }
        let sum = survey.sum(dom, at);
        if sum.chars == 0 {
            at = item.end;
            continue;
        }
        // Tab labels are buttons.
        let is_tablist = sum.chars < 400 && dom.attr(at, &local_name!("role")) == Some("tablist");
        let is_contents =
            || 3 <= sum.links && prune::is_contents(dom, survey, at) && sum.chars * 2 < total;
        if is_tablist || is_contents() {
            for bits in states.get_mut(survey.within(dom, at)).unwrap_or_default() {
                *bits |= state::SURE | state::NAMED | state::FURNITURE | state::MENU;
            }
            at = item.end;
            continue;
        }
        at += 1;
    }
}

/// Returns a code for the kind of a block element: headings have the lowest codes, containers the
/// highest.
pub(super) fn tag_code(tag: Tag) -> u8 {
    match tag {
        Tag::H1 => 1,
        Tag::H2 => 2,
        Tag::H3 => 3,
        Tag::H4 => 4,
        Tag::H5 | Tag::H6 => 5,
        Tag::P => 6,
        Tag::Blockquote => 7,
        Tag::Pre => 8,
        Tag::Dt => 9,
        Tag::Dd => 10,
        Tag::Li => 11,
        Tag::Td => 12,
        Tag::Th => 13,
        Tag::Caption | Tag::Figcaption => 14,
        Tag::Figure => 15,
        Tag::Summary | Tag::Details => 16,
        Tag::Address => 17,
        Tag::Article => 18,
        Tag::Main => 19,
        Tag::Section => 20,
        Tag::Div => 21,
        Tag::Body | Tag::Center => 22,
        Tag::Header => 23,
        Tag::Form | Tag::Fieldset | Tag::Legend => 24,
        Tag::Aside => 25,
        Tag::Nav => 26,
        Tag::Footer => 27,
        _ => 0,
    }
}

// Checks the sizes of the feature groups that are written to the row as one slice.
