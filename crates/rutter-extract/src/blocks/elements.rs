//! Converts headings, media, tables and lists to blocks.

use html5ever::local_name;
use rutter_page::{Block, HeadingBlock, HeadingLevel, HttpUrl, ImageBlock, ListBlock, TableBlock};

use super::{BlockWalker, one_line};
use crate::media;
use crate::tag::Tag;
use rutter_page::{BlockMarkup, InlineMark, InlineSpan};

impl BlockWalker<'_> {
    /// Returns the heading level of an element with the role `heading`.
    pub(super) fn level_of(&self, at: u32) -> Option<u8> {
        let role = self.dom.attr(at, &local_name!("role"))?;
        let level =
            self.dom.attribute(at, "aria-level").and_then(|level| level.trim().parse().ok());
        (role == "heading").then_some(level.unwrap_or(2))
    }

    pub(super) fn heading(&mut self, at: u32, level: u8) {
        self.flush();
        let outer = std::mem::replace(&mut self.is_inside, true);
        self.flow(at);
        self.is_inside = outer;
        let (text, spans) = self.paragraph.take();
        let text = one_line(text);
        // A link from a heading to a place on the same page is removed.
        let here = self.base.here();
        let is_link = |span: &InlineSpan| match &span.mark {
            InlineMark::Link(url) => url.split_once('#').is_none_or(|(url, _)| url != here),
            _ => true,
        };
        let spans: Vec<InlineSpan> = spans.into_iter().filter(is_link).collect();
        if !text.is_empty() {
            let level = HeadingLevel::clamp(level.into());
            let block = HeadingBlock { level, text: text.into(), extra: Vec::new() };
            self.push(Block::Heading(block), spans);
        }
        self.flush();
    }

    pub(super) fn media(&mut self, at: u32, tag: Tag) {
        if matches!(tag, Tag::Img | Tag::Picture) {
            let Some(image) = media::image(self.dom, at, self.base) else {
                // A small image can replace a character; then its alternative text is the
                // character.
                if let Some(alt) = media::glyph(self.dom, at) {
                    self.paragraph.push(alt);
                }
                return;
            };
            if self.is_shown(&image.url) {
                return;
            }
            let block = Block::Image(ImageBlock { extra: Vec::new(), ..image });
            if self.paragraph.is_empty() && !self.is_inside {
                self.push(block, Vec::new());
            } else {
                self.waiting.push(block);
            }
            return;
        }
        if let Some(block) = media::recording(self.dom, at, self.base) {
            if self.is_inside {
                self.waiting.push(block);
                return;
            }
            self.flush();
            self.push(block, Vec::new());
        } else if matches!(tag, Tag::Object) {
            self.flow(at);
        }
    }

    /// Returns whether the previous image has the same URL: pages repeat lazy images in `noscript`.
    pub(super) fn is_shown(&self, url: &HttpUrl<'_>) -> bool {
        let last = self.waiting.last().or_else(|| self.out.last().map(|(block, _)| block));
        matches!(last, Some(Block::Image(image)) if image.url == *url)
    }

    pub(super) fn table(&mut self, at: u32) {
        self.flush();
        let Some(rows) = crate::table::rows(self, at) else {
            // The table is a layout table, so its cells are read one after another.
            self.flow(at);
            self.flush();
            return;
        };
        let (rows, spans, caption) = rows;
        if let Some(caption) = caption {
            self.block(caption);
        }
        if !rows.is_empty() {
            self.push(Block::Table(TableBlock { rows, extra: Vec::new() }), spans);
        }
        // Adds the images of the cells, which waited for the end of the table.
        self.flush();
    }

    pub(crate) fn push_list(
        &mut self,
        ordered: bool,
        start: Option<u32>,
        items: Vec<(String, Vec<InlineSpan>)>,
    ) {
        if items.is_empty() {
            return;
        }
        let (mut texts, mut spans) = (Vec::with_capacity(items.len()), Vec::new());
        for (part, (text, item_spans)) in (0..).zip(items) {
            texts.push(text.into());
            spans.extend(item_spans.into_iter().map(|span| InlineSpan { part, ..span }));
        }
        let block = Block::List(ListBlock { ordered, items: texts, extra: Vec::new() });
        self.push_rich(block, BlockMarkup { spans, start, ..BlockMarkup::default() });
    }

    /// Returns whether a span is inside the label of a footnote or inside a reference to a
    /// footnote.
    pub(super) fn is_in_note_number(&self, at: u32) -> bool {
        self.dom.ancestors(at).skip(1).take(3).any(|up| {
            let class = self.dom.attr(up, &local_name!("class")).unwrap_or("");
            class.split_ascii_whitespace().any(|token| match self.dom.item(up).tag {
                Tag::Dt => token == "label",
                _ => matches!(
                    token,
                    "footnote-reference" | "citation-reference" | "footnote" | "citation"
                ),
            })
        })
    }

    /// Returns whether an element is a footnote that keeps its number in a separate element.
    pub(super) fn is_footnote(&self, at: u32) -> bool {
        let role = self.dom.attr(at, &local_name!("role"));
        let class = self.dom.attr(at, &local_name!("class")).unwrap_or("");
        matches!(role, Some("doc-footnote" | "note"))
            && class.starts_with("footnote")
            && !self.holds_blocks(at)
    }
}
