//! Adds the links inside a block as separate blocks behind it (D45).
//!
//! Input: blocks with their decoration, and all links of the page. Output: the same blocks, each
//! followed by its links, marked as repeats. Each URL is added once per page, compared without
//! fragment. Rejects links to the page itself and links that are not http(s) URLs.

use std::collections::{HashMap, HashSet};

use rutter_page::{Block, HttpUrl, Link, Mark, Rich, Str};

use crate::blocks::{Both, parts};
use crate::facts::PageLink;

/// The links of a page and its URL.
pub(crate) struct PageLinks<'l> {
    /// All links of the page, in document order.
    pub(crate) all: &'l [PageLink],
    /// The address of the page itself, without fragment.
    pub(crate) here: &'l str,
}

/// Puts the links of each block behind it, as long as the page has at most
/// `most` blocks; the links at its end are left out first (D36).
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
            let rich = Rich { note: note.clone(), is_repeat: true, ..Rich::default() };
            out.push((Block::Link(link), rich));
        }
    }
    out
}

/// The links to be added, each with the index of the block it stands in.
fn find(blocks: &[Both], page: &PageLinks<'_>, most: usize) -> Vec<(usize, Link<'static>)> {
    // A paragraph that is one link is a link block already.
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
            let Mark::Link(url) = &span.mark else { continue };
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
                found.push((idx, Link { url, text, rel, extra: Vec::new() }));
                seen.insert(target);
            }
        }
    }
    found
}

/// Relations of links by their address; those of the first link count.
struct Relations<'l>(HashMap<&'l str, Option<&'l str>>);

impl<'l> Relations<'l> {
    fn of(links: &'l [PageLink]) -> Self {
        let mut relations = HashMap::new();
        // Most pages have none.
        if links.iter().any(|link| link.rel.is_some()) {
            for link in links.iter().filter(|link| link.is_main) {
                relations.entry(&*link.href).or_insert(link.rel.as_deref());
            }
        }
        Self(relations)
    }

    fn get(&self, url: &str) -> Option<Vec<Str<'static>>> {
        let rel = self.0.get(url).copied().flatten()?;
        let tokens = rel.split_ascii_whitespace();
        let rel: Vec<_> = tokens.map(|token| Str::from(token.to_ascii_lowercase())).collect();
        (!rel.is_empty()).then_some(rel)
    }
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}
