//! Lists and definition lists.
//!
//! Nested lists are flattened into items that begin with two spaces and `- `
//! for each level (D45). An item that holds code, a table or a picture is
//! followed by it, and the list goes on behind it with the next number.

use html5ever::local_name;

use crate::blocks::{Walk, one_line, shift};
use crate::survey::Marks;
use crate::tag::Tag;
use rutter_page::{Mark, Span};

/// Deepest level that is shown; deeper items lie on it.
const DEEPEST: usize = 12;

/// A list while it is being read.
struct Items {
    ordered: bool,
    /// Number of the first item that is not out yet.
    start: u32,
    /// Items of the outermost level so far.
    n_done: u32,
    ready: Vec<(String, Vec<Span>)>,
}

impl Walk<'_> {
    pub(crate) fn list(&mut self, at: u32) {
        self.flush();
        let ordered = self.dom.item(at).tag == Tag::Ol;
        let start =
            self.dom.attr(at, &local_name!("start")).and_then(|start| start.trim().parse().ok());
        let start = start.unwrap_or(1);
        let mut items = Items { ordered, start, n_done: 0, ready: Vec::new() };
        self.items(at, 0, &mut items);
        self.put(&mut items);
    }

    fn put(&mut self, items: &mut Items) {
        let ready = std::mem::take(&mut items.ready);
        let start = (items.ordered && items.start != 1).then_some(items.start);
        self.push_list(items.ordered, start, ready);
        items.start = items.start.saturating_add(items.n_done);
        items.n_done = 0;
    }

    fn items(&mut self, at: u32, level: usize, items: &mut Items) {
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
            if self.is_left_out(here) || self.survey.marks(here).has(Marks::UNSEEN) {
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

    /// Whether an item is a piece of a page rather than a line of a list.
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

    /// Gathers an item; tells whether its own text is still to come out.
    fn item(&mut self, at: u32, level: usize, items: &mut Items, mut is_first: bool) -> bool {
        let mut child = at + 1;
        let end = self.dom.item(at).end;
        while child < end {
            let here = child;
            let tag = self.dom.item(here).tag;
            child = self.dom.item(here).end;
            if tag != Tag::Text
                && (self.is_left_out(here)
                    || (self.survey.marks(here).has(Marks::UNSEEN) && !is_media(tag)))
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
                _ if tag.is_block() && self.holds_blocks(here) => {
                    if crate::note::kind(self.dom, self.survey, here).is_some() {
                        is_first &= !self.end_item(level, items, is_first);
                        self.put(items);
                        self.node(here);
                        self.flush();
                    } else {
                        is_first = self.item(here, level, items, is_first);
                    }
                }
                _ if tag.is_block() => {
                    // Paragraphs of one item stay in it, line by line.
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

    /// The words of an element that holds words only.
    fn flow_inline(&mut self, at: u32) {
        let mut child = at + 1;
        let end = self.dom.item(at).end;
        while child < end {
            let tag = self.dom.item(child).tag;
            let is_block = tag.is_block();
            if is_block && !self.survey.marks(child).has(Marks::UNSEEN) && !self.is_left_out(child)
            {
                self.paragraph.push(" ");
                self.flow_inline(child);
                self.paragraph.push(" ");
            } else {
                self.inside(child);
            }
            child = self.dom.item(child).end;
        }
    }

    /// Whether something inside cannot be a line of text.
    fn holds_blocks(&self, at: u32) -> bool {
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

    /// Puts what was gathered among the items, or, behind a block that
    /// belonged to the item, out as a paragraph. Tells whether there was any.
    fn end_item(&mut self, level: usize, items: &mut Items, is_first: bool) -> bool {
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
            items.n_done += 1;
            items.ready.push((text, spans));
        } else {
            // A leaf of plain text that looks like a nested item would read as one.
            let lead = format!("{}- ", "  ".repeat(level.min(DEEPEST)));
            let mut shifted = Vec::with_capacity(spans.len());
            shift(spans, lead.len(), &mut shifted);
            items.ready.push((lead + &one_line(text), shifted));
        }
        if !self.waiting.is_empty() {
            // The pictures of an item follow it, and the list goes on.
            self.put(items);
        }
        self.flush();
        true
    }

    /// A definition list: lines of a list where the definitions are short,
    /// else each term as a line before its definition.
    pub(crate) fn terms(&mut self, at: u32) {
        self.flush();
        if !self.is_glossary(at) {
            self.flow(at);
            self.flush();
            return;
        }
        let mut items: Vec<(String, Vec<Span>)> = Vec::new();
        let mut term: Option<(String, Vec<Span>)> = None;
        let mut at_dt_or_dd = Vec::new();
        for here in self.dom.subtree(at).skip(1) {
            if matches!(self.dom.item(here).tag, Tag::Dt | Tag::Dd) && !self.is_left_out(here) {
                at_dt_or_dd.push(here);
            }
        }
        for here in at_dt_or_dd {
            if self.survey.marks(here).has(Marks::UNSEEN) {
                continue;
            }
            let is_term = self.dom.item(here).tag == Tag::Dt;
            if is_term {
                self.paragraph.open(Mark::Strong);
            }
            self.flow_inline(here);
            if is_term {
                self.paragraph.close();
            }
            let (text, spans) = self.paragraph.take();
            let text = one_line(text);
            if is_term {
                term = match term.take() {
                    // Several terms of one definition.
                    Some((mut first, mut first_spans)) => {
                        first.push_str(", ");
                        shift(spans, first.len(), &mut first_spans);
                        first.push_str(&text);
                        Some((first, first_spans))
                    }
                    None => Some((text, spans)),
                };
                continue;
            }
            let (mut line, mut line_spans) = term.take().unwrap_or_default();
            if !line.is_empty() && !text.is_empty() {
                line.push_str(if line.ends_with(':') { " " } else { ": " });
            }
            shift(spans, line.len(), &mut line_spans);
            line.push_str(&text);
            if !line.is_empty() {
                items.push((line, line_spans));
            }
        }
        items.extend(term);
        self.push_list(false, None, items);
        self.flush();
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

fn is_media(tag: Tag) -> bool {
    matches!(tag, Tag::Img | Tag::Picture | Tag::Video | Tag::Audio | Tag::Iframe | Tag::Script)
}
