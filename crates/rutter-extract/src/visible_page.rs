//! Reads the whole body in one pass: its visible text, its links and its annotations.
//!
//! Input: the tree, the survey and the region. Output: [`VisiblePage`]. The visible text, in which SPXI
//! markers are searched (D70), is everything in the body except scripts, styles and templates,
//! with collapsed white space and one line per block. Text that the page hides is included; its
//! ranges are listed separately.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use html5ever::local_name;

use crate::address::BaseUrl;
use crate::dom::Dom;
use crate::facts::{AnnotatedElement, PageLink};
use crate::region::MainRegion;
use crate::space::{end_line, gap, trim_end, trim_start};
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;
use crate::visibility::{is_hidden, is_unrendered};

/// The visible text, links, annotations and hidden ranges of a page.
#[derive(Debug, Default)]
pub(crate) struct VisiblePage {
    pub(crate) text: String,
    pub(crate) links: Vec<PageLink>,
    pub(crate) annotated: Vec<AnnotatedElement>,
    pub(crate) hidden: Vec<Range<usize>>,
}

/// The target URLs of the links of a page, by element, in document order.
#[derive(Debug)]
pub(crate) struct LinkTargets {
    all: Vec<(u32, Arc<str>)>,
    /// Index of the entry after the previous lookup.
    next: Cell<usize>,
}

impl LinkTargets {
    pub(crate) fn of(dom: &Dom, base: &BaseUrl) -> Self {
        let mut targets: Vec<(u32, Arc<str>)> = Vec::with_capacity(dom.n_links);
        let mut buffer = String::new();
        for (at, _) in (0..).zip(&dom.items).filter(|(_, item)| item.tag == Tag::A) {
            let href = dom.attr(at, &local_name!("href"));
            if href.is_some_and(|href| base.resolve_into(href, &mut buffer)) {
                // Consecutive links often have the same target.
                let same = targets.last().map(|(_, last)| last).filter(|last| ***last == *buffer);
                let target = same.map_or_else(|| Arc::from(buffer.as_str()), Arc::clone);
                targets.push((at, target));
            }
        }
        Self { all: targets, next: Cell::new(0) }
    }

    /// Returns the target URL of a link element, if it has one.
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

/// A link, annotated element or hidden element that is still open in the pass over the body.
enum OpenRange {
    Link { end: u32, idx: usize },
    Annotated { end: u32, idx: usize },
    Hidden { end: u32 },
}

impl OpenRange {
    fn end(&self) -> u32 {
        let (Self::Link { end, .. } | Self::Annotated { end, .. } | Self::Hidden { end }) = self;
        *end
    }
}

/// Tests whether items are in the main content; must be called in document order.
struct MainContentTester<'w> {
    dom: &'w Dom,
    region: &'w MainRegion,
    /// Index of the first item that was not visited.
    seen: u32,
    /// End of the current dropped element.
    dropped_until: u32,
}

impl MainContentTester<'_> {
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

impl VisiblePage {
    pub(crate) fn of(
        dom: &Dom,
        survey: &PageSurvey,
        targets: LinkTargets,
        region: &MainRegion,
        base: &BaseUrl,
    ) -> Self {
        let mut whole = Self::default();
        whole.links.reserve(targets.all.len());
        let mut targets = targets.all.into_iter().peekable();
        let Some(body) = dom.body else { return whole };
        let n_bytes = survey.segments.iter().map(|segment| segment.chars as usize).sum::<usize>();
        whole.text.reserve(n_bytes + n_bytes / 4);
        let mut open: Vec<OpenRange> = Vec::new();
        // Ends of the open block elements, the innermost last.
        let mut ends: Vec<u32> = Vec::new();
        // End of the current hidden element.
        let mut hidden_until = 0;
        let mut main = MainContentTester { dom, region, seen: body, dropped_until: 0 };
        let mut notes = AnnotationInput { dom, survey, base, labels: None };
        // Attributes of the root element apply to the page.
        let root = dom.item(body).parent;
        if dom.is_annotated && (root as usize) < dom.items.len() {
            whole.annotate(&mut notes, root, &mut open);
        }
        let mut at = body;
        while at < dom.item(body).end {
            whole.close_before(at, &mut open);
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
                    // Skips the links in templates and drawings, which the pass does not visit.
                    while targets.next_if(|(before, _)| *before < at).is_some() {}
                    if let Some((_, href)) = targets.next_if(|(here, _)| *here == at) {
                        let start = whole.text.len();
                        let rel = dom.attr(at, &local_name!("rel")).map(str::to_owned);
                        let is_main = main.has(at);
                        open.push(OpenRange::Link { end: item.end, idx: whole.links.len() });
                        whole.links.push(PageLink { href, text: start..start, rel, is_main });
                    }
                }
                Tag::Br => gap(&mut whole.text),
                _ => {}
            }
            if hidden_until <= at
                && survey.marks(at).has(InheritedMarks::UNSEEN)
                && is_unrendered(dom, at)
            {
                hidden_until = item.end;
                whole.hidden.push(whole.text.len()..whole.text.len());
                open.push(OpenRange::Hidden { end: item.end });
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

    /// Closes the ranges that end before a node.
    fn close_before(&mut self, at: u32, open: &mut Vec<OpenRange>) {
        while let Some(last) = open.pop_if(|last| last.end() <= at) {
            self.close(&last);
        }
    }

    fn annotate(&mut self, notes: &mut AnnotationInput<'_>, at: u32, open: &mut Vec<OpenRange>) {
        let (dom, survey) = (notes.dom, notes.survey);
        let item = dom.item(at);
        let depth = open.iter().filter(|open| matches!(open, OpenRange::Annotated { .. })).count();
        let is_annotated = dom.attributes(at).any(|(name, _)| name.starts_with("data-ai-"));
        let is_filled = matches!(item.tag, Tag::Textarea | Tag::Select);
        if !is_annotated && (depth == 0 || !(is_filled || is_hidden(dom, at))) {
            return;
        }
        // An input element has no text of its own and counts as hidden in the survey, so its own
        // attributes and its parent decide.
        let is_unseen = |at: u32| survey.marks(at).has(InheritedMarks::UNSEEN);
        let is_hidden = is_unseen(at)
            && (!item.tag.is_silent()
                || is_hidden(dom, at)
                || dom.ancestors(at).nth(1).is_some_and(is_unseen));
        let is_field = dom.attribute(at, "data-ai-field").is_some();
        let target = dom.attr(at, &local_name!("href")).or(dom.attr(at, &local_name!("src")));
        let start = self.text.len();
        open.push(OpenRange::Annotated { end: item.end, idx: self.annotated.len() });
        self.annotated.push(AnnotatedElement {
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

    fn close(&mut self, open: &OpenRange) {
        let range = match open {
            OpenRange::Hidden { .. } => {
                // Hidden ranges are not nested, so the last one is the one that ends.
                if let Some(range) = self.hidden.last_mut() {
                    range.end = self.text.len();
                }
                return;
            }
            OpenRange::Link { idx, .. } => self.links.get_mut(*idx).map(|link| &mut link.text),
            OpenRange::Annotated { idx, .. } => {
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

/// Data of the page from which annotations are read.
struct AnnotationInput<'n> {
    dom: &'n Dom,
    survey: &'n PageSurvey,
    base: &'n BaseUrl,
    /// The `label` elements by their `for` attribute, collected on first use.
    labels: Option<BTreeMap<&'n str, u32>>,
}

impl AnnotationInput<'_> {
    /// Returns the label text of a form field, without the content of the field.
    fn label(&mut self, at: u32) -> Option<String> {
        // Labels are short, so the search is limited.
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
