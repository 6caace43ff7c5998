//! Splits Rust source into comments, string literals and code.
//!
//! Input: the text of a file. Output: its pieces in order, with line numbers. Raw strings, nested
//! block comments, character literals and lifetimes are recognised; nothing is rejected.

/// What a piece of source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    Code,
    Comment,
    Literal,
}

/// A piece of source and the line it begins on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourcePiece<'s> {
    pub(super) kind: PieceKind,
    pub(super) line: usize,
    pub(super) text: &'s str,
}

/// Splits `source` into pieces; comments keep their `//`, literals lose their quotes.
pub(super) fn pieces(source: &str) -> Vec<SourcePiece<'_>> {
    let mut pieces = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while !rest.is_empty() {
        let (kind, len, inner) = next_piece(rest);
        let (taken, after) = rest.split_at(len);
        let text = taken.get(inner.clone()).unwrap_or(taken);
        pieces.push(SourcePiece { kind, line, text });
        line += taken.matches('\n').count();
        rest = after;
    }
    pieces
}

/// Kind and length of the piece that `rest` begins with, and the range of its text.
fn next_piece(rest: &str) -> (PieceKind, usize, std::ops::Range<usize>) {
    if rest.starts_with("//") {
        let len = rest.find('\n').unwrap_or(rest.len());
        return (PieceKind::Comment, len, 0..len);
    }
    if rest.starts_with("/*") {
        let len = block_comment_len(rest);
        return (PieceKind::Comment, len, 0..len);
    }
    if let Some(len) = string_len(rest) {
        return (PieceKind::Literal, len, 1..len.saturating_sub(1));
    }
    if let Some((start, len)) = raw_string_len(rest) {
        return (PieceKind::Literal, len, start..len.saturating_sub(start - 1));
    }
    let len = code_len(rest);
    (PieceKind::Code, len, 0..len)
}

fn block_comment_len(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let tail = rest.get(at..).unwrap_or_default();
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Length of the string literal that `rest` begins with.
fn string_len(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('"')?;
    let mut is_escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(at + 2),
            _ => {}
        }
    }
    Some(rest.len())
}

/// Start of the text and length of the raw string that `rest` begins with.
fn raw_string_len(rest: &str) -> Option<(usize, usize)> {
    let marks = rest.strip_prefix('r')?;
    let n_marks = marks.len() - marks.trim_start_matches('#').len();
    marks.get(n_marks..)?.strip_prefix('"')?;
    let start = n_marks + 2;
    let end = format!("\"{}", "#".repeat(n_marks));
    let len = rest.get(start..)?.find(&end).map_or(rest.len(), |at| start + at + end.len());
    Some((start, len))
}

/// Length of the code up to the next comment or literal.
fn code_len(rest: &str) -> usize {
    let mut chars = rest.char_indices().peekable();
    let mut is_in_word = false;
    while let Some((at, c)) = chars.next() {
        let tail = rest.get(at..).unwrap_or_default();
        let begins_piece = tail.starts_with("//")
            || tail.starts_with("/*")
            || c == '"'
            || (!is_in_word && raw_string_len(tail).is_some());
        if begins_piece && at > 0 {
            return at;
        }
        if c == '\'' {
            // A character literal may hold a quote; a lifetime has no closing mark.
            if let Some(len) = char_literal_len(tail) {
                while chars.peek().is_some_and(|(next, _)| *next < at + len) {
                    chars.next();
                }
            }
        }
        // `b"…"` and `c"…"` are code and a literal, `br"…"` too.
        is_in_word = (c.is_alphanumeric() || c == '_') && !matches!(c, 'b' | 'c');
    }
    rest.len()
}

fn char_literal_len(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let mut chars = body.char_indices();
    let (_, first) = chars.next()?;
    if first == '\\' {
        let (_, second) = chars.next()?;
        let (at, _) = chars.find(|(_, c)| *c == '\'')?;
        return (at < 12 || second == 'u').then_some(at + 2);
    }
    let (at, c) = chars.next()?;
    (c == '\'').then_some(at + 2)
}

#[cfg(test)]
mod tests {
    use super::{PieceKind, pieces};

    fn texts(source: &str, kind: PieceKind) -> Vec<&str> {
        pieces(source).iter().filter(|it| it.kind == kind).map(|it| it.text).collect()
    }

    #[test]
    fn tells_comments_from_strings_that_contain_slashes() {
        let source = "let a = \"https://a.example\"; // why\nlet b = 'x';";
        assert_eq!(texts(source, PieceKind::Comment), ["// why"]);
        assert_eq!(texts(source, PieceKind::Literal), ["https://a.example"]);
    }

    #[test]
    fn reads_escapes_raw_strings_and_character_literals() {
        let source = r##"f("a\"b", r#"c"d"#, '"', b"e", &'a str)"##;
        assert_eq!(texts(source, PieceKind::Literal), [r#"a\"b"#, r#"c"d"#, "e"]);
    }

    #[test]
    fn reads_nested_block_comments() {
        let source = "a /* b /* c */ d */ e";
        assert_eq!(texts(source, PieceKind::Comment), ["/* b /* c */ d */"]);
        assert_eq!(texts(source, PieceKind::Code), ["a ", " e"]);
    }

    #[test]
    fn counts_lines() {
        let lines: Vec<usize> = pieces("a\n// b\n\"c\nd\" // e").iter().map(|it| it.line).collect();
        assert_eq!(lines, [1, 2, 2, 3, 4, 4]);
    }
}
