//! Finds link blocks that repeat a link of the text before them (D45).
//!
//! The text of an SCP block is plain, so a link inside a paragraph is a separate block after the
//! paragraph. Renderers must not show its text twice. A link block is a repetition if its text
//! occurs in the preceding block as whole words and in order; otherwise it is content.

use std::sync::Arc;

use crate::block::Block;
use crate::markup::{BlockMarkup, InlineMark, InlineSpan};
use crate::page::Page;

/// Maximum number of links after a block whose text does not occur in the block. After that many,
/// the remaining links count as content without a search, because each search scans the whole
/// block.
const MOST_MISSES: usize = 8;

/// A link block that repeats a text range of an earlier block.
struct RepeatedLink {
    /// Index of the link block.
    link: usize,
    /// Index of the block with the text range.
    of: usize,
    part: u32,
    start: usize,
    end: usize,
}

impl Page<'_> {
    /// Returns the blocks that a renderer shows: all blocks except link blocks that repeat a link
    /// of the text before them.
    pub fn read_blocks(&self) -> impl Iterator<Item = (usize, &Block<'_>)> {
        let mut repeats = repeats(&self.content).into_iter().map(|repeat| repeat.link).peekable();
        let blocks = self.content.iter().enumerate();
        blocks.filter(move |(idx, _)| repeats.next_if_eq(idx).is_none())
    }

    /// Derives markup from the link blocks of a page, for a page without known markup.
    pub(crate) fn rich_of_links(&self) -> Vec<BlockMarkup> {
        let repeats = repeats(&self.content);
        if repeats.is_empty() {
            return Vec::new();
        }
        let mut rich = vec![BlockMarkup::default(); self.content.len()];
        for RepeatedLink { link, of, part, start, end } in repeats {
            let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else { continue };
            let Some(Block::Link(block)) = self.content.get(link) else { continue };
            let mark = InlineMark::Link(Arc::from(block.url.as_str()));
            if let Some(rich) = rich.get_mut(of) {
                rich.spans.push(InlineSpan { part, start, end, mark });
            }
            if let Some(rich) = rich.get_mut(link) {
                rich.is_repeat = true;
            }
        }
        rich
    }
}

/// Removes link blocks that repeat a link of the text before them, starting at the end, until at
/// most `most` blocks or no such link blocks are left.
pub fn remove_repeats(blocks: &mut Vec<Block<'_>>, most: usize) {
    let n_over = blocks.len().saturating_sub(most);
    if n_over == 0 {
        return;
    }
    let repeats = repeats(blocks);
    let n_kept = repeats.len().saturating_sub(n_over);
    let mut removed = repeats.into_iter().skip(n_kept).map(|repeat| repeat.link).peekable();
    let mut idx = 0;
    blocks.retain(|_| {
        let is_kept = removed.next_if_eq(&idx).is_none();
        idx += 1;
        is_kept
    });
}

/// Returns all repeated links, in the order of the blocks.
fn repeats(blocks: &[Block<'_>]) -> Vec<RepeatedLink> {
    let mut found = Vec::new();
    let mut idx = 0;
    while idx < blocks.len() {
        let links = blocks.get(idx + 1..).unwrap_or_default();
        let links = links.iter().map_while(|block| match block {
            Block::Link(link) => Some(&*link.text),
            _ => None,
        });
        idx += find_repeats_after(blocks, idx, links, &mut found);
    }
    found
}

/// Searches a block for the texts of the links that follow it; returns the number of blocks
/// processed.
fn find_repeats_after<'b>(
    blocks: &'b [Block<'_>],
    of: usize,
    links: impl Iterator<Item = &'b str>,
    found: &mut Vec<RepeatedLink>,
) -> usize {
    let mut parts = None;
    // End of the last link that was found.
    let (mut part, mut from, mut n_misses) = (0, 0, 0);
    let mut n_seen = 1;
    for (link, text) in (of + 1..).zip(links) {
        n_seen += 1;
        if text.is_empty() || MOST_MISSES <= n_misses {
            continue;
        }
        let parts = parts.get_or_insert_with(|| parts_of(blocks.get(of)));
        match find(parts, (part, from), text) {
            Some((at, start)) => {
                (part, from) = (at, start + text.len());
                let number = u32::try_from(at).unwrap_or(u32::MAX);
                found.push(RepeatedLink { link, of, part: number, start, end: from });
            }
            None => n_misses += 1,
        }
    }
    n_seen
}

/// Returns the strings of a block, in the order that spans index them.
fn parts_of<'b>(block: Option<&'b Block<'_>>) -> Vec<&'b str> {
    match block {
        Some(Block::Text(block)) => vec![&block.text],
        Some(Block::Heading(block)) => vec![&block.text],
        Some(Block::Quote(block)) => vec![&block.text],
        Some(Block::List(block)) => block.items.iter().map(|item| &**item).collect(),
        Some(Block::Table(block)) => block.rows.iter().flatten().map(|cell| &**cell).collect(),
        _ => Vec::new(),
    }
}

/// Returns the part and the position at which a text occurs as whole words.
fn find(parts: &[&str], (part, from): (usize, usize), text: &str) -> Option<(usize, usize)> {
    for (idx, whole) in parts.iter().enumerate().skip(part) {
        let from = if idx == part { from } else { 0 };
        let rest = whole.get(from..).unwrap_or_default();
        let is_whole = |at: usize| {
            let (before, behind) = (whole.get(..from + at), whole.get(from + at + text.len()..));
            !is_cut(before.and_then(|it| it.chars().next_back()), text.chars().next())
                && !is_cut(text.chars().next_back(), behind.and_then(|it| it.chars().next()))
        };
        if let Some((at, _)) = rest.match_indices(text).find(|(at, _)| is_whole(*at)) {
            return Some((idx, from + at));
        }
    }
    None
}

/// Returns whether two adjacent characters belong to the same word.
fn is_cut(left: Option<char>, right: Option<char>) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    left.is_some_and(is_of_word) && right.is_some_and(is_of_word)
}

/// Returns whether a character belongs to a script without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..)
}
