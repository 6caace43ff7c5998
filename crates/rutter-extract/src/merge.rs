//! Brings a page below the number of blocks the format allows (D36), without
//! losing a word.

use rutter_page::{Block, Text};

use crate::blocks::{Both, shift};
use rutter_page::{Mark, Span};

/// Merges blocks, one kind of neighbours after another, until at most `most`
/// are left. Tells whether that was possible.
pub(crate) fn merge(blocks: &mut Vec<Both>, most: usize) -> bool {
    let steps: [Join; 3] = [texts, lists, links];
    for step in steps {
        pairwise(blocks, step, most);
    }
    // Headings become lines of the text, the deepest first.
    for level in (1..=6).rev() {
        if blocks.len() <= most {
            return true;
        }
        for (block, rich) in blocks.iter_mut() {
            if let Block::Heading(heading) = block
                && heading.level.get() == level
            {
                let text = heading.text.clone();
                let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
                rich.spans.insert(0, Span { part: 0, start: 0, end, mark: Mark::Strong });
                *block = Block::Text(Text { text, extra: Vec::new() });
            }
        }
        pairwise(blocks, texts, most);
        pairwise(blocks, links, most);
        pairwise(blocks, texts, most);
    }
    blocks.len() <= most
}

/// A block takes the next one, or hands it back.
type Join = fn(&mut Both, Both) -> Option<Both>;

/// Merges pairs of neighbours, round by round, so that blocks grow evenly,
/// until at most `most` are left or none fit together.
fn pairwise(blocks: &mut Vec<Both>, join: Join, most: usize) {
    while most < blocks.len() {
        let before = blocks.len();
        let mut n_left = before;
        let mut out: Vec<Both> = Vec::with_capacity(before);
        // Whether the last block has not taken another in this round.
        let mut is_fresh = false;
        for block in blocks.drain(..) {
            let rest = match out.last_mut() {
                Some(last)
                    if is_fresh
                        && most < n_left
                        && last.1.note == block.1.note
                        && last.1.is_caption == block.1.is_caption =>
                {
                    join(last, block)
                }
                _ => Some(block),
            };
            is_fresh = rest.is_some();
            n_left -= usize::from(rest.is_none());
            out.extend(rest);
        }
        *blocks = out;
        if blocks.len() <= most || blocks.len() == before {
            return;
        }
    }
}

fn texts(last: &mut Both, next: Both) -> Option<Both> {
    let (Block::Text(before), Block::Text(after)) = (&mut last.0, &next.0) else {
        return Some(next);
    };
    let mut text = std::mem::take(&mut before.text).into_string();
    text.push_str("\n\n");
    shift(next.1.spans, text.len(), &mut last.1.spans);
    text.push_str(&after.text);
    before.text = text.into();
    None
}

fn lists(last: &mut Both, next: Both) -> Option<Both> {
    let (Block::List(before), Block::List(after)) = (&mut last.0, &next.0) else {
        return Some(next);
    };
    if before.ordered != after.ordered {
        return Some(next);
    }
    let first = u32::try_from(before.items.len()).unwrap_or(u32::MAX);
    last.1
        .spans
        .extend(next.1.spans.into_iter().map(|span| Span { part: span.part + first, ..span }));
    before.items.extend(after.items.iter().cloned());
    None
}

fn links(last: &mut Both, next: Both) -> Option<Both> {
    let (Block::Text(before), Block::Link(link)) = (&mut last.0, &next.0) else {
        return Some(next);
    };
    let mut text = std::mem::take(&mut before.text).into_string();
    text.push('\n');
    let start = u32::try_from(text.len()).unwrap_or(u32::MAX);
    text.push_str(&link.text);
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mark = Mark::Link(link.url.as_str().to_owned());
    last.1.spans.push(Span { part: 0, start, end, mark });
    before.text = text.into();
    None
}
