//! Texts made comparable: white space collapsed, and the folding of D70.

use std::borrow::Cow;
use std::ops::Range;

/// What a line break is to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// The end of a block: no space.
    End,
    /// White space like any other.
    Space,
}

/// Every run of white space as one space, none at the ends of lines; where
/// line breaks end blocks, one of them for every run that has any.
pub(crate) fn collapse(text: &str, breaks: Breaks) -> Cow<'_, str> {
    if is_tidy(text, breaks) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut gap = None;
    for c in text.chars() {
        if c.is_whitespace() {
            let is_end = breaks == Breaks::End && c == '\n';
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

/// Whether collapsing would change nothing but the ends.
#[expect(clippy::needless_bitwise_bool, reason = "many bytes at once, without a question each")]
fn is_tidy(text: &str, breaks: Breaks) -> bool {
    let bytes = text.as_bytes();
    let behind = bytes.get(1..).unwrap_or_default();
    let is_space = |byte: u8| (byte == b' ') | (byte == b'\n');
    let mut at = 0;
    for (chunk, next) in bytes.chunks(CHUNK).zip(behind.chunks(CHUNK)) {
        let mut is_odd = false;
        for (byte, next) in chunk.iter().zip(next) {
            // Control characters, two spaces, the first bytes of wide ones.
            is_odd |= ((*byte < b' ') & (*byte != b'\n'))
                | (is_space(*byte) & is_space(*next))
                | ((*byte == b'\n') & (breaks == Breaks::Space))
                | (*byte == 0xc2)
                | ((0xe1 <= *byte) & (*byte <= 0xe3));
        }
        if is_odd && !is_tidy_here(text, at..at + CHUNK, breaks) {
            return false;
        }
        at += CHUNK;
    }
    // The last byte has none behind it.
    is_tidy_here(text, bytes.len().saturating_sub(4)..bytes.len(), breaks)
}

/// Bytes looked at together.
const CHUNK: usize = 64;

fn is_tidy_here(text: &str, place: Range<usize>, breaks: Breaks) -> bool {
    let bytes = text.as_bytes();
    let mut was_space = false;
    for (at, byte) in bytes.iter().enumerate().take(place.end + 1).skip(place.start) {
        let is_space = match byte {
            b' ' => true,
            b'\n' if breaks == Breaks::Space => return false,
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

/// Folds one character: case, quotes and dashes (D70). A soft hyphen is gone.
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
        // Alone of all letters it has a capital that is another's.
        '\u{131}' => out.push(c),
        c => out.extend(c.to_uppercase().flat_map(char::to_lowercase)),
    }
}

/// A text whose white space is collapsed already, folded.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        fold_char(c, &mut out);
    }
    out
}

/// A folded text that knows where it came from.
#[derive(Debug)]
pub(crate) struct Folded<'t> {
    pub(crate) text: String,
    source: &'t str,
    /// The characters that are not one byte before and after.
    odd: Vec<Odd>,
}

#[derive(Debug)]
struct Odd {
    folded: Range<usize>,
    source: Range<usize>,
}

impl<'t> Folded<'t> {
    pub(crate) fn new(source: &'t str) -> Self {
        let mut text = String::with_capacity(source.len());
        let mut odd = Vec::new();
        for (at, c) in source.char_indices() {
            let before = text.len();
            fold_char(c, &mut text);
            if !c.is_ascii() {
                odd.push(Odd { folded: before..text.len(), source: at..at + c.len_utf8() });
            }
        }
        Self { text, source, odd }
    }

    /// What became the bytes from `start` to `end`: `None` where one of them
    /// lies in the middle of what a character became.
    pub(crate) fn source_of(&self, start: usize, end: usize) -> Option<&'t str> {
        let found = self.source.get(self.back(start)?..self.back(end)?)?;
        // Soft hyphens at the ends are nothing.
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
#[expect(clippy::indexing_slicing, reason = "a test may stop")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test] // D70
    fn spec_white_space_collapses_and_blocks_do_not() {
        let text = " a\u{a0}\t b \n\n c\u{2003}\u{3000}d\r\n";
        assert_eq!(collapse(text, Breaks::End), "a b\nc d");
        assert_eq!(collapse(text, Breaks::Space), "a b c d");
        assert!(matches!(collapse("a b\nc", Breaks::End), Cow::Borrowed(_)));
    }

    #[test] // D70
    fn spec_case_quotes_and_dashes_fold() {
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
        fn ours_tidy_texts_are_told_from_others(text in "[a-f]{0,70}[a \n\t\u{a0}\u{2003}\u{2014}\u{1}]{0,12}[a-f]{0,70} ?") {
            for breaks in [Breaks::End, Breaks::Space] {
                let found = collapse(&text, breaks);
                let lines: Vec<String> = match breaks {
                    Breaks::End => text.split('\n').map(str::to_owned).collect(),
                    Breaks::Space => vec![text.clone()],
                };
                let lines = lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
                let expected: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
                prop_assert_eq!(found.trim(), expected.join("\n"));
            }
        }

        #[test]
        fn ours_every_character_is_found_again(text in "[a-dA-D \u{df}\u{149}\u{ad}\u{2019}\u{2014}\u{e9}\u{130}]{0,20}") {
            let folded = Folded::new(&text);
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
