//! Merges blocks until a page has no more than the allowed number (D36).
//!
//! Input: the blocks of a page. Output: at most the allowed number, with the complete text.
//! Neighbours of the same kind are merged first, then neighbours of different kinds as text;
//! headings are merged last.

use rutter_page::{Block, BlockMarkup, CowStr, InlineMark, InlineSpan, IntoOwned, TextBlock};

use crate::blocks::{Both, shift};

/// Merges neighbouring blocks until at most `most` are left, but at least one.
pub(crate) fn merge(blocks: &mut Vec<Both>, most: usize) {
    let most = most.max(1);
    let steps: [Join; 5] = [texts, lists, links, plain, anything];
    for step in steps {
        pairwise(blocks, step, MergeRule::Kept, most);
    }
    pairwise(blocks, anything, MergeRule::Crossed, most);
    // Now only headings can be merged. The deepest headings become text, not more than needed, and
    // the first ones first.
    for level in (1..=6).rev() {
        while most < blocks.len() {
            // A section whose heading becomes text is merged with the section before it.
            let n_due = (blocks.len() - most).div_ceil(2);
            let of_level = blocks.iter_mut().filter(
                |(block, _)| matches!(block, Block::Heading(it) if it.level.get() == level),
            );
            let n_turned = of_level.take(n_due).map(turn).count();
            if n_turned == 0 {
                break;
            }
            pairwise(blocks, anything, MergeRule::Crossed, most);
        }
    }
}

/// Converts a heading to a line of strong text.
fn turn((block, rich): &mut Both) {
    if let Block::Heading(heading) = block {
        let text = heading.text.clone();
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        rich.spans.insert(0, InlineSpan { part: 0, start: 0, end, mark: InlineMark::Strong });
        *block = Block::Text(TextBlock { text, extra: Vec::new() });
    }
}

/// Merges blocks without decoration, such as the blocks of a collection's line, until at most
/// `most` are left. Link blocks that repeat a link of the text before them are removed first,
/// starting at the end. The URL of a link that becomes text is added after the text of the link.
pub fn merged(mut blocks: Vec<Block<'_>>, most: usize) -> Vec<Block<'static>> {
    rutter_page::remove_repeats(&mut blocks, most);
    let mut both =
        blocks.into_iter().map(|block| (block.into_owned(), BlockMarkup::default())).collect();
    merge(&mut both, most);
    both.into_iter().map(with_urls).collect()
}

/// Returns a text block with the URL of each link after the text of the link.
fn with_urls((mut block, mut rich): Both) -> Block<'static> {
    let Block::Text(it) = &mut block else { return block };
    rich.spans.sort_by_key(|span| span.end);
    let mut text = String::new();
    let mut done = 0;
    for span in &rich.spans {
        let InlineMark::Link(url) = &span.mark else { continue };
        let (Ok(start), Ok(end)) = (usize::try_from(span.start), usize::try_from(span.end)) else {
            continue;
        };
        text.push_str(it.text.get(done..end).unwrap_or_default());
        done = end;
        if it.text.get(start..end) != Some(&**url) {
            text.push(' ');
            text.push_str(url);
        }
    }
    text.push_str(it.text.get(done..).unwrap_or_default());
    it.text = text.into();
    block
}

/// Whether blocks of different admonitions, and captions and other text, may be merged with each
/// other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MergeRule {
    Kept,
    Crossed,
}

/// A function that merges the second block into the first; returns `false` if it cannot.
type Join = fn(&mut Both, &mut Both) -> bool;

/// Merges pairs of neighbours in rounds, so that blocks grow evenly, until at most `most` are left
/// or no pair can be merged.
fn pairwise(blocks: &mut Vec<Both>, join: Join, bounds: MergeRule, most: usize) {
    while most < blocks.len() {
        let before = blocks.len();
        // Number of blocks at the front of the list that this round has completed.
        let mut n_closed = 0;
        // Whether the last completed block is not yet the result of a merge in this round.
        let mut is_fresh = false;
        for at in 0..before {
            let n_left = n_closed + (before - at);
            let (front, rest) = blocks.split_at_mut(at);
            let is_taken = match (n_closed.checked_sub(1), rest.first_mut()) {
                (Some(last), Some(next)) if is_fresh && most < n_left => {
                    let last = &mut front[last];
                    let is_alike =
                        last.1.note == next.1.note && last.1.is_caption == next.1.is_caption;
                    (is_alike || bounds == MergeRule::Crossed) && join(last, next)
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
    last.1.spans.extend(spans.map(|span| InlineSpan { part: span.part + first, ..span }));
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
    let mark = InlineMark::Link(link.url.as_str().into());
    last.1.spans.push(InlineSpan { part: 0, start, end, mark });
    before.text = text.into();
    true
}

/// Merges texts, lists, links and quotations to one text.
fn plain(last: &mut Both, next: &mut Both) -> bool {
    let is_plain = |block: &Block<'_>| {
        matches!(block, Block::Text(_) | Block::List(_) | Block::Link(_) | Block::Quote(_))
    };
    is_plain(&last.0) && is_plain(&next.0) && anything(last, next)
}

/// Merges all blocks except headings to one text.
fn anything(last: &mut Both, next: &mut Both) -> bool {
    if matches!(last.0, Block::Heading(_)) || matches!(next.0, Block::Heading(_)) {
        return false;
    }
    flatten(last);
    flatten(next);
    texts(last, next)
}

/// Converts a block to a text block with the same text; the URLs of media are kept as text.
fn flatten((block, rich): &mut Both) {
    let at = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut joined = String::new();
    let mut starts = Vec::new();
    let mut add = |part: &str, before: &str| {
        if !joined.is_empty() {
            joined.push_str(before);
        }
        starts.push(at(&joined));
        joined.push_str(part);
    };
    match block {
        Block::Link(link) => {
            add(&link.text, "");
            let (end, mark) = (at(&link.text), InlineMark::Link(link.url.as_str().into()));
            rich.spans.push(InlineSpan { part: 0, start: 0, end, mark });
        }
        Block::Image(image) => {
            add(&image.alt, "");
            add(image.url.as_str(), " ");
        }
        Block::List(list) => list.items.iter().for_each(|item| add(item, "\n")),
        Block::Code(code) => add(&code.code, ""),
        Block::Table(table) => {
            for row in &table.rows {
                for (n, cell) in row.iter().enumerate() {
                    add(cell, if n == 0 { "\n" } else { "\t" });
                }
            }
        }
        Block::Quote(quote) => {
            add(&quote.text, "");
            quote.citation.iter().for_each(|citation| add(citation, "\n"));
        }
        Block::Video(video) => {
            add(&video.name, "");
            add(video.url.first(), " ");
        }
        Block::Audio(audio) => {
            add(&audio.name, "");
            add(audio.url.first(), " ");
        }
        Block::Unknown(unknown) => add(unknown.raw.get(), ""),
        _ => return,
    }
    for span in &mut rich.spans {
        let by = usize::try_from(span.part).ok().and_then(|part| starts.get(part)).copied();
        let by = by.unwrap_or(0);
        *span = InlineSpan {
            part: 0,
            start: span.start + by,
            end: span.end + by,
            mark: span.mark.clone(),
        };
    }
    rich.start = None;
    *block = Block::Text(TextBlock { text: CowStr::from(joined), extra: Vec::new() });
}
