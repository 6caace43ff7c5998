//! Hashes the lines and the layout of a page, so that pages can be compared.

use std::collections::BTreeSet;

use html5ever::local_name;

use super::{FEWEST_WORDS, LineHashes, MOST_STAMP};
use crate::date::month_of;
use crate::dom::Dom;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;

/// Properties of a line, from which its shape was computed.
struct LineShape {
    /// Number of words that are neither numbers nor parts of dates.
    n_words: usize,
    is_open: bool,
}

/// Writes the shape of a line, in which each number or date is replaced: `Built on # by the office`
/// for `Built on 1 May 2026 by the office`.
fn shape(words: &str, out: &mut String) -> LineShape {
    out.clear();
    if !words.bytes().any(|byte| byte.is_ascii_digit()) {
        out.push_str(words.trim_ascii());
        let n_words = words.split_ascii_whitespace().take(FEWEST_WORDS).count();
        return LineShape { n_words, is_open: false };
    }
    let words: Vec<&str> = words.split_ascii_whitespace().collect();
    let mut is_open: Vec<bool> =
        words.iter().map(|word| word.bytes().any(|byte| byte.is_ascii_digit())).collect();
    // Names of months, days and time zones beside a number or another such name are part of a date.
    let is_named = |word: &str| {
        let name = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_short = name.len() <= 4 && name.starts_with(|c: char| c.is_ascii_uppercase());
        is_short || name.ends_with("day") || name.ends_with("tag") || month_of(name).is_some()
    };
    for at in (0..words.len().saturating_sub(1)).rev() {
        is_open[at] = is_open[at] || (is_open[at + 1] && is_named(words[at]));
    }
    for at in 1..words.len() {
        is_open[at] = is_open[at] || (is_open[at - 1] && is_named(words[at]));
    }
    let mut n_words = 0;
    for (word, is_open) in words.iter().zip(is_open) {
        if !is_open {
            n_words += 1;
            out.push_str(word);
            out.push(' ');
        } else if !out.ends_with('\n') {
            out.push('\n');
        }
    }
    LineShape { n_words, is_open: true }
}

/// Returns the hashes of every segment.
pub(crate) fn lines(dom: &Dom, survey: &PageSurvey) -> Vec<LineHashes> {
    let (mut words, mut shaped) = (String::new(), String::new());
    let mut out = Vec::with_capacity(survey.segments.len());
    for (idx, segment) in survey.segments.iter().enumerate() {
        words.clear();
        let block = dom.item(segment.block);
        let end = survey.segments.get(idx + 1).map_or(block.end, |next| next.at.min(block.end));
        for at in segment.at..end {
            dom.append(at, &mut words);
        }
        // Hash of the place: the block element and the three elements above it.
        let mut hash = FnvHash::new();
        for up in dom.ancestors(segment.block).take(4) {
            place(dom, up, &mut hash);
        }
        let place = hash;
        hash.write(words.trim().as_bytes());
        let whole = hash.0;
        let mut line = LineHashes { whole, shape: None, is_open: false, place: place.0 };
        // A long paragraph is not a stamp.
        if words.len() <= MOST_STAMP {
            let found = shape(&words, &mut shaped);
            line.is_open = found.is_open;
            let is_known = FEWEST_WORDS <= found.n_words;
            if is_known || found.is_open {
                let mut hash = if is_known { FnvHash::new() } else { place };
                hash.write(shaped.as_bytes());
                line.shape = Some(hash.0);
            }
        }
        out.push(line);
    }
    out
}

/// Hash of the layout of a page: the paths of its container elements with text, up to four levels
/// below the body.
pub(super) fn layout(dom: &Dom, survey: &PageSurvey) -> u64 {
    let Some(body) = dom.body else { return 0 };
    let mut paths: BTreeSet<u64> = BTreeSet::new();
    let mut level = vec![(body, FnvHash::new())];
    for _ in 0..4 {
        let mut next = Vec::new();
        for (at, hash) in level {
            for child in dom.children(at) {
                let item = dom.item(child);
                let is_seen =
                    item.tag.is_block() && !survey.marks(child).has(InheritedMarks::UNSEEN);
                if is_seen && !survey.within(dom, child).is_empty() && is_frame(item.tag) {
                    let mut hash = hash;
                    place(dom, child, &mut hash);
                    paths.insert(hash.0);
                    next.push((child, hash));
                }
            }
        }
        level = next;
    }
    let mut hash = FnvHash::new();
    for path in &paths {
        hash.write(&path.to_le_bytes());
    }
    hash.0
}

/// Returns whether an element with this tag is part of the layout rather than of a text.
pub(super) fn is_frame(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Div
            | Tag::Section
            | Tag::Main
            | Tag::Article
            | Tag::Nav
            | Tag::Aside
            | Tag::Header
            | Tag::Footer
            | Tag::Form
            | Tag::Center
    )
}

/// Adds the name, the role, and the id or first class of an element to a hash, without digits.
fn place(dom: &Dom, at: u32, hash: &mut FnvHash) {
    hash.write(dom.item(at).tag.name().as_bytes());
    if let Some(role) = dom.attr(at, &local_name!("role")) {
        hash.write(role.as_bytes());
    }
    let id =
        dom.attr(at, &local_name!("id")).filter(|id| is_frame(dom.item(at).tag) && !id.is_empty());
    let class =
        dom.attr(at, &local_name!("class")).and_then(|class| class.split_ascii_whitespace().next());
    for byte in class.or(id).unwrap_or("").bytes().filter(|byte| !byte.is_ascii_digit()) {
        hash.write(&[byte]);
    }
    hash.write(b">");
}

pub(super) fn first_8(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(bytes.get(..8).unwrap_or(&[0; 8]));
    // Other readers of the JSON may support only integers of 53 bits.
    u64::from_le_bytes(first) >> 11
}

/// FNV-1a hash of a line. The hash need not resist attacks: at worst, a collision drops one line of
/// an element that consists to 90 % of template lines.
#[derive(Clone, Copy)]
struct FnvHash(u64);

impl FnvHash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
