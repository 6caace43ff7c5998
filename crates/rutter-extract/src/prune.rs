//! Drops parts of the region that are not content.
//!
//! Input: the tree, the survey and the root of the region. Output: a drop reason for groups of
//! links, boxes about other pages, lines about the page, appeals, and the labels above dropped
//! parts.

use crate::dom::Dom;
use crate::hint::ElementHints;
use crate::phrase;
use crate::survey::{InheritedMarks, PageSurvey, Segment};
use crate::tag::Tag;
use crate::verdict::{DropReason, RegionKind, gone, has};

/// Drops groups of links, short lines and boxes inside the region that are not content, and the
/// labels above dropped parts.
pub(crate) fn prune(dom: &Dom, survey: &PageSurvey, root: u32, dropped: &mut [Option<DropReason>]) {
    // In a technical text, short lines and lists of links are content.
    let is_code = |at: u32| matches!(dom.item(at).tag, Tag::Pre | Tag::Code | Tag::Tt | Tag::Samp);
    let is_technical = dom.subtree(root).filter(|at| is_code(*at)).nth(2).is_some();
    let mut linky: Vec<u32> = Vec::new();
    let mut n_linky = 0;
    let inside = survey.segments.get(survey.within(dom, root)).unwrap_or_default();
    let last_prose = inside.iter().rev().find(|segment| segment.is_prose());
    let last_prose = last_prose.map_or(u32::MAX, |segment| segment.at);
    let first_prose =
        inside.iter().find(|segment| segment.is_prose()).map_or(0, |segment| segment.at);
    let mut words = String::with_capacity(160);
    let mut at = root + 1;
    while at < dom.item(root).end {
        let item = dom.item(at);
        if item.tag == Tag::Text {
            at += 1;
            continue;
        }
        if dropped[at as usize].is_some() || survey.marks(at).has(InheritedMarks::UNSEEN) {
            at = item.end;
            continue;
        }
        // The checks below apply to block elements and `time` elements only.
        if !item.tag.is_block() && item.tag != Tag::Time {
            at += 1;
            continue;
        }
        let is_edge = at < first_prose || last_prose < at;
        if is_contents(dom, survey, at) {
            dropped[at as usize] = Some(DropReason::Name(RegionKind::Contents));
            at = item.end;
            continue;
        }
        if is_linky(dom, survey, at, is_edge && !is_technical)
            && !is_headed(dom, at)
            && !is_introduced(dom, survey, at)
        {
            n_linky += survey.sum(dom, at).chars;
            linky.push(at);
            at = item.end;
            continue;
        }
        if (is_edge || !is_technical) && is_line(dom, survey, at, is_technical, &mut words) {
            dropped[at as usize] = Some(DropReason::Line);
            at = item.end;
            continue;
        }
        at += 1;
    }
    // On a page that consists mostly of links, the links are the content.
    if n_linky as f32 <= survey.sum(dom, root).prose as f32 * 0.5 {
        for at in linky {
            dropped[at as usize] = Some(DropReason::Links);
        }
    }
    if !is_technical {
        drop_strays(dom, survey, root, dropped);
        drop_cards(dom, survey, root, dropped);
        drop_announced(dom, survey, root, dropped);
    }
    drop_labels(dom, survey, root, dropped);
}

/// Drops short labels of buttons and players in a text whose prose is in paragraphs, and drops
/// appeals.
fn drop_strays(dom: &Dom, survey: &PageSurvey, root: u32, dropped: &mut [Option<DropReason>]) {
    let inside = survey.segments.get(survey.within(dom, root)).unwrap_or_default();
    let (mut all, mut in_paragraphs, mut last_prose) = (0, 0, 0);
    for segment in inside.iter().filter(|segment| segment.is_prose()) {
        all += segment.chars;
        if segment.marks.has(InheritedMarks::PARAGRAPH) {
            in_paragraphs += segment.chars;
        }
        last_prose = segment.at;
    }
    let is_paragraphs = 1500 <= all && all * 8 <= in_paragraphs * 10;
    let mut words = String::with_capacity(96);
    for segment in inside {
        let block = segment.block;
        if block == root
            || survey.within(dom, block).len() != 1
            || dropped[block as usize].is_some()
        {
            continue;
        }
        let marks = segment.marks;
        let is_plain = !marks.has(InheritedMarks::HEADING)
            && !marks.has(InheritedMarks::CELL)
            && !marks.has(InheritedMarks::ITEM)
            && !marks.has(InheritedMarks::PRE)
            && !marks.has(InheritedMarks::CAPTION)
            && !marks.has(InheritedMarks::QUOTE);
        if !is_plain {
            continue;
        }
        let is_stray = is_paragraphs
            && !marks.has(InheritedMarks::PARAGRAPH)
            && !segment.is_prose()
            && segment.chars < 60
            && !survey.hints(block).has(ElementHints::LEAD);
        let may_ask = segment.chars < 400
            && (0 < segment.links || last_prose <= segment.at)
            && segment.chars * 10 < all * 9;
        if !is_stray && !may_ask {
            continue;
        }
        dom.head(block, 96, &mut words);
        let is_sentence = words.ends_with(['.', '!', '?', '\u{3002}']);
        if (is_stray && !is_sentence) || (may_ask && phrase::is_appeal(&words)) {
            dropped[block as usize] = Some(DropReason::Line);
        }
    }
}

/// Drops rows of teaser boxes, each of which begins with a linked headline. If such boxes are most
/// of the page, they are its content and are kept.
fn drop_cards(dom: &Dom, survey: &PageSurvey, root: u32, dropped: &mut [Option<DropReason>]) {
    let all = survey.sum(dom, root).prose;
    let mut at = root;
    while at < dom.item(root).end {
        let item = dom.item(at);
        if dropped[at as usize].is_some() {
            at = item.end;
            continue;
        }
        let here = at;
        at += 1;
        if !matches!(
            item.tag,
            Tag::Div
                | Tag::Section
                | Tag::Article
                | Tag::Main
                | Tag::Body
                | Tag::Ul
                | Tag::Td
                | Tag::Custom
        ) {
            continue;
        }
        let cards: Vec<u32> =
            dom.children(here).filter(|child| is_card(dom, survey, *child)).collect();
        if cards.len() < 2 {
            continue;
        }
        let prose: u32 = cards.iter().map(|card| survey.sum(dom, *card).prose).sum();
        if prose * 3 < all && 1200 <= all - prose {
            for card in cards {
                dropped[card as usize] = Some(DropReason::Cards);
            }
        }
    }
}

fn is_card(dom: &Dom, survey: &PageSurvey, at: u32) -> bool {
    if !matches!(dom.item(at).tag, Tag::Div | Tag::Article | Tag::Section | Tag::Li | Tag::Custom) {
        return false;
    }
    let sum = survey.sum(dom, at);
    if sum.links == 0 || 700 < sum.chars || sum.segments == 0 || has(dom, at, Tag::Pre) {
        return false;
    }
    let segments = survey.segments.get(survey.within(dom, at)).unwrap_or_default();
    // A card has a linked headline among its first three lines; a kicker and a date may be above
    // it.
    segments.iter().take(3).any(|segment| {
        3 <= segment.link_words
            && segment.chars * 9 <= segment.link_chars * 10
            && (segment.marks.has(InheritedMarks::HEADING)
                || sum.prose != 0
                || dom.subtree(at).any(|at| dom.item(at).tag == Tag::Img))
    })
}

/// Drops a heading that introduces other pages and the text below it, if this text is mostly links.
fn drop_announced(dom: &Dom, survey: &PageSurvey, root: u32, dropped: &mut [Option<DropReason>]) {
    let mut at = root + 1;
    while at < dom.item(root).end {
        let item = dom.item(at);
        if dropped[at as usize].is_some() {
            at = item.end;
            continue;
        }
        let here = at;
        at += 1;
        let Some(level) = item.tag.heading() else { continue };
        if !phrase::is_elsewhere(&dom.words(here)) {
            continue;
        }
        // The heading may have an element of its own around it.
        let mut start = here;
        while start != root
            && survey.sum(dom, dom.item(start).parent).chars == survey.sum(dom, here).chars
        {
            start = dom.item(start).parent;
        }
        if start == root {
            continue;
        }
        let is_below =
            |child: &u32| dom.item(*child).tag.heading().is_none_or(|other| level < other);
        let below: Vec<u32> = dom.following(start).take(200).take_while(is_below).collect();
        let (mut links, mut link_chars, mut chars) = (0, 0, 0);
        for sibling in &below {
            let sum = survey.sum(dom, *sibling);
            links += sum.links;
            link_chars += sum.link_chars;
            chars += sum.chars;
        }
        if 0 < links && chars < link_chars * 4 {
            for sibling in below {
                dropped[sibling as usize] = Some(DropReason::Links);
            }
            dropped[start as usize] = Some(DropReason::Line);
        }
    }
}

/// Returns whether an element is the table of contents of the page.
pub(crate) fn is_contents(dom: &Dom, survey: &PageSurvey, at: u32) -> bool {
    if !matches!(
        dom.item(at).tag,
        Tag::Ul | Tag::Ol | Tag::Div | Tag::Section | Tag::P | Tag::Details
    ) {
        return false;
    }
    let sum = survey.sum(dom, at);
    if sum.links < 3 || sum.link_share() < 0.8 || sum.prose != 0 {
        return false;
    }
    // A card inside a link has text that counts as link text, but it holds no `a` element.
    let mut n_targets = 0;
    for link in dom.subtree(at).filter(|at| dom.item(*at).tag == Tag::A) {
        match dom.attribute(link, "href") {
            Some(href) if href.starts_with('#') && 1 < href.len() => n_targets += 1,
            Some(_) => return false,
            None => {}
        }
    }
    n_targets != 0
}

/// Returns whether an element is a group of links.
fn is_linky(dom: &Dom, survey: &PageSurvey, at: u32, is_edge: bool) -> bool {
    let tag = dom.item(at).tag;
    let is_group = matches!(
        tag,
        Tag::Ul
            | Tag::Ol
            | Tag::Div
            | Tag::Section
            | Tag::P
            | Tag::Table
            | Tag::Dl
            | Tag::Blockquote
    );
    if !is_group {
        return false;
    }
    let sum = survey.sum(dom, at);
    if sum.prose != 0 || sum.links == 0 {
        return false;
    }
    // An element with a heading is not decided as a whole; its children are decided one by one.
    if matches!(tag, Tag::Div | Tag::Section) && has_own_heading(dom, survey, at) {
        return false;
    }
    // Inside running text, links with one or two words are references; longer links lead to other
    // pages.
    if !is_edge && sum.link_words < 3 * sum.links {
        return false;
    }
    let share = sum.link_share();
    // A short list of links before or after the text is a breadcrumb.
    let is_path = matches!(tag, Tag::Ul | Tag::Ol) && is_edge && sum.chars < 120 && 0.4 < share;
    if is_path {
        return true;
    }
    match tag {
        Tag::P | Tag::Blockquote => 1 < sum.links && 0.7 < share,
        Tag::Ul | Tag::Ol => 0.9 < share || (1 < sum.links && 0.7 < share),
        _ => 1 < sum.links && 0.7 < share,
    }
}

/// Returns whether an element is directly below a heading that names it.
fn is_headed(dom: &Dom, at: u32) -> bool {
    let mut here = at;
    let mut found = None;
    for _ in 0..3 {
        let parent = dom.item(here).parent;
        found = dom.preceding(here).find(|sibling| {
            dom.item(*sibling).tag != Tag::Text || !dom.text(*sibling).trim().is_empty()
        });
        if found.is_some() || dom.item(parent).tag == Tag::Body {
            break;
        }
        here = parent;
    }
    let Some(before) = found else { return false };
    let heading = dom.subtree(before).rev().find(|at| dom.item(*at).tag.heading().is_some());
    heading.is_some_and(|heading| {
        let words = dom.words(heading);
        dom.item(heading).end == dom.item(before).end
            && !words.is_empty()
            && !phrase::is_elsewhere(&words)
    })
}

/// Returns whether an element is a list that the line above it introduces, such as `Either of:`.
fn is_introduced(dom: &Dom, survey: &PageSurvey, at: u32) -> bool {
    if !matches!(dom.item(at).tag, Tag::Ul | Tag::Ol | Tag::Dl | Tag::Blockquote) {
        return false;
    }
    let start = survey.within(dom, at).start;
    let Some(before) = start.checked_sub(1).and_then(|before| survey.segments.get(before)) else {
        return false;
    };
    if before.links != 0 && before.link_chars * 2 > before.chars {
        return false;
    }
    let words = dom.words(before.block);
    words.ends_with(':') && !phrase::is_elsewhere(&words)
}

/// Returns whether an element is a short line that is not part of the text: a link to another page,
/// a picture credit, or a date.
fn is_line(
    dom: &Dom,
    survey: &PageSurvey,
    at: u32,
    is_technical: bool,
    words: &mut String,
) -> bool {
    let item = dom.item(at);
    if !item.tag.is_block() && item.tag != Tag::Time {
        return false;
    }
    let range = survey.within(dom, at);
    let Some(segment) = survey.segments.get(range.start) else { return false };
    if range.len() != 1 || 200 < segment.chars || segment.block != at && item.tag != Tag::Time {
        return false;
    }
    let marks = survey.marks(at);
    if marks.has(InheritedMarks::CELL)
        || marks.has(InheritedMarks::PRE)
        || marks.has(InheritedMarks::ITEM) && segment.links == 0
    {
        return false;
    }
    // A longer line is dropped only if it is a link to other pages.
    let most = if is_technical { 60 } else { 80 };
    let may_lead = !is_technical && 0 < segment.links && !segment.is_prose();
    if most <= segment.chars && !may_lead {
        return false;
    }
    dom.head(at, 64, words);
    if is_technical {
        return segment.chars < 60
            && !marks.has(InheritedMarks::HEADING)
            && phrase::is_date_line(words);
    }
    if may_lead && phrase::is_elsewhere(words) {
        return true;
    }
    (segment.chars < 80 && phrase::is_credit(words))
        || (segment.chars < 60
            && !marks.has(InheritedMarks::HEADING)
            && phrase::is_date_line(words))
}

/// Drops headings directly before a dropped part, and labels that introduce other pages and have no
/// text below them.
fn drop_labels(dom: &Dom, survey: &PageSurvey, root: u32, dropped: &mut [Option<DropReason>]) {
    // Visits the segments from the end, so that the next kept segment is known.
    let range = survey.within(dom, root);
    let mut gone_at = u32::MAX;
    let mut next_kept: Option<&Segment> = None;
    let gone = gone(dom, survey, dropped);
    let (inside, gone) = (&survey.segments[range.clone()], &gone[range]);
    let mut words = String::with_capacity(96);
    for (segment, is_gone) in inside.iter().zip(gone).rev() {
        if *is_gone {
            gone_at = segment.at;
            continue;
        }
        let is_heading = segment.marks.has(InheritedMarks::HEADING);
        let is_label = segment.chars < 80 && !segment.is_prose();
        let block = segment.block;
        let is_before_gap = gone_at != u32::MAX && next_kept.is_none_or(|next| gone_at < next.at);
        let ends_here = next_kept.is_none_or(|next| next.marks.has(InheritedMarks::HEADING));
        if is_label
            && block != root
            && !segment.marks.has(InheritedMarks::CELL)
            && !segment.marks.has(InheritedMarks::PRE)
        {
            let is_lone = survey.within(dom, block).len() == 1;
            let is_title = dom.item(block).tag == Tag::H1;
            let is_orphan = is_before_gap && is_heading && ends_here && !is_title;
            let mut announces = || {
                dom.head(block, 64, &mut words);
                phrase::is_elsewhere(&words)
            };
            let is_last = is_before_gap || next_kept.is_none();
            if is_lone && (is_orphan || (is_last && announces())) {
                dropped[block as usize] = Some(DropReason::Line);
                gone_at = segment.at;
                continue;
            }
        }
        next_kept = Some(segment);
    }
}

/// Returns whether an element holds a heading that is neither a link nor introduces other pages.
fn has_own_heading(dom: &Dom, survey: &PageSurvey, at: u32) -> bool {
    dom.subtree(at).any(|at| {
        dom.item(at).tag.heading().is_some()
            && survey.sum(dom, at).link_share() < 0.9
            && !phrase::is_elsewhere(&dom.words(at))
    })
}

#[cfg(test)]
mod tests {
    use crate::dom::Dom;
    use crate::survey::PageSurvey;

    /// Returns whether the element with the id `it` is a table of contents.
    fn is_contents(body: &str) -> bool {
        let dom = Dom::parse(&format!("<body>{body}"), &crate::Limits::USUAL);
        let survey = PageSurvey::of(&dom);
        let it = (0..dom.len()).find(|at| dom.attribute(*at, "id") == Some("it"));
        super::is_contents(&dom, &survey, it.unwrap())
    }

    #[test]
    fn links_to_places_of_the_page_are_its_contents() {
        let link = |n: u32| format!("<li><a href='#part-{n}'>Part {n}</a></li>");
        let list: String = (1..5).map(link).collect();
        assert!(is_contents(&format!("<ul id=it>{list}</ul>")));
        assert!(!is_contents(&format!("<ul id=it>{list}<li><a href=/other>Other</a></ul>")));
    }

    #[test]
    fn a_card_inside_a_link_is_not_the_contents_of_the_page() {
        let card = "<h3>Rope doormat</h3><ul><li>Hand made</ul><p>24 euros</p><p>In stock</p>";
        assert!(!is_contents(&format!("<a href=/shop/doormat><div id=it>{card}</div></a>")));
    }
}
