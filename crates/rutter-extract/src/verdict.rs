//! Decides which elements cannot be main content, by their tag or their names.
//!
//! Input: the tree and the survey. Output: a [`DropReason`] per dropped element.
//! Keeps an element with a suspicious name if its share of the text is too large.

use html5ever::local_name;

use crate::dom::Dom;
use crate::hint::ElementHints;
use crate::survey::{InheritedMarks, PageSurvey, SegmentTotals};
use crate::tag::Tag;

/// Why a part of a page is not main content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DropReason {
    /// The element is not made for content, such as `nav`.
    Element,
    /// The name of the element says that it is not content.
    Name(RegionKind),
    /// The part consists almost only of links.
    Links,
    /// The part is one line about the page, or about another page.
    Line,
    /// The part is a teaser for another page.
    Cards,
    /// The part is the same on other pages of the site.
    Template,
    /// The classifier decided.
    Classifier,
    /// A selector of the site owner decided.
    Owner,
}

/// The kind of region that a class name, id or role indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegionKind {
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

impl RegionKind {
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

impl DropReason {
    /// Returns whether parts dropped for this reason are hardly ever content: fewer than 2 of 100
    /// labelled segments of the training sets are.
    pub(crate) fn is_sure(self) -> bool {
        use RegionKind::{Buttons, Contents, Footer, Header, Pager, Search, Share};
        match self {
            Self::Element | Self::Owner => true,
            Self::Name(name) => {
                matches!(name, Buttons | Contents | Footer | Header | Pager | Search | Share)
            }
            _ => false,
        }
    }

    /// Returns the same as `is_sure`, but for parts inside the main landmark, where a tag is weaker
    /// evidence.
    pub(crate) fn is_sure_in_landmark(self) -> bool {
        use RegionKind::{Buttons, Contents, Pager, Share};
        matches!(self, Self::Name(Buttons | Contents | Pager | Share))
    }

    /// Returns whether the reason is the element, the name or the text of the part, and not its
    /// share of links or its form.
    pub(crate) fn is_named(self) -> bool {
        matches!(self, Self::Element | Self::Line | Self::Name(_))
    }

    /// Returns a number below 128 for the reason, which is a feature of the classifier.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Template => 1,
            Self::Links => 2,
            Self::Line => 3,
            Self::Cards => 4,
            Self::Element => 5,
            Self::Name(name) => 6 + name as u8,
            Self::Classifier => 64,
            Self::Owner => 65,
        }
    }
}

impl std::fmt::Display for DropReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Element => "its element is for other things",
            Self::Name(name) => return write!(f, "its name says: {}", name.words()),
            Self::Links => "links and little more",
            Self::Line => "a line about the page or another one",
            Self::Cards => "one of several boxes that show off other pages",
            Self::Template => "the same on other pages of the site",
            Self::Classifier => "unlike main content",
            Self::Owner => "dropped by the owner",
        })
    }
}

/// Drops the elements that cannot be main content at any position.
pub(crate) fn ban(
    dom: &Dom,
    survey: &PageSurvey,
    body: u32,
    total: SegmentTotals,
    dropped: &mut [Option<DropReason>],
) {
    let mut at = body + 1;
    while at < dom.item(body).end {
        let item = dom.item(at);
        // Most elements have no hint and no tag that could exclude them.
        let is_plain = !survey.hints(at).has(ALL_BAD)
            & !is_suspect(item.tag)
            & !survey.marks(at).has(InheritedMarks::UNSEEN)
            & dropped[at as usize].is_none();
        if is_plain || item.tag == Tag::Text {
            at += 1;
            continue;
        }
        if survey.marks(at).has(InheritedMarks::UNSEEN) || dropped[at as usize].is_some() {
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

/// Measurements of an element, from which its verdict is computed.
struct JudgedElement {
    tag: Tag,
    hints: ElementHints,
    sum: SegmentTotals,
    /// Share of the page's prose that is inside the element.
    share: f32,
    linky: f32,
    in_article: bool,
}

fn verdict(dom: &Dom, survey: &PageSurvey, at: u32, total: SegmentTotals) -> Option<DropReason> {
    let item = dom.item(at);
    let hints = survey.hints(at);
    if item.tag.heading().is_some() || item.tag == Tag::Dt {
        let is_unseen = hints.has(ElementHints::HIDDEN) && !hints.has(ElementHints::CONTENT);
        return is_unseen.then_some(DropReason::Name(RegionKind::Hidden));
    }
    if !is_suspect(item.tag) && !hints.has(ALL_BAD) {
        return None;
    }
    let sum = survey.sum(dom, at);
    let share = if total.prose == 0 {
        sum.chars as f32 / total.chars.max(1) as f32
    } else {
        sum.prose as f32 / total.prose as f32
    };
    let is_body =
        |hints: ElementHints| hints.has(ElementHints::STRONG) && hints.has(ElementHints::CONTENT);
    let in_article = dom.ancestors(item.parent).any(|up| {
        matches!(dom.item(up).tag, Tag::Article | Tag::Main | Tag::Blockquote)
            || is_body(survey.hints(up))
    });
    let look =
        JudgedElement { tag: item.tag, hints, sum, share, linky: sum.link_share(), in_article };
    match by_element(dom, at, &look) {
        TagVerdict::Drop => return Some(DropReason::Element),
        TagVerdict::Keep => return None,
        TagVerdict::Open => {}
    }
    // The body of an article can have names that otherwise exclude an element.
    let is_own = item.tag == Tag::Article || is_body(hints);
    if item.tag == Tag::Main || (is_own && !hints.has(OTHERS)) {
        return None;
    }
    by_name(dom, survey, at, &look, total).map(DropReason::Name)
}

/// Returns whether an element with this tag usually has another purpose than content.
fn is_suspect(tag: Tag) -> bool {
    matches!(
        tag,
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
    )
}

/// Decision from the tag alone; `OpenRange` if the tag does not decide.
enum TagVerdict {
    Drop,
    Keep,
    Open,
}

fn by_element(dom: &Dom, at: u32, look: &JudgedElement) -> TagVerdict {
    let JudgedElement { tag, hints, sum, share, linky, in_article } = look;
    let is_source = || {
        let parent = dom.item(at).parent;
        dom.ancestors(parent).take(3).any(|up| dom.item(up).tag == Tag::Blockquote)
    };
    let is_dropped = match tag {
        // A button that opens and closes a section can be the heading of the section.
        Tag::Button if is_heading_button(dom, at) => return TagVerdict::Keep,
        Tag::Button => true,
        Tag::Nav | Tag::Dialog => *share < 0.5,
        // Most `noscript` elements ask for scripts.
        Tag::Noscript => sum.prose < 500 || *share < 0.5,
        // A footer inside a quotation holds its source.
        Tag::Footer if is_source() => return TagVerdict::Keep,
        Tag::Footer => *share < 0.3,
        Tag::Aside => {
            let is_box = *in_article && 0 < sum.prose && *linky < 0.1;
            *share < 0.3
                && !hints.has(ElementHints::ADMONITION.with(ElementHints::CONTENT))
                && !is_box
        }
        Tag::Header => *share < 0.3 && !in_article,
        Tag::Form | Tag::Fieldset => *share < 0.25,
        Tag::Menu => 0.5 < *linky,
        _ => false,
    };
    if is_dropped { TagVerdict::Drop } else { TagVerdict::Open }
}

/// Returns whether a button holds all the text of a heading or of a term, as in accordions.
pub(crate) fn is_heading_button(dom: &Dom, button: u32) -> bool {
    let is_heading = |up: &u32| {
        let tag = dom.item(*up).tag;
        tag.heading().is_some()
            || tag == Tag::Dt
            || dom.attr(*up, &local_name!("role")) == Some("heading")
    };
    let around = dom.ancestors(button).take(4).find(is_heading);
    let is_short = |heading: &u32| dom.item(*heading).end - heading < 200;
    let Some(heading) = around.filter(is_short) else { return false };
    let is_said = |at: u32| !dom.text(at).trim().is_empty();
    let end = dom.item(button).end;
    !(heading..button).any(is_said) && !(end..dom.item(heading).end).any(is_said)
}

/// Returns the kind that the name indicates, if the measurements of the element agree.
fn by_name(
    dom: &Dom,
    survey: &PageSurvey,
    at: u32,
    look: &JudgedElement,
    total: SegmentTotals,
) -> Option<RegionKind> {
    let JudgedElement { tag, hints, sum, share, linky, in_article } = *look;
    let is_strong = hints.has(ElementHints::STRONG) && !hints.has(ElementHints::CONTENT);
    let most = if is_strong { 0.4 } else { 0.25 };
    // A long discussion can have more text than the article above it.
    let is_thread = || {
        let inside = dom.subtree(at).skip(1);
        tag != Tag::Article
            && 3 <= inside.filter(|at| survey.hints(*at).has(ElementHints::COMMENT)).count()
    };
    let is_beside = 500 < total.prose - sum.prose && (share < 0.5 || is_thread());
    if hints.has(ElementHints::COMMENT) && (share < most || is_beside) {
        return Some(RegionKind::Comments);
    }
    // An element with the title of the page is content.
    if most <= share || (!is_strong && has_title(dom, at)) {
        return None;
    }
    let is_label = sum.prose == 0;
    // A box inside the article with few links is part of its text.
    let is_box = in_article && !is_label && linky < 0.1;
    let table = [
        (ElementHints::SHARE, RegionKind::Share, is_label || 0.3 < linky),
        (ElementHints::RELATED, RegionKind::Related, true),
        (ElementHints::SIDE, RegionKind::Sidebar, !is_box),
        (
            ElementHints::NAV,
            RegionKind::Navigation,
            0.3 < linky || (is_strong && is_label && sum.chars < 400),
        ),
        (ElementHints::PAGER, RegionKind::Pager, sum.chars < 400),
        // A table of contents with most of the text is the content of the page.
        (ElementHints::TOC, RegionKind::Contents, 0.5 < linky && sum.chars * 2 < total.chars),
        (ElementHints::AD, RegionKind::Advertisement, sum.chars < 600 || 0.3 < linky),
        (ElementHints::NOTICE, RegionKind::Notice, share < 0.2),
        (ElementHints::SEARCH, RegionKind::Search, sum.chars < 300),
        (ElementHints::FOOT, RegionKind::Footer, !in_article || 0.3 < linky || is_label),
        (ElementHints::HEAD, RegionKind::Header, !in_article && is_label && !has_heading(dom, at)),
        (ElementHints::TAGS, RegionKind::Tags, is_label && (0.4 < linky || sum.chars < 120)),
        (ElementHints::CREDIT, RegionKind::Credit, sum.chars < 150),
        (ElementHints::META, RegionKind::AboutThePage, share < 0.1 && sum.chars < 250),
        (ElementHints::AUTHOR, RegionKind::Author, share < 0.15),
        (
            ElementHints::TEASER,
            RegionKind::Teaser,
            0 < sum.links && share < 0.15 && 2000 < total.prose,
        ),
        (ElementHints::WIDGET, RegionKind::Widget, 0.3 < linky),
        (ElementHints::APPEAL, RegionKind::Appeal, share < 0.1),
        (ElementHints::SLIDES, RegionKind::Slides, is_label && 0 < sum.chars),
        (
            ElementHints::BUTTONS,
            RegionKind::Buttons,
            is_label && sum.chars < 200 && !has(dom, at, Tag::Pre),
        ),
        (ElementHints::HIDDEN, RegionKind::Hidden, sum.chars < 200),
    ];
    table.into_iter().find(|(hint, _, is_so)| *is_so && hints.has(*hint)).map(|(_, named, _)| named)
}

/// Hints of `article` elements that are not the article of the page.
const OTHERS: ElementHints = ElementHints::RELATED
    .with(ElementHints::COMMENT)
    .with(ElementHints::TEASER)
    .with(ElementHints::AD);

const ALL_BAD: ElementHints = ElementHints::NAV
    .with(ElementHints::SIDE)
    .with(ElementHints::COMMENT)
    .with(ElementHints::SHARE)
    .with(ElementHints::RELATED)
    .with(ElementHints::AD)
    .with(ElementHints::NOTICE)
    .with(ElementHints::FOOT)
    .with(ElementHints::HEAD)
    .with(ElementHints::META)
    .with(ElementHints::PAGER)
    .with(ElementHints::TOC)
    .with(ElementHints::HIDDEN)
    .with(ElementHints::SEARCH)
    .with(ElementHints::AUTHOR)
    .with(ElementHints::TAGS)
    .with(ElementHints::TEASER)
    .with(ElementHints::BUTTONS)
    .with(ElementHints::APPEAL)
    .with(ElementHints::CREDIT)
    .with(ElementHints::SLIDES)
    .with(ElementHints::WIDGET);

pub(crate) fn has_title(dom: &Dom, at: u32) -> bool {
    has(dom, at, Tag::H1)
}

pub(crate) fn has(dom: &Dom, at: u32, tag: Tag) -> bool {
    dom.subtree(at).any(|at| dom.item(at).tag == tag)
}

pub(crate) fn has_heading(dom: &Dom, at: u32) -> bool {
    dom.subtree(at).any(|at| dom.item(at).tag.heading().is_some())
}

/// Returns, for each segment, whether it is inside a dropped element.
pub(crate) fn gone(dom: &Dom, survey: &PageSurvey, dropped: &[Option<DropReason>]) -> Vec<bool> {
    let mut is_gone = vec![false; survey.segments.len()];
    let mut at = 0;
    while let Some(found) = dropped.get(at as usize..).and_then(first_some) {
        at += found;
        is_gone[survey.within(dom, at)].fill(true);
        at = dom.item(at).end;
    }
    is_gone
}

/// Returns the index of the first dropped element.
pub(crate) fn first_some(dropped: &[Option<DropReason>]) -> Option<u32> {
    let found = dropped.iter().position(Option::is_some)?;
    u32::try_from(found).ok()
}
