//! Adds the links inside a block as separate blocks behind it (D45).
//!
//! Input: blocks with their decoration, and all links of the page. Output: the same blocks, each
//! followed by its links, marked as repeats. Each URL is added once per page, compared without
//! fragment. Rejects links to the page itself and links that are not http(s) URLs.

use std::collections::{HashMap, HashSet};

use rutter_page::{Block, BlockMarkup, CowStr, HttpUrl, InlineMark, LinkBlock};

use crate::blocks::{Both, parts};
use crate::facts::PageLink;

/// The links and the URL of a page.
pub(crate) struct PageLinks<'l> {
    /// All links of the page, in document order.
    pub(crate) all: &'l [PageLink],
    /// URL of the page, without fragment.
    pub(crate) here: &'l str,
}

/// Adds the links of each block after the block, as long as the page has at most `most` blocks. The
/// links at the end of the page are left out first (D36).
pub(crate) fn add(blocks: Vec<Both>, page: &PageLinks<'_>, most: usize) -> Vec<Both> {
    let n_free = most.saturating_sub(blocks.len());
    let added = find(&blocks, page, n_free);
    if added.is_empty() {
        return blocks;
    }
    let mut out = Vec::with_capacity(blocks.len() + added.len());
    let mut added = added.into_iter().peekable();
    for (idx, both) in blocks.into_iter().enumerate() {
        let note = both.1.note.clone();
        out.push(both);
        while let Some((_, link)) = added.next_if(|(of, _)| *of == idx) {
            let rich =
                BlockMarkup { note: note.clone(), is_repeat: true, ..BlockMarkup::default() };
            out.push((Block::Link(link), rich));
        }
    }
    out
}

/// Returns the links to add, each with the index of the block that contains it.
fn find(blocks: &[Both], page: &PageLinks<'_>, most: usize) -> Vec<(usize, LinkBlock<'static>)> {
    // A link block already exists for a paragraph that is one link.
    let mut seen: HashSet<&str> = HashSet::new();
    for (block, _) in blocks {
        if let Block::Link(link) = block {
            seen.insert(without_fragment(link.url.as_str()));
        }
    }
    let relations = Relations::of(page.all);
    let mut found = Vec::new();
    for (idx, (block, rich)) in blocks.iter().enumerate() {
        if found.len() == most {
            break;
        }
        let mut texts = Vec::new();
        for span in &rich.spans {
            let InlineMark::Link(url) = &span.mark else { continue };
            let target = without_fragment(url);
            if found.len() == most || target == page.here || seen.contains(target) {
                continue;
            }
            if texts.is_empty() {
                texts = parts(block);
            }
            let text = texts.get(span.part as usize);
            let text = text.and_then(|text| text.get(span.start as usize..span.end as usize));
            let text = text.map(str::trim).filter(|text| !text.is_empty());
            if let (Some(text), Ok(url)) = (text, HttpUrl::parse(url.to_string())) {
                let rel = relations.get(url.as_str());
                let text = text.to_owned().into();
                found.push((idx, LinkBlock { url, text, rel, extra: Vec::new() }));
                seen.insert(target);
            }
        }
    }
    found
}

/// The relations of each link URL; if several links have the same URL, those of the first link.
struct Relations<'l>(HashMap<&'l str, Option<&'l str>>);

impl<'l> Relations<'l> {
    fn of(links: &'l [PageLink]) -> Self {
        let mut relations = HashMap::new();
        // Most pages have no link with relations.
        if links.iter().any(|link| link.rel.is_some()) {
            for link in links.iter().filter(|link| link.is_main) {
                relations.entry(&*link.href).or_insert(link.rel.as_deref());
            }
        }
        Self(relations)
    }

    fn get(&self, url: &str) -> Option<Vec<CowStr<'static>>> {
        let rel = self.0.get(url).copied().flatten()?;
        let tokens = rel.split_ascii_whitespace();
        let rel: Vec<_> = tokens.map(|token| CowStr::from(token.to_ascii_lowercase())).collect();
        (!rel.is_empty()).then_some(rel)
    }
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}
