//! Reads and writes ARC sitemaps in YAML (D63).
//!
//! Writing works entry by entry. Reading converts the whole file to JSON, so that both formats go
//! through the same checks.
//!
//! Rejects anchors, aliases, tags, directives, duplicate keys, several documents, and more than
//! [`MAX_YAML_BYTES`] bytes.

use std::collections::HashSet;
use std::io::{self, Read, Write};

use rutter_finding::{Place, Refusal, Rule, quoted};
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle};

use crate::entry::ArcEntry;
use crate::head::SitemapHeader;
use crate::input::ArcInput;
use crate::limits::{ArcError, Limits};
use crate::write::head_members;
use crate::{rules, write};
use rutter_page::{JsonTree, push_string};

/// Maximum size in bytes of a YAML file that is read or written.
pub const MAX_YAML_BYTES: usize = 8 << 20;

/// Maximum number of keys of one mapping. All keys of a mapping are remembered, to detect
/// duplicates.
const MAX_KEYS: usize = 10_000;

/// Maximum length of an implicit key in YAML.
const MAX_KEY_LENGTH: usize = 1000;

/// Writes a document in YAML: quoted strings, `true` and `false`, one line per member.
///
/// The file never exceeds [`MAX_YAML_BYTES`]. If it would, [`YamlWriter::finish`] returns `None`
/// and the caller publishes no YAML file.
#[derive(Debug)]
pub struct YamlWriter<W: Write> {
    out: W,
    n_entries: u64,
    n_bytes: usize,
    buffer: String,
    is_too_large: bool,
}

impl<W: Write> YamlWriter<W> {
    /// Creates a writer and writes all members that come before `pages`.
    pub fn new(out: W, head: &SitemapHeader) -> io::Result<Self> {
        let mut writer =
            Self { out, n_entries: 0, n_bytes: 0, buffer: String::new(), is_too_large: false };
        for (name, value) in head_members(head) {
            writer.member("", &name, &value);
        }
        writer.buffer.push_str("pages:");
        writer.flush_buffer()?;
        Ok(writer)
    }

    /// Writes an entry, unless the file is too large already.
    pub fn push(&mut self, entry: &ArcEntry<'_>) -> io::Result<()> {
        if self.is_too_large {
            return Ok(());
        }
        let mut json = Vec::new();
        write::push_entry(entry, &mut json);
        let tree = JsonTree::parse(&String::from_utf8_lossy(&json));
        let Some(JsonTree::Map(members)) = tree else {
            // Only a snapshot with extreme nesting fails here.
            self.is_too_large = true;
            return Ok(());
        };
        self.n_entries += 1;
        self.buffer.push('\n');
        for (n, (name, value)) in members.iter().enumerate() {
            self.buffer.push_str(if n == 0 { "  - " } else { "    " });
            self.key(name);
            self.buffer.push_str(": ");
            let mut line = std::mem::take(&mut self.buffer);
            self.is_too_large |= !push_flow(value, &mut line);
            self.buffer = line;
            if n + 1 < members.len() {
                self.buffer.push('\n');
            }
        }
        self.flush_buffer()
    }

    /// Returns whether the file is too large to be published.
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Writes the end of the document. Returns `None` if the file must not be published.
    pub fn finish(mut self) -> io::Result<Option<W>> {
        self.buffer.push_str(if self.n_entries == 0 { " []\n" } else { "\n" });
        self.flush_buffer()?;
        self.out.flush()?;
        Ok((!self.is_too_large).then_some(self.out))
    }

    fn key(&mut self, name: &str) {
        let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-'))
            && !matches!(name, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n");
        let before = self.buffer.len();
        if is_plain {
            self.buffer.push_str(name);
        } else {
            push_quoted(name, &mut self.buffer);
        }
        self.is_too_large |= MAX_KEY_LENGTH < self.buffer.len() - before;
    }

    fn member(&mut self, indent: &str, name: &str, json: &str) {
        self.buffer.push_str(indent);
        self.key(name);
        self.buffer.push_str(": ");
        let mut line = std::mem::take(&mut self.buffer);
        let value = JsonTree::parse(json).unwrap_or(JsonTree::Null);
        self.is_too_large |= !push_flow(&value, &mut line);
        self.buffer = line;
        self.buffer.push('\n');
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        self.n_bytes += self.buffer.len();
        // The end of the file needs a few more bytes.
        self.is_too_large |= MAX_YAML_BYTES < self.n_bytes + 8;
        if !self.is_too_large {
            self.out.write_all(self.buffer.as_bytes())?;
        }
        self.buffer.clear();
        Ok(())
    }
}

/// Appends a JSON value on one line. Returns false if a key is too long for YAML.
fn push_flow(value: &JsonTree, out: &mut String) -> bool {
    match value {
        JsonTree::Null => out.push_str("null"),
        JsonTree::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        JsonTree::Number(number) => out.push_str(number),
        JsonTree::Text(text) => push_quoted(text, out),
        JsonTree::List(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n == 0 { "" } else { ", " });
                if !push_flow(item, out) {
                    return false;
                }
            }
            out.push(']');
        }
        JsonTree::Map(members) => {
            out.push('{');
            for (n, (key, value)) in members.iter().enumerate() {
                out.push_str(if n == 0 { "" } else { ", " });
                let before = out.len();
                push_quoted(key, out);
                let is_long = MAX_KEY_LENGTH < out.len() - before;
                out.push_str(": ");
                if is_long || !push_flow(value, out) {
                    return false;
                }
            }
            out.push('}');
        }
    }
    true
}

/// Appends a text in double quotes. Escapes every character that some YAML reader treats
/// specially.
fn push_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                push_escape('u', 4, c, out);
            }
            c if 0xfffe <= u32::from(c) & 0xffff => {
                push_escape('U', 8, c, out);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn push_escape(letter: char, n_digits: usize, c: char, out: &mut String) {
    out.push('\\');
    out.push(letter);
    let digits = format!("{:0n_digits$X}", u32::from(c));
    out.push_str(&digits);
}

/// Reads a YAML document and returns its data as JSON.
pub(crate) fn to_json(input: impl Read, limits: &Limits) -> Result<Vec<u8>, ArcError> {
    let mut input = ArcInput::new(input, limits.bytes);
    let mut bytes = Vec::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        let n = input.read(&mut piece)?;
        if n == 0 {
            break;
        }
        bytes.extend_from_slice(piece.get(..n).unwrap_or_default());
        if MAX_YAML_BYTES < bytes.len() {
            return Err(Refusal::new(&rules::YAML_TOO_LARGE, Place::WHOLE, "").into());
        }
    }
    let text = simdutf8::basic::from_utf8(&bytes);
    let text = text.map_err(|_| Refusal::new(&rules::NOT_UTF8, Place::WHOLE, ""))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok(transcode(text, limits.depth)?)
}

/// A YAML list or mapping that is not closed yet.
enum OpenNode {
    List { is_empty: bool },
    Map { keys: HashSet<String>, wants_value: bool },
}

fn transcode(text: &str, depth: usize) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::with_capacity(text.len());
    let mut open: Vec<OpenNode> = Vec::new();
    let mut n_documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let said = error.to_string();
            // The parser reports an alias without an anchor as an error.
            let is_alias = said.contains("anchor") || said.contains("alias");
            let rule: &'static Rule =
                if is_alias { &rules::YAML_FORBIDDEN } else { &rules::YAML_FORM };
            let line = u64::try_from(error.marker().line()).unwrap_or(0);
            Refusal::new(rule, Place::line(line.max(1)), said.lines().next().unwrap_or_default())
        })?;
        let place = || Place::line(u64::try_from(span.start.line()).unwrap_or(0).max(1));
        let forbid = |what: &str| Refusal::new(&rules::YAML_FORBIDDEN, place(), what);
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag)
            | Event::SequenceStart(_, anchor, tag)
            | Event::MappingStart(_, anchor, tag) => (*anchor, tag.is_some()),
            _ => (0, false),
        };
        if anchor != 0 {
            return Err(forbid("an anchor"));
        }
        if tag {
            return Err(forbid("a tag"));
        }
        match event {
            Event::DocumentStart(_, version) => {
                n_documents += 1;
                if version.is_some() {
                    return Err(forbid("a directive"));
                }
                if 1 < n_documents {
                    let detail = "the file has a second document";
                    return Err(Refusal::new(&rules::YAML_FORM, place(), detail));
                }
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) | Event::Anchor(..) => {
                return Err(forbid("an alias"));
            }
            Event::Scalar(value, style, ..) => {
                if let Some(OpenNode::Map { keys, wants_value: wants @ false }) = open.last_mut() {
                    *wants = true;
                    push_key(&value, keys, &mut out, &place)?;
                } else {
                    begin(&mut open, &mut out, &place)?;
                    push_scalar(&value, style, &mut out);
                }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                begin(&mut open, &mut out, &place)?;
                // The document, the list of pages and the entry add three levels.
                if depth + 3 <= open.len() {
                    let detail = format!("the limit is {depth} levels");
                    return Err(Refusal::new(&rules::TOO_DEEP, place(), detail));
                }
                let is_list = matches!(event, Event::SequenceStart(..));
                out.push(if is_list { b'[' } else { b'{' });
                open.push(if is_list {
                    OpenNode::List { is_empty: true }
                } else {
                    OpenNode::Map { keys: HashSet::new(), wants_value: false }
                });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                open.pop();
                out.push(if matches!(event, Event::SequenceEnd) { b']' } else { b'}' });
            }
            _ => {}
        }
    }
    Ok(out)
}

/// Writes a key of a mapping with its separators.
fn push_key(
    key: &str,
    keys: &mut HashSet<String>,
    out: &mut Vec<u8>,
    place: &dyn Fn() -> Place,
) -> Result<(), Refusal> {
    if !keys.insert(key.to_owned()) {
        return Err(Refusal::new(&rules::YAML_TWICE, place(), quoted(key)));
    }
    if MAX_KEYS < keys.len() {
        let detail = format!("more than {MAX_KEYS} keys in one mapping");
        return Err(Refusal::new(&rules::YAML_FORM, place(), detail));
    }
    if 1 < keys.len() {
        out.push(b',');
    }
    push_string(key, out);
    out.push(b':');
    Ok(())
}

/// Writes the separator that JSON requires in front of a value.
fn begin(
    open: &mut [OpenNode],
    out: &mut Vec<u8>,
    place: &dyn Fn() -> Place,
) -> Result<(), Refusal> {
    match open.last_mut() {
        Some(OpenNode::List { is_empty: is_empty @ true }) => *is_empty = false,
        Some(OpenNode::List { .. }) => out.push(b','),
        Some(OpenNode::Map { wants_value: wants @ true, .. }) => *wants = false,
        Some(OpenNode::Map { .. }) => {
            return Err(Refusal::new(&rules::YAML_FORM, place(), "a key is not a string"));
        }
        None => {}
    }
    Ok(())
}

/// Appends a scalar according to the YAML 1.2 core schema. A value that JSON cannot express, or
/// that other YAML versions read differently, becomes a string.
fn push_scalar(value: &str, style: ScalarStyle, out: &mut Vec<u8>) {
    if style != ScalarStyle::Plain {
        return push_string(value, out);
    }
    match value {
        "" | "~" | "null" | "Null" | "NULL" => out.extend(b"null"),
        "true" | "True" | "TRUE" => out.extend(b"true"),
        "false" | "False" | "FALSE" => out.extend(b"false"),
        number if is_json_number(number) => out.extend(number.bytes()),
        text => push_string(text, out),
    }
}

fn is_json_number(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    starts && serde_json::from_str::<serde_json::Number>(text).is_ok()
}
