//! Converts lists and definition lists to blocks.
//!
//! Input: a `ul`, `ol` or `dl` element. Output: list blocks. Nested lists are flattened into items
//! that start with two spaces and `- ` per level (D45). Code, tables and pictures of an item
//! follow the item, and the list continues behind them with the next number.

use html5ever::local_name;

use crate::blocks::{BlockWalker, one_line, shift};
use crate::survey::InheritedMarks;
use crate::tag::Tag;
use rutter_page::{InlineMark, InlineSpan};

/// Maximum nesting level of list items. Deeper items are written at this level.
const DEEPEST: usize = 12;

/// A list while its items are read.
struct ListReader {
    ordered: bool,
    /// Number of the first item that is not yet in a block.
    start: u32,
    /// Number of items of the outermost level that were read since the last block.
    n_done: u32,
    ready: Vec<(String, Vec<InlineSpan>)>,
}

impl BlockWalker<'_> {
    pub(crate) fn list(&mut self, at: u32) {
        self.flush();
        let ordered = self.dom.item(at).tag == Tag::Ol;
        let start =
            self.dom.attr(at, &local_name!("start")).and_then(|start| start.trim().parse().ok());
        let start = start.unwrap_or(1);
        let mut items = ListReader { ordered, start, n_done: 0, ready: Vec::new() };
        self.items(at, 0, &mut items);
        self.put(&mut items);
    }

    fn put(&mut self, items: &mut ListReader) {
        let ready = std::mem::take(&mut items.ready);
        // A block without items of the outermost level is not numbered.
        let ordered = items.ordered && 0 < items.n_done;
        let start = (ordered && items.start != 1).then_some(items.start);
        self.push_list(ordered, start, ready);
        items.start = items.start.saturating_add(items.n_done);
        items.n_done = 0;
    }

    fn items(&mut self, at: u32, level: usize, items: &mut ListReader) {
        let mut child = at + 1;
        let end = self.dom.item(at).end;
        while child < end {
            let here = child;
            let tag = self.dom.item(here).tag;
            child = self.dom.item(here).end;
            if tag == Tag::Text {
                if !self.dom.text(here).trim().is_empty() {
                    self.text(here);
                    self.end_item(level, items, true);
                }
                continue;
            }
            if self.is_left_out(here) || self.survey.marks(here).has(InheritedMarks::UNSEEN) {
                continue;
            }
            match tag {
                Tag::Li if self.is_card(here) => {
                    self.put(items);
                    self.flow(here);
                    self.flush();
                }
                Tag::Li => {
                    let is_first = self.item(here, level, items, true);
                    self.end_item(level, items, is_first);
                }
                Tag::Ul | Tag::Ol | Tag::Menu => self.items(here, level + 1, items),
                _ => {
                    let is_first = self.item(here, level, items, true);
                    self.end_item(level, items, is_first);
                }
            }
        }
    }

    /// Returns whether an item is a part of a page, such as an article, rather than a line of a
    /// list.
    fn is_card(&self, at: u32) -> bool {
        let mut n_long = 0;
        for here in self.dom.subtree(at).skip(1) {
            let tag = self.dom.item(here).tag;
            if tag.heading().is_some() || tag == Tag::Article {
                return true;
            }
            if matches!(tag, Tag::P) && 200 < self.survey.sum(self.dom, here).chars {
                n_long += 1;
            }
        }
        2 < n_long
    }

    /// Reads the content of an item; returns `false` if the item's own text is already in the list.
    fn item(&mut self, at: u32, level: usize, items: &mut ListReader, mut is_first: bool) -> bool {
        let mut child = at + 1;
        let end = self.dom.item(at).end;
        while child < end {
            let here = child;
            let tag = self.dom.item(here).tag;
            child = self.dom.item(here).end;
            if tag != Tag::Text
                && (self.is_left_out(here)
                    || (self.survey.marks(here).has(InheritedMarks::UNSEEN) && !is_media(tag)))
            {
                continue;
            }
            match tag {
                Tag::Ul | Tag::Ol | Tag::Menu => {
                    self.end_item(level, items, is_first);
                    is_first = false;
                    self.items(here, level + 1, items);
                }
                Tag::Pre
                | Tag::Table
                | Tag::Dl
                | Tag::Blockquote
                | Tag::Figure
                | Tag::Details
                | Tag::Video
                | Tag::Audio
                | Tag::Iframe => {
                    is_first &= !self.end_item(level, items, is_first);
                    self.put(items);
                    self.node(here);
                    self.flush();
                }
                // A custom element may contain tabs with code.
                _ if (tag.is_block() || tag == Tag::Custom) && self.holds_blocks(here) => {
                    if self.is_panel(here)
                        || crate::note::kind(self.dom, self.survey, here).is_some()
                    {
                        is_first &= !self.end_item(level, items, is_first);
                        self.put(items);
                        self.node(here);
                        self.flush();
                    } else {
                        is_first = self.item(here, level, items, is_first);
                    }
                }
                _ if self.is_panel(here) => self.panel_line(here),
                _ if tag.is_block() => {
                    // Each paragraph of an item becomes a line of the item.
                    if !self.paragraph.is_empty() {
                        self.paragraph.line_break();
                    }
                    self.flow_inline(here);
                }
                _ => self.inside(here),
            }
        }
        is_first
    }

    /// Reads an element that holds only inline content.
    pub(crate) fn flow_inline(&mut self, at: u32) {
        let mut child = at + 1;
        let end = self.dom.item(at).end;
        while child < end {
            let tag = self.dom.item(child).tag;
            let is_seen = || {
                !self.survey.marks(child).has(InheritedMarks::UNSEEN) && !self.is_left_out(child)
            };
            if tag.is_block() && is_seen() && self.is_panel(child) {
                self.panel_line(child);
            } else if tag.is_block() && is_seen() {
                self.paragraph.push(" ");
                self.flow_inline(child);
                self.paragraph.push(" ");
            } else {
                self.inside(child);
            }
            child = self.dom.item(child).end;
        }
    }

    /// Reads a panel after its label, as a separate line of the item.
    fn panel_line(&mut self, at: u32) {
        self.paragraph.line_break();
        self.inside(at);
        self.paragraph.line_break();
    }

    /// Returns whether an element holds blocks that cannot be lines of an item.
    pub(crate) fn holds_blocks(&self, at: u32) -> bool {
        self.dom.subtree(at).skip(1).any(|at| {
            matches!(
                self.dom.item(at).tag,
                Tag::Pre
                    | Tag::Table
                    | Tag::Dl
                    | Tag::Blockquote
                    | Tag::Ul
                    | Tag::Ol
                    | Tag::Figure
                    | Tag::Details
                    | Tag::Video
                    | Tag::Audio
            )
        }) || crate::note::kind(self.dom, self.survey, at).is_some()
    }

    /// Adds the text that was read to the items of the list. If a block of the item came before the
    /// text, adds the text as a paragraph instead. Returns whether there was any text.
    fn end_item(&mut self, level: usize, items: &mut ListReader, is_first: bool) -> bool {
        if self.paragraph.is_empty() {
            self.flush();
            return false;
        }
        if !is_first {
            self.put(items);
            self.flush();
            return true;
        }
        let (text, spans) = self.paragraph.take();
        if level == 0 {
            if items.n_done == 0 {
                // The rest of a nested list, which follows a separate block, becomes a list of its
                // own.
                self.put(items);
            }
            items.n_done += 1;
            items.ready.push((text, spans));
        } else {
            // Nested items have a prefix, as plain text has no levels.
            let lead = format!("{}- ", "  ".repeat(level.min(DEEPEST)));
            let mut shifted = Vec::with_capacity(spans.len());
            shift(spans, lead.len(), &mut shifted);
            items.ready.push((lead + &one_line(text), shifted));
        }
        if !self.waiting.is_empty() {
            // The images of an item follow it, and the list continues after them.
            self.put(items);
        }
        self.flush();
        true
    }

    /// Reads a definition list. If the definitions are short, it becomes a list with one line per
    /// term; otherwise each term becomes a line before its definition.
    pub(crate) fn terms(&mut self, at: u32) {
        self.flush();
        if !self.is_glossary(at) {
            self.flow(at);
            self.flush();
            return;
        }
        let mut terms = DefinitionListReader::default();
        self.definitions(at, &mut terms);
        terms.end();
        self.push_list(false, None, terms.items);
        self.flush();
    }

    /// Reads terms, definitions, groups of them, and text outside of them.
    fn definitions(&mut self, at: u32, terms: &mut DefinitionListReader) {
        let mut child = at + 1;
        let end = self.dom.item(at).end;
        while child < end {
            let here = child;
            let tag = self.dom.item(here).tag;
            child = self.dom.item(here).end;
            if tag != Tag::Text
                && (self.is_left_out(here) || self.survey.marks(here).has(InheritedMarks::UNSEEN))
            {
                continue;
            }
            match tag {
                Tag::Dt | Tag::Dd => {
                    self.end_loose(terms);
                    let is_term = tag == Tag::Dt;
                    if is_term {
                        self.paragraph.open(InlineMark::Strong);
                    }
                    self.flow_inline(here);
                    if is_term {
                        self.paragraph.close();
                    }
                    let (text, spans) = self.paragraph.take();
                    let line = (one_line(text), spans);
                    if is_term { terms.name(line) } else { terms.define(line) }
                }
                _ if tag.is_block() || self.holds_terms(here) => {
                    self.end_loose(terms);
                    self.definitions(here, terms);
                    self.end_loose(terms);
                }
                _ => self.inside(here),
            }
        }
        self.end_loose(terms);
    }

    fn holds_terms(&self, at: u32) -> bool {
        self.dom.subtree(at).any(|at| matches!(self.dom.item(at).tag, Tag::Dt | Tag::Dd))
    }

    /// Ends text between terms and definitions as a separate line.
    fn end_loose(&mut self, terms: &mut DefinitionListReader) {
        let (text, spans) = self.paragraph.take();
        if !text.is_empty() {
            terms.end();
            terms.items.push((one_line(text), spans));
        }
    }

    fn is_glossary(&self, at: u32) -> bool {
        self.dom.subtree(at).skip(1).all(|here| {
            let tag = self.dom.item(here).tag;
            let is_line = !matches!(
                tag,
                Tag::Pre
                    | Tag::Table
                    | Tag::Dl
                    | Tag::Ul
                    | Tag::Ol
                    | Tag::Blockquote
                    | Tag::Figure
                    | Tag::Img
                    | Tag::Video
                    | Tag::Details
            ) && tag.heading().is_none();
            let is_short = tag != Tag::Dd || {
                let sum = self.survey.sum(self.dom, here);
                sum.segments <= 1 && sum.chars < 400
            };
            is_line && is_short
        })
    }
}

/// The lines of a definition list while it is read.
#[derive(Default)]
struct DefinitionListReader {
    items: Vec<MarkedText>,
    /// A term whose definition was not read yet.
    term: Option<MarkedText>,
}

/// A text and its marks.
type MarkedText = (String, Vec<InlineSpan>);

impl DefinitionListReader {
    fn name(&mut self, (text, spans): MarkedText) {
        if text.is_empty() {
            return;
        }
        self.term = match self.term.take() {
            // Several terms share one definition.
            Some((mut first, mut first_spans)) => {
                first.push_str(", ");
                shift(spans, first.len(), &mut first_spans);
                first.push_str(&text);
                Some((first, first_spans))
            }
            None => Some((text, spans)),
        };
    }

    fn define(&mut self, (text, spans): MarkedText) {
        let (mut line, mut line_spans) = self.term.take().unwrap_or_default();
        if !line.is_empty() && !text.is_empty() {
            // The number of a footnote needs no colon after it.
            let is_apart = line.ends_with([':', '?']) || is_number_of_note(&line);
            line.push_str(if is_apart { " " } else { ": " });
        }
        shift(spans, line.len(), &mut line_spans);
        line.push_str(&text);
        if !line.is_empty() {
            self.items.push((line, line_spans));
        }
    }

    /// Adds a last term that has no definition.
    fn end(&mut self) {
        self.items.extend(self.term.take());
    }
}

fn is_number_of_note(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.is_some_and(|inner| inner.len() <= 4 && !inner.contains(']'))
}

fn is_media(tag: Tag) -> bool {
    matches!(tag, Tag::Img | Tag::Picture | Tag::Video | Tag::Audio | Tag::Iframe | Tag::Script)
}
