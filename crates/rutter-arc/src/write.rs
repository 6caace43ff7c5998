//! Writes a JSON sitemap, one line per entry. The same entries give the same bytes.

use std::io::{self, Write};

use rutter_page::{UnknownMember, push_string};

use crate::entry::ArcEntry;
use crate::head::SitemapHeader;

/// Writes a document in constant memory.
///
/// The output is complete only after [`JsonWriter::finish`].
///
/// ```
/// # use rutter_arc::{ArcEntry, SitemapHeader, JsonWriter};
/// # use rutter_page::{PageUrl, Timestamp};
/// let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
/// let head = SitemapHeader::new("https://harbour.example/", now);
/// let mut writer = JsonWriter::new(Vec::new(), &head).unwrap();
/// let url = PageUrl::parse("https://harbour.example/tides").unwrap();
/// writer.push(&ArcEntry::new(url, Some(true))).unwrap();
/// let text = String::from_utf8(writer.finish().unwrap()).unwrap();
/// assert!(text.contains(r#"{"url":"https://harbour.example/tides","ai_indexable":true}"#));
/// ```
#[derive(Debug)]
pub struct JsonWriter<W: Write> {
    out: W,
    n_entries: u64,
    buffer: Vec<u8>,
}

impl<W: Write> JsonWriter<W> {
    /// Creates a writer and writes all members that come before `pages`.
    pub fn new(out: W, head: &SitemapHeader) -> io::Result<Self> {
        let mut buffer = b"{".to_vec();
        push_head(head, &mut buffer);
        buffer.extend(b"\n  \"pages\": [");
        let mut writer = Self { out, n_entries: 0, buffer };
        writer.flush_buffer()?;
        Ok(writer)
    }

    /// Writes an entry.
    pub fn push(&mut self, entry: &ArcEntry<'_>) -> io::Result<()> {
        self.buffer.extend(if self.n_entries == 0 { "\n    ".bytes() } else { ",\n    ".bytes() });
        push_entry(entry, &mut self.buffer);
        self.n_entries += 1;
        // Collect many small writes in the buffer.
        if 32 << 10 < self.buffer.len() { self.flush_buffer() } else { Ok(()) }
    }

    /// Writes an entry in the JSON form that [`ArcEntry::to_json`] returns.
    pub fn push_json(&mut self, entry: &str) -> io::Result<()> {
        self.buffer.extend(if self.n_entries == 0 { "\n    ".bytes() } else { ",\n    ".bytes() });
        self.buffer.extend_from_slice(entry.as_bytes());
        self.n_entries += 1;
        if 32 << 10 < self.buffer.len() { self.flush_buffer() } else { Ok(()) }
    }

    /// Returns the number of entries written so far.
    pub fn len(&self) -> u64 {
        self.n_entries
    }

    /// Returns whether no entry has been written yet.
    pub fn is_empty(&self) -> bool {
        self.n_entries == 0
    }

    /// Writes the end of the document and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        let end: &[u8] = if self.n_entries == 0 { b"]\n}\n" } else { b"\n  ]\n}\n" };
        self.buffer.extend_from_slice(end);
        self.flush_buffer()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Returns every member of a header as name and JSON value.
pub(crate) fn head_members(head: &SitemapHeader) -> Vec<(String, String)> {
    let text = |text: &String| json_string(text);
    let mut members: Vec<(String, String)> = Vec::new();
    let mut push = |name: &str, value: Option<String>| {
        members.extend(value.map(|value| (name.to_owned(), value)));
    };
    push("arc_sitemap_version", head.version.as_ref().map(text));
    push("site", head.site.as_ref().map(text));
    push("generated_at", head.generated_at.map(|time| text(&time.to_string())));
    push("crawl_rate", head.crawl_rate.as_ref().map(text));
    push("ai-crawl-contact", head.contact.as_ref().map(text));
    let deltas = head.deltas.as_ref().map(|deltas| {
        let (template, from, to) = (&deltas.template, &deltas.from, &deltas.to);
        format!("{{\"template\":{},\"from\":{},\"to\":{}}}", text(template), text(from), text(to))
    });
    push("deltas", deltas);
    push("since", head.since.map(|time| text(&time.to_string())));
    push("until", head.until.map(|time| text(&time.to_string())));
    for member in &head.extra {
        let mut value = Vec::new();
        push_compact(member.value.get(), &mut value);
        push(&member.key, Some(String::from_utf8_lossy(&value).into_owned()));
    }
    members
}

fn push_head(head: &SitemapHeader, out: &mut Vec<u8>) {
    for (name, value) in head_members(head) {
        out.extend(b"\n  ");
        push_string(&name, out);
        out.extend(b": ");
        out.extend(value.bytes());
        out.push(b',');
    }
}

/// Appends an entry as JSON. Its members have the order of E.4, with restrictions first.
pub(crate) fn push_entry(entry: &ArcEntry<'_>, out: &mut Vec<u8>) {
    out.extend(b"{\"url\":");
    push_string(entry.url.as_str(), out);
    if let Some(lastmod) = entry.lastmod {
        out.extend(b",\"lastmod\":");
        push_string(&lastmod.to_string(), out);
    }
    out.extend(b",\"ai_indexable\":");
    // A missing or doubtful value must not be published as consent.
    push_bool(entry.ai_indexable == Some(true) && !entry.is_doubtful, out);
    if let Some(auth) = entry.auth_required {
        out.extend(b",\"auth_required\":");
        push_bool(auth, out);
    }
    let mut text = |name: &[u8], value: Option<&str>| {
        if let Some(value) = value {
            out.extend(name);
            push_string(value, out);
        }
    };
    text(b",\"robots_directive\":", entry.robots_directive.as_deref());
    if entry.removed {
        out.extend(b",\"removed\":true");
    }
    if let Some(priority) = entry.crawl_priority.filter(|it| (0.0..=1.0).contains(it)) {
        out.extend(b",\"crawl_priority\":");
        out.extend(priority.to_string().bytes());
    }
    let mut text = |name: &[u8], value: Option<&str>| {
        if let Some(value) = value {
            out.extend(name);
            push_string(value, out);
        }
    };
    text(b",\"ai_summary\":", entry.ai_summary.as_deref());
    if !entry.ai_tags.is_empty() {
        out.extend(b",\"ai_tags\":[");
        for (n, tag) in entry.ai_tags.iter().enumerate() {
            if n != 0 {
                out.push(b',');
            }
            push_string(tag, out);
        }
        out.push(b']');
    }
    if let Some(checksum) = &entry.ai_checksum {
        out.extend(b",\"ai_checksum\":");
        push_string(checksum, out);
    }
    if let Some(snapshot) = &entry.ai_snapshot {
        out.extend(b",\"ai_snapshot\":");
        push_compact(snapshot.get(), out);
    }
    for UnknownMember { key, value } in &entry.extra {
        out.push(b',');
        push_string(key, out);
        out.push(b':');
        push_compact(value.get(), out);
    }
    out.push(b'}');
}

fn push_bool(value: bool, out: &mut Vec<u8>) {
    out.extend(if value { &b"true"[..] } else { b"false" });
}

/// Returns a text as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = Vec::new();
    push_string(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends a JSON value without white space between its tokens, so that two layouts of one value
/// give the same bytes.
pub(crate) fn push_compact(json: &str, out: &mut Vec<u8>) {
    let (mut is_string, mut is_escaped) = (false, false);
    for byte in json.bytes() {
        if is_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_string = false,
                _ => {}
            }
        } else if byte == b'"' {
            is_string = true;
        } else if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            continue;
        }
        out.push(byte);
    }
}
