//! Detects sitemaps and URL lists by the first bytes of a file.

use std::io::Read as _;

use crate::url::after_scheme;

/// The maximum number of decompressed bytes used for detection.
const MAX_DETECTED_BYTES: u64 = 16 << 10;

/// Returns whether a file that begins with `start` is an XML sitemap.
///
/// The name of the root element decides. The file may be compressed and have
/// any encoding.
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
    // A document type contains the name of the root element; the reader rejects it later.
    let doctype = rest.get(..8).filter(|start| start.eq_ignore_ascii_case("!doctype"));
    let rest = if doctype.is_some() { rest.get(8..).unwrap_or("").trim_start() } else { rest };
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/' | '['));
    let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    let local = name.rsplit(':').next().unwrap_or_default();
    matches!(local, "urlset" | "sitemapindex")
}

/// Returns whether a file that begins with `start` is a plain list of URLs.
///
/// The first line that is neither blank nor a comment decides. The file may be
/// compressed and have any encoding.
pub fn is_url_list(start: &[u8]) -> bool {
    let text = ascii_start(start);
    let mut lines = text.split(['\n', '\r']).map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.and_then(after_scheme).is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && !rest.contains(char::is_whitespace)
    })
}

/// Returns the beginning of a file, decompressed, without byte order mark and
/// without the zero bytes of UTF-16. This is sufficient because element names
/// and URL schemes are ASCII in every supported encoding.
fn ascii_start(start: &[u8]) -> String {
    let mut text = Vec::new();
    if start.starts_with(&[0x1f, 0x8b]) {
        let gzip = flate2::bufread::MultiGzDecoder::new(start);
        // A truncated file is expected here, so the error is ignored.
        drop(gzip.take(MAX_DETECTED_BYTES).read_to_end(&mut text));
    } else {
        text.extend(start.iter().take(usize::try_from(MAX_DETECTED_BYTES).unwrap_or(usize::MAX)));
    }
    text.retain(|byte| !matches!(byte, 0 | 0xef | 0xbb | 0xbf | 0xfe | 0xff));
    String::from_utf8_lossy(&text).into_owned()
}
