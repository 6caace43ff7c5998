//! Collapses white space: each run becomes one space.
//!
//! Input: text, or a range of bytes that is changed in place. Output: the collapsed text.
//! Only HTML white space and U+00A0 count; other Unicode spaces are unchanged.

/// Table of the bytes that need a check: white space, and the first byte of U+00A0.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let special = [b' ', b'\n', b'\t', b'\r', 0x0c, 0xc2];
    let mut at = 0;
    while at < special.len() {
        table[special[at] as usize] = true;
        at += 1;
    }
    table
};

/// Appends `text`, with each run of white space collapsed to one space.
pub(crate) fn collapse(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut at = 0;
    loop {
        // Skips bytes that need no check, which are most of the text.
        while at < bytes.len() && !SPECIAL[bytes[at] as usize] {
            at += 1;
        }
        if at == bytes.len() {
            break;
        }
        let is_space = matches!(bytes[at], b' ' | b'\n' | b'\t' | b'\r' | 0x0c);
        // The first byte of U+00A0 also begins other characters, so the second byte is checked,
        // too.
        let is_wide = bytes[at] == 0xc2 && bytes.get(at + 1) == Some(&0xa0);
        if !is_space && !is_wide {
            at += 1;
            continue;
        }
        let is_single = bytes[at] == b' '
            && at != start
            && !matches!(
                bytes.get(at + 1),
                Some(b' ' | b'\n' | b'\t' | b'\r' | 0x0c | 0xc2) | None
            );
        if is_single {
            at += 1;
            continue;
        }
        out.push_str(&text[start..at]);
        gap(out);
        at += if is_wide { 2 } else { 1 };
        start = at;
    }
    out.push_str(&text[start..]);
}

/// Appends a space, unless the text is empty or ends with white space.
pub(crate) fn gap(out: &mut String) {
    if !matches!(out.as_bytes().last(), None | Some(b' ' | b'\n')) {
        out.push(' ');
    }
}

/// Ends a line, because the following text belongs to another block. Appends at most one byte, like
/// `gap`.
pub(crate) fn end_line(out: &mut String) {
    match out.as_bytes().last() {
        None | Some(b'\n') => return,
        Some(b' ') => {
            out.pop();
        }
        Some(_) => {}
    }
    out.push('\n');
}

/// `str::trim_end`, with a fast path for texts that do not end with white space.
pub(crate) fn trim_end(text: &str) -> &str {
    if text.as_bytes().last().is_some_and(u8::is_ascii_graphic) { text } else { text.trim_end() }
}

/// `str::trim_start`, with a fast path for texts that do not start with white space.
pub(crate) fn trim_start(text: &str) -> &str {
    if text.as_bytes().first().is_some_and(u8::is_ascii_graphic) { text } else { text.trim_start() }
}

/// Appends a text in which each run of white space is already a single space.
pub(crate) fn append(text: &str, out: &mut String) {
    let rest = text.strip_prefix(' ');
    if rest.is_some() {
        gap(out);
    }
    let rest = rest.unwrap_or(text);
    // About every third text is a single space, so nothing is left to append.
    if !rest.is_empty() {
        out.push_str(rest);
    }
}

/// Number of bytes that are processed together, as one integer.
const LANE: usize = 8;

/// Collapses each run of white space in a range of `all` to one space, in place. Returns the
/// number of remaining bytes.
pub(crate) fn tidy(all: &mut [u8], from: usize, until: usize) -> usize {
    // The text between two tags is usually a line break with indentation.
    let part = &mut all[from..until];
    if let Some(b' ' | b'\n') = part.first()
        && part[1..].iter().all(|byte| is_space(*byte))
    {
        part[0] = b' ';
        return 1;
    }
    let (mut at, mut to) = (from, from);
    let mut was_space = false;
    // The last lane may include bytes after the range, if there are any.
    while at < until
        && let Some(lane) = all.get(at..).and_then(<[u8]>::first_chunk::<LANE>)
    {
        let lane = u64::from_le_bytes(*lane);
        let look = LaneBytes::at(lane, until - at, was_space);
        let is_whole = at + LANE <= until;
        if look.is_odd || (!is_whole && at != to) {
            (at, to) = squeeze(all, at, to, until.min(at + LANE), &mut was_space);
            continue;
        }
        // Writing the lane is faster than testing whether it changes.
        all[to..to + LANE].copy_from_slice(&(lane ^ look.changes).to_le_bytes());
        was_space = look.ends_in_space;
        (at, to) = (at + LANE, to + LANE);
    }
    if until <= at {
        return to - from - (at - until);
    }
    squeeze(all, at, to, until, &mut was_space).1 - from
}

/// Classification of the bytes of a lane, computed without a branch per byte: an addition over the
/// whole lane sets the highest bit of each byte that matches.
struct LaneBytes {
    /// Whether a byte of the lane must be removed or needs a check of its own.
    is_odd: bool,
    /// The bits that change line breaks to spaces.
    changes: u64,
    ends_in_space: bool,
}

impl LaneBytes {
    fn at(lane: u64, n_bytes: usize, was_space: bool) -> Self {
        // Bytes after the range are set to a value that needs no change.
        let lane = if n_bytes < LANE { lane | u64::MAX << (8 * n_bytes) } else { lane };
        let space = at_most(lane, b' ');
        let newline = equal(lane, b'\n');
        let control = at_most(lane, b' ' - 1) & !newline;
        let pair = space & (space << 8 | u64::from(was_space) << 7);
        Self {
            is_odd: control | pair | equal(lane, WIDE) != 0,
            changes: (newline >> 7) * u64::from(b'\n' ^ b' '),
            ends_in_space: space >> 63 != 0,
        }
    }
}

/// Returns a lane in which every byte is `byte`.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; LANE])
}

/// Returns a lane with the highest bit of every byte that is at most `most`, which must be ASCII.
fn at_most(lane: u64, most: u8) -> u64 {
    !(((lane & each(0x7f)) + each(0x7f - most)) | lane) & each(0x80)
}

/// Returns a lane with the highest bit of every byte that is equal to `byte`.
fn equal(lane: u64, byte: u8) -> u64 {
    at_most(lane ^ each(byte), 0)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | 0x0c)
}

/// The first byte of U+00A0, the only white space outside ASCII that is collapsed.
const WIDE: u8 = 0xc2;

/// Collapses the white space of the bytes from `at` on, writing from `to` on, byte by byte.
fn squeeze(
    bytes: &mut [u8],
    mut at: usize,
    mut to: usize,
    until: usize,
    was_space: &mut bool,
) -> (usize, usize) {
    while at < until {
        let byte = bytes[at];
        let is_wide = byte == WIDE && bytes.get(at + 1) == Some(&0xa0);
        let is_space = is_wide || is_space(byte);
        bytes[to] = if is_space { b' ' } else { byte };
        to += usize::from(!(is_space && *was_space));
        *was_space = is_space;
        at += if is_wide { 2 } else { 1 };
    }
    (at, to)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tidy_then_append_equals_collapse(
            texts in prop::collection::vec("[ab\u{a0}\u{a9}\u{e9}\u{2003}  \n\t]{0,300}", 1..4),
            behind in "[a \u{a0}\n]{0,20}",
        ) {
            let (mut expected, mut found) = (String::new(), String::new());
            for text in texts {
                collapse(&text, &mut expected);
                let mut bytes = text.into_bytes();
                let n = bytes.len();
                // Bytes after the range must not change the result.
                bytes.extend_from_slice(behind.as_bytes());
                let n = tidy(&mut bytes, 0, n);
                bytes.truncate(n);
                append(&String::from_utf8(bytes).unwrap(), &mut found);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
