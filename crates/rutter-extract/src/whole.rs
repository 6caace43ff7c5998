//! The whole body in one pass: its visible text, its links and its
//! annotations.
//!
//! Visible text is what SPXI markers are looked for in (D70): everything in the
//! body but scripts, styles and templates, white space collapsed.

use html5ever::local_name;

use crate::address::Base;
use crate::dom::Dom;
use crate::facts::{Annotated, PageLink};
use crate::region::Region;
use crate::space::gap;
use crate::survey::{Marks, Survey};
use crate::tag::Tag;

/// What the pass found.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    pub(crate) text: String,
    pub(crate) links: Vec<PageLink>,
    pub(crate) annotated: Vec<Annotated>,
}

/// Where the links of a page lead, by element, in document order.
#[derive(Debug)]
pub(crate) struct Targets(Vec<(u32, String)>);

impl Targets {
    pub(crate) fn of(dom: &Dom, base: &Base) -> Self {
        let links = (0..).zip(&dom.items).filter(|(_, item)| item.tag == Tag::A);
        let mut targets = Vec::with_capacity(links.clone().count());
        for (at, _) in links {
            let href = dom.attr(at, &local_name!("href"));
            targets.extend(href.and_then(|href| base.resolve(href)).map(|href| (at, href)));
        }
        Self(targets)
    }

    /// Where the link of an element leads, where it leads somewhere.
    pub(crate) fn get(&self, at: u32) -> Option<&str> {
        let idx = self.0.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        self.0.get(idx).map(|(_, href)| href.as_str())
    }
}

/// An element whose end is waited for.
enum Open {
    Link { end: u32, idx: usize },
    Annotated { end: u32, idx: usize },
}

impl Whole {
    pub(crate) fn of(dom: &Dom, survey: &Survey, targets: Targets, region: &Region) -> Self {
        let mut whole = Self::default();
        whole.links.reserve(targets.0.len());
        let mut targets = targets.0.into_iter().peekable();
        let Some(body) = dom.body else {
            return whole;
        };
        let n_bytes = survey.segments.iter().map(|segment| segment.chars as usize).sum::<usize>();
        whole.text.reserve(n_bytes + n_bytes / 4);
        let mut open: Vec<Open> = Vec::new();
        // Where the blocks we are in end, the innermost last.
        let mut ends: Vec<u32> = Vec::new();
        // Up to where we are in the main content, and in something dropped.
        let (mut main_until, mut dropped_until) = (0, 0);
        let mut at = body;
        while at < dom.item(body).end {
            while let Some(last) = open.last() {
                let (Open::Link { end, .. } | Open::Annotated { end, .. }) = last;
                if at < *end {
                    break;
                }
                whole.close(last);
                open.pop();
            }
            while ends.last().is_some_and(|end| *end <= at) {
                ends.pop();
                gap(&mut whole.text);
            }
            let item = dom.item(at);
            if region.roots.contains(&at) {
                main_until = main_until.max(item.end);
            }
            if region.dropped.get(at as usize).is_some_and(Option::is_some) {
                dropped_until = dropped_until.max(item.end);
            }
            let is_main = at < main_until && dropped_until <= at;
            match item.tag {
                Tag::Text => dom.append(at, &mut whole.text),
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
                        open.push(Open::Link { end: item.end, idx: whole.links.len() });
                        whole.links.push(PageLink { href, text: start..start, rel, is_main });
                    }
                }
                tag if tag.is_block() => {
                    gap(&mut whole.text);
                    ends.push(item.end);
                }
                Tag::Br => gap(&mut whole.text),
                _ => {}
            }
            if dom.is_annotated && item.tag != Tag::Text {
                whole.annotate(dom, survey, at, &mut open);
            }
            at += 1;
        }
        while let Some(last) = open.pop() {
            whole.close(&last);
        }
        whole
    }

    fn annotate(&mut self, dom: &Dom, survey: &Survey, at: u32, open: &mut Vec<Open>) {
        if !dom.attributes(at).any(|(name, _)| name.starts_with("data-ai-")) {
            return;
        }
        let depth = open.iter().filter(|open| matches!(open, Open::Annotated { .. })).count();
        let start = self.text.len();
        open.push(Open::Annotated { end: dom.item(at).end, idx: self.annotated.len() });
        self.annotated.push(Annotated {
            element: dom.item(at).tag.name().to_owned(),
            depth,
            attributes: dom
                .attributes(at)
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            text: start..start,
            is_hidden: survey.marks[at as usize].has(Marks::UNSEEN),
        });
    }

    fn close(&mut self, open: &Open) {
        let range = match open {
            Open::Link { idx, .. } => self.links.get_mut(*idx).map(|link| &mut link.text),
            Open::Annotated { idx, .. } => {
                self.annotated.get_mut(*idx).map(|found| &mut found.text)
            }
        };
        if let Some(range) = range {
            let inner = self.text.get(range.start..).unwrap_or("");
            let start = range.start + (inner.len() - inner.trim_start().len());
            *range = start..start + inner.trim().len();
        }
    }
}
