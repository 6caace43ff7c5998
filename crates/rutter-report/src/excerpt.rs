//! Excerpts: the lines of files that findings refer to, truncated for display.
//!
//! The file is read and decompressed again, up to the last line that is needed, or as a whole
//! document for JSON pointers. At most [`MOST_BYTES`] are read, and terminal control characters are
//! escaped.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

use rutter_finding::{Finding, is_hidden};
use rutter_scp::{CollectionOpener, Limits};

use crate::locate::locate;

/// The maximum number of bytes of a file that are read to find lines.
pub const MOST_BYTES: u64 = 64 << 20;
/// The maximum size in bytes of a document in which JSON pointers are resolved.
const LARGEST_DOCUMENT: u64 = 16 << 20;
/// The maximum number of bytes of one line that are stored.
const LONGEST_LINE: usize = 1 << 20;
/// The maximum number of characters of a line that are displayed.
const SHOWN: usize = 96;
/// The number of characters that are displayed before the marked place.
const BEFORE: usize = 36;
/// The maximum number of characters that are marked.
const MARKED: usize = 48;

/// A part of a line with an optional marked range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The line number, counted from 1.
    pub line: u64,
    /// The column of the marked part in characters, counted from 1.
    pub column: Option<u64>,
    /// The text of the excerpt, with invisible and control characters escaped.
    pub text: String,
    /// The marked range of characters in the text.
    pub mark: Option<Range<usize>>,
}

/// Reads the excerpts for the findings of one file, in the same order.
///
/// A finding has no excerpt if it has no place or if its place cannot be displayed. The findings of
/// a file that cannot be read again have no excerpts.
pub fn excerpts(open: &CollectionOpener<'_>, findings: &[&Finding]) -> Vec<Option<Excerpt>> {
    let mut shown: Vec<Option<Excerpt>> = vec![None; findings.len()];
    let is_document = |finding: &&&Finding| {
        finding.place.line.is_none() && finding.place.pointer.starts_with('/')
    };
    if findings.iter().any(|finding| is_document(&finding)) {
        let mut text = Vec::new();
        if read(open, LARGEST_DOCUMENT)
            .is_some_and(|mut input| input.read_to_end(&mut text).is_ok())
        {
            for (finding, slot) in findings.iter().zip(&mut shown) {
                if is_document(&finding) {
                    *slot = of_document(&text, &finding.place.pointer);
                }
            }
        }
    }
    let mut wanted: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (idx, finding) in findings.iter().enumerate() {
        if let Some(line) = finding.place.line {
            wanted.entry(line).or_default().push(idx);
        }
    }
    if let (Some(last), Some(input)) = (wanted.keys().next_back(), read(open, MOST_BYTES)) {
        let mut input = BufReader::with_capacity(64 << 10, input);
        let mut line = Vec::new();
        for number in 1..=*last {
            if !next_line(&mut input, &mut line) {
                break;
            }
            for idx in wanted.get(&number).into_iter().flatten() {
                if let (Some(finding), Some(slot)) = (findings.get(*idx), shown.get_mut(*idx)) {
                    *slot = Some(of_line(&line, number, finding));
                }
            }
        }
    }
    shown
}

fn read(open: &CollectionOpener<'_>, most: u64) -> Option<impl Read> {
    let (input, _) = open().ok()?;
    Some(rutter_scp::decoded(input, Limits::DEFAULT).ok()?.take(most))
}

/// Reads a line and stores its beginning; returns false at the end of the input or
/// at a read error.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> bool {
    line.clear();
    let mut has_any = false;
    loop {
        let Ok(chunk) = input.fill_buf() else { return false };
        if chunk.is_empty() {
            return has_any;
        }
        has_any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        let room = LONGEST_LINE.saturating_sub(line.len()).min(part.len());
        line.extend_from_slice(part.get(..room).unwrap_or_default());
        let used = end.map_or(chunk.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return true;
        }
    }
}

fn of_document(text: &[u8], pointer: &str) -> Option<Excerpt> {
    let span = locate(text, pointer)?;
    let before = text.get(..span.start)?;
    let line = before.split(|byte| *byte == b'\n').count() as u64;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let rest = text.get(start..)?;
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let shown = rest.get(..end.min(LONGEST_LINE))?;
    Some(cut(shown, line, Some(span.start - start..span.end - start)))
}

fn of_line(line: &[u8], number: u64, finding: &Finding) -> Excerpt {
    let pointer = &finding.place.pointer;
    let span =
        if pointer.starts_with('/') { locate(line, pointer) } else { named(line, &finding.detail) };
    cut(line, number, span)
}

/// Returns the range of the text that the detail quotes, if the line contains this text exactly
/// once.
fn named(line: &[u8], detail: &str) -> Option<Range<usize>> {
    let quoted = detail.split('`').nth(1).filter(|quoted| !quoted.is_empty())?;
    let line = std::str::from_utf8(line).ok()?;
    let mut places = line.match_indices(quoted);
    let (at, _) = places.next()?;
    places.next().is_none().then(|| at..at + quoted.len())
}

/// Truncates a line for display and converts offsets to characters.
fn cut(line: &[u8], number: u64, span: Option<Range<usize>>) -> Excerpt {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let width = |bytes: Option<&[u8]>| {
        bytes.map_or(0, |bytes| String::from_utf8_lossy(bytes).chars().count())
    };
    let mark = span.map(|span| {
        let start = width(line.get(..span.start.min(line.len())));
        let inside = line.get(span.start.min(line.len())..span.end.min(line.len()));
        start..start + width(inside).clamp(1, MARKED)
    });
    let whole = String::from_utf8_lossy(line);
    let n_chars = whole.chars().count();
    let first = match &mark {
        Some(mark) if SHOWN < n_chars => {
            mark.start.saturating_sub(BEFORE).min(n_chars.saturating_sub(SHOWN))
        }
        _ => 0,
    };
    let mut text = String::new();
    // The offset of each character in the displayed text.
    let mut starts = Vec::with_capacity(SHOWN);
    let mut n_shown = 0;
    let push = |text: &mut String, c: char, n_shown: &mut usize| {
        let before = text.len();
        match c {
            '\t' => text.push(' '),
            c if is_hidden(c) => text.extend(c.escape_default()),
            c => text.push(c),
        }
        *n_shown += text.get(before..).map_or(0, |new| new.chars().count());
    };
    if 0 < first {
        push(&mut text, '…', &mut n_shown);
    }
    for c in whole.chars().skip(first).take(SHOWN) {
        starts.push(n_shown);
        push(&mut text, c, &mut n_shown);
    }
    starts.push(n_shown);
    if first + SHOWN < n_chars {
        push(&mut text, '…', &mut n_shown);
    }
    let place = |at: usize| {
        let at = at.saturating_sub(first).min(starts.len() - 1);
        starts.get(at).copied().unwrap_or(0)
    };
    let text = text.trim_end().to_owned();
    let width = text.chars().count();
    Excerpt {
        line: number,
        column: mark.as_ref().map(|mark| mark.start as u64 + 1),
        // Mark at least one character, which may be the position after the end.
        mark: mark.map(|mark| {
            let start = place(mark.start).min(width);
            start..place(mark.end).min(width).max(start + 1)
        }),
        text,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use rutter_finding::{Finding, Place};

    use super::*;

    fn taken(text: &'static str, place: Place, detail: &str) -> Option<Excerpt> {
        let open = || {
            let input: Box<dyn Read + Send> = Box::new(Cursor::new(text));
            Ok((input, None))
        };
        let finding = Finding::new(&rutter_scp::rules::BLANK_LINE, place, detail);
        excerpts(&open, &[&finding]).pop()?
    }

    #[test]
    fn marks_pointer_in_a_line() {
        let excerpt = taken("{}\n{\"a\":[1,22]}\n", Place::pointer(2, "/a/1"), "").unwrap();
        assert_eq!((excerpt.line, excerpt.column), (2, Some(9)));
        assert_eq!((excerpt.text.as_str(), excerpt.mark), ("{\"a\":[1,22]}", Some(8..10)));
    }

    #[test]
    fn finds_line_of_pointer_in_a_document() {
        let place = Place { line: None, pointer: "/pages/0/url".to_owned() };
        let excerpt = taken("{\n \"pages\": [\n  {\"url\": 7}]}", place, "").unwrap();
        assert_eq!((excerpt.line, excerpt.column, excerpt.mark), (3, Some(11), Some(10..11)));
    }

    #[test]
    fn truncates_long_line_around_the_place() {
        let text: &'static str =
            Box::leak(format!("{{\"a\":\"{}\",\"b\":true}}", "é".repeat(5000)).into_boxed_str());
        let excerpt = taken(text, Place::pointer(1, "/b"), "").unwrap();
        let marked: String =
            excerpt.text.chars().skip(excerpt.mark.clone().unwrap().start).collect();
        assert!(marked.starts_with("true"), "{excerpt:?}");
        assert!(excerpt.text.chars().count() <= SHOWN + 2);
        assert_eq!(excerpt.column, Some(5013));
    }

    #[test]
    fn escapes_invisible_characters_and_marks_quoted_text() {
        let excerpt = taken("Disalow: /\u{202e}x\n", Place::line(1), "`Disalow`").unwrap();
        assert_eq!(excerpt.text, "Disalow: /\\u{202e}x");
        assert_eq!(excerpt.mark, Some(0..7));
    }

    #[test]
    fn marks_stay_inside_the_text_for_any_bytes() {
        const ALPHABET: [&str; 16] = [
            "{", "}", "[", "]", "\"", "\\", ",", ":", "a", "0", " ", "\n", "\t", "é", "\u{202e}",
            "\u{1b}",
        ];
        let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut next = |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        for _ in 0..5000 {
            let n = next(300);
            let pick =
                |at: u64| ALPHABET.get(usize::try_from(at).unwrap()).copied().unwrap_or_default();
            let mut bytes: Vec<u8> = (0..n).flat_map(|_| pick(next(16)).bytes()).collect();
            // Make a part of the bytes invalid as UTF-8.
            bytes.truncate(bytes.len() - usize::try_from(next(2)).unwrap().min(bytes.len()));
            let pointers = ["", "/a", "/0", "/a/0", "/0/0/a", "a"];
            let pointer =
                pointers.get(usize::try_from(next(6)).unwrap()).copied().unwrap_or_default();
            let line = Some(next(4)).filter(|line| 0 < *line);
            let place = Place { line, pointer: pointer.to_owned() };
            let finding = Finding::new(&rutter_scp::rules::BLANK_LINE, place, "`a`");
            let open = || {
                let input: Box<dyn Read + Send> = Box::new(Cursor::new(bytes.clone()));
                Ok((input, None))
            };
            for excerpt in excerpts(&open, &[&finding]).into_iter().flatten() {
                let width = excerpt.text.chars().count();
                assert!(!excerpt.text.contains(is_hidden), "{excerpt:?}");
                assert!(
                    excerpt.mark.is_none_or(|mark| mark.start <= width && mark.end <= width + 1)
                );
            }
        }
    }

    #[test]
    fn missing_place_has_no_excerpt() {
        assert_eq!(taken("a\n", Place::line(9), ""), None);
        assert_eq!(taken("a\n", Place::WHOLE, ""), None);
    }
}
