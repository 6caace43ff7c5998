//! Lines of a robots.txt, and what each says.

use super::Robots;

/// A line of the file.
pub(super) struct Line<'b> {
    /// Counted from 1.
    pub(super) number: u64,
    /// Without its end, cut at [`Robots::LONGEST_LINE`].
    pub(super) text: &'b [u8],
    /// Where it begins.
    pub(super) start: usize,
    /// Where the next begins.
    pub(super) end: usize,
    /// Whether the text was cut.
    pub(super) is_cut: bool,
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive<'b> {
    Agent(&'b [u8]),
    Allow(&'b [u8]),
    Disallow(&'b [u8]),
    Sitemap(&'b [u8]),
    Delay(&'b [u8]),
    /// `Content-Signal`: what may be done with what is fetched.
    Signal(&'b [u8]),
    /// A word we do not know, or a line that is none.
    Other(&'b [u8]),
    /// Empty, or a comment.
    Nothing,
}

/// How a directive was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    Right,
    /// By a habit of crawlers: no colon, or a known misspelling.
    Guessed,
}

/// Cuts at LF, CR, and CR LF.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut number = 0;
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        number += 1;
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let ending = match rest.get(length..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([_, ..]) => 1,
            _ => 0,
        };
        let is_cut = Robots::LONGEST_LINE < length;
        let text = rest.get(..length.min(Robots::LONGEST_LINE)).unwrap_or_default();
        let line = Line { number, text, start, end: start + length + ending, is_cut };
        start = line.end;
        Some(line)
    })
}

/// A byte order mark is skipped, also when only its beginning is there.
pub(super) fn without_bom(bytes: &[u8]) -> &[u8] {
    let mark = b"\xef\xbb\xbf";
    let length = bytes.iter().zip(mark).take_while(|(a, b)| a == b).count();
    bytes.get(length..).unwrap_or_default()
}

/// Reads one line.
pub(super) fn directive(text: &[u8]) -> (Directive<'_>, Spelling) {
    let end = memchr::memchr(b'#', text).unwrap_or(text.len());
    let text = text.get(..end).unwrap_or_default().trim_ascii();
    if text.is_empty() {
        return (Directive::Nothing, Spelling::Right);
    }
    let (key, value, mut spelling) = match memchr::memchr(b':', text) {
        Some(at) => {
            let (key, value) = text.split_at(at);
            (key, value.get(1..).unwrap_or_default(), Spelling::Right)
        }
        // Exactly two words leave no doubt about what is meant.
        None => match text.iter().position(u8::is_ascii_whitespace) {
            Some(at) => {
                let (key, value) = text.split_at(at);
                if value.trim_ascii().iter().any(u8::is_ascii_whitespace) {
                    return (Directive::Other(text), Spelling::Right);
                }
                (key, value, Spelling::Guessed)
            }
            None => return (Directive::Other(text), Spelling::Right),
        },
    };
    let (key, value) = (key.trim_ascii(), value.trim_ascii());
    let is = |names: &[&str]| names.iter().any(|name| key.eq_ignore_ascii_case(name.as_bytes()));
    let is_misspelt = is(&["useragent", "user agent", "dissallow", "dissalow", "disalow"])
        || is(&["diasllow", "disallaw", "site-map"]);
    if is_misspelt {
        spelling = Spelling::Guessed;
    }
    let directive = if is(&["user-agent", "useragent", "user agent"]) {
        Directive::Agent(value)
    } else if is(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) {
        Directive::Disallow(value)
    } else if is(&["allow"]) {
        Directive::Allow(value)
    } else if is(&["sitemap", "site-map"]) {
        Directive::Sitemap(value)
    } else if is(&["crawl-delay"]) {
        Directive::Delay(value)
    } else if is(&["content-signal"]) {
        Directive::Signal(value)
    } else {
        return (Directive::Other(key), Spelling::Right);
    };
    (directive, spelling)
}
