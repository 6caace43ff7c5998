//! Decodes the bytes of a page.
//!
//! Input: bytes and the charset of the HTTP header. Output: text and the encoding used. Order:
//! byte order mark, header, `meta` in the first kilobyte, detection. Bytes that are clearly UTF-8
//! are decoded as UTF-8 although a `meta` element names another encoding, because stored pages
//! often keep the `meta` of their former encoding. Invalid bytes are replaced and reported.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use rutter_finding::{Finding, Place};

use crate::rules;

/// Number of bytes at the start of a page in which a charset declaration must be.
const PRESCAN: usize = 1024;

impl DecodedPage<'_> {
    /// Returns a finding if the text contains invalid bytes.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let name = self.encoding.name().to_owned();
        let finding = || Finding::new(&rules::UNDECODABLE, Place::WHOLE, name);
        if self.is_broken { vec![finding()] } else { Vec::new() }
    }
}

/// Minimum number of non-ASCII characters that prove that a text is UTF-8.
const PLAINLY: usize = 8;

/// The text of a page and the encoding from which it was decoded.
#[derive(Debug)]
pub(crate) struct DecodedPage<'b> {
    pub(crate) text: Cow<'b, str>,
    pub(crate) encoding: &'static Encoding,
    /// Whether the text contains bytes that are invalid in the encoding.
    pub(crate) is_broken: bool,
}

/// Returns whether `label` is the name of a known charset.
pub fn is_charset(label: &str) -> bool {
    Encoding::for_label(label.trim().as_bytes()).is_some()
}

/// Returns whether bytes are text and not a program, an image or an archive: the first kilobyte of
/// text has no zero bytes, unless the text is UTF-16.
pub fn is_text(bytes: &[u8]) -> bool {
    let head = bytes.get(..PRESCAN).unwrap_or(bytes);
    let is_wide = Encoding::for_bom(bytes).is_some_and(|(encoding, _)| encoding != UTF_8);
    is_wide || (!head.contains(&0) && !head.starts_with(b"\x1f\x8b") && !head.starts_with(b"%PDF-"))
}

/// Decodes the text of a page, whose charset is detected.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    decode(bytes, None).text
}

/// Decodes a page; `declared` is the charset of its HTTP header.
pub(crate) fn decode<'b>(bytes: &'b [u8], declared: Option<&str>) -> DecodedPage<'b> {
    let (encoding, bytes) = match Encoding::for_bom(bytes) {
        Some((encoding, n)) => (encoding, bytes.get(n..).unwrap_or_default()),
        None => (choose(bytes, declared), bytes),
    };
    let (text, is_broken) = encoding.decode_without_bom_handling(bytes);
    DecodedPage { text, encoding, is_broken }
}

fn choose(bytes: &[u8], declared: Option<&str>) -> &'static Encoding {
    let header = declared.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    if let Some(encoding) = header {
        return encoding;
    }
    let meta = prescan(bytes);
    if meta == Some(UTF_8) {
        return UTF_8;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let n_wide = text.chars().filter(|c| !c.is_ascii()).take(PLAINLY).count();
        if meta.is_none() || n_wide == PLAINLY {
            return UTF_8;
        }
    }
    if let Some(encoding) = meta {
        return encoding;
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

/// Returns the encoding that the `meta` elements of a page declare.
fn prescan(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..PRESCAN).unwrap_or(bytes).to_ascii_lowercase();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', head.get(at..)?) {
        at += found;
        let rest = head.get(at..)?;
        if rest.starts_with(b"<!--") {
            // `<!-->` is a complete comment.
            at += 2 + memchr::memmem::find(rest.get(2..)?, b"-->")? + 3;
            continue;
        }
        if rest.starts_with(b"<meta") {
            let end = memchr::memchr(b'>', rest).unwrap_or(rest.len());
            let tag = String::from_utf8_lossy(rest.get(..end)?).into_owned();
            if let Some(label) = label_of(&tag) {
                return Some(label);
            }
        }
        at += 1;
    }
    None
}

/// Returns the encoding that a `meta` tag declares; `tag` is in lower case.
fn label_of(tag: &str) -> Option<&'static Encoding> {
    let (_, rest) = tag.split_once("charset")?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    let label: &str =
        value.split(|c: char| c.is_whitespace() || "\"';>/".contains(c)).next().unwrap_or("");
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A declaration inside the page that names UTF-16 is wrong: it was read as ASCII.
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return Some(UTF_8);
    }
    Some(if encoding.name() == "x-user-defined" { WINDOWS_1252 } else { encoding })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(bytes: &[u8], declared: Option<&str>) -> &'static str {
        decode(bytes, declared).encoding.name()
    }

    #[test]
    fn order_is_bom_header_meta_detection() {
        let meta = b"<html><meta charset=\"iso-8859-1\"><p>\xe4";
        assert_eq!(name(b"\xef\xbb\xbf<meta charset=koi8-r>", Some("gbk")), "UTF-8");
        assert_eq!(name(meta, Some("koi8-r")), "KOI8-R");
        assert_eq!(name(meta, None), "windows-1252");
        let kept = "<meta charset=gbk><p>\u{6e2f}\u{53e3}".repeat(5);
        assert_eq!(name(kept.as_bytes(), None), "UTF-8");
        assert_eq!(name(b"<p>Gr\xc3\xbc\xc3\x9fe", None), "UTF-8");
        assert_eq!(name(b"\xff\xfe<\0p\0>\0", None), "UTF-16LE");
    }

    #[test]
    fn reads_charset_from_meta_variants() {
        let http = b"<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=Shift_JIS'>";
        assert_eq!(name(http, None), "Shift_JIS");
        assert_eq!(name(b"<!-- <meta charset=gbk> --><meta charset = 'utf-16'>", None), "UTF-8");
        assert_eq!(name(b"<!--><meta charset=gbk>", None), "GBK");
        assert_eq!(name(b"<meta name=charset content=gbk><p>\xc3\xa9", None), "UTF-8");
    }

    #[test]
    fn detects_charset_without_declaration() {
        let cyrillic = encoding_rs::WINDOWS_1251
            .encode("Гавань открыта каждый день с утра до вечера, кроме воскресенья.")
            .0
            .into_owned();
        assert_eq!(name(&cyrillic, None), "windows-1251");
        assert!(decode(b"\xe4", Some("utf-8")).is_broken);
    }
}
