//! Decides which part of a page is its main content.
//!
//! Every segment gets a weight: prose counts for it, links and labels count
//! against it. The element whose segments weigh most is the region; what lies
//! in it and is plainly something else (by its element, its name, or because
//! it is links and little more) is dropped.
//!
//! Refuses: to leave a page without text that has some.

use crate::dom::Dom;
use crate::hint::Hints;
use crate::survey::{Marks, Segment, Sum, Survey};
use crate::tag::Tag;

/// The main content of a page.
#[derive(Debug)]
pub(crate) struct Region {
    /// The elements that make it up, in order, none inside another.
    pub(crate) roots: Vec<u32>,
    /// For each item, why it and everything in it was left out.
    pub(crate) dropped: Vec<Option<Reason>>,
    pub(crate) confidence: f32,
}

/// Why a part of a page is not main content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Its element says so.
    Element,
    /// Its name says so.
    Name(Named),
    /// It is links, and little more.
    Links,
    /// It is one line that belongs to the page rather than to its text.
    Line,
    /// It shows off other pages.
    Cards,
    /// It is the same on other pages of the site.
    Template,
    /// It lies outside the region.
    Outside,
}

/// What a name can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    AboutThePage,
    Advertisement,
    Appeal,
    Author,
    Buttons,
    Comments,
    Contents,
    Credit,
    Footer,
    Header,
    Hidden,
    Navigation,
    Notice,
    Pager,
    Related,
    Search,
    Share,
    Sidebar,
    Slides,
    Tags,
    Teaser,
    Widget,
}

impl Named {
    fn words(self) -> &'static str {
        match self {
            Self::AboutThePage => "about the page",
            Self::Advertisement => "advertisement",
            Self::Appeal => "appeal",
            Self::Author => "author",
            Self::Buttons => "buttons",
            Self::Comments => "comments",
            Self::Contents => "contents",
            Self::Credit => "credit",
            Self::Footer => "footer",
            Self::Header => "header",
            Self::Hidden => "hidden",
            Self::Navigation => "navigation",
            Self::Notice => "notice",
            Self::Pager => "pager",
            Self::Related => "related",
            Self::Search => "search",
            Self::Share => "share",
            Self::Sidebar => "sidebar",
            Self::Slides => "slides",
            Self::Tags => "tags",
            Self::Teaser => "teaser",
            Self::Widget => "widget",
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Element => "its element is for other things",
            Self::Name(name) => return write!(f, "its name says: {}", name.words()),
            Self::Links => "links and little more",
            Self::Line => "a line about the page or another one",
            Self::Cards => "one of several boxes that show off other pages",
            Self::Template => "the same on other pages of the site",
            Self::Outside => "outside the main content",
        })
    }
}

impl Region {
    /// The parts of a page, each with the reason it was dropped for.
    pub(crate) fn parts(&self, dom: &Dom, survey: &Survey) -> Vec<(u32, Option<Reason>)> {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < dom.len() {
            let item = dom.item(at);
            if item.tag == Tag::Text || survey.sum(dom, at).chars == 0 {
                at = if item.tag == Tag::Text { at + 1 } else { item.end };
                continue;
            }
            if let Some(Some(reason)) = self.dropped.get(at as usize) {
                parts.push((at, Some(*reason)));
                at = item.end;
                continue;
            }
            if self.roots.contains(&at) {
                parts.push((at, None));
            } else if !self
                .roots
                .iter()
                .any(|root| dom.subtree(at).contains(root) || dom.subtree(*root).contains(&at))
                && item.tag.is_block()
            {
                parts.push((at, Some(Reason::Outside)));
                at = item.end;
                continue;
            }
            at += 1;
        }
        parts
    }
}

/// Finds the main content; `marked` says what is known not to be.
pub(crate) fn find(dom: &Dom, survey: &Survey, marked: Vec<Option<Reason>>) -> Region {
    let Some(body) = (0..dom.len()).find(|at| dom.item(*at).tag == Tag::Body) else {
        return Region { roots: Vec::new(), dropped: Vec::new(), confidence: 0.0 };
    };
    let total = survey.sum(dom, body);
    let mut dropped = marked;
    ban(dom, survey, body, total, &mut dropped);
    if dom.is_marked {
        // The author said which part it is.
        let mut roots: Vec<u32> = Vec::new();
        for at in dom.subtree(body) {
            let is_inside = roots.last().is_some_and(|last| at < dom.item(*last).end);
            if !is_inside && dom.attribute(at, "data-pagefind-body").is_some() {
                roots.push(at);
            }
        }
        if roots.iter().any(|root| survey.sum(dom, *root).chars != 0) {
            return Region { roots, dropped, confidence: 1.0 };
        }
    }
    let (root, weight) = heaviest(dom, survey, body, &dropped);
    let root = column(dom, survey, root);
    let root = widen(dom, survey, body, root, weight, &dropped);
    let root = tighten(dom, survey, root, &dropped);
    let mut roots = leads(dom, survey, body, root, &dropped);
    roots.push(root);
    prune(dom, survey, root, &mut dropped);
    let confidence = confidence(dom, survey, body, &roots, &dropped);
    Region { roots, dropped, confidence }
}

/// How much of what reads like prose, and was not dropped for what it is, lies
/// in the region; less where there is little of it.
fn confidence(
    dom: &Dom,
    survey: &Survey,
    body: u32,
    roots: &[u32],
    dropped: &[Option<Reason>],
) -> f32 {
    let segments = survey.segments.get(survey.within(dom, body)).unwrap_or_default();
    let (mut inside, mut outside) = (0, 0);
    for (segment, is_gone) in segments.iter().zip(gone(dom, body, segments, dropped)) {
        if is_gone || !segment.is_prose() {
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

/// Marks what cannot be main content wherever it lies.
fn ban(dom: &Dom, survey: &Survey, body: u32, total: Sum, dropped: &mut [Option<Reason>]) {
    let mut at = body + 1;
    while at < dom.item(body).end {
        let item = dom.item(at);
        if item.tag == Tag::Text {
            at += 1;
            continue;
        }
        if survey.marks[at as usize].has(Marks::UNSEEN) || dropped[at as usize].is_some() {
            at = item.end;
            continue;
        }
        if let Some(reason) = verdict(dom, survey, at, total) {
            dropped[at as usize] = Some(reason);
            at = item.end;
            continue;
        }
        at += 1;
    }
}

fn verdict(dom: &Dom, survey: &Survey, at: u32, total: Sum) -> Option<Reason> {
    let item = dom.item(at);
    let hints = survey.hints[at as usize];
    if item.tag.heading().is_some() {
        let is_unseen = hints.has(Hints::HIDDEN) && !hints.has(Hints::CONTENT);
        return is_unseen.then_some(Reason::Name(Named::Hidden));
    }
    let is_plain = !hints.has(ALL_BAD)
        && !matches!(
            item.tag,
            Tag::Nav
                | Tag::Aside
                | Tag::Footer
                | Tag::Header
                | Tag::Form
                | Tag::Dialog
                | Tag::Noscript
                | Tag::Menu
                | Tag::Fieldset
                | Tag::Button
        );
    if is_plain {
        return None;
    }
    let sum = survey.sum(dom, at);
    let share = if total.prose == 0 {
        sum.chars as f32 / total.chars.max(1) as f32
    } else {
        sum.prose as f32 / total.prose as f32
    };
    let in_article = dom.ancestors(item.parent).any(|up| {
        matches!(dom.item(up).tag, Tag::Article | Tag::Main | Tag::Blockquote)
            || survey.hints[up as usize].has(Hints::STRONG)
                && survey.hints[up as usize].has(Hints::CONTENT)
    });
    match item.tag {
        Tag::Nav | Tag::Dialog if share < 0.5 => return Some(Reason::Element),
        // It mostly asks for scripts.
        Tag::Noscript if sum.prose < 500 || share < 0.5 => return Some(Reason::Element),
        Tag::Button => return Some(Reason::Element),
        // The source of a quotation.
        Tag::Footer
            if dom.ancestors(item.parent).take(3).any(|up| dom.item(up).tag == Tag::Blockquote) =>
        {
            return None;
        }
        Tag::Footer if share < 0.3 => return Some(Reason::Element),
        Tag::Aside
            if share < 0.3
                && !hints.has(Hints::ADMONITION.with(Hints::CONTENT))
                && !(in_article && 0 < sum.prose && sum.link_share() < 0.1) =>
        {
            return Some(Reason::Element);
        }
        Tag::Header if share < 0.3 && !in_article => return Some(Reason::Element),
        Tag::Form | Tag::Fieldset if share < 0.25 => return Some(Reason::Element),
        Tag::Menu if 0.5 < sum.link_share() => return Some(Reason::Element),
        _ => {}
    }
    if item.tag == Tag::Main {
        return None;
    }
    // The body of an article may be called many things.
    let is_body = item.tag == Tag::Article || hints.has(Hints::CONTENT) && hints.has(Hints::STRONG);
    if is_body && !hints.has(OTHERS) {
        return None;
    }
    let is_strong = hints.has(Hints::STRONG) && !hints.has(Hints::CONTENT);
    let most = if is_strong { 0.4 } else { 0.25 };
    let linky = sum.link_share();
    let name = |name| Some(Reason::Name(name));
    // A long discussion may outweigh what it is about.
    let is_thread = || {
        let inside = dom.subtree(at).skip(1);
        item.tag != Tag::Article
            && 3 <= inside.filter(|at| survey.hints[*at as usize].has(Hints::COMMENT)).count()
    };
    if hints.has(Hints::COMMENT)
        && (share < most || (500 < total.prose - sum.prose && (share < 0.5 || is_thread())))
    {
        return name(Named::Comments);
    }
    if most <= share {
        return None;
    }
    // What holds the title of the page is not beside the point.
    let is_titled = !is_strong && has_title(dom, at);
    if is_titled {
        return None;
    }
    if hints.has(Hints::SHARE) && (sum.prose == 0 || 0.3 < linky) {
        return name(Named::Share);
    }
    if hints.has(Hints::RELATED) {
        return name(Named::Related);
    }
    // A box beside the text belongs to it, where it is not a way elsewhere.
    let is_box = in_article && 0 < sum.prose && linky < 0.1;
    if hints.has(Hints::SIDE) && !is_box {
        return name(Named::Sidebar);
    }
    if hints.has(Hints::NAV) && (0.3 < linky || (hints.has(Hints::STRONG) && sum.chars < 100)) {
        return name(Named::Navigation);
    }
    if hints.has(Hints::PAGER) && sum.chars < 400 {
        return name(Named::Pager);
    }
    if hints.has(Hints::TOC) && 0.5 < linky {
        return name(Named::Contents);
    }
    if hints.has(Hints::AD) && (sum.chars < 600 || 0.3 < linky) {
        return name(Named::Advertisement);
    }
    if hints.has(Hints::NOTICE) && share < 0.2 {
        return name(Named::Notice);
    }
    if hints.has(Hints::SEARCH) && sum.chars < 300 {
        return name(Named::Search);
    }
    if hints.has(Hints::FOOT) && !in_article {
        return name(Named::Footer);
    }
    if hints.has(Hints::FOOT) && (0.3 < linky || sum.prose == 0) {
        return name(Named::Footer);
    }
    if hints.has(Hints::HEAD) && !in_article && sum.prose == 0 && !has_heading(dom, at) {
        return name(Named::Header);
    }
    if hints.has(Hints::TAGS) && (0.4 < linky || sum.chars < 120) && sum.prose == 0 {
        return name(Named::Tags);
    }
    if hints.has(Hints::CREDIT) && sum.chars < 150 {
        return name(Named::Credit);
    }
    if hints.has(Hints::META) && share < 0.1 && sum.chars < 250 && !has_title(dom, at) {
        return name(Named::AboutThePage);
    }
    if hints.has(Hints::AUTHOR) && share < 0.15 && !has_title(dom, at) {
        return name(Named::Author);
    }
    if hints.has(Hints::TEASER) && 0 < sum.links && share < 0.15 && 2000 < total.prose {
        return name(Named::Teaser);
    }
    if hints.has(Hints::WIDGET) && 0.3 < linky {
        return name(Named::Widget);
    }
    if hints.has(Hints::APPEAL) && share < 0.1 {
        return name(Named::Appeal);
    }
    if hints.has(Hints::SLIDES) && sum.prose == 0 && 0 < sum.chars {
        return name(Named::Slides);
    }
    if hints.has(Hints::BUTTONS) && sum.chars < 200 && sum.prose == 0 && !has(dom, at, Tag::Pre) {
        return name(Named::Buttons);
    }
    if hints.has(Hints::HIDDEN) && sum.chars < 200 {
        return name(Named::Hidden);
    }
    None
}

/// What an article can be that is not the page's own.
const OTHERS: Hints = Hints::RELATED.with(Hints::COMMENT).with(Hints::TEASER).with(Hints::AD);

const ALL_BAD: Hints = Hints::NAV
    .with(Hints::SIDE)
    .with(Hints::COMMENT)
    .with(Hints::SHARE)
    .with(Hints::RELATED)
    .with(Hints::AD)
    .with(Hints::NOTICE)
    .with(Hints::FOOT)
    .with(Hints::HEAD)
    .with(Hints::META)
    .with(Hints::PAGER)
    .with(Hints::TOC)
    .with(Hints::HIDDEN)
    .with(Hints::SEARCH)
    .with(Hints::AUTHOR)
    .with(Hints::TAGS)
    .with(Hints::TEASER)
    .with(Hints::BUTTONS)
    .with(Hints::APPEAL)
    .with(Hints::CREDIT)
    .with(Hints::SLIDES)
    .with(Hints::WIDGET);

fn has_title(dom: &Dom, at: u32) -> bool {
    has(dom, at, Tag::H1)
}

fn has(dom: &Dom, at: u32, tag: Tag) -> bool {
    dom.subtree(at).any(|at| dom.item(at).tag == tag)
}

/// The whole, where hardly any prose speaks for a part: an index, a table of
/// releases, a page of diagrams.
fn widen(
    dom: &Dom,
    survey: &Survey,
    body: u32,
    root: u32,
    weight: f32,
    dropped: &[Option<Reason>],
) -> u32 {
    let kept = |at: u32| {
        let segments = survey.segments.get(survey.within(dom, at)).unwrap_or_default();
        let gone = gone(dom, at.saturating_sub(1), segments, dropped);
        let left = segments.iter().zip(gone).filter(|(_, is_gone)| !is_gone);
        left.map(|(segment, _)| segment.chars).sum::<u32>()
    };
    let all = kept(body);
    if LITTLE < weight || all <= kept(root) * 2 {
        return root;
    }
    let mut parts = dom.subtree(body).filter(|at| dom.item(*at).tag == Tag::Main);
    parts.find(|at| all <= kept(*at) * 2).unwrap_or(body)
}

/// Weight of a region that is too light to stand for its page.
const LITTLE: f32 = 500.0;

/// The element inside that is called the content and holds nearly all of it.
fn tighten(dom: &Dom, survey: &Survey, root: u32, dropped: &[Option<Reason>]) -> u32 {
    let kept = |at: u32| {
        let (mut until, mut prose) = (0, 0);
        let mut next = at;
        for segment in survey.segments.get(survey.within(dom, at)).unwrap_or_default() {
            while next <= segment.at {
                if dropped[next as usize].is_some() {
                    until = until.max(dom.item(next).end);
                }
                next += 1;
            }
            if until <= segment.at && segment.is_prose() {
                prose += segment.plain();
            }
        }
        prose
    };
    let all = kept(root);
    let is_single =
        dom.subtree(root).filter(|at| dom.item(*at).tag == Tag::Article).nth(1).is_none();
    let mut best = root;
    let mut at = root + 1;
    while at < dom.item(best).end {
        let item = dom.item(at);
        if dropped[at as usize].is_some() || survey.sum(dom, at).prose * 100 < all * SINGLE {
            at = item.end;
            continue;
        }
        let needed = match called_content(dom, survey, at) {
            Called::Surely if item.tag == Tag::Article && is_single => SINGLE,
            Called::Surely => LOOSE,
            Called::Perhaps => TIGHT,
            Called::Nothing => {
                at += 1;
                continue;
            }
        };
        if item.tag != Tag::Text && all * needed <= kept(at) * 100 {
            best = at;
        }
        at += 1;
    }
    best
}

/// The share of the text, in per cent, that a part must hold to stand for the
/// whole: less where its name is certain.
const SINGLE: u32 = 55;
const LOOSE: u32 = 75;
const TIGHT: u32 = 85;

/// What an element is called.
enum Called {
    Surely,
    Perhaps,
    Nothing,
}

fn called_content(dom: &Dom, survey: &Survey, at: u32) -> Called {
    let hints = survey.hints[at as usize];
    if matches!(dom.item(at).tag, Tag::Article | Tag::Main) {
        return Called::Surely;
    }
    match (hints.has(Hints::CONTENT), hints.has(Hints::STRONG)) {
        (true, true) => Called::Surely,
        (true, false) => Called::Perhaps,
        _ => Called::Nothing,
    }
}

/// The column of a layout table that holds most of its text.
fn column(dom: &Dom, survey: &Survey, root: u32) -> u32 {
    if !matches!(dom.item(root).tag, Tag::Table | Tag::Tbody | Tag::Tr) {
        return root;
    }
    let all = survey.sum(dom, root).prose;
    let cells = dom.subtree(root).filter(|at| dom.item(*at).tag == Tag::Td);
    // The innermost of those that do.
    let most = cells.filter(|at| all * 7 < survey.sum(dom, *at).prose * 10).last();
    most.unwrap_or(root)
}

/// Title and lead, where they lie before the region.
fn leads(dom: &Dom, survey: &Survey, body: u32, root: u32, dropped: &[Option<Reason>]) -> Vec<u32> {
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
        let mut here = Vec::new();
        for sibling in dom.children(parent).take_while(|sibling| *sibling < at) {
            if dom.item(sibling).tag == Tag::Text
                || dropped[sibling as usize].is_some()
                || survey.marks[sibling as usize].has(Marks::UNSEEN)
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
            }
        }
        found.splice(0..0, here);
        at = parent;
    }
    found
}

/// Whether an element holds a heading that is neither a link nor announces
/// other pages.
fn has_own_heading(dom: &Dom, survey: &Survey, at: u32) -> bool {
    dom.subtree(at).any(|at| {
        dom.item(at).tag.heading().is_some()
            && survey.sum(dom, at).link_share() < 0.9
            && !crate::phrase::is_elsewhere(&dom.words(at))
    })
}

fn has_heading(dom: &Dom, at: u32) -> bool {
    dom.subtree(at).any(|at| dom.item(at).tag.heading().is_some())
}

/// How much a segment speaks for the element it lies in.
fn weight(dom: &Dom, survey: &Survey, segment: &Segment) -> f32 {
    let (plain, links) = (segment.plain() as f32, segment.link_chars as f32);
    let share = links / (segment.chars.max(1)) as f32;
    if segment.marks.has(Marks::PRE) {
        return plain * 0.5;
    }
    if segment.marks.has(Marks::HEADING) && !(segment.is_prose() && 100 < segment.chars) {
        return if 0.9 < share && 4 <= segment.words { -20.0 } else { 5.0 };
    }
    if 0.5 < share {
        // A name that is a link is part of a reference, a phrase is a way out.
        let is_name = segment.words <= 2
            && (segment.marks.has(Marks::CODE)
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
    if segment.marks.has(Marks::CELL) {
        return -1.0;
    }
    -8.0 + plain * 0.1
}

/// The element whose segments weigh most, and how much.
fn heaviest(dom: &Dom, survey: &Survey, body: u32, dropped: &[Option<Reason>]) -> (u32, f32) {
    // Sums of weights before each segment, dropped ones counting nothing.
    let mut sums = Vec::with_capacity(survey.segments.len() + 1);
    let mut sum = 0.0_f32;
    sums.push(sum);
    let mut until = 0;
    let mut next_item = 0;
    for segment in &survey.segments {
        while next_item <= segment.at {
            if dropped[next_item as usize].is_some() {
                until = until.max(dom.item(next_item).end);
            }
            next_item += 1;
        }
        if until <= segment.at {
            sum += weight(dom, survey, segment);
        }
        sums.push(sum);
    }
    let mut best = (body, f32::MIN);
    let mut at = body;
    while at < dom.item(body).end {
        let item = dom.item(at);
        if item.tag == Tag::Text {
            at += 1;
            continue;
        }
        if dropped[at as usize].is_some() || survey.marks[at as usize].has(Marks::UNSEEN) {
            at = item.end;
            continue;
        }
        let is_container = matches!(
            item.tag,
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
                | Tag::Span
                | Tag::Pre
                | Tag::Font
                | Tag::LlmOnly
        );
        // One item of a list is not a page, unless it is as long as one.
        let is_item =
            matches!(item.tag, Tag::Li | Tag::Dd | Tag::Tr) && survey.sum(dom, at).prose < 1000;
        if is_container && !is_item {
            let range = survey.within(dom, at);
            let mut weight = sums[range.end] - sums[range.start];
            let hints = survey.hints[at as usize];
            let is_strong = hints.has(Hints::CONTENT) && hints.has(Hints::STRONG);
            if is_strong || item.tag == Tag::Article || item.tag == Tag::Main {
                weight = weight.max(0.0) * 1.1 + 100.0;
            } else if hints.has(Hints::CONTENT) {
                weight = weight * 1.03 + 10.0;
            }
            // The inner of two that weigh the same.
            if best.1 <= weight {
                best = (at, weight);
            }
        }
        at += 1;
    }
    best
}

/// Drops what is links and little more inside the region, and the labels above
/// what was dropped.
fn prune(dom: &Dom, survey: &Survey, root: u32, dropped: &mut [Option<Reason>]) {
    let mut linky: Vec<u32> = Vec::new();
    let mut n_linky = 0;
    let inside = survey.segments.get(survey.within(dom, root)).unwrap_or_default();
    let last_prose = inside.iter().rev().find(|segment| segment.is_prose());
    let last_prose = last_prose.map_or(u32::MAX, |segment| segment.at);
    let first_prose =
        inside.iter().find(|segment| segment.is_prose()).map_or(0, |segment| segment.at);
    let mut at = root + 1;
    while at < dom.item(root).end {
        let item = dom.item(at);
        if item.tag == Tag::Text {
            at += 1;
            continue;
        }
        if dropped[at as usize].is_some() || survey.marks[at as usize].has(Marks::UNSEEN) {
            at = item.end;
            continue;
        }
        let is_edge = at < first_prose || last_prose < at;
        if is_contents(dom, survey, at) {
            dropped[at as usize] = Some(Reason::Name(Named::Contents));
            at = item.end;
            continue;
        }
        if is_linky(dom, survey, at, is_edge) && !is_headed(dom, at) {
            n_linky += survey.sum(dom, at).chars;
            linky.push(at);
            at = item.end;
            continue;
        }
        if is_line(dom, survey, at) {
            dropped[at as usize] = Some(Reason::Line);
            at = item.end;
            continue;
        }
        at += 1;
    }
    // Where links make up the page, they are what people came for.
    if n_linky as f32 <= survey.sum(dom, root).prose as f32 * 0.5 {
        for at in linky {
            dropped[at as usize] = Some(Reason::Links);
        }
    }
    drop_strays(dom, survey, root, dropped);
    drop_cards(dom, survey, root, dropped);
    drop_announced(dom, survey, root, dropped);
    drop_labels(dom, survey, root, dropped);
}

/// Drops labels of buttons and players, and appeals, in a text whose prose is
/// set in paragraphs.
fn drop_strays(dom: &Dom, survey: &Survey, root: u32, dropped: &mut [Option<Reason>]) {
    let inside = survey.segments.get(survey.within(dom, root)).unwrap_or_default();
    let (mut all, mut in_paragraphs, mut last_prose) = (0, 0, 0);
    for segment in inside.iter().filter(|segment| segment.is_prose()) {
        all += segment.chars;
        if segment.marks.has(Marks::PARAGRAPH) {
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
        let is_plain = !marks.has(Marks::HEADING)
            && !marks.has(Marks::CELL)
            && !marks.has(Marks::ITEM)
            && !marks.has(Marks::PRE)
            && !marks.has(Marks::CAPTION)
            && !marks.has(Marks::QUOTE);
        if !is_plain {
            continue;
        }
        let is_stray = is_paragraphs
            && !marks.has(Marks::PARAGRAPH)
            && !segment.is_prose()
            && segment.chars < 60
            && !survey.hints[block as usize].has(Hints::LEAD);
        let may_ask = segment.chars < 400
            && (0 < segment.links || last_prose <= segment.at)
            && segment.chars * 10 < all * 9;
        if !is_stray && !may_ask {
            continue;
        }
        dom.head(block, 96, &mut words);
        let is_sentence = words.ends_with(['.', '!', '?', '\u{3002}']);
        if (is_stray && !is_sentence) || (may_ask && crate::phrase::is_appeal(&words)) {
            dropped[block as usize] = Some(Reason::Line);
        }
    }
}

/// Drops rows of boxes that each begin with a headline that is a link: other
/// pages, shown off. Where they are most of the page, they are the page.
fn drop_cards(dom: &Dom, survey: &Survey, root: u32, dropped: &mut [Option<Reason>]) {
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
                dropped[card as usize] = Some(Reason::Cards);
            }
        }
    }
}

fn is_card(dom: &Dom, survey: &Survey, at: u32) -> bool {
    if !matches!(dom.item(at).tag, Tag::Div | Tag::Article | Tag::Section | Tag::Li | Tag::Custom) {
        return false;
    }
    let sum = survey.sum(dom, at);
    if sum.links == 0 || 700 < sum.chars || sum.segments == 0 || has(dom, at, Tag::Pre) {
        return false;
    }
    let segments = survey.segments.get(survey.within(dom, at)).unwrap_or_default();
    // The headline: the first line, or the first after a kicker and a date.
    segments.iter().take(3).any(|segment| {
        3 <= segment.link_words
            && segment.chars * 9 <= segment.link_chars * 10
            && (segment.marks.has(Marks::HEADING)
                || sum.prose != 0
                || dom.subtree(at).any(|at| dom.item(at).tag == Tag::Img))
    })
}

/// Drops what stands below a heading that announces other pages, as far as it
/// leads there.
fn drop_announced(dom: &Dom, survey: &Survey, root: u32, dropped: &mut [Option<Reason>]) {
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
        if !crate::phrase::is_elsewhere(&dom.words(here)) {
            continue;
        }
        // The heading may stand in a box of its own.
        let mut start = here;
        while start != root
            && survey.sum(dom, dom.item(start).parent).chars == survey.sum(dom, here).chars
        {
            start = dom.item(start).parent;
        }
        if start == root {
            continue;
        }
        let parent = dom.item(start).parent;
        let below: Vec<u32> = dom
            .children(parent)
            .filter(|child| start < *child)
            .take_while(|child| dom.item(*child).tag.heading().is_none_or(|other| level < other))
            .collect();
        let (mut links, mut link_chars, mut chars) = (0, 0, 0);
        for sibling in &below {
            let sum = survey.sum(dom, *sibling);
            links += sum.links;
            link_chars += sum.link_chars;
            chars += sum.chars;
        }
        if 0 < links && chars < link_chars * 4 {
            for sibling in below {
                dropped[sibling as usize] = Some(Reason::Links);
            }
            dropped[start as usize] = Some(Reason::Line);
        }
    }
}

/// Whether an element is the contents of this very page.
fn is_contents(dom: &Dom, survey: &Survey, at: u32) -> bool {
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
    let mut links = dom.subtree(at).filter(|at| dom.item(*at).tag == Tag::A);
    links.all(|at| {
        dom.attribute(at, "href").is_none_or(|href| href.starts_with('#') && 1 < href.len())
    })
}

/// Whether an element is a group of links.
fn is_linky(dom: &Dom, survey: &Survey, at: u32, is_edge: bool) -> bool {
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
    // What has a heading of its own is judged part by part.
    if matches!(tag, Tag::Div | Tag::Section) && has_own_heading(dom, survey, at) {
        return false;
    }
    // Names in the midst of a text are references, phrases are ways out.
    if !is_edge && sum.link_words < 3 * sum.links {
        return false;
    }
    let share = sum.link_share();
    // A short way from the top of the site to here.
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

/// Whether an element stands right below a heading that names it.
fn is_headed(dom: &Dom, at: u32) -> bool {
    let mut here = at;
    let mut found = None;
    for _ in 0..3 {
        let parent = dom.item(here).parent;
        let before = dom.children(parent).take_while(|child| *child < here).filter(|child| {
            dom.item(*child).tag != Tag::Text || !dom.text(*child).trim().is_empty()
        });
        found = before.last();
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
            && !crate::phrase::is_elsewhere(&words)
    })
}

/// Whether an element is one short line that is not part of the text: the way
/// to another page, the owner of a picture, a date.
fn is_line(dom: &Dom, survey: &Survey, at: u32) -> bool {
    let item = dom.item(at);
    if !item.tag.is_block() && item.tag != Tag::Time {
        return false;
    }
    let range = survey.within(dom, at);
    let Some(segment) = survey.segments.get(range.start) else { return false };
    if range.len() != 1 || 200 < segment.chars || segment.block != at && item.tag != Tag::Time {
        return false;
    }
    let marks = survey.marks[at as usize];
    if marks.has(Marks::CELL)
        || marks.has(Marks::PRE)
        || marks.has(Marks::ITEM) && segment.links == 0
    {
        return false;
    }
    let mut words = String::with_capacity(96);
    dom.head(at, 64, &mut words);
    if 0 < segment.links && !segment.is_prose() && crate::phrase::is_elsewhere(&words) {
        return true;
    }
    (segment.chars < 80 && crate::phrase::is_credit(&words))
        || (segment.chars < 60 && !marks.has(Marks::HEADING) && crate::phrase::is_date_line(&words))
}

/// For each segment of a region, whether it lies in something dropped.
fn gone(dom: &Dom, root: u32, segments: &[Segment], dropped: &[Option<Reason>]) -> Vec<bool> {
    let (mut until, mut next) = (0, root + 1);
    let is_gone = segments.iter().map(|segment| {
        while next <= segment.at {
            if dropped[next as usize].is_some() {
                until = until.max(dom.item(next).end);
            }
            next += 1;
        }
        segment.at < until
    });
    is_gone.collect()
}

/// Drops headings and labels that stand before something dropped, or that
/// announce other pages and have nothing below.
fn drop_labels(dom: &Dom, survey: &Survey, root: u32, dropped: &mut [Option<Reason>]) {
    // From the end: what comes next is known.
    let range = survey.within(dom, root);
    let mut gone_at = u32::MAX;
    let mut next_kept: Option<&Segment> = None;
    let inside = survey.segments.get(range).unwrap_or_default();
    let gone = gone(dom, root, inside, dropped);
    let mut words = String::with_capacity(96);
    for (segment, is_gone) in inside.iter().zip(gone).rev() {
        if is_gone {
            gone_at = segment.at;
            continue;
        }
        let is_heading = segment.marks.has(Marks::HEADING);
        let is_label = segment.chars < 80 && !segment.is_prose();
        let block = segment.block;
        let is_before_gap = gone_at != u32::MAX && next_kept.is_none_or(|next| gone_at < next.at);
        let ends_here = next_kept.is_none_or(|next| next.marks.has(Marks::HEADING));
        if is_label
            && block != root
            && !segment.marks.has(Marks::CELL)
            && !segment.marks.has(Marks::PRE)
        {
            dom.head(block, 64, &mut words);
            let is_lone = survey.within(dom, block).len() == 1;
            let announces = crate::phrase::is_elsewhere(&words);
            let is_title = dom.item(block).tag == Tag::H1;
            let is_orphan = is_before_gap && is_heading && ends_here && !is_title;
            if is_lone && (is_orphan || (announces && (is_before_gap || next_kept.is_none()))) {
                dropped[block as usize] = Some(Reason::Line);
                gone_at = segment.at;
                continue;
            }
        }
        next_kept = Some(segment);
    }
}
