//! Parses JSON and keeps the original text.
//!
//! Strings borrow from the input, numbers keep their spelling, and duplicate members are kept, so
//! that the caller can decide which one counts.
//!
//! Rejects text that RFC 8259 does not allow (NaN, comments, lone surrogates), more than
//! [`MAX_DEPTH`] levels of nesting, bytes that are not UTF-8, and truncated documents.

mod duplicates;

use std::borrow::Cow;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule};
use rutter_page::JsonTree;

use self::duplicates::DuplicateMembers;
use crate::rules;

/// Maximum nesting depth of a document.
pub(crate) const MAX_DEPTH: usize = 128;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonValue<'t> {
    Null,
    Bool(bool),
    /// The number as written; it may exceed the range of a float.
    Number(&'t str),
    Text(Cow<'t, str>),
    List(Vec<Self>),
    Map(Vec<(Cow<'t, str>, Self)>),
}

impl<'t> JsonValue<'t> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn members(&self) -> &[(Cow<'t, str>, Self)] {
        if let Self::Map(members) = self { members } else { &[] }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns an owned copy of the value.
    pub(crate) fn tree(&self) -> JsonTree {
        match self {
            Self::Null => JsonTree::Null,
            Self::Bool(value) => JsonTree::Bool(*value),
            Self::Number(number) => JsonTree::Number((*number).to_owned()),
            Self::Text(text) => JsonTree::text(text.as_ref()),
            Self::List(items) => JsonTree::List(items.iter().map(Self::tree).collect()),
            Self::Map(members) => JsonTree::Map(
                members.iter().map(|(key, it)| (key.to_string(), it.tree())).collect(),
            ),
        }
    }
}

/// Parses a document of at most `most` bytes.
///
/// A byte order mark and duplicate members are reported as findings; every other problem is a
/// refusal.
pub(crate) fn parse<'t>(
    bytes: &'t [u8],
    most: usize,
    sink: &mut dyn FindingSink,
) -> Result<JsonValue<'t>, Refusal> {
    if most < bytes.len() {
        let detail = format!("the document has {} bytes", bytes.len());
        return Err(Refusal::new(&rules::TOO_LARGE, Place::WHOLE, detail));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        // An incomplete character at the end means that the document is truncated.
        let rule = if error.error_len().is_none() { &rules::TRUNCATED } else { &rules::NOT_UTF8 };
        Refusal::new(rule, Place::line(line_of(before)), "")
    })?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(text) => {
            sink.report(Finding::new(&rules::BOM, Place::WHOLE, ""));
            text
        }
        None => text,
    };
    let mut parser = JsonParser { text, at: 0, depth: 0 };
    parser.space();
    let mut value = parser.value()?;
    parser.space();
    if parser.peek().is_some() {
        return Err(parser.fault("text follows the document"));
    }
    let mut twice = DuplicateMembers { path: String::new(), n_told: 0, sink };
    twice.mend(&mut value);
    Ok(value)
}

fn line_of(before: &[u8]) -> u64 {
    before.split(|byte| *byte == b'\n').count() as u64
}

/// Appends a member name to a JSON pointer; a very long name is shortened.
pub(crate) fn push_step(pointer: &mut String, step: &str) {
    const MAX_LENGTH: usize = 500;
    let end = step.floor_char_boundary(MAX_LENGTH);
    let (shown, rest) = step.split_at(end);
    pointer.push('/');
    if shown.contains(['~', '/']) {
        pointer.push_str(&shown.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(shown);
    }
    if !rest.is_empty() {
        pointer.push('…');
    }
}

struct JsonParser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> JsonParser<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn stop(&self, rule: &'static Rule, detail: &str) -> Refusal {
        let before = self.text.as_bytes().get(..self.at).unwrap_or_default();
        Refusal::new(rule, Place::line(line_of(before)), detail)
    }

    /// Returns a refusal for this position. At the end of the text, the refusal says that the
    /// document is truncated.
    fn fault(&self, detail: &str) -> Refusal {
        let rule = if self.peek().is_none() { &rules::TRUNCATED } else { &rules::NOT_JSON };
        self.stop(rule, if self.peek().is_none() { "" } else { detail })
    }

    fn value(&mut self) -> Result<JsonValue<'t>, Refusal> {
        match self.peek() {
            Some(b'"') => self.string().map(JsonValue::Text),
            Some(b'{') => self.map(),
            Some(b'[') => self.list(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<JsonValue<'t>, Refusal> {
        let words = [
            ("null", JsonValue::Null),
            ("true", JsonValue::Bool(true)),
            ("false", JsonValue::Bool(false)),
        ];
        for (word, value) in words {
            if self.rest().starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
            if !self.rest().is_empty() && word.as_bytes().starts_with(self.rest()) {
                return Err(self.stop(&rules::TRUNCATED, ""));
            }
        }
        Err(self.fault("expected a JSON value"))
    }

    fn number(&mut self) -> Result<JsonValue<'t>, Refusal> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(JsonValue::Number(self.text.get(start..self.at).unwrap_or_default()))
    }

    fn digits(&mut self) -> Result<(), Refusal> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.fault("malformed number"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn enter(&mut self) -> Result<(), Refusal> {
        self.at += 1;
        self.depth += 1;
        if MAX_DEPTH < self.depth {
            return Err(self.stop(&rules::TOO_DEEP, ""));
        }
        self.space();
        Ok(())
    }

    /// Moves behind an item. Returns whether another item follows.
    fn more(&mut self, end: u8) -> Result<bool, Refusal> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.space();
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            _ => Err(self.fault("expected a comma")),
        }
    }

    fn list(&mut self) -> Result<JsonValue<'t>, Refusal> {
        self.enter()?;
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            self.depth -= 1;
            return Ok(JsonValue::List(items));
        }
        loop {
            items.push(self.value()?);
            if !self.more(b']')? {
                return Ok(JsonValue::List(items));
            }
        }
    }

    fn map(&mut self) -> Result<JsonValue<'t>, Refusal> {
        self.enter()?;
        let mut members = Vec::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.depth -= 1;
            return Ok(JsonValue::Map(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.fault("expected a name in quotes"));
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.fault("expected a colon"));
            }
            self.at += 1;
            self.space();
            members.push((key, self.value()?));
            if !self.more(b'}')? {
                return Ok(JsonValue::Map(members));
            }
        }
    }

    fn string(&mut self) -> Result<Cow<'t, str>, Refusal> {
        self.at += 1;
        let mut owned: Option<String> = None;
        loop {
            let start = self.at;
            let is_plain = |byte: &u8| b' ' <= *byte && *byte != b'"' && *byte != b'\\';
            let length = self.rest().iter().take_while(|byte| is_plain(byte)).count();
            self.at += length;
            // Both ends of the piece are next to an ASCII character, so they are character
            // boundaries.
            let piece = self.text.get(start..self.at).unwrap_or_default();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(match owned {
                        None => Cow::Borrowed(piece),
                        Some(text) => Cow::Owned(text + piece),
                    });
                }
                Some(b'\\') => {
                    let mut text = owned.unwrap_or_default();
                    text.push_str(piece);
                    text.push(self.escape()?);
                    owned = Some(text);
                }
                _ => return Err(self.fault("a string has a control character")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Refusal> {
        self.at += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.fault("unknown escape sequence")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, Refusal> {
        let lone = "lone surrogate";
        let first = self.hex()?;
        let code = if (0xd800..0xdc00).contains(&first) {
            let is_pair = self.rest().starts_with(b"\\u");
            if !is_pair {
                let is_cut = b"\\u".starts_with(self.rest());
                let rule = if is_cut { &rules::TRUNCATED } else { &rules::NOT_JSON };
                return Err(self.stop(rule, if is_cut { "" } else { lone }));
            }
            self.at += 2;
            let second = self.hex()?;
            if !(0xdc00..0xe000).contains(&second) {
                return Err(self.stop(&rules::NOT_JSON, lone));
            }
            0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        } else {
            first
        };
        char::from_u32(code).ok_or_else(|| self.stop(&rules::NOT_JSON, lone))
    }

    fn hex(&mut self) -> Result<u32, Refusal> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.fault("expected four hexadecimal digits"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rutter_finding::Finding;

    use super::*;

    fn refused(text: &[u8]) -> (&'static str, Option<u64>) {
        let refusal = parse(text, 1000, &mut ()).expect_err("must be refused");
        (refusal.rule.code, refusal.place.line)
    }

    #[test] // SPX-063, C04
    fn invalid_json_is_rejected_with_its_line() {
        for (text, code, line) in [
            (&b"{\n\"a\": NaN}"[..], &rules::NOT_JSON, 2),
            (b"[Infinity]", &rules::NOT_JSON, 1),
            (b"[-Infinity]", &rules::NOT_JSON, 1),
            (b"{\n\n'a': 1}", &rules::NOT_JSON, 3),
            (b"{} {}", &rules::NOT_JSON, 1),
            (b"[1,]", &rules::NOT_JSON, 1),
            (b"{\"a\":1,}", &rules::NOT_JSON, 1),
            (b"[01]", &rules::NOT_JSON, 1),
            (b"[1.]", &rules::NOT_JSON, 1),
            (b"[\"\\x\"]", &rules::NOT_JSON, 1),
            (b"[\"\\ud800\"]", &rules::NOT_JSON, 1),
            (b"[\"\\ud800\\u0041\"]", &rules::NOT_JSON, 1),
            (b"[\"\\udc00\"]", &rules::NOT_JSON, 1),
            (b"[\"a\nb\"]", &rules::NOT_JSON, 1),
            (b"// note\n{}", &rules::NOT_JSON, 1),
            (b"", &rules::TRUNCATED, 1),
            (b"{\n\"a\"", &rules::TRUNCATED, 2),
            (b"{\"a\": tr", &rules::TRUNCATED, 1),
            (b"[1.", &rules::TRUNCATED, 1),
            (b"[\"\\ud8", &rules::TRUNCATED, 1),
            (b"[\"\xc3", &rules::TRUNCATED, 1),
            (b"[\n\"\xff\"]", &rules::NOT_UTF8, 2),
        ] {
            let shown = String::from_utf8_lossy(text).into_owned();
            assert_eq!(refused(text), (code.code, Some(line)), "{shown}");
        }
        assert_eq!(refused(&[b' '; 1001]).0, rules::TOO_LARGE.code);
    }

    #[test] // D89
    fn nesting_is_limited_to_128_levels() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(parse(nested(128).as_bytes(), 1000, &mut ()).is_ok());
        assert_eq!(refused(nested(129).as_bytes()).0, rules::TOO_DEEP.code);
        let endless = "[{\"a\":".repeat(100_000);
        let refusal = parse(endless.as_bytes(), 1 << 20, &mut ()).expect_err("too deep");
        assert_eq!(refusal.rule.code, rules::TOO_DEEP.code);
    }

    #[test] // C06
    fn duplicate_member_is_reported_once() {
        let text = r#"{"a":1,"b":[{"x/y":1,"x\/y":2,"x/y":3}],"a":2}"#;
        let mut findings: Vec<Finding> = Vec::new();
        let value = parse(text.as_bytes(), 1000, &mut findings).expect("JSON");
        let places: Vec<_> = findings.iter().map(|it| it.place.pointer.as_str()).collect();
        assert_eq!(places, ["/a", "/b/0/x~1y"]);
        assert!(findings.iter().all(|it| it.rule.code == rules::KEY_TWICE.code));
        assert_eq!(value.get("a"), Some(&JsonValue::Number("2")));
        assert_eq!(value.members().len(), 2);
        // Objects with many members use another algorithm.
        let many: Vec<String> = (0..40).map(|n| format!("\"{}\":0", n % 39)).collect();
        let mut findings: Vec<Finding> = Vec::new();
        drop(parse(format!("{{{}}}", many.join(",")).as_bytes(), 1000, &mut findings));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings.first().map(|it| it.place.pointer.as_str()), Some("/0"));
    }

    #[test] // C04
    fn number_beyond_float_range_is_accepted() {
        let value = parse(b"[1e400, -0.01, 0, 1E+2]", 1000, &mut ()).expect("JSON");
        let numbers = ["1e400", "-0.01", "0", "1E+2"].map(JsonValue::Number);
        assert_eq!(value, JsonValue::List(numbers.to_vec()));
    }

    #[test] // SPX-063
    fn byte_order_mark_is_reported() {
        let mut findings: Vec<Finding> = Vec::new();
        assert_eq!(parse(b"\xef\xbb\xbf{}", 1000, &mut findings), Ok(JsonValue::Map(Vec::new())));
        assert_eq!(findings.len(), 1);
    }

    proptest! {
        /// serde_json accepts the same texts as this parser and returns the same values.
        #[test]
        fn agrees_with_serde_json(text in "[\\[\\]{}\",:\\\\ u0-9a-f.eE+\\-truefalsn\u{e9}\n]{0,24}") {
            let own = parse(text.as_bytes(), 1000, &mut ());
            match serde_json::from_str::<JsonTree>(&text) {
                Ok(other) => {
                    let own = own.expect("the other accepts it");
                    // The spelling of numbers may differ.
                    let is_plain = !text.contains(|c: char| c.is_ascii_digit() || c == ':');
                    prop_assert!(!is_plain || own.tree() == other);
                }
                Err(error) => {
                    let is_range = error.to_string().contains("out of range");
                    prop_assert!(own.is_err() || is_range, "{error}");
                }
            }
        }
    }
}
