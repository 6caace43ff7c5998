//! Writes sitemaps and sitemap indexes in schema order, without allocating per field.

use std::io::{self, Write};

use crate::{
    ChildSitemap, ForeignElement, MAX_BYTES, MAX_URLS, NAMESPACE, SitemapEntry, XHTML, date,
};

/// Namespaces with a prefix that the root element declares. Elements declare all others themselves.
const PREFIXES: [(&str, &str); 1] = [("scp", "https://scp-protocol.org/schemas/sitemap/1.0")];
/// Schema URLs of the namespaces that the writer uses.
const SCHEMAS: [(&str, &str); 2] = [
    (NAMESPACE, "http://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd"),
    (
        "https://scp-protocol.org/schemas/sitemap/1.0",
        "https://scp-protocol.org/schemas/sitemap/1.0/sitemap-extension.xsd",
    ),
];
const INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Whether a sitemap has an `xsi:schemaLocation` attribute (D15).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SchemaLocation {
    /// The sitemap has no such attribute, because few readers use it.
    #[default]
    Omitted,
    /// The attribute lists the schemas of all namespaces in use.
    Written,
}

const DECLARATION: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const URLSET_END: &[u8] = b"</urlset>\n";

/// The result of [`UrlsetWriter::push`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum PushOutcome {
    /// The entry was written.
    Written,
    /// The entry was not written, because the file would exceed 50,000 entries or 50 MiB.
    Full,
}

/// Writes a `urlset` entry by entry.
///
/// Elements of other namespaces come first, as the schema requires (D14). The
/// file is incomplete until [`UrlsetWriter::finish`] is called.
#[derive(Debug)]
pub struct UrlsetWriter<W: Write> {
    out: W,
    n_urls: u64,
    n_bytes: u64,
    buffer: Vec<u8>,
}

impl<W: Write> UrlsetWriter<W> {
    /// Writes the start tag of the root element and the foreign elements.
    pub fn new(out: W, foreign: &[ForeignElement]) -> io::Result<Self> {
        Self::with_schemas(out, foreign, SchemaLocation::Omitted)
    }

    /// Like [`UrlsetWriter::new`], with an explicit choice about schema locations.
    pub fn with_schemas(
        out: W,
        foreign: &[ForeignElement],
        schemas: SchemaLocation,
    ) -> io::Result<Self> {
        let mut buffer = DECLARATION.to_vec();
        buffer.extend(format!("<urlset xmlns=\"{NAMESPACE}\" xmlns:xhtml=\"{XHTML}\"").bytes());
        for (prefix, uri) in PREFIXES {
            if foreign.iter().any(|element| element.namespace == uri) {
                buffer.extend(format!(" xmlns:{prefix}=\"{uri}\"").bytes());
            }
        }
        if schemas == SchemaLocation::Written {
            let is_used = |uri: &str| {
                uri == NAMESPACE || foreign.iter().any(|element| element.namespace == uri)
            };
            let pairs = SCHEMAS.iter().filter(|(uri, _)| is_used(uri));
            let pairs: Vec<String> = pairs.map(|(uri, at)| format!("{uri} {at}")).collect();
            let pairs = pairs.join(" ");
            buffer.extend(
                format!(" xmlns:xsi=\"{INSTANCE}\" xsi:schemaLocation=\"{pairs}\"").bytes(),
            );
        }
        buffer.extend(b">\n");
        for element in foreign {
            push_foreign(element, &mut buffer);
        }
        let mut writer = Self { out, n_urls: 0, n_bytes: 0, buffer };
        writer.flush_buffer()?;
        Ok(writer)
    }

    /// Writes an entry, unless the file is full.
    ///
    /// A priority that is NaN or outside 0 to 1 is omitted. Characters that
    /// XML cannot represent become U+FFFD.
    pub fn push(&mut self, entry: &SitemapEntry) -> io::Result<PushOutcome> {
        if MAX_URLS <= self.n_urls {
            return Ok(PushOutcome::Full);
        }
        self.buffer.clear();
        push_entry(entry, &mut self.buffer);
        let length = self.n_bytes + (self.buffer.len() + URLSET_END.len()) as u64;
        if MAX_BYTES < length {
            return Ok(PushOutcome::Full);
        }
        self.flush_buffer()?;
        self.n_urls += 1;
        Ok(PushOutcome::Written)
    }

    /// Returns the number of entries written so far.
    pub fn len(&self) -> u64 {
        self.n_urls
    }

    /// Returns whether no entry has been written yet.
    pub fn is_empty(&self) -> bool {
        self.n_urls == 0
    }

    /// Closes the root element and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(URLSET_END)?;
        Ok(self.out)
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.n_bytes += self.buffer.len() as u64;
        Ok(())
    }
}

/// Writes a sitemap index.
pub fn write_index<W: Write>(mut out: W, children: &[ChildSitemap]) -> io::Result<W> {
    out.write_all(DECLARATION)?;
    writeln!(out, "<sitemapindex xmlns=\"{NAMESPACE}\">")?;
    let mut buffer = Vec::new();
    for child in children {
        buffer.clear();
        buffer.extend(b"<sitemap><loc>");
        push_text(&child.loc, &mut buffer);
        buffer.extend(b"</loc>");
        if let Some(lastmod) = child.lastmod {
            buffer.extend(b"<lastmod>");
            date::write(lastmod, false, &mut buffer);
            buffer.extend(b"</lastmod>");
        }
        buffer.extend(b"</sitemap>\n");
        out.write_all(&buffer)?;
    }
    out.write_all(b"</sitemapindex>\n")?;
    Ok(out)
}

fn push_entry(entry: &SitemapEntry, out: &mut Vec<u8>) {
    out.extend_from_slice(b"<url><loc>");
    push_text(&entry.loc, out);
    out.extend_from_slice(b"</loc>");
    if let Some(lastmod) = entry.lastmod {
        out.extend_from_slice(b"<lastmod>");
        date::write(lastmod, entry.is_day, out);
        out.extend_from_slice(b"</lastmod>");
    }
    if let Some(freq) = entry.changefreq {
        out.extend_from_slice(b"<changefreq>");
        out.extend_from_slice(freq.name().as_bytes());
        out.extend_from_slice(b"</changefreq>");
    }
    if let Some(priority) = entry.priority.filter(|priority| (0.0..=1.0).contains(priority)) {
        out.extend_from_slice(b"<priority>");
        push_priority(priority, out);
        out.extend_from_slice(b"</priority>");
    }
    for link in &entry.alternates {
        out.extend_from_slice(b"<xhtml:link rel=\"alternate\"");
        if let Some(media_type) = &link.media_type {
            push_attribute("type", media_type, out);
        }
        if !link.hreflang.is_empty() {
            push_attribute("hreflang", &link.hreflang, out);
        }
        push_attribute("href", &link.href, out);
        out.extend_from_slice(b"/>");
    }
    for extension in &entry.extensions {
        out.extend_from_slice(extension.as_bytes());
    }
    out.extend_from_slice(b"</url>\n");
}

/// Writes a priority. A multiple of 0.1, the usual case, needs no float formatting.
fn push_priority(priority: f32, out: &mut Vec<u8>) {
    for tenths in 0..=10_u8 {
        #[expect(clippy::float_cmp, reason = "only the identical number may be written this way")]
        if f32::from(tenths) / 10.0 == priority {
            return out.extend([b'0' + tenths / 10, b'.', b'0' + tenths % 10]);
        }
    }
    write!(out, "{priority}").expect("memory takes everything");
}

fn push_foreign(element: &ForeignElement, out: &mut Vec<u8>) {
    let prefix = PREFIXES.iter().find(|(_, uri)| *uri == element.namespace);
    let name = clean_name(&element.name);
    let push_name = |out: &mut Vec<u8>| {
        if let Some((prefix, _)) = prefix {
            out.extend(prefix.bytes());
            out.push(b':');
        }
        out.extend(name.bytes());
    };
    out.push(b'<');
    push_name(out);
    if prefix.is_none() {
        push_attribute("xmlns", &element.namespace, out);
    }
    for (key, value) in &element.attributes {
        // An undeclared prefix would make the XML invalid.
        let is_known = key.split_once(':').is_none_or(|(prefix, _)| prefix == "xml");
        if is_known && !key.is_empty() {
            push_attribute(&clean_name(key), value, out);
        }
    }
    if element.text.is_empty() {
        out.extend(b"/>\n");
        return;
    }
    out.push(b'>');
    push_text(&element.text, out);
    out.extend(b"</");
    push_name(out);
    out.extend(b">\n");
}

/// Replaces characters that are not allowed in an XML name.
fn clean_name(name: &str) -> String {
    let is_fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let clean: String = name.chars().map(|c| if is_fine(c) { c } else { '_' }).collect();
    let is_start = clean.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if is_start { clean } else { format!("_{clean}") }
}

fn push_attribute(name: &str, value: &str, out: &mut Vec<u8>) {
    out.push(b' ');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    push_text(value, out);
    out.push(b'"');
}

/// Writes escaped text or an escaped attribute value.
fn push_text(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut start = 0;
    for (position, &byte) in bytes.iter().enumerate() {
        // Only few bytes need escaping; a table lookup finds them.
        if !SPECIAL.get(usize::from(byte)).copied().unwrap_or(false) {
            continue;
        }
        let (written, length): (&[u8], usize) = match byte {
            b'&' => (b"&amp;", 1),
            b'<' => (b"&lt;", 1),
            b'>' => (b"&gt;", 1),
            b'"' => (b"&quot;", 1),
            b'\t' => (b"&#9;", 1),
            b'\n' => (b"&#10;", 1),
            b'\r' => (b"&#13;", 1),
            // U+FFFE and U+FFFF are not XML characters.
            0xef => match bytes.get(position..position + 3) {
                Some([0xef, 0xbf, 0xbe | 0xbf]) => ("\u{fffd}".as_bytes(), 3),
                _ => continue,
            },
            _ => ("\u{fffd}".as_bytes(), 1),
        };
        out.extend_from_slice(bytes.get(start..position).unwrap_or_default());
        out.extend_from_slice(written);
        start = position + length;
    }
    out.extend_from_slice(bytes.get(start..).unwrap_or_default());
}

/// Bytes that need escaping or replacement.
static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::indexing_slicing, reason = "computed by the compiler, below 256")]
        {
            special[byte] = byte < 32 || matches!(byte, 34 | 38 | 60 | 62 | 0xef);
        }
        byte += 1;
    }
    special
};
