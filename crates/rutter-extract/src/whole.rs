//! The whole body in one pass: its visible text, its links and its
//! annotations.
//!
//! Visible text is what SPXI markers are looked for in (D70): everything in the
//! body but scripts, styles and templates, white space collapsed. Blocks are
//! lines; within a block there are no line breaks. What the page itself hides
//! stays in, and is told by its range.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use html5ever::local_name;

use crate::address::Base;
use crate::dom::Dom;
use crate::facts::{Annotated, PageLink};
use crate::region::Region;
use crate::space::{end_line, gap, trim_end, trim_start};
use crate::survey::{Marks, Survey, is_hidden, is_unrendered};
use crate::tag::Tag;

/// What the pass found.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    pub(crate) text: String,
    pub(crate) links: Vec<PageLink>,
    pub(crate) annotated: Vec<Annotated>,
    pub(crate) hidden: Vec<Range<usize>>,
}

/// Where the links of a page lead, by element, in document order.
#[derive(Debug)]
pub(crate) struct Targets {
    all: Vec<(u32, Arc<str>)>,
    /// Behind the one that was asked for last.
    next: Cell<usize>,
}

impl Targets {
    pub(crate) fn of(dom: &Dom, base: &Base) -> Self {
        let mut targets: Vec<(u32, Arc<str>)> = Vec::with_capacity(dom.n_links);
        let mut buffer = String::new();
        for (at, _) in (0..).zip(&dom.items).filter(|(_, item)| item.tag == Tag::A) {
            let href = dom.attr(at, &local_name!("href"));
            if href.is_some_and(|href| base.resolve_into(href, &mut buffer)) {
                // Neighbours often lead to one place.
                let same = targets.last().map(|(_, last)| last).filter(|last| ***last == *buffer);
                let target = same.map_or_else(|| Arc::from(buffer.as_str()), Arc::clone);
                targets.push((at, target));
            }
        }
        Self { all: targets, next: Cell::new(0) }
    }

    /// Where the link of an element leads, where it leads somewhere.
    pub(crate) fn get(&self, at: u32) -> Option<&Arc<str>> {
        let is_next = self.all.get(self.next.get()).is_some_and(|(next, _)| *next == at);
        let idx = if is_next {
            self.next.get()
        } else {
            self.all.binary_search_by_key(&at, |(at, _)| *at).ok()?
        };
        self.next.set(idx + 1);
        self.all.get(idx).map(|(_, href)| href)
    }
}

/// An element whose end is waited for.
enum Open {
    Link { end: u32, idx: usize },
    Annotated { end: u32, idx: usize },
    Hidden { end: u32 },
}

impl Open {
    fn end(&self) -> u32 {
        let (Self::Link { end, .. } | Self::Annotated { end, .. } | Self::Hidden { end }) = self;
        *end
    }
}

/// Tells what lies in the main content; asked in document order.
struct Main<'w> {
    dom: &'w Dom,
    region: &'w Region,
    /// The first item that was not looked at.
    seen: u32,
    /// Up to where something is dropped.
    dropped_until: u32,
}

impl Main<'_> {
    fn has(&mut self, at: u32) -> bool {
        let dropped = self.region.dropped.get(self.seen as usize..=at as usize);
        for (here, reason) in (self.seen..).zip(dropped.unwrap_or_default()) {
            if reason.is_some() {
                self.dropped_until = self.dropped_until.max(self.dom.item(here).end);
            }
        }
        self.seen = at + 1;
        self.dropped_until <= at
            && self.region.roots.iter().any(|root| self.dom.subtree(*root).contains(&at))
    }
}

impl Whole {
    pub(crate) fn of(
        dom: &Dom,
        survey: &Survey,
        targets: Targets,
        region: &Region,
        base: &Base,
    ) -> Self {
        let mut whole = Self::default();
        whole.links.reserve(targets.all.len());
        let mut targets = targets.all.into_iter().peekable();
        let Some(body) = dom.body else {
            return whole;
        };
        let n_bytes = survey.segments.iter().map(|segment| segment.chars as usize).sum::<usize>();
        whole.text.reserve(n_bytes + n_bytes / 4);
        let mut open: Vec<Open> = Vec::new();
        // Where the blocks we are in end, the innermost last.
        let mut ends: Vec<u32> = Vec::new();
        // Up to where something is hidden.
        let mut hidden_until = 0;
        let mut main = Main { dom, region, seen: body, dropped_until: 0 };
        let mut notes = Notes { dom, survey, base, labels: None };
        // What stands on the root is said of the page.
        let root = dom.item(body).parent;
        if dom.is_annotated && (root as usize) < dom.items.len() {
            whole.annotate(&mut notes, root, &mut open);
        }
        let mut at = body;
        while at < dom.item(body).end {
            while let Some(last) = open.last() {
                if at < last.end() {
                    break;
                }
                whole.close(last);
                open.pop();
            }
            while ends.last().is_some_and(|end| *end <= at) {
                ends.pop();
                end_line(&mut whole.text);
            }
            let item = dom.item(at);
            if item.tag == Tag::Text {
                dom.append(at, &mut whole.text);
                at += 1;
                continue;
            }
            match item.tag {
                tag if tag.is_block() && tag != Tag::Template => {
                    end_line(&mut whole.text);
                    ends.push(item.end);
                }
                Tag::Script | Tag::Style | Tag::Template | Tag::Svg => {
                    at = item.end;
                    continue;
                }
                Tag::A => {
                    // Those in templates and pictures were passed by.
                    while targets.next_if(|(before, _)| *before < at).is_some() {}
                    if let Some((_, href)) = targets.next_if(|(here, _)| *here == at) {
                        let start = whole.text.len();
                        let rel = dom.attr(at, &local_name!("rel")).map(str::to_owned);
                        let is_main = main.has(at);
                        open.push(Open::Link { end: item.end, idx: whole.links.len() });
                        whole.links.push(PageLink { href, text: start..start, rel, is_main });
                    }
                }
                Tag::Br => gap(&mut whole.text),
                _ => {}
            }
            if hidden_until <= at && survey.marks(at).has(Marks::UNSEEN) && is_unrendered(dom, at) {
                hidden_until = item.end;
                whole.hidden.push(whole.text.len()..whole.text.len());
                open.push(Open::Hidden { end: item.end });
            }
            if dom.is_annotated {
                whole.annotate(&mut notes, at, &mut open);
            }
            at += 1;
        }
        while let Some(last) = open.pop() {
            whole.close(&last);
        }
        whole
    }

    fn annotate(&mut self, notes: &mut Notes<'_>, at: u32, open: &mut Vec<Open>) {
        let (dom, survey) = (notes.dom, notes.survey);
        let item = dom.item(at);
        let depth = open.iter().filter(|open| matches!(open, Open::Annotated { .. })).count();
        let is_annotated = dom.attributes(at).any(|(name, _)| name.starts_with("data-ai-"));
        let is_filled = matches!(item.tag, Tag::Textarea | Tag::Select);
        if !is_annotated && (depth == 0 || !(is_filled || is_hidden(dom, at))) {
            return;
        }
        // An input says nothing itself, which does not put it out of sight.
        let is_unseen = |at: u32| survey.marks(at).has(Marks::UNSEEN);
        let is_hidden = is_unseen(at)
            && (!item.tag.is_silent()
                || is_hidden(dom, at)
                || dom.ancestors(at).nth(1).is_some_and(is_unseen));
        let is_field = dom.attribute(at, "data-ai-field").is_some();
        let target = dom.attr(at, &local_name!("href")).or(dom.attr(at, &local_name!("src")));
        let start = self.text.len();
        open.push(Open::Annotated { end: item.end, idx: self.annotated.len() });
        self.annotated.push(Annotated {
            element: item.tag.name().to_owned(),
            depth,
            attributes: dom
                .attributes(at)
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            text: start..start,
            is_hidden,
            label: if is_field { notes.label(at) } else { None },
            target: target.and_then(|target| notes.base.resolve(target)),
        });
    }

    fn close(&mut self, open: &Open) {
        let range = match open {
            Open::Hidden { .. } => {
                // They do not lie in each other.
                if let Some(range) = self.hidden.last_mut() {
                    range.end = self.text.len();
                }
                return;
            }
            Open::Link { idx, .. } => self.links.get_mut(*idx).map(|link| &mut link.text),
            Open::Annotated { idx, .. } => {
                self.annotated.get_mut(*idx).map(|found| &mut found.text)
            }
        };
        if let Some(range) = range {
            let inner = self.text.get(range.start..).unwrap_or("");
            let trimmed = trim_start(inner);
            let start = range.start + (inner.len() - trimmed.len());
            *range = start..start + trim_end(trimmed).len();
        }
    }
}

/// What annotations are read with.
struct Notes<'n> {
    dom: &'n Dom,
    survey: &'n Survey,
    base: &'n Base,
    /// The `label` elements by what they are for, once a field asks.
    labels: Option<BTreeMap<&'n str, u32>>,
}

impl Notes<'_> {
    /// What the label of a field says, without what the field holds.
    fn label(&mut self, at: u32) -> Option<String> {
        // A label is a few words; no page is looked through for more.
        const MOST_ITEMS: u32 = 1000;
        let dom = self.dom;
        let labels = self.labels.get_or_insert_with(|| {
            let all = (0..).zip(&dom.items).filter(|(_, item)| item.tag == Tag::Label);
            let name = |at: u32| dom.attr(at, &local_name!("for"));
            all.filter_map(|(at, _)| Some((name(at)?, at))).collect()
        });
        let named = dom.attr(at, &local_name!("id")).and_then(|id| labels.get(id).copied());
        let around = || dom.ancestors(at).find(|at| dom.item(*at).tag == Tag::Label);
        let label = named.or_else(around)?;
        let end = dom.item(label).end.min(label + MOST_ITEMS);
        let mut text = String::new();
        let mut at = label;
        while at < end {
            let item = dom.item(at);
            match item.tag {
                Tag::Text => dom.append(at, &mut text),
                Tag::Textarea | Tag::Select | Tag::Script | Tag::Style | Tag::Template => {
                    at = item.end;
                    continue;
                }
                tag if tag.is_block() => gap(&mut text),
                _ => {}
            }
            at += 1;
        }
        let text = trim_end(trim_start(&text));
        (!text.is_empty()).then(|| text.to_owned())
    }
}
