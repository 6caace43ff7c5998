//! Turns the main content into blocks, in reading order.
//!
//! One walk: text gathers in a paragraph, an element that begins a line of its
//! own ends it. Lists, tables and code have rooms of their own.

use std::sync::Arc;

use html5ever::local_name;
use rutter_page::{
    Block, Code, Heading, HttpUrl, Image, Level, Link, List, Quote, Str, Table, Text,
};

use crate::address::Base;
use crate::dom::Dom;
use crate::handle::{Handle, handle};
use crate::hint::{self, Hints};
use crate::inline::{Inline, superscript};
use crate::region::Region;
use crate::survey::{self, Marks, Survey};
use crate::tag::Tag;
use crate::verdict::Reason;
use crate::whole::Targets;
use crate::{code, media, merge, note};
use rutter_page::{Mark, Note, Rich, Span};

/// A block and its decoration.
pub(crate) type Both = (Block<'static>, Rich);

/// Makes blocks of a region.
pub(crate) struct Walk<'w> {
    pub(crate) dom: &'w Dom,
    pub(crate) survey: &'w Survey,
    dropped: &'w [Option<Reason>],
    pub(crate) base: &'w Base,
    targets: &'w Targets,
    pub(crate) out: Vec<Both>,
    pub(crate) paragraph: Inline,
    /// Pictures and recordings met inside a line; they follow it.
    pub(crate) waiting: Vec<Block<'static>>,
    /// Admonitions so far.
    n_groups: u32,
    note: Option<Note>,
    /// The last link that has relations, with them.
    rel: Option<(Arc<str>, &'w str)>,
    /// Elements that were read with another one.
    pub(crate) read: Vec<u32>,
    /// Whether we are inside a line: an item, a cell, a heading.
    is_inside: bool,
    /// How many blocks the page may have in the end.
    pub(crate) most_blocks: usize,
    /// How many callers remember a place in `out`.
    n_held: usize,
}

/// Blocks that are held before neighbours are merged, on pages that must be
/// merged anyway: a block takes some hundred bytes.
const MOST_HELD: usize = 100_000;

impl<'w> Walk<'w> {
    pub(crate) fn new(
        dom: &'w Dom,
        survey: &'w Survey,
        region: &'w Region,
        base: &'w Base,
        targets: &'w Targets,
    ) -> Self {
        // Hardly any segment makes more than one block.
        let n_segments = region.roots.iter().map(|root| survey.within(dom, *root).len()).sum();
        Self {
            dom,
            survey,
            dropped: &region.dropped,
            base,
            targets,
            out: Vec::with_capacity(n_segments),
            paragraph: Inline::default(),
            waiting: Vec::new(),
            n_groups: 0,
            note: None,
            rel: None,
            read: Vec::new(),
            is_inside: false,
            most_blocks: usize::MAX,
            n_held: 0,
        }
    }

    /// Walks a whole element.
    pub(crate) fn element(&mut self, at: u32) {
        self.node(at);
        self.flush();
    }

    pub(crate) fn is_left_out(&self, at: u32) -> bool {
        self.dropped.get(at as usize).is_some_and(Option::is_some) || self.read.contains(&at)
    }

    pub(crate) fn push(&mut self, block: Block<'static>, spans: Vec<Span>) {
        self.push_rich(block, Rich { spans, ..Rich::default() });
    }

    pub(crate) fn push_rich(&mut self, block: Block<'static>, mut rich: Rich) {
        if rich.note.is_none() {
            rich.note.clone_from(&self.note);
        }
        self.out.push((block, rich));
        if MOST_HELD < self.out.len() && self.most_blocks < MOST_HELD / 2 && self.n_held == 0 {
            merge::merge(&mut self.out, MOST_HELD / 2);
        }
    }

    /// Walks what is inside an element and gives the place of its first block.
    fn hold(&mut self, walk: impl FnOnce(&mut Self)) -> usize {
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
            if self.dropped.get(at as usize).is_none_or(Option::is_none) {
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
            if !survey::is_hidden(self.dom, at) {
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
        if self.survey.marks(at).has(Marks::UNSEEN) {
            if tag.is_block() {
                self.flush();
            }
            return;
        }
        match tag {
            Tag::Br => {
                if self.paragraph.line_break() {
                    self.flush();
                }
            }
            Tag::A => self.anchor(at),
            Tag::B | Tag::Strong => self.marked(at, Mark::Strong),
            Tag::I | Tag::Em | Tag::Cite | Tag::Dfn | Tag::Var => self.marked(at, Mark::Emphasis),
            Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp => self.marked(at, Mark::Code),
            Tag::Del | Tag::S | Tag::Strike => self.marked(at, Mark::Struck),
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
            Tag::Button => {}
            Tag::Span if self.is_furniture(at) => {}
            _ if tag.is_block() && self.survey.hints(at).has(Hints::CAPTION) => {
                self.caption(at);
            }
            _ if tag.is_block() => {
                if let Some(level) = self.level_of(at) {
                    self.heading(at, level);
                } else if let Some(kind) = note::kind(self.dom, self.survey, at) {
                    self.note(at, &kind);
                } else {
                    self.block(at);
                }
            }
            _ => self.flow(at),
        }
    }

    pub(crate) fn text(&mut self, at: u32) {
        if self.dom.is_space(at) {
            return self.paragraph.push_space();
        }
        let text = self.dom.text(at);
        if self.dom.item(at).is_tidy {
            self.paragraph.push_tidy(text);
        } else {
            self.paragraph.push(text);
        }
    }

    /// Whether a few inline words belong to the page's furniture.
    fn is_furniture(&self, at: u32) -> bool {
        let Some(class) = self.dom.attr(at, &local_name!("class")) else { return false };
        let hints = hint::of_names(class);
        hints.has(Hints::HIDDEN) || (hints.has(Hints::BUTTONS) && hints.has(Hints::STRONG))
    }

    /// The words below a picture. A box of picture and words is no caption.
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

    fn block(&mut self, at: u32) {
        self.flush();
        self.flow(at);
        self.flush();
    }

    /// A raised number behind a number or a letter is an exponent, and must not
    /// run into it: two to the tenth is not 210.
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

    /// A line of its own that names what follows.
    fn labelled(&mut self, at: u32) {
        self.flush();
        self.paragraph.open(Mark::Strong);
        self.flow(at);
        self.paragraph.close();
        self.flush();
    }

    pub(crate) fn marked(&mut self, at: u32, mark: Mark) {
        self.paragraph.open(mark);
        self.flow(at);
        self.paragraph.close();
    }

    fn math(&mut self, source: &str) {
        if source.is_empty() {
            return;
        }
        self.paragraph.open(Mark::Math);
        self.paragraph.push(source);
        self.paragraph.close();
    }

    fn anchor(&mut self, at: u32) {
        match handle(self.dom, at) {
            Handle::Nothing => return,
            Handle::Words => {
                // The number of a note must not run into the word before it.
                let words = self.dom.words(at);
                let is_bare = !words.starts_with(['[', '(']);
                return self.paragraph.push(&if is_bare { format!("[{words}]") } else { words });
            }
            Handle::Link => {}
        }
        match self.targets.get(at) {
            Some(url) => {
                let rel = self.dom.attr(at, &local_name!("rel"));
                self.rel = rel.map(|rel| (Arc::clone(url), rel));
                let mark = Mark::Link(Arc::clone(url));
                self.marked(at, mark);
            }
            None => self.flow(at),
        }
    }

    /// Walks a node inside a line, which no block may break.
    pub(crate) fn inside(&mut self, at: u32) {
        let outer = std::mem::replace(&mut self.is_inside, true);
        self.node(at);
        self.is_inside = outer;
    }

    /// Ends the paragraph and puts it out; inside a line, ends only the line.
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
                    let rel: Vec<Str<'static>> = rel
                        .into_iter()
                        .flat_map(|(_, rel)| rel.split_ascii_whitespace())
                        .map(|rel| Str::from(rel.to_ascii_lowercase()))
                        .collect();
                    let rel = (!rel.is_empty()).then_some(rel);
                    Block::Link(Link { url, text: text.into(), rel, extra: Vec::new() })
                }
                None => Block::Text(Text { text: text.into(), extra: Vec::new() }),
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

    /// The level of an element that is a heading by its role.
    fn level_of(&self, at: u32) -> Option<u8> {
        let role = self.dom.attr(at, &local_name!("role"))?;
        let level =
            self.dom.attribute(at, "aria-level").and_then(|level| level.trim().parse().ok());
        (role == "heading").then_some(level.unwrap_or(2))
    }

    fn heading(&mut self, at: u32, level: u8) {
        self.flush();
        let outer = std::mem::replace(&mut self.is_inside, true);
        self.flow(at);
        self.is_inside = outer;
        let (text, spans) = self.paragraph.take();
        let text = one_line(text);
        // A heading that links to itself is no link.
        let here = self.base.here();
        let is_link = |span: &Span| match &span.mark {
            Mark::Link(url) => url.split_once('#').is_none_or(|(url, _)| url != here),
            _ => true,
        };
        let spans: Vec<Span> = spans.into_iter().filter(is_link).collect();
        if !text.is_empty() {
            let level = Level::clamp(level.into());
            let block = Heading { level, text: text.into(), extra: Vec::new() };
            self.push(Block::Heading(block), spans);
        }
        self.flush();
    }

    fn code(&mut self, at: u32) {
        if code::is_gutter(self.dom, at) {
            return;
        }
        self.flush();
        let text = code::text(self.dom, at, self.dropped);
        if !text.trim().is_empty() {
            let language = code::language(self.dom, at).map(Into::into);
            let block = Code { language, code: text.into(), extra: Vec::new() };
            self.push(Block::Code(block), Vec::new());
        }
    }

    /// A figure: a quotation with its source, a recording with its chapters,
    /// or a picture and its caption.
    fn figure(&mut self, at: u32) {
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

    /// Quotation marks around more than words are only an indentation.
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

    fn quote(&mut self, at: u32, source: Option<String>) {
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
                    let mark = Mark::Link(part.url.as_str().into());
                    (part.text.into_string(), vec![Span { part: 0, start: 0, end, mark }])
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
        // A citation at the end of the only paragraph.
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
        let block = Quote { text: text.into(), citation, extra: Vec::new() };
        self.push(Block::Quote(block), spans);
    }

    fn note(&mut self, at: u32, kind: &str) {
        self.flush();
        let outer = self.note.take();
        self.n_groups += 1;
        let note = Note { kind: kind.to_owned(), group: self.n_groups };
        self.note = Some(note.clone());
        let title = note::title(self.dom, at);
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
            spans.push(Span { part: 0, start: 0, end, mark: Mark::Strong });
            shift(std::mem::take(&mut rich.spans), lead.len(), &mut spans);
            block.text = text.into();
            rich.spans = spans;
        } else if first < self.out.len() || title.is_some() {
            let end = u32::try_from(label.len()).unwrap_or(u32::MAX);
            let spans = vec![Span { part: 0, start: 0, end, mark: Mark::Strong }];
            let block = Block::Text(Text { text: label.into(), extra: Vec::new() });
            let rich = Rich { spans, note: Some(note), ..Rich::default() };
            self.out.insert(first, (block, rich));
        }
        self.note = outer;
    }

    /// Walks a node, but leaves one element out.
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

    fn media(&mut self, at: u32, tag: Tag) {
        if matches!(tag, Tag::Img | Tag::Picture) {
            let Some(image) = media::image(self.dom, at, self.base) else {
                // A picture of a character.
                if let Some(alt) = media::glyph(self.dom, at) {
                    self.paragraph.push(alt);
                }
                return;
            };
            let block = Block::Image(Image { extra: Vec::new(), ..image });
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

    fn table(&mut self, at: u32) {
        self.flush();
        let Some(rows) = crate::table::rows(self, at) else {
            // Made for the layout: its cells are read one after another.
            self.flow(at);
            self.flush();
            return;
        };
        let (rows, spans, caption) = rows;
        if let Some(caption) = caption {
            self.block(caption);
        }
        if !rows.is_empty() {
            self.push(Block::Table(Table { rows, extra: Vec::new() }), spans);
        }
        // The pictures of its cells.
        self.flush();
    }

    pub(crate) fn push_list(
        &mut self,
        ordered: bool,
        start: Option<u32>,
        items: Vec<(String, Vec<Span>)>,
    ) {
        if items.is_empty() {
            return;
        }
        let (mut texts, mut spans) = (Vec::with_capacity(items.len()), Vec::new());
        for (part, (text, item_spans)) in (0..).zip(items) {
            texts.push(text.into());
            spans.extend(item_spans.into_iter().map(|span| Span { part, ..span }));
        }
        let block = Block::List(List { ordered, items: texts, extra: Vec::new() });
        self.push_rich(block, Rich { spans, start, ..Rich::default() });
    }
}

/// Moves spans behind text that was put before theirs.
pub(crate) fn shift(from: Vec<Span>, by: usize, to: &mut Vec<Span>) {
    let by = u32::try_from(by).unwrap_or(u32::MAX);
    to.extend(from.into_iter().map(|span| Span {
        start: span.start.saturating_add(by),
        end: span.end.saturating_add(by),
        ..span
    }));
}

/// Line breaks as spaces: the same number of bytes, so spans stay right.
pub(crate) fn one_line(text: String) -> String {
    if text.contains('\n') { text.replace('\n', " ") } else { text }
}

/// The address of a paragraph that is one link and nothing else.
fn lone_link(text: &str, spans: &[Span]) -> Option<HttpUrl<'static>> {
    let whole = spans.iter().find(|span| matches!(span.mark, Mark::Link(_)))?;
    if whole.start != 0 || (whole.end as usize) < text.len() {
        return None;
    }
    let Mark::Link(url) = &whole.mark else { return None };
    HttpUrl::parse(url.to_string()).ok()
}

/// The strings of a block that spans count in.
pub(crate) fn parts<'b>(block: &'b Block<'_>) -> Vec<&'b str> {
    match block {
        Block::Text(block) => vec![&block.text],
        Block::Heading(block) => vec![&block.text],
        Block::Quote(block) => vec![&block.text],
        Block::List(block) => block.items.iter().map(|item| &**item).collect(),
        Block::Table(block) => block.rows.iter().flatten().map(|cell| &**cell).collect(),
        _ => Vec::new(),
    }
}
