//! Converts figures, quotations and admonitions to blocks.
//!
//! Input: a `figure`, a `blockquote` or an admonition element. Output: blocks in the current walk.
//! A figure or quotation that holds more than its type allows is read as ordinary content.

use rutter_page::{Admonition, Block, BlockMarkup, InlineMark, InlineSpan, QuoteBlock, TextBlock};

use crate::blocks::{BlockWalker, Both, shift};
use crate::tag::Tag;
use crate::{media, note};

impl BlockWalker<'_> {
    /// Converts a figure: a quotation with its source, a recording with its chapters, or an image
    /// with its caption.
    pub(crate) fn figure(&mut self, at: u32) {
        let n_read = self.read.len();
        self.figure_parts(at);
        self.read.truncate(n_read);
    }

    fn figure_parts(&mut self, at: u32) {
        self.flush();
        let find = |tag: Tag| self.dom.subtree(at).find(|at| self.dom.item(*at).tag == tag);
        let caption = find(Tag::Figcaption);
        if let (Some(quote), Some(caption)) = (find(Tag::Blockquote), caption)
            && !self.is_complex(quote)
            && self.survey.sum(self.dom, quote).chars + self.survey.sum(self.dom, caption).chars
                == self.survey.sum(self.dom, at).chars
        {
            self.read.push(caption);
            self.quote(quote, Some(self.dom.words(caption)));
            return;
        }
        if let Some(player) = find(Tag::Video).or_else(|| find(Tag::Audio))
            && let Some(block) = media::recording(self.dom, player, self.base)
        {
            let parts = media::parts(self.dom, at);
            self.push(media::with_parts(self.dom, block, &parts), Vec::new());
            self.read.push(player);
            self.read.extend(parts.all());
        }
        self.flow(at);
        self.flush();
    }

    /// Returns whether a `blockquote` holds more than text. Such an element is used for indentation
    /// and is not a quotation.
    fn is_complex(&self, at: u32) -> bool {
        self.dom.subtree(at).skip(1).any(|at| {
            let tag = self.dom.item(at).tag;
            tag.heading().is_some()
                || matches!(
                    tag,
                    Tag::Pre
                        | Tag::Table
                        | Tag::Ul
                        | Tag::Ol
                        | Tag::Dl
                        | Tag::Img
                        | Tag::Video
                        | Tag::Blockquote
                )
        })
    }

    pub(crate) fn quote(&mut self, at: u32, source: Option<String>) {
        if self.is_complex(at) || note::kind(self.dom, self.survey, at).is_some() {
            return match note::kind(self.dom, self.survey, at) {
                Some(kind) => self.note(at, &kind),
                None => self.block(at),
            };
        }
        self.flush();
        let first = self.hold(|walk| walk.flow(at));
        let (mut text, mut spans) = (String::new(), Vec::new());
        let mut citation = source;
        let parts: Vec<Both> = self.out.drain(first..).collect();
        let n_parts = parts.len();
        let cite = self
            .dom
            .subtree(at)
            .find(|at| matches!(self.dom.item(*at).tag, Tag::Cite | Tag::Footer | Tag::Figcaption));
        let cited = cite.map(|at| self.dom.words(at)).filter(|cited| !cited.is_empty());
        for (idx, (block, rich)) in parts.into_iter().enumerate() {
            let (part, part_spans) = match block {
                Block::Text(part) => (part.text.into_string(), rich.spans),
                Block::Link(part) => {
                    let end = u32::try_from(part.text.len()).unwrap_or(u32::MAX);
                    let mark = InlineMark::Link(part.url.as_str().into());
                    (part.text.into_string(), vec![InlineSpan { part: 0, start: 0, end, mark }])
                }
                other => {
                    self.out.push((other, rich));
                    continue;
                }
            };
            let dashed = part.trim_start_matches(['\u{2014}', '\u{2013}', '-', '~', ' ']);
            let is_last = idx + 1 == n_parts && 0 < idx;
            if is_last && dashed.len() < part.len() && dashed.len() < 120 {
                citation = Some(dashed.to_owned());
                continue;
            }
            if cited.as_deref().is_some_and(|cited| dashed == cited) && 0 < idx {
                citation.clone_from(&cited);
                continue;
            }
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            shift(part_spans, text.len(), &mut spans);
            text.push_str(&part);
        }
        // The citation can be the end of the only paragraph.
        if citation.is_none()
            && let Some(cited) = cited
            && let Some(rest) = text.strip_suffix(cited.as_str())
            && !rest.trim().is_empty()
        {
            let n_rest = rest.trim_end_matches(['\u{2014}', '\u{2013}', '-', '\n', ' ']).len();
            text.truncate(n_rest);
            spans.retain(|span| span.end as usize <= n_rest);
            citation = Some(cited);
        }
        if text.is_empty() {
            return;
        }
        let trimmed = |cited: String| {
            cited.trim_start_matches(['\u{2014}', '\u{2013}', '-', '~', ' ']).to_owned()
        };
        let citation = citation.map(trimmed).map(Into::into);
        let block = QuoteBlock { text: text.into(), citation, extra: Vec::new() };
        self.push(Block::Quote(block), spans);
    }

    pub(crate) fn note(&mut self, at: u32, kind: &str) {
        self.flush();
        let outer = self.note.take();
        self.n_groups += 1;
        let note = Admonition { kind: kind.to_owned(), group: self.n_groups };
        self.note = Some(note.clone());
        let title = note::title(self.dom, at, |at| self.is_skipped(at));
        let label = match title.map(|title| self.dom.words(title)).filter(|text| !text.is_empty()) {
            Some(text) => note::label(kind, &text),
            None => note::name(kind),
        };
        let first = self.hold(|walk| match note::body(walk.dom, at) {
            Some(body) => walk.flow(body),
            None => {
                let mut child = at + 1;
                while child < walk.dom.item(at).end {
                    walk.without(child, title);
                    child = walk.dom.item(child).end;
                }
            }
        });
        if let Some((Block::Text(block), rich)) = self.out.get_mut(first) {
            let lead = format!("{label}: ");
            let text = format!("{lead}{}", &*block.text);
            let mut spans = Vec::new();
            let end = u32::try_from(label.len() + 1).unwrap_or(u32::MAX);
            spans.push(InlineSpan { part: 0, start: 0, end, mark: InlineMark::Strong });
            shift(std::mem::take(&mut rich.spans), lead.len(), &mut spans);
            block.text = text.into();
            rich.spans = spans;
        } else if first < self.out.len() || title.is_some() {
            let end = u32::try_from(label.len()).unwrap_or(u32::MAX);
            let spans = vec![InlineSpan { part: 0, start: 0, end, mark: InlineMark::Strong }];
            let block = Block::Text(TextBlock { text: label.into(), extra: Vec::new() });
            let rich = BlockMarkup { spans, note: Some(note), ..BlockMarkup::default() };
            self.out.insert(first, (block, rich));
        }
        self.note = outer;
    }

    /// Reads a node without one of the elements in it.
    fn without(&mut self, at: u32, left_out: Option<u32>) {
        let Some(other) = left_out else { return self.node(at) };
        if at == other {
            return self.flush();
        }
        if !self.dom.subtree(at).contains(&other) {
            return self.node(at);
        }
        self.flush();
        let mut child = at + 1;
        while child < self.dom.item(at).end {
            self.without(child, left_out);
            child = self.dom.item(child).end;
        }
        self.flush();
    }
}
