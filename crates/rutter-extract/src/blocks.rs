//! Converts the main content to blocks in reading order.
//!
//! Input: the tree, the region and the base URL. Output: blocks with their decoration.
//! One walk collects text into the open paragraph; a block element ends the paragraph.
//! Lists, tables and code have modules of their own. Skips dropped and hidden elements.

mod elements;
mod texts;

use std::sync::Arc;

use html5ever::local_name;
use rutter_page::{Block, CowStr, LinkBlock, TextBlock};

use self::texts::lone_link;
pub(crate) use self::texts::{one_line, parts, shift};
use crate::address::BaseUrl;
use crate::code_frame::CodeCaptions;
use crate::dom::Dom;
use crate::handle::{LinkTarget, handle};
use crate::hint::{self, ElementHints};
use crate::inline::{InlineText, superscript};
use crate::region::MainRegion;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tabs::TabPanels;
use crate::tag::Tag;
use crate::verdict::{DropReason, is_heading_button};
use crate::visible_page::LinkTargets;
use crate::{code, merge, note, visibility};
use rutter_page::{Admonition, BlockMarkup, InlineMark, InlineSpan};

/// A block and its decoration ([`BlockMarkup`]).
pub(crate) type Both = (Block<'static>, BlockMarkup);

/// Walks the elements of a region and converts them to blocks.
// More than 12 fields: the state of one pass over the tree, private to this module.
pub(crate) struct BlockWalker<'w> {
    pub(crate) dom: &'w Dom,
    pub(crate) survey: &'w PageSurvey,
    pub(crate) dropped: &'w [Option<DropReason>],
    pub(crate) base: &'w BaseUrl,
    targets: &'w LinkTargets,
    pub(crate) out: Vec<Both>,
    pub(crate) paragraph: InlineText,
    /// Images and recordings inside the current line; they become blocks after the line.
    pub(crate) waiting: Vec<Block<'static>>,
    /// Number of admonitions so far.
    pub(crate) n_groups: u32,
    pub(crate) note: Option<Admonition>,
    /// The URL and the `rel` value of the last link, if it has a `rel` attribute.
    rel: Option<(Arc<str>, &'w str)>,
    /// Elements whose text was already read together with another element.
    pub(crate) read: Vec<u32>,
    /// Labels, captions and buttons that are not read at their own position, sorted.
    pub(crate) skipped: Vec<u32>,
    pub(crate) tabs: TabPanels,
    pub(crate) frames: CodeCaptions,
    /// Whether the walk is inside a list item, a table cell or a heading, whose text stays in one
    /// line.
    pub(crate) is_inside: bool,
    /// The first text item that was read; the headline is searched before it.
    pub(crate) first_text: u32,
    /// Maximum number of blocks of the page.
    pub(crate) most_blocks: usize,
    /// Number of callers that hold an index into `out`.
    n_held: usize,
}

/// Maximum number of blocks before neighbours are merged early, on pages that exceed the block
/// limit anyway. A block needs some hundred bytes.
const MOST_HELD: usize = 100_000;

impl<'w> BlockWalker<'w> {
    pub(crate) fn new(
        dom: &'w Dom,
        survey: &'w PageSurvey,
        region: &'w MainRegion,
        base: &'w BaseUrl,
        targets: &'w LinkTargets,
    ) -> Self {
        // Few segments become more than one block.
        let n_segments = region.roots.iter().map(|root| survey.within(dom, *root).len()).sum();
        let mut skipped = Vec::new();
        let tabs = TabPanels::of(dom, &region.roots, &mut skipped);
        let frames = CodeCaptions::of(dom, survey, &region.roots, &mut skipped);
        skipped.sort_unstable();
        Self {
            dom,
            survey,
            dropped: &region.dropped,
            base,
            targets,
            out: Vec::with_capacity(n_segments),
            paragraph: InlineText::default(),
            waiting: Vec::new(),
            n_groups: 0,
            note: None,
            rel: None,
            read: Vec::new(),
            skipped,
            tabs,
            frames,
            is_inside: false,
            first_text: u32::MAX,
            most_blocks: usize::MAX,
            n_held: 0,
        }
    }

    /// Walks an element with its subtree and ends the paragraph.
    pub(crate) fn element(&mut self, at: u32) {
        self.node(at);
        self.flush();
    }

    pub(crate) fn is_left_out(&self, at: u32) -> bool {
        self.dropped.get(at as usize).is_some_and(Option::is_some)
            || self.read.contains(&at)
            || self.is_skipped(at)
    }

    pub(crate) fn is_skipped(&self, at: u32) -> bool {
        !self.skipped.is_empty() && self.skipped.binary_search(&at).is_ok()
    }

    pub(crate) fn push(&mut self, block: Block<'static>, spans: Vec<InlineSpan>) {
        self.push_rich(block, BlockMarkup { spans, ..BlockMarkup::default() });
    }

    pub(crate) fn push_rich(&mut self, block: Block<'static>, mut rich: BlockMarkup) {
        if rich.note.is_none() {
            rich.note.clone_from(&self.note);
        }
        self.out.push((block, rich));
        if MOST_HELD < self.out.len() && self.most_blocks < MOST_HELD / 2 && self.n_held == 0 {
            merge::merge(&mut self.out, MOST_HELD / 2);
        }
    }

    /// Calls `walk`, and returns the index of the first block that it adds.
    pub(crate) fn hold(&mut self, walk: impl FnOnce(&mut Self)) -> usize {
        let first = self.out.len();
        self.n_held += 1;
        walk(self);
        self.flush();
        self.n_held -= 1;
        first
    }

    pub(crate) fn flow(&mut self, at: u32) {
        let mut child = at + 1;
        let end = self.dom.item(at).end;
        while child < end {
            self.node(child);
            child = self.dom.item(child).end;
        }
    }

    pub(crate) fn node(&mut self, at: u32) {
        let tag = self.dom.item(at).tag;
        if tag == Tag::Text {
            if self.dropped.get(at as usize).is_none_or(Option::is_none) && !self.is_skipped(at) {
                self.text(at);
            }
            return;
        }
        if self.is_left_out(at) {
            if tag.is_block() {
                self.flush();
            }
            return;
        }
        if matches!(
            tag,
            Tag::Img
                | Tag::Picture
                | Tag::Video
                | Tag::Audio
                | Tag::Iframe
                | Tag::Embed
                | Tag::Object
        ) {
            if !visibility::is_hidden(self.dom, at) {
                self.media(at, tag);
            }
            return;
        }
        if tag == Tag::Script {
            if let Some(source) = code::math_script(self.dom, at) {
                self.math(&source);
            }
            return;
        }
        if self.survey.marks(at).has(InheritedMarks::UNSEEN) {
            if tag.is_block() {
                self.flush();
            }
            return;
        }
        if self.is_panel(at) {
            return self.panel(at);
        }
        self.convert_element(at, tag);
    }

    /// Converts a visible element by its tag.
    fn convert_element(&mut self, at: u32, tag: Tag) {
        match tag {
            Tag::Br => {
                if self.paragraph.line_break() {
                    self.flush();
                }
            }
            Tag::A => self.anchor(at),
            Tag::B | Tag::Strong => self.marked(at, InlineMark::Strong),
            Tag::I | Tag::Em | Tag::Cite | Tag::Dfn | Tag::Var => {
                self.marked(at, InlineMark::Emphasis);
            }
            Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp => self.marked(at, InlineMark::Code),
            Tag::Del | Tag::S | Tag::Strike => self.marked(at, InlineMark::Struck),
            Tag::Math => self.math(&code::math(self.dom, at)),
            Tag::Sup => self.raised(at),
            Tag::Rt => {
                self.paragraph.push("(");
                self.flow(at);
                self.paragraph.push(")");
            }
            Tag::Q => {
                self.paragraph.push("\u{201c}");
                self.flow(at);
                self.paragraph.push("\u{201d}");
            }
            Tag::Hr => self.flush(),
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                self.heading(at, tag.heading().unwrap_or(6));
            }
            Tag::Ul | Tag::Ol | Tag::Menu => self.list(at),
            Tag::Dl => self.terms(at),
            Tag::Table => self.table(at),
            Tag::Pre => self.code(at),
            Tag::Blockquote => self.quote(at, None),
            Tag::Figure => self.figure(at),
            Tag::Summary => self.labelled(at),
            Tag::Dt => self.labelled(at),
            Tag::Figcaption => self.caption(at),
            Tag::Caption | Tag::Legend => self.block(at),
            // A button that opens and closes a section can be the heading of the section.
            Tag::Button if is_heading_button(self.dom, at) => self.flow(at),
            Tag::Button => {}
            Tag::Span => self.span(at),
            _ if tag.is_block() => self.line(at),
            _ => self.flow(at),
        }
    }

    /// Converts a block element by its class or role: caption, heading, footnote, admonition or
    /// plain block.
    fn line(&mut self, at: u32) {
        if self.survey.hints(at).has(ElementHints::CAPTION) {
            self.caption(at);
        } else if let Some(level) = self.level_of(at) {
            self.heading(at, level);
        } else if self.is_footnote(at) {
            self.flush();
            self.flow_inline(at);
            self.flush();
        } else if let Some(kind) = note::kind(self.dom, self.survey, at) {
            self.note(at, &kind);
        } else {
            self.block(at);
        }
    }

    pub(crate) fn text(&mut self, at: u32) {
        if self.dom.is_space(at) {
            return self.paragraph.push_space();
        }
        self.first_text = self.first_text.min(at);
        let text = self.dom.text(at);
        if self.dom.item(at).is_tidy {
            self.paragraph.push_tidy(text);
        } else {
            self.paragraph.push(text);
        }
    }

    /// Reads a `span` element. Skips button labels and hidden text, and puts brackets around the
    /// number of a footnote.
    fn span(&mut self, at: u32) {
        let Some(class) = self.dom.attr(at, &local_name!("class")) else { return self.flow(at) };
        match class {
            // In the HTML of docutils, `brackets` holds the number of a footnote, and `fn-backref`
            // a link back.
            "brackets" if self.is_in_note_number(at) => {
                self.paragraph.push("[");
                self.flow(at);
                self.paragraph.push("]");
                return;
            }
            "fn-backref" => return,
            _ => {}
        }
        let hints = hint::of_names(class);
        let is_button = hints.has(ElementHints::BUTTONS) && hints.has(ElementHints::STRONG);
        if !is_button && !hints.has(ElementHints::HIDDEN) {
            self.flow(at);
        }
    }

    /// Reads the text below an image. A box that also holds an image is a caption only if it is a
    /// `figcaption` element.
    fn caption(&mut self, at: u32) {
        self.flush();
        let first = self.hold(|walk| walk.flow(at));
        let new = self.out.get_mut(first..).unwrap_or_default();
        let is_box = new.iter().any(|(block, _)| matches!(block, Block::Image(_)));
        for (block, rich) in new {
            let is_line = matches!(block, Block::Text(_) | Block::Link(_));
            rich.is_caption = is_line && (!is_box || self.dom.item(at).tag == Tag::Figcaption);
        }
    }

    pub(crate) fn block(&mut self, at: u32) {
        self.flush();
        self.flow(at);
        self.flush();
    }

    /// Reads a `sup` element. A raised number after a letter or digit is an exponent and is written
    /// with superscript digits, so that two to the tenth does not become 210.
    fn raised(&mut self, at: u32) {
        let words = self.dom.words(at);
        let raised: Option<String> = words.chars().map(superscript).collect();
        let follows = |c: char| c.is_alphanumeric() || c == ')';
        let is_link = self.dom.subtree(at).any(|at| self.dom.item(at).tag == Tag::A);
        match raised.filter(|raised| !raised.is_empty()) {
            Some(raised) if !is_link && self.paragraph.text.ends_with(follows) => {
                self.paragraph.push(&raised);
            }
            _ => self.flow(at),
        }
    }

    /// Reads a `summary` or `dt` element as a line of strong text.
    fn labelled(&mut self, at: u32) {
        self.flush();
        self.paragraph.open(InlineMark::Strong);
        self.flow(at);
        self.paragraph.close();
        self.flush();
    }

    pub(crate) fn marked(&mut self, at: u32, mark: InlineMark) {
        self.paragraph.open(mark);
        self.flow(at);
        self.paragraph.close();
    }

    fn math(&mut self, source: &str) {
        if source.is_empty() {
            return;
        }
        self.paragraph.open(InlineMark::Math);
        self.paragraph.push(source);
        self.paragraph.close();
    }

    fn anchor(&mut self, at: u32) {
        match handle(self.dom, at) {
            LinkTarget::Nothing => return,
            LinkTarget::Words => {
                // The number of a footnote gets brackets, so that it does not run into the word
                // before it.
                let words = self.dom.words(at);
                let is_bare =
                    !words.starts_with(['[', '(']) && !self.paragraph.text.ends_with(['[', '(']);
                return self.paragraph.push(&if is_bare { format!("[{words}]") } else { words });
            }
            LinkTarget::Link => {}
        }
        match self.targets.get(at) {
            Some(url) => {
                let rel = self.dom.attr(at, &local_name!("rel"));
                self.rel = rel.map(|rel| (Arc::clone(url), rel));
                let mark = InlineMark::Link(Arc::clone(url));
                self.marked(at, mark);
            }
            None => self.flow(at),
        }
    }

    /// Reads a node inside a list item, a table cell or a heading, without starting a new block.
    pub(crate) fn inside(&mut self, at: u32) {
        let outer = std::mem::replace(&mut self.is_inside, true);
        self.node(at);
        self.is_inside = outer;
    }

    /// Ends the paragraph and adds it as a block. Inside a list item, a table cell or a heading,
    /// adds only a space.
    pub(crate) fn flush(&mut self) {
        if self.is_inside {
            self.paragraph.push(" ");
            return;
        }
        if !self.paragraph.is_empty() {
            let (text, spans) = self.paragraph.take();
            let block = match lone_link(&text, &spans) {
                Some(url) => {
                    let rel = self.rel.take().filter(|(found, _)| **found == *url.as_str());
                    let rel: Vec<CowStr<'static>> = rel
                        .into_iter()
                        .flat_map(|(_, rel)| rel.split_ascii_whitespace())
                        .map(|rel| CowStr::from(rel.to_ascii_lowercase()))
                        .collect();
                    let rel = (!rel.is_empty()).then_some(rel);
                    Block::Link(LinkBlock { url, text: text.into(), rel, extra: Vec::new() })
                }
                None => Block::Text(TextBlock { text: text.into(), extra: Vec::new() }),
            };
            let spans = if matches!(block, Block::Link(_)) { Vec::new() } else { spans };
            self.push(block, spans);
        } else {
            self.paragraph.clear();
        }
        for block in std::mem::take(&mut self.waiting) {
            self.push(block, Vec::new());
        }
    }
}
