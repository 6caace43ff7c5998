//! Splits a robots.txt into lines and parses the directive of each line.

use crate::RobotsTxt;

/// One line of a robots.txt.
pub(super) struct RobotsLine<'b> {
    /// The line number, counted from 1.
    pub(super) number: u64,
    /// The text of the line without line end, truncated to [`RobotsTxt::MAX_LINE_BYTES`].
    pub(super) text: &'b [u8],
    /// The offset of the line in the file.
    pub(super) start: usize,
    /// The offset of the next line.
    pub(super) end: usize,
    /// Whether the text of the line was truncated.
    pub(super) is_cut: bool,
}

/// The directive of a line, with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive<'b> {
    AgentName(&'b [u8]),
    Allow(&'b [u8]),
    Disallow(&'b [u8]),
    Sitemap(&'b [u8]),
    Delay(&'b [u8]),
    /// `Content-Signal`: how fetched content may be used.
    ContentSignal(&'b [u8]),
    /// An unknown directive, or a line that is not a directive.
    Other(&'b [u8]),
    /// An empty line or a comment.
    Nothing,
}

/// How a directive was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectiveSpelling {
    Right,
    /// The line has no colon, or a known misspelling.
    Guessed,
}

/// Splits `bytes` at LF, CR and CR LF.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = RobotsLine<'_>> {
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
        let is_cut = RobotsTxt::MAX_LINE_BYTES < length;
        let text = rest.get(..length.min(RobotsTxt::MAX_LINE_BYTES)).unwrap_or_default();
        let line = RobotsLine { number, text, start, end: start + length + ending, is_cut };
        start = line.end;
        Some(line)
    })
}

/// Removes a byte order mark, even if only its first bytes are present.
pub(super) fn without_bom(bytes: &[u8]) -> &[u8] {
    let mark = b"\xef\xbb\xbf";
    let length = bytes.iter().zip(mark).take_while(|(a, b)| a == b).count();
    bytes.get(length..).unwrap_or_default()
}

/// Parses the directive of one line.
pub(super) fn parse_directive(text: &[u8]) -> (Directive<'_>, DirectiveSpelling) {
    let end = memchr::memchr(b'#', text).unwrap_or(text.len());
    let text = text.get(..end).unwrap_or_default().trim_ascii();
    if text.is_empty() {
        return (Directive::Nothing, DirectiveSpelling::Right);
    }
    let (key, value, mut spelling) = match memchr::memchr(b':', text) {
        Some(at) => {
            let (key, value) = text.split_at(at);
            (key, value.get(1..).unwrap_or_default(), DirectiveSpelling::Right)
        }
        // If the line has no colon, exactly two words are unambiguous.
        None => match text.iter().position(u8::is_ascii_whitespace) {
            Some(at) => {
                let (key, value) = text.split_at(at);
                if value.trim_ascii().iter().any(u8::is_ascii_whitespace) {
                    return (Directive::Other(text), DirectiveSpelling::Right);
                }
                (key, value, DirectiveSpelling::Guessed)
            }
            None => return (Directive::Other(text), DirectiveSpelling::Right),
        },
    };
    let (key, value) = (key.trim_ascii(), value.trim_ascii());
    let is = |names: &[&str]| names.iter().any(|name| key.eq_ignore_ascii_case(name.as_bytes()));
    let is_misspelt = is(&["useragent", "user agent", "dissallow", "dissalow", "disalow"])
        || is(&["diasllow", "disallaw", "site-map"]);
    if is_misspelt {
        spelling = DirectiveSpelling::Guessed;
    }
    let parse_directive = if is(&["user-agent", "useragent", "user agent"]) {
        Directive::AgentName(value)
    } else if is(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) {
        Directive::Disallow(value)
    } else if is(&["allow"]) {
        Directive::Allow(value)
    } else if is(&["sitemap", "site-map"]) {
        Directive::Sitemap(value)
    } else if is(&["crawl-delay"]) {
        Directive::Delay(value)
    } else if is(&["content-signal"]) {
        Directive::ContentSignal(value)
    } else {
        return (Directive::Other(key), DirectiveSpelling::Right);
    };
    (parse_directive, spelling)
}
