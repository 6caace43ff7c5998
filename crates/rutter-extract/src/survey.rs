//! Measures a page in one pass: visibility, text segments, their lengths and their shares of links.
//!
//! Input: the tree. Output: a [`PageSurvey`]. A *segment* is the text between two block boundaries: a
//! paragraph, a list item, a table cell, a caption. Segments are in document order, so the totals
//! of a subtree are the difference of two prefix sums. Skips hidden text.

mod text_counts;

use html5ever::local_name;

use crate::dom::Dom;
use crate::hint::{self, ElementHints};
use crate::survey::text_counts::TextCounts;
use crate::tag::Tag;
use crate::visibility::is_hidden;

/// Segments, prefix sums and per-item facts of a page.
#[derive(Debug)]
pub(crate) struct PageSurvey {
    pub(crate) segments: Vec<Segment>,
    /// Prefix sums: the totals of all segments before each segment.
    sums: Vec<SegmentTotals>,
    /// Facts about each item, and about the end of the page.
    spots: Vec<NodeFacts>,
}

/// Facts about one item, in one record because most callers need several of them.
#[derive(Debug, Clone, Copy)]
struct NodeFacts {
    /// Number of segments that start before the item.
    first: u32,
    /// The nearest block element: the item itself or an ancestor.
    block: u32,
    /// Hints of the item, if it is a block element.
    hints: ElementHints,
    /// Marks of the item and its ancestors.
    marks: InheritedMarks,
}

/// A run of text between two block boundaries.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Segment {
    /// The first item of its text.
    pub(crate) at: u32,
    /// The nearest block element around the segment.
    pub(crate) block: u32,
    /// Number of characters that are not white space.
    pub(crate) chars: u32,
    /// Number of characters inside links.
    pub(crate) link_chars: u32,
    /// Number of links.
    pub(crate) links: u32,
    /// Number of punctuation marks outside links.
    pub(crate) stops: u32,
    /// Number of words.
    pub(crate) words: u32,
    /// Number of words inside links.
    pub(crate) link_words: u32,
    pub(crate) marks: InheritedMarks,
}

/// Facts about an element that also hold for its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct InheritedMarks(u16);

impl InheritedMarks {
    pub(crate) const LINK: Self = Self(1);
    pub(crate) const HEADING: Self = Self(2);
    pub(crate) const ITEM: Self = Self(4);
    pub(crate) const CELL: Self = Self(8);
    pub(crate) const PRE: Self = Self(16);
    pub(crate) const UNSEEN: Self = Self(32);
    pub(crate) const CAPTION: Self = Self(128);
    pub(crate) const QUOTE: Self = Self(256);
    pub(crate) const PARAGRAPH: Self = Self(512);
    pub(crate) const CODE: Self = Self(1024);

    pub(crate) fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Returns 1 if the mark is set, otherwise 0; used for features.
    pub(crate) fn value(self, mark: Self) -> f32 {
        if self.has(mark) { 1.0 } else { 0.0 }
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Totals of a range of segments.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SegmentTotals {
    pub(crate) chars: u32,
    pub(crate) link_chars: u32,
    pub(crate) links: u32,
    pub(crate) link_words: u32,
    pub(crate) segments: u32,
    /// Number of characters in segments of prose.
    pub(crate) prose: u32,
}

impl SegmentTotals {
    pub(crate) fn link_share(self) -> f32 {
        if self.chars == 0 { 0.0 } else { self.link_chars as f32 / self.chars as f32 }
    }
}

impl Segment {
    pub(crate) fn plain(&self) -> u32 {
        self.chars - self.link_chars
    }

    /// Returns whether the segment reads like a sentence or more, and not like a label.
    pub(crate) fn is_prose(&self) -> bool {
        let plain = self.plain();
        if plain < self.link_chars {
            return false;
        }
        140 <= plain || (60 <= plain && 1 <= self.stops) || (30 <= plain && 2 <= self.stops)
    }
}

impl PageSurvey {
    pub(crate) fn of(dom: &Dom) -> Self {
        let n_items = dom.items.len();
        let mut survey = Self {
            segments: Vec::with_capacity(n_items / 4 + 1),
            sums: Vec::new(),
            spots: Vec::with_capacity(n_items + 1),
        };
        let outside = NodeFacts {
            first: 0,
            block: 0,
            hints: ElementHints::NONE,
            marks: InheritedMarks::default(),
        };
        // Whether the next text belongs to the last segment.
        let mut goes_on = false;
        let mut n_breaks = 0;
        let mut memo = hint::HintCache::default();
        for (at, item) in (0..).zip(&dom.items) {
            let above = *survey.spots.get(item.parent as usize).unwrap_or(&outside);
            let first = survey.n_segments();
            let mut spot = NodeFacts { first, hints: ElementHints::NONE, ..above };
            if item.tag == Tag::Text {
                survey.spots.push(spot);
                if !spot.marks.has(InheritedMarks::UNSEEN) {
                    n_breaks = 0;
                    goes_on = survey.read(dom, at, spot.block, spot.marks, goes_on);
                }
                continue;
            }
            spot.marks = own_marks(dom, at, item.tag, above.marks);
            let is_block = item.tag.is_block();
            if is_block || item.tag == Tag::Custom {
                if !spot.marks.has(InheritedMarks::UNSEEN) {
                    spot.hints = names(dom, at, &mut memo);
                }
                if is_block {
                    spot.block = at;
                    goes_on = false;
                }
            } else if item.tag == Tag::Br {
                n_breaks += 1;
                goes_on &= n_breaks < 2;
            } else if item.tag == Tag::A
                && spot.marks.has(InheritedMarks::LINK)
                && goes_on
                && let Some(segment) = survey.segments.last_mut()
            {
                segment.links += 1;
            }
            survey.spots.push(spot);
        }
        let first = survey.n_segments();
        survey.spots.push(NodeFacts { first, ..outside });
        survey.add_up();
        survey
    }

    /// Sets the counts of some segments to zero, so that they have no effect; does nothing if no
    /// other segment would be left.
    pub(crate) fn forget(&mut self, is_gone: &[bool]) {
        if !is_gone.contains(&true) || !is_gone.contains(&false) {
            return;
        }
        for (segment, is_gone) in self.segments.iter_mut().zip(is_gone) {
            if *is_gone {
                let Segment { at, block, marks, .. } = *segment;
                *segment = Segment { at, block, marks, ..Segment::default() };
            }
        }
        self.sums.clear();
        self.add_up();
    }

    fn n_segments(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX)
    }

    /// Returns the marks of an item and its ancestors.
    pub(crate) fn marks(&self, at: u32) -> InheritedMarks {
        self.spots[at as usize].marks
    }

    /// Returns the hints of a block element.
    pub(crate) fn hints(&self, at: u32) -> ElementHints {
        self.spots[at as usize].hints
    }

    /// Counts a text in its segment; returns whether the next text may belong to the same segment.
    fn read(
        &mut self,
        dom: &Dom,
        at: u32,
        block: u32,
        marks: InheritedMarks,
        goes_on: bool,
    ) -> bool {
        if dom.is_space(at) {
            return goes_on;
        }
        let text = dom.text(at);
        let counts = TextCounts::of(text, dom.behind(at), dom.item(at).is_tidy);
        if counts.chars == 0 {
            return goes_on;
        }
        let goes_on = goes_on && self.segments.last().is_some_and(|last| last.block == block);
        if !goes_on {
            let links = u32::from(marks.has(InheritedMarks::LINK));
            self.segments.push(Segment {
                at,
                block,
                chars: 0,
                link_chars: 0,
                links,
                stops: 0,
                words: 0,
                link_words: 0,
                marks: marks.without(InheritedMarks::LINK),
            });
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.chars += counts.chars;
            segment.words += counts.words;
            if marks.has(InheritedMarks::LINK) {
                segment.link_chars += counts.chars;
                segment.link_words += counts.words;
            } else {
                segment.stops += counts.stops;
            }
        }
        true
    }

    /// Returns the segments that begin inside a subtree.
    pub(crate) fn within(&self, dom: &Dom, at: u32) -> std::ops::Range<usize> {
        let end = dom.item(at).end;
        self.spots[at as usize].first as usize..self.spots[end as usize].first as usize
    }

    pub(crate) fn sum(&self, dom: &Dom, at: u32) -> SegmentTotals {
        let range = self.within(dom, at);
        self.sum_of(range)
    }

    pub(crate) fn sum_of(&self, range: std::ops::Range<usize>) -> SegmentTotals {
        let (Some(before), Some(behind)) = (self.sums.get(range.start), self.sums.get(range.end))
        else {
            return SegmentTotals::default();
        };
        SegmentTotals {
            chars: behind.chars - before.chars,
            link_chars: behind.link_chars - before.link_chars,
            links: behind.links - before.links,
            link_words: behind.link_words - before.link_words,
            segments: behind.segments - before.segments,
            prose: behind.prose - before.prose,
        }
    }

    fn add_up(&mut self) {
        let mut sum = SegmentTotals::default();
        self.sums.reserve(self.segments.len() + 1);
        self.sums.push(sum);
        for segment in &self.segments {
            sum.chars += segment.chars;
            sum.link_chars += segment.link_chars;
            sum.links += segment.links;
            sum.link_words += segment.link_words;
            sum.segments += 1;
            if segment.is_prose() {
                sum.prose += segment.plain();
            }
            self.sums.push(sum);
        }
    }
}

fn own_marks(dom: &Dom, at: u32, tag: Tag, above: InheritedMarks) -> InheritedMarks {
    let mut marks = above;
    // The body counts as visible, because pages hide it until a script has run.
    if tag == Tag::Html || tag == Tag::Body {
        return InheritedMarks::default();
    }
    if !above.has(InheritedMarks::UNSEEN) && (tag.is_silent() || is_hidden(dom, at)) {
        return marks.with(InheritedMarks::UNSEEN);
    }
    match tag {
        Tag::A if dom.attr(at, &local_name!("href")).is_some() => {
            marks = marks.with(InheritedMarks::LINK);
        }
        // The text of a button counts as link text.
        Tag::Button => marks = marks.with(InheritedMarks::LINK),
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
            marks = marks.with(InheritedMarks::HEADING);
        }
        Tag::Li | Tag::Dt | Tag::Dd => marks = marks.with(InheritedMarks::ITEM),
        Tag::Td | Tag::Th => marks = marks.with(InheritedMarks::CELL).without(InheritedMarks::ITEM),
        Tag::Pre => marks = marks.with(InheritedMarks::PRE),
        Tag::Figcaption | Tag::Caption => marks = marks.with(InheritedMarks::CAPTION),
        Tag::Blockquote => marks = marks.with(InheritedMarks::QUOTE),
        Tag::P => marks = marks.with(InheritedMarks::PARAGRAPH),
        Tag::Code | Tag::Samp | Tag::Kbd => marks = marks.with(InheritedMarks::CODE),
        _ => {}
    }
    marks
}

fn names<'d>(dom: &'d Dom, at: u32, memo: &mut hint::HintCache<'d>) -> ElementHints {
    let mut hints = ElementHints::NONE;
    for (name, value) in dom.atoms(at) {
        match *name {
            local_name!("class") => hints = hints.with(memo.of_names(value)),
            local_name!("id") if !is_anchor(dom, at, value) => {
                hints = hints.with(hint::of_names(value));
            }
            local_name!("itemprop") => {
                if value.eq_ignore_ascii_case("articleBody") || value == "text" {
                    hints = hints.with(ElementHints::CONTENT).with(ElementHints::STRONG);
                }
            }
            local_name!("role") => hints = hints.with(of_role(value)),
            _ => {}
        }
    }
    hints
}

/// Returns whether an id is the anchor of a section rather than the name of a role: it has many
/// words, or the same words as the heading below it.
fn is_anchor(dom: &Dom, at: u32, id: &str) -> bool {
    let n_words = if id.is_ascii() {
        let words = id.as_bytes().split(|byte| !byte.is_ascii_alphanumeric());
        words.filter(|word| !word.is_empty()).count()
    } else {
        id.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count()
    };
    if n_words != 2 {
        return 2 < n_words;
    }
    if hint::of_names(id) == ElementHints::NONE {
        return true;
    }
    let letters = |text: &str| {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let heading = dom.subtree(at).skip(1).take(12).find(|at| dom.item(*at).tag.heading().is_some());
    heading.is_some_and(|heading| {
        let words = dom.words(heading);
        let own = letters(&words);
        !own.is_empty() && letters(id).contains(&own) && !crate::phrase::is_elsewhere(&words)
    })
}

fn of_role(role: &str) -> ElementHints {
    match role.trim() {
        "navigation" | "menu" | "menubar" | "directory" | "tablist" => {
            ElementHints::NAV.with(ElementHints::STRONG)
        }
        "search" => ElementHints::SEARCH.with(ElementHints::STRONG),
        "complementary" => ElementHints::SIDE,
        "banner" => ElementHints::HEAD.with(ElementHints::STRONG),
        "contentinfo" => ElementHints::FOOT.with(ElementHints::STRONG),
        "dialog" | "alertdialog" => ElementHints::NOTICE.with(ElementHints::STRONG),
        "main" | "article" => ElementHints::CONTENT.with(ElementHints::STRONG),
        "toolbar" => ElementHints::BUTTONS,
        _ => ElementHints::NONE,
    }
}
