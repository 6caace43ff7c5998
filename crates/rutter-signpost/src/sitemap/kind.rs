//! Tells from its first bytes whether a file is a sitemap or a list of URLs.

use std::io::Read as _;

use super::address::after_scheme;

/// How much is decompressed to see what a file is.
const SNIFFED: u64 = 16 << 10;

/// Tells from its first bytes whether a file is a sitemap in XML, by the name
/// of its root; compressed files and other encodings too.
pub fn is_sitemap(start: &[u8]) -> bool {
    let text = ascii_start(start);
    let mut rest = text.trim_start();
    loop {
        rest = if let Some(after) = rest.strip_prefix("<!--") {
            after.split_once("-->").map_or("", |(_, rest)| rest)
        } else if let Some(after) = rest.strip_prefix("<?") {
            after.split_once("?>").map_or("", |(_, rest)| rest)
        } else {
            break;
        }
        .trim_start();
    }
    let Some(rest) = rest.strip_prefix('<') else { return false };
    // A document type names the root; the reader will refuse it.
    let doctype = rest.get(..8).filter(|start| start.eq_ignore_ascii_case("!doctype"));
    let rest = if doctype.is_some() { rest.get(8..).unwrap_or("").trim_start() } else { rest };
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/' | '['));
    let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    let local = name.rsplit(':').next().unwrap_or_default();
    matches!(local, "urlset" | "sitemapindex")
}

/// Tells from its first bytes whether a file is a plain list of URLs, by its
/// first line that is neither blank nor a comment; compressed files and other
/// encodings too.
pub fn is_url_list(start: &[u8]) -> bool {
    let text = ascii_start(start);
    let mut lines = text.split(['\n', '\r']).map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.and_then(after_scheme).is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && !rest.contains(char::is_whitespace)
    })
}

/// The beginning of a file, decompressed, without byte order marks and without
/// the zeros of UTF-16: names and schemes are ASCII in every encoding we read.
fn ascii_start(start: &[u8]) -> String {
    let mut text = Vec::new();
    if start.starts_with(&[0x1f, 0x8b]) {
        let gzip = flate2::bufread::MultiGzDecoder::new(start);
        // The bytes that could be decompressed are enough.
        drop(gzip.take(SNIFFED).read_to_end(&mut text));
    } else {
        text.extend(start.iter().take(usize::try_from(SNIFFED).unwrap_or(usize::MAX)));
    }
    text.retain(|byte| !matches!(byte, 0 | 0xef | 0xbb | 0xbf | 0xfe | 0xff));
    String::from_utf8_lossy(&text).into_owned()
}
