//! Decides which elements cannot be main content, by their tag or their names.
//!
//! Input: the tree and the survey. Output: a [`Reason`] per dropped element.
//! Keeps an element with a suspicious name if its share of the text is too large.

use html5ever::local_name;

use crate::dom::Dom;
use crate::hint::Hints;
use crate::survey::{Marks, Sum, Survey};
use crate::tag::Tag;

/// Why a part of a page is not main content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The element is not made for content, such as `nav`.
    Element,
    /// The name of the element says that it is not content.
    Name(Named),
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

impl Reason {
    /// Returns whether parts dropped for this reason are hardly ever content: fewer than 2 of 100
    /// labelled segments of the training sets are.
    pub(crate) fn is_sure(self) -> bool {
        use Named::{Buttons, Contents, Footer, Header, Pager, Search, Share};
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
        use Named::{Buttons, Contents, Pager, Share};
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

impl std::fmt::Display for Reason {
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
    survey: &Survey,
    body: u32,
    total: Sum,
    dropped: &mut [Option<Reason>],
) {
    let mut at = body + 1;
    while at < dom.item(body).end {
        let item = dom.item(at);
        // Most elements have no hint and no tag that could exclude them.
        let is_plain = !survey.hints(at).has(ALL_BAD)
            & !is_suspect(item.tag)
            & !survey.marks(at).has(Marks::UNSEEN)
            & dropped[at as usize].is_none();
        if is_plain || item.tag == Tag::Text {
            at += 1;
            continue;
        }
        if survey.marks(at).has(Marks::UNSEEN) || dropped[at as usize].is_some() {
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
    hints: Hints,
    sum: Sum,
    /// Share of the page's prose that is inside the element.
    share: f32,
    linky: f32,
    in_article: bool,
}

fn verdict(dom: &Dom, survey: &Survey, at: u32, total: Sum) -> Option<Reason> {
    let item = dom.item(at);
    let hints = survey.hints(at);
    if item.tag.heading().is_some() || item.tag == Tag::Dt {
        let is_unseen = hints.has(Hints::HIDDEN) && !hints.has(Hints::CONTENT);
        return is_unseen.then_some(Reason::Name(Named::Hidden));
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
    let is_body = |hints: Hints| hints.has(Hints::STRONG) && hints.has(Hints::CONTENT);
    let in_article = dom.ancestors(item.parent).any(|up| {
        matches!(dom.item(up).tag, Tag::Article | Tag::Main | Tag::Blockquote)
            || is_body(survey.hints(up))
    });
    let look =
        JudgedElement { tag: item.tag, hints, sum, share, linky: sum.link_share(), in_article };
    match by_element(dom, at, &look) {
        Verdict::Drop => return Some(Reason::Element),
        Verdict::Keep => return None,
        Verdict::Open => {}
    }
    // The body of an article can have names that otherwise exclude an element.
    let is_own = item.tag == Tag::Article || is_body(hints);
    if item.tag == Tag::Main || (is_own && !hints.has(OTHERS)) {
        return None;
    }
    by_name(dom, survey, at, &look, total).map(Reason::Name)
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

/// Decision from the tag alone; `Open` if the tag does not decide.
enum Verdict {
    Drop,
    Keep,
    Open,
}

fn by_element(dom: &Dom, at: u32, look: &JudgedElement) -> Verdict {
    let JudgedElement { tag, hints, sum, share, linky, in_article } = look;
    let is_source = || {
        let parent = dom.item(at).parent;
        dom.ancestors(parent).take(3).any(|up| dom.item(up).tag == Tag::Blockquote)
    };
    let is_dropped = match tag {
        // A button that opens and closes a section can be the heading of the section.
        Tag::Button if is_heading_button(dom, at) => return Verdict::Keep,
        Tag::Button => true,
        Tag::Nav | Tag::Dialog => *share < 0.5,
        // Most `noscript` elements ask for scripts.
        Tag::Noscript => sum.prose < 500 || *share < 0.5,
        // A footer inside a quotation holds its source.
        Tag::Footer if is_source() => return Verdict::Keep,
        Tag::Footer => *share < 0.3,
        Tag::Aside => {
            let is_box = *in_article && 0 < sum.prose && *linky < 0.1;
            *share < 0.3 && !hints.has(Hints::ADMONITION.with(Hints::CONTENT)) && !is_box
        }
        Tag::Header => *share < 0.3 && !in_article,
        Tag::Form | Tag::Fieldset => *share < 0.25,
        Tag::Menu => 0.5 < *linky,
        _ => false,
    };
    if is_dropped { Verdict::Drop } else { Verdict::Open }
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
fn by_name(dom: &Dom, survey: &Survey, at: u32, look: &JudgedElement, total: Sum) -> Option<Named> {
    let JudgedElement { tag, hints, sum, share, linky, in_article } = *look;
    let is_strong = hints.has(Hints::STRONG) && !hints.has(Hints::CONTENT);
    let most = if is_strong { 0.4 } else { 0.25 };
    // A long discussion can have more text than the article above it.
    let is_thread = || {
        let inside = dom.subtree(at).skip(1);
        tag != Tag::Article
            && 3 <= inside.filter(|at| survey.hints(*at).has(Hints::COMMENT)).count()
    };
    let is_beside = 500 < total.prose - sum.prose && (share < 0.5 || is_thread());
    if hints.has(Hints::COMMENT) && (share < most || is_beside) {
        return Some(Named::Comments);
    }
    // An element with the title of the page is content.
    if most <= share || (!is_strong && has_title(dom, at)) {
        return None;
    }
    let is_label = sum.prose == 0;
    // A box inside the article with few links is part of its text.
    let is_box = in_article && !is_label && linky < 0.1;
    let table = [
        (Hints::SHARE, Named::Share, is_label || 0.3 < linky),
        (Hints::RELATED, Named::Related, true),
        (Hints::SIDE, Named::Sidebar, !is_box),
        (Hints::NAV, Named::Navigation, 0.3 < linky || (is_strong && is_label && sum.chars < 400)),
        (Hints::PAGER, Named::Pager, sum.chars < 400),
        // A table of contents with most of the text is the content of the page.
        (Hints::TOC, Named::Contents, 0.5 < linky && sum.chars * 2 < total.chars),
        (Hints::AD, Named::Advertisement, sum.chars < 600 || 0.3 < linky),
        (Hints::NOTICE, Named::Notice, share < 0.2),
        (Hints::SEARCH, Named::Search, sum.chars < 300),
        (Hints::FOOT, Named::Footer, !in_article || 0.3 < linky || is_label),
        (Hints::HEAD, Named::Header, !in_article && is_label && !has_heading(dom, at)),
        (Hints::TAGS, Named::Tags, is_label && (0.4 < linky || sum.chars < 120)),
        (Hints::CREDIT, Named::Credit, sum.chars < 150),
        (Hints::META, Named::AboutThePage, share < 0.1 && sum.chars < 250),
        (Hints::AUTHOR, Named::Author, share < 0.15),
        (Hints::TEASER, Named::Teaser, 0 < sum.links && share < 0.15 && 2000 < total.prose),
        (Hints::WIDGET, Named::Widget, 0.3 < linky),
        (Hints::APPEAL, Named::Appeal, share < 0.1),
        (Hints::SLIDES, Named::Slides, is_label && 0 < sum.chars),
        (Hints::BUTTONS, Named::Buttons, is_label && sum.chars < 200 && !has(dom, at, Tag::Pre)),
        (Hints::HIDDEN, Named::Hidden, sum.chars < 200),
    ];
    table.into_iter().find(|(hint, _, is_so)| *is_so && hints.has(*hint)).map(|(_, named, _)| named)
}

/// Hints of `article` elements that are not the article of the page.
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
pub(crate) fn gone(dom: &Dom, survey: &Survey, dropped: &[Option<Reason>]) -> Vec<bool> {
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
pub(crate) fn first_some(dropped: &[Option<Reason>]) -> Option<u32> {
    let found = dropped.iter().position(Option::is_some)?;
    u32::try_from(found).ok()
}
