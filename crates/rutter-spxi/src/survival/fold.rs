//! Normalizes texts for comparison: collapses white space, and folds case, quotes and dashes
//! (D70).

use std::borrow::Cow;
use std::ops::Range;

/// Meaning of a line break in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineBreaks {
    /// A line break ends a block. Phrases do not match across it.
    End,
    /// A line break is white space.
    Space,
}

/// Collapses white space to single spaces and trims lines. If line breaks end blocks, white space
/// that contains a line break becomes one line break.
pub(crate) fn collapse(text: &str, breaks: LineBreaks) -> Cow<'_, str> {
    if is_tidy(text, breaks) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut gap = None;
    for c in text.chars() {
        if c.is_whitespace() {
            let is_end = breaks == LineBreaks::End && c == '\n';
            gap = Some(if is_end || gap == Some('\n') { '\n' } else { ' ' });
            continue;
        }
        if let Some(gap) = gap.take()
            && !out.is_empty()
        {
            out.push(gap);
        }
        out.push(c);
    }
    Cow::Owned(out)
}

/// Returns whether collapsing the white space would change at most the ends of the text.
#[expect(clippy::needless_bitwise_bool, reason = "avoids a branch per byte")]
fn is_tidy(text: &str, breaks: LineBreaks) -> bool {
    let bytes = text.as_bytes();
    let behind = bytes.get(1..).unwrap_or_default();
    let is_space = |byte: u8| (byte == b' ') | (byte == b'\n');
    let mut at = 0;
    for (chunk, next) in bytes.chunks(CHUNK).zip(behind.chunks(CHUNK)) {
        let mut is_odd = false;
        for (byte, next) in chunk.iter().zip(next) {
            // Odd are control characters, double spaces, and lead bytes of wide white space.
            is_odd |= ((*byte < b' ') & (*byte != b'\n'))
                | (is_space(*byte) & is_space(*next))
                | ((*byte == b'\n') & (breaks == LineBreaks::Space))
                | (*byte == 0xc2)
                | ((0xe1 <= *byte) & (*byte <= 0xe3));
        }
        if is_odd && !is_tidy_here(text, at..at + CHUNK, breaks) {
            return false;
        }
        at += CHUNK;
    }
    // The last byte has no successor.
    is_tidy_here(text, bytes.len().saturating_sub(4)..bytes.len(), breaks)
}

/// Number of bytes that are examined in one step.
const CHUNK: usize = 64;

fn is_tidy_here(text: &str, place: Range<usize>, breaks: LineBreaks) -> bool {
    let bytes = text.as_bytes();
    let mut was_space = false;
    for (at, byte) in bytes.iter().enumerate().take(place.end + 1).skip(place.start) {
        let is_space = match byte {
            b' ' => true,
            b'\n' if breaks == LineBreaks::Space => return false,
            b'\n' => true,
            b'\t'..=b'\r' => return false,
            0xc2 | 0xe1 | 0xe2 | 0xe3 if is_wide(text, at) => return false,
            _ => false,
        };
        if is_space && was_space {
            return false;
        }
        was_space = is_space;
    }
    true
}

fn is_wide(text: &str, at: usize) -> bool {
    text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(char::is_whitespace)
}

/// Folds one character: case, quotes and dashes (D70). Removes soft hyphens.
pub(crate) fn fold_char(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(if c == '`' { '\'' } else { c.to_ascii_lowercase() });
        return;
    }
    match c {
        '\u{2018}'..='\u{201b}'
        | '\u{2032}'
        | '\u{2035}'
        | '\u{2bc}'
        | '\u{b4}'
        | '\u{2039}'
        | '\u{203a}'
        | '\u{ff07}' => out.push('\''),
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{2036}' | '\u{ab}' | '\u{bb}' | '\u{ff02}' => {
            out.push('"');
        }
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => {
            out.push('-');
        }
        '\u{ad}' => {}
        // The dotless i is the only letter whose upper-case form belongs to another letter.
        '\u{131}' => out.push(c),
        c => out.extend(c.to_uppercase().flat_map(char::to_lowercase)),
    }
}

/// Folds a text whose white space was collapsed already.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        fold_char(c, &mut out);
    }
    out
}

/// A folded text that can map its positions to the original text.
#[derive(Debug)]
pub(crate) struct FoldedText<'t> {
    pub(crate) text: String,
    source: &'t str,
    /// Characters that have more than one byte before or after folding.
    odd: Vec<UnevenSpan>,
}

#[derive(Debug)]
struct UnevenSpan {
    folded: Range<usize>,
    source: Range<usize>,
}

impl<'t> FoldedText<'t> {
    pub(crate) fn new(source: &'t str) -> Self {
        let mut text = String::with_capacity(source.len());
        let mut odd = Vec::new();
        for (at, c) in source.char_indices() {
            let before = text.len();
            fold_char(c, &mut text);
            if !c.is_ascii() {
                odd.push(UnevenSpan { folded: before..text.len(), source: at..at + c.len_utf8() });
            }
        }
        Self { text, source, odd }
    }

    /// Returns the original text of the folded bytes from `start` to `end`. Returns `None` if one
    /// of the two positions is inside the folded form of one character.
    pub(crate) fn source_of(&self, start: usize, end: usize) -> Option<&'t str> {
        let found = self.source.get(self.back(start)?..self.back(end)?)?;
        // Soft hyphens at the ends of the match are not part of it.
        Some(found.trim_matches('\u{ad}'))
    }

    fn back(&self, place: usize) -> Option<usize> {
        let idx = self.odd.partition_point(|odd| odd.folded.start <= place);
        match idx.checked_sub(1).and_then(|idx| self.odd.get(idx)) {
            None => Some(place),
            Some(odd) if odd.folded.end <= place => Some(odd.source.end + place - odd.folded.end),
            Some(odd) if odd.folded.start == place => Some(odd.source.start),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test] // D70
    fn white_space_collapses_within_blocks_only() {
        let text = " a\u{a0}\t b \n\n c\u{2003}\u{3000}d\r\n";
        assert_eq!(collapse(text, LineBreaks::End), "a b\nc d");
        assert_eq!(collapse(text, LineBreaks::Space), "a b c d");
        assert!(matches!(collapse("a b\nc", LineBreaks::End), Cow::Borrowed(_)));
    }

    #[test] // D70
    fn folds_case_quotes_and_dashes() {
        for (one, other) in [
            ("STRASSE", "Stra\u{df}e"),
            ("\u{39f}\u{394}\u{39f}\u{3a3}", "\u{3bf}\u{3b4}\u{3bf}\u{3c2}"),
            ("the \u{201c}House\u{201d}", "The \"house\""),
            ("Keeper\u{2019}s", "keeper's"),
            ("1890\u{2013}1912", "1890-1912"),
            ("har\u{ad}bour", "harbour"),
        ] {
            assert_eq!(fold(one), fold(other));
        }
        assert_ne!(fold("caf\u{e9}"), fold("cafe"));
    }

    proptest! {
        #[test]
        fn tidy_text_is_detected(text in "[a-f]{0,70}[a \n\t\u{a0}\u{2003}\u{2014}\u{1}]{0,12}[a-f]{0,70} ?") {
            for breaks in [LineBreaks::End, LineBreaks::Space] {
                let found = collapse(&text, breaks);
                let lines: Vec<String> = match breaks {
                    LineBreaks::End => text.split('\n').map(str::to_owned).collect(),
                    LineBreaks::Space => vec![text.clone()],
                };
                let lines = lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
                let expected: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
                prop_assert_eq!(found.trim(), expected.join("\n"));
            }
        }

        #[test]
        fn every_folded_character_maps_back_to_its_source(text in "[a-dA-D \u{df}\u{149}\u{ad}\u{2019}\u{2014}\u{e9}\u{130}]{0,20}") {
            let folded = FoldedText::new(&text);
            prop_assert_eq!(&folded.text, &fold(&text));
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for (n, start) in places.iter().enumerate() {
                for end in &places[n..] {
                    let (from, to) = (fold(&text[..*start]).len(), fold(&text[..*end]).len());
                    if let Some(found) = folded.source_of(from, to) {
                        prop_assert_eq!(fold(found), fold(&text[*start..*end]));
                    } else {
                        prop_assert!(false, "{text:?} {start}..{end}");
                    }
                }
            }
        }
    }
}
