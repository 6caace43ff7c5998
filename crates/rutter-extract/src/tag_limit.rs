//! Finds the ends of tags before the tokenizer reads them, and cuts off attributes beyond a limit.
//!
//! Input: the text of a page and, for each piece, the state of the tokenizer ([`TokenizerState`]). Output:
//! pieces to feed. A piece ends where a construct ends, so the tokenizer is between two tokens
//! when its state is read. Rejects no page; attributes beyond the limit are left out. Reason:
//! html5ever compares every attribute of a tag with all attributes before it, so a tag of 160,000
//! attributes takes 15 seconds.
//!
//! The states are those of the HTML standard, section 13.2.5.

use memchr::{memchr, memchr2};

/// The state of the tokenizer: the kind of text it reads next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TokenizerState {
    /// Text and tags.
    #[default]
    Data,
    /// Text up to the end tag that belongs to the last start tag.
    Raw,
    /// Text of a script, which may contain its own end tag inside a comment.
    Script,
    /// Text up to the end of the page.
    Plain,
}

/// A range of bytes of the page to feed to the tokenizer, and text to feed after it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InputPiece {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Text that closes a tag whose further attributes are left out.
    pub(crate) closing: &'static str,
}

/// Splits a page into pieces.
#[derive(Debug)]
pub(crate) struct TagScanner<'h> {
    html: &'h [u8],
    at: usize,
    /// Maximum number of attributes of a tag.
    most: usize,
    /// Name of the last start tag.
    name: &'h [u8],
    /// Number of tags with more attributes than the maximum.
    pub(crate) n_cut: usize,
}

/// The end of a tag.
struct TagEnd {
    /// Position after the tag.
    end: usize,
    /// Position of the first attribute beyond the maximum.
    beyond: Option<usize>,
    closing: &'static str,
}

impl<'h> TagScanner<'h> {
    pub(crate) fn new(html: &'h str, most: usize) -> Self {
        Self { html: html.as_bytes(), at: 0, most: most.max(1), name: b"", n_cut: 0 }
    }

    /// Returns the next piece, of about `size` bytes; `None` at the end of the page.
    ///
    /// `mode` and `is_foreign` (whether the current element is SVG or `MathML`) describe the
    /// tokenizer at the end of the previous piece.
    pub(crate) fn next(
        &mut self,
        mode: TokenizerState,
        is_foreign: bool,
        size: usize,
    ) -> Option<InputPiece> {
        let from = self.at;
        if self.html.len() <= from {
            return None;
        }
        let mut mode = mode;
        while self.at < self.html.len() && self.at - from < size {
            let tag = match mode {
                TokenizerState::Plain => {
                    self.at = self.html.len();
                    break;
                }
                TokenizerState::Raw => Some(self.raw_end()),
                TokenizerState::Script => Some(self.script_end()),
                TokenizerState::Data => {
                    let rest = &self.html[self.at..];
                    self.at += memchr(b'<', rest).unwrap_or(rest.len());
                    let is_cdata = self.html[self.at..].starts_with(b"<![CDATA[");
                    // Whether this is a CDATA section depends on the tree, so the piece ends before
                    // it.
                    if is_cdata && from < self.at {
                        break;
                    }
                    self.construct(is_cdata && is_foreign)
                }
            };
            mode = TokenizerState::Data;
            let Some((tag, is_switch)) = tag else { continue };
            self.at = tag.end;
            if let Some(beyond) = tag.beyond {
                self.n_cut += 1;
                return Some(InputPiece { from, to: beyond, closing: tag.closing });
            }
            if is_switch {
                break;
            }
        }
        Some(InputPiece { from, to: self.at, closing: "" })
    }

    /// Skips the construct that `<` begins. For a tag, returns its end, and whether the tokenizer
    /// may change its mode after the tag.
    fn construct(&mut self, is_cdata: bool) -> Option<(TagEnd, bool)> {
        let rest = &self.html[self.at..];
        let (second, third) = (rest.get(1).copied(), rest.get(2).copied());
        match (second, third) {
            (Some(b'!'), _) if is_cdata => self.skip_to(b"]]>"),
            (Some(b'!'), _) if rest.starts_with(b"<!--") => self.skip_comment(),
            (Some(b'!' | b'?'), _) => self.skip_past(b'>'),
            (Some(b'/'), Some(letter)) if letter.is_ascii_alphabetic() => {
                let name_end = self.name_end(self.at + 2);
                return Some((self.tag_end(name_end), false));
            }
            (Some(b'/'), Some(_)) => self.skip_past(b'>'),
            (Some(letter), _) if letter.is_ascii_alphabetic() => {
                let name_end = self.name_end(self.at + 1);
                self.name = &self.html[self.at + 1..name_end];
                return Some((self.tag_end(name_end), may_switch(self.name)));
            }
            _ => self.at = (self.at + 1).min(self.html.len()),
        }
        None
    }

    fn name_end(&self, from: usize) -> usize {
        let is_end = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>');
        self.html[from..].iter().position(is_end).map_or(self.html.len(), |n| from + n)
    }

    /// Finds the end of a tag, starting after its name or after one of its attributes.
    fn tag_end(&self, from: usize) -> TagEnd {
        let (html, mut at) = (self.html, from);
        let (mut n, mut beyond) = (0, None);
        loop {
            at += html[at..].iter().take_while(|byte| is_space(**byte)).count();
            match html.get(at) {
                None => return TagEnd { end: at, beyond, closing: "" },
                Some(b'>') => return TagEnd { end: at + 1, beyond, closing: " >" },
                Some(b'/') if html.get(at + 1) == Some(&b'>') => {
                    return TagEnd { end: at + 2, beyond, closing: " />" };
                }
                Some(b'/') => at += 1,
                Some(_) => {
                    n += 1;
                    if n == self.most + 1 {
                        beyond = Some(at);
                    }
                    at = self.attribute_end(at);
                }
            }
        }
    }

    /// Returns the position after an attribute and its value.
    fn attribute_end(&self, from: usize) -> usize {
        let html = self.html;
        let skip_spaces =
            |at: usize| at + html[at..].iter().take_while(|byte| is_space(**byte)).count();
        // The first character always belongs to the name, even if it is `=`.
        let is_end = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>' | b'=');
        let rest = &html[from + 1..];
        let name_end = from + 1 + rest.iter().position(is_end).unwrap_or(rest.len());
        let sign = skip_spaces(name_end);
        if html.get(sign) != Some(&b'=') {
            return sign;
        }
        let value = skip_spaces(sign + 1);
        match html.get(value) {
            Some(quote @ (b'"' | b'\'')) => {
                let rest = &html[value + 1..];
                memchr(*quote, rest).map_or(html.len(), |n| value + 1 + n + 1)
            }
            _ => {
                let is_end = |byte: &u8| is_space(*byte) || *byte == b'>';
                let rest = &html[value..];
                value + rest.iter().position(is_end).unwrap_or(rest.len())
            }
        }
    }

    fn skip_past(&mut self, byte: u8) {
        let rest = &self.html[self.at..];
        self.at += memchr(byte, rest).map_or(rest.len(), |n| n + 1);
    }

    fn skip_to(&mut self, end: &[u8]) {
        let rest = &self.html[self.at..];
        self.at += memchr::memmem::find(rest, end).map_or(rest.len(), |n| n + end.len());
    }

    /// Skips a comment up to `-->` or `--!>`. `<!-->` and `<!--->` are complete comments.
    fn skip_comment(&mut self) {
        let start = self.at;
        self.at += 4;
        while self.at < self.html.len() {
            self.skip_past(b'>');
            let upto = &self.html[..self.at];
            if upto[start + 2..].ends_with(b"-->") || upto[start + 4..].ends_with(b"--!>") {
                return;
            }
        }
    }

    /// Finds the end tag of raw text; returns the end of the page if there is none.
    fn raw_end(&self) -> (TagEnd, bool) {
        let mut at = self.at;
        while let Some(n) = self.html.get(at..).and_then(|rest| memchr(b'<', rest)) {
            at += n;
            if let Some(name_end) = self.closes(at) {
                return (self.tag_end(name_end), false);
            }
            at += 1;
        }
        (self.page_end(), false)
    }

    fn page_end(&self) -> TagEnd {
        TagEnd { end: self.html.len(), beyond: None, closing: "" }
    }

    /// Returns the position after the name if an end tag for the last start tag begins at `at`.
    fn closes(&self, at: usize) -> Option<usize> {
        let rest = self.html[at..].strip_prefix(b"</")?;
        let name = rest.get(..self.name.len())?;
        let is_whole = rest
            .get(self.name.len())
            .is_some_and(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'));
        (is_whole && name.eq_ignore_ascii_case(self.name)).then_some(at + 2 + name.len())
    }

    /// Finds the end tag of a script. Inside `<!-- … -->`, a second `<script` hides the next end
    /// tag.
    fn script_end(&self) -> (TagEnd, bool) {
        let html = self.html;
        let mut at = self.at;
        let mut escape = ScriptEscape::No;
        let mut n_dashes = 0;
        while at < html.len() {
            if escape == ScriptEscape::No {
                let Some(n) = memchr(b'<', &html[at..]) else { break };
                at += n;
                if let Some(name_end) = self.closes(at) {
                    return (self.tag_end(name_end), false);
                }
                let is_comment = html[at..].starts_with(b"<!--");
                (escape, n_dashes) = if is_comment { (ScriptEscape::Once, 2) } else { (escape, 0) };
                at += if is_comment { 4 } else { 1 };
                continue;
            }
            match html[at] {
                b'-' => n_dashes += 1,
                b'>' if 2 <= n_dashes => (escape, n_dashes) = (ScriptEscape::No, 0),
                b'<' => {
                    n_dashes = 0;
                    if escape == ScriptEscape::Once
                        && let Some(name_end) = self.closes(at)
                    {
                        return (self.tag_end(name_end), false);
                    }
                    let (next, end) = self.inner_tag(at, escape);
                    (escape, at) = (next, end);
                    continue;
                }
                _ => {
                    n_dashes = 0;
                    // No other byte changes the state.
                    at += memchr2(b'-', b'<', &html[at..]).unwrap_or(html.len() - at);
                    continue;
                }
            }
            at += 1;
        }
        (self.page_end(), false)
    }

    /// Reads a `<` inside a comment of a script: `<script` raises the escape level to twice, and
    /// `</script` lowers it to once.
    fn inner_tag(&self, at: usize, escape: ScriptEscape) -> (ScriptEscape, usize) {
        let (lead, other): (&[u8], _) = match escape {
            ScriptEscape::Twice => (b"</", ScriptEscape::Once),
            ScriptEscape::Once | ScriptEscape::No => (b"<", ScriptEscape::Twice),
        };
        let Some(rest) = self.html[at..].strip_prefix(lead) else { return (escape, at + 1) };
        let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let end = at + lead.len() + letters;
        let delimiter = rest.get(letters).copied();
        let is_ended = delimiter.is_some_and(|byte| is_space(byte) || b"/>".contains(&byte));
        if !is_ended || (letters == 0 && escape == ScriptEscape::Once) {
            return (escape, end.max(at + 1));
        }
        let is_script = rest[..letters].eq_ignore_ascii_case(b"script");
        (if is_script { other } else { escape }, end + 1)
    }
}

/// The escape level of script data in a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScriptEscape {
    No,
    Once,
    Twice,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

/// Returns whether the tokenizer may change its mode after a start tag with this name.
fn may_switch(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 10] = [
        b"title",
        b"textarea",
        b"style",
        b"script",
        b"xmp",
        b"iframe",
        b"noembed",
        b"noframes",
        b"noscript",
        b"plaintext",
    ];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::Limits;
    use crate::dom::Dom;

    fn pieces(html: &str, most: usize) -> Vec<String> {
        let mut scanner = TagScanner::new(html, most);
        let mut all = Vec::new();
        while let Some(piece) = scanner.next(TokenizerState::Data, false, 1 << 20) {
            all.push(format!("{}{}", &html[piece.from..piece.to], piece.closing));
        }
        all
    }

    #[test]
    fn leaves_out_attributes_beyond_the_limit() {
        assert_eq!(pieces("<a b c>x", 2), ["<a b c>x"]);
        assert_eq!(pieces("<a b c d e>x<i>", 2), ["<a b c  >", "x<i>"]);
        assert_eq!(pieces("<a b='>' c=\"'\"d/>x", 2), ["<a b='>' c=\"'\" />", "x"]);
        assert_eq!(pieces("<a b/c/d e>", 2), ["<a b/c/ >"]);
        assert_eq!(pieces("</a b c=1 d e/>x", 2), ["</a b c=1  />", "x"]);
        // These constructs are not tags, so no attributes are cut off.
        for text in ["<!-- <a b c d> -->", "1 <2 b c d e>", "<?a b c d>", "</ b c d>", "<!a b c d>"]
        {
            assert_eq!(pieces(text, 2), [text]);
        }
    }

    /// Returns every element and text of a page, and the attributes of each element.
    fn tree(html: &str, attributes: usize) -> (Vec<String>, Vec<String>) {
        let limits = Limits { attributes, ..Limits::USUAL };
        let dom = Dom::parse(html, &limits);
        let shown = (0..dom.len()).map(|at| {
            let item = dom.item(at);
            let mut attributes = String::new();
            for (name, value) in dom.attributes(at) {
                write!(attributes, "{name}={value:?};").unwrap();
            }
            (format!("{:?} {} {} {:?}", item.tag, item.parent, item.end, dom.text(at)), attributes)
        });
        shown.unzip()
    }

    /// Pieces from which test pages are made.
    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "<p ", "<div ", "<svg ", "<math ", "<title>", "<title ", "</title>", "<style>",
        "</style ", "<script>", "<script ", "</script>", "</SCRIPT ", "<SCRIPT/", "<textarea ",
        "</textarea>", "<xmp>", "</xmp>", "<iframe ", "</iframe/", "<noembed>", "<noscript>",
        "</svg>", "<table ", "<td ", "<select>", "<!--", "-->", "--!>", "--", "-", "!", ">",
        "/>", "/", "<", "</", "</p ", "<?x ", "<!x ", "<![CDATA[", "]]>", "]", "<!DOCTYPE html ",
        "=", "='", "=\"", "'", "\"", " ", "\n", "\r", "\r\n", "\t", "\x0c", "\0", "&amp;", "&",
        "text", "\u{e9}", "= ", " =", "x=y", "<template ", "</template>", "<noframes>",
        "</noframes>", "<b ", "</b>", "<br ", "<frameset ", "s", "script", "</scripty ",
    ];

    /// The scanner and html5ever agree about every tag, comment and script: the attributes that the
    /// scanner cuts off are the last attributes of the tags that html5ever reads.
    #[test]
    fn agrees_with_the_tokenizer_about_every_construct() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed % below as u64).unwrap()
        };
        let mut n_cut = 0;
        for _ in 0..60_000 {
            let mut html = String::new();
            for n in 0..draw(24) {
                if draw(3) == 0 {
                    // Each attribute has its own name, so that none occurs twice.
                    write!(html, " a{n}").unwrap();
                } else {
                    html.push_str(PIECES[draw(PIECES.len())]);
                }
            }
            let (whole, all) = tree(&html, usize::MAX - 1);
            let (capped, first) = tree(&html, 3);
            assert_eq!(capped, whole, "{html:?}");
            for (first, all) in first.iter().zip(&all) {
                // The scanner counts an attribute that occurs twice as two, but html5ever keeps
                // only one.
                assert!(all.starts_with(first), "{html:?}: {first} of {all}");
                assert_eq!(first.is_empty(), all.is_empty(), "{html:?}");
                n_cut += usize::from(first != all);
            }
        }
        assert!(1000 < n_cut, "too few pages with many attributes: {n_cut}");
    }
}
