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

/// A block takes what the next one holds, or tells that it cannot.
type Join = fn(&mut Both, &mut Both) -> bool;

/// Merges pairs of neighbours, round by round, so that blocks grow evenly,
/// until at most `most` are left or none fit together.
fn pairwise(blocks: &mut Vec<Both>, join: Join, most: usize) {
    while most < blocks.len() {
        let before = blocks.len();
        // How many blocks stand, closed up, at the front.
        let mut n_closed = 0;
        // Whether the last of them has not taken another in this round.
        let mut is_fresh = false;
        for at in 0..before {
            let n_left = n_closed + (before - at);
            let (front, rest) = blocks.split_at_mut(at);
            let is_taken = match (n_closed.checked_sub(1), rest.first_mut()) {
                (Some(last), Some(next)) if is_fresh && most < n_left => {
                    let last = &mut front[last];
                    last.1.note == next.1.note
                        && last.1.is_caption == next.1.is_caption
                        && join(last, next)
                }
                _ => false,
            };
            is_fresh = !is_taken;
            if !is_taken {
                if n_closed != at {
                    blocks.swap(n_closed, at);
                }
                n_closed += 1;
            }
        }
        blocks.truncate(n_closed);
        if n_closed == before {
            return;
        }
    }
}

fn texts(last: &mut Both, next: &mut Both) -> bool {
    let (Block::Text(before), Block::Text(after)) = (&mut last.0, &next.0) else {
        return false;
    };
    let mut text = std::mem::take(&mut before.text).into_string();
    text.push_str("\n\n");
    shift(std::mem::take(&mut next.1.spans), text.len(), &mut last.1.spans);
    text.push_str(&after.text);
    before.text = text.into();
    true
}

fn lists(last: &mut Both, next: &mut Both) -> bool {
    let (Block::List(before), Block::List(after)) = (&mut last.0, &mut next.0) else {
        return false;
    };
    if before.ordered != after.ordered {
        return false;
    }
    let first = u32::try_from(before.items.len()).unwrap_or(u32::MAX);
    let spans = next.1.spans.drain(..);
    last.1.spans.extend(spans.map(|span| Span { part: span.part + first, ..span }));
    before.items.append(&mut after.items);
    true
}

fn links(last: &mut Both, next: &mut Both) -> bool {
    let (Block::Text(before), Block::Link(link)) = (&mut last.0, &next.0) else {
        return false;
    };
    let mut text = std::mem::take(&mut before.text).into_string();
    text.push('\n');
    let start = u32::try_from(text.len()).unwrap_or(u32::MAX);
    text.push_str(&link.text);
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mark = Mark::Link(link.url.as_str().into());
    last.1.spans.push(Span { part: 0, start, end, mark });
    before.text = text.into();
    true
}
