//! Puts the links of a paragraph behind it, as blocks of their own (D45).
//!
//! Input: blocks with their decoration. Output: the same blocks, each followed
//! by its links; text of a link that is no http(s) URL stays text.

use rutter_page::{Block, HttpUrl, Link, Mark, Rich};

use crate::blocks::{Both, parts};

/// Puts the links of each block behind it, as blocks of their own.
pub(crate) fn with_links(blocks: Vec<Both>) -> Vec<Both> {
    let mut out = Vec::with_capacity(blocks.len());
    for (block, rich) in blocks {
        let mut links = Vec::new();
        let parts = parts(&block);
        for span in &rich.spans {
            let text = parts
                .get(span.part as usize)
                .and_then(|text| text.get(span.start as usize..span.end as usize));
            if let (Mark::Link(url), Some(text)) = (&span.mark, text)
                && let Ok(url) = HttpUrl::parse(url.to_string())
            {
                let link = Link { url, text: text.to_owned().into(), rel: None, extra: Vec::new() };
                links
                    .push((Block::Link(link), Rich { note: rich.note.clone(), ..Rich::default() }));
            }
        }
        drop(parts);
        out.push((block, rich));
        out.extend(links);
    }
    out
}
