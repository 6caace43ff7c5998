//! A representation of a file: prepared header fields, and the bytes of small files.
//!
//! A [`Representation`] describes one state of one file. Its `ETag` is computed from the bytes that
//! it holds, or from the file with its identity, so its header fields never describe another file.

use std::fs::File;
use std::io::{self, Read};

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE,
    ETAG, HeaderName, LAST_MODIFIED, LINK, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue};
use rutter_page::Digest;

use crate::resolve::facts::FileFacts;
use crate::resolve::kind::{ContentCoding, FileKind, HTML, MARKDOWN, SCP};
use crate::resolve::path;
use crate::resolve::root_dir::Identity;
use crate::respond::date;
use crate::settings::CacheLifetimes;

pub(crate) const MARKDOWN_TOKENS: HeaderName = HeaderName::from_static("x-markdown-tokens");
const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");
const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// Memory of a cache entry besides its bytes.
const OVERHEAD: usize = 2048;

/// How a file is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepresentationRole<'r> {
    /// As the only representation.
    Itself,
    /// Uncompressed, where a compressed representation exists.
    Plain,
    /// Compressed, in place of another file (D08).
    Coded,
    /// A page, with the name of its Markdown twin.
    Page(Option<&'r str>),
    /// The Markdown twin, at the URL of the page.
    Twin,
}

/// Everything that the header fields depend on, besides the bytes.
#[derive(Debug, Clone)]
pub(crate) struct RepresentationInput<'a> {
    pub(crate) name: &'a str,
    /// The path of the site's base URL, such as `/docs`.
    pub(crate) mount: &'a str,
    pub(crate) media_type: &'a str,
    pub(crate) coding: Option<ContentCoding>,
    pub(crate) kind: FileKind,
    /// Modification time, and the current time, in seconds since 1970.
    pub(crate) modified: i64,
    pub(crate) now: i64,
    /// When a collection expires, according to the build.
    pub(crate) expires: Option<i64>,
    pub(crate) is_restricted: bool,
    /// Whether the bytes are those that the build recorded.
    pub(crate) is_as_built: bool,
    pub(crate) role: RepresentationRole<'a>,
}

/// A representation of one state of a file.
#[derive(Debug)]
pub(crate) struct Representation {
    pub(crate) name: String,
    pub(crate) identity: Identity,
    /// Header fields of status 200.
    pub(crate) headers: HeaderMap,
    /// Header fields of status 304.
    pub(crate) current: HeaderMap,
    /// The `ETag`, with its quotes.
    pub(crate) tag: Option<String>,
    pub(crate) modified: i64,
    pub(crate) length: u64,
    pub(crate) bytes: Option<Bytes>,
    /// The expiry of a collection, which limits its cache lifetime (D10).
    pub(crate) ending: Option<CollectionExpiry>,
}

/// The expiry of a collection, with its cache lifetimes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CollectionExpiry {
    at: i64,
    kind: FileKind,
    lifetimes: CacheLifetimes,
}

impl CollectionExpiry {
    /// Returns `Cache-Control` at a time.
    pub(crate) fn cache_control(&self, now: i64) -> String {
        let left = u64::try_from(self.at.saturating_sub(now)).unwrap_or(0);
        cache_control(self.kind, &self.lifetimes, Some(left))
    }
}

impl Representation {
    pub(crate) fn new(
        about: &RepresentationInput<'_>,
        identity: Identity,
        facts: &FileFacts,
        bytes: Option<Bytes>,
        lifetimes: &CacheLifetimes,
    ) -> Self {
        let length = bytes.as_ref().map_or(identity.size, |bytes| bytes.len() as u64);
        // A date in the future is not a modification date (RFC 9110, section 8.8.2.1).
        let modified = facts.generated.unwrap_or(about.modified).min(about.now);
        let tag = facts.tag.map(|digest| format!("\"{digest}{}\"", suffix(about, facts)));
        let kind = match about.kind {
            FileKind::Snapshot | FileKind::Delta if facts.is_delta => FileKind::Delta,
            kind => kind,
        };
        let mut current = HeaderMap::with_capacity(8);
        let mut put = |name: HeaderName, value: &str| {
            // A value that is not valid in a header field is omitted.
            if let Ok(value) = HeaderValue::from_str(value) {
                current.insert(name, value);
            }
        };
        if let Some(tag) = &tag {
            put(ETAG, tag);
        }
        put(LAST_MODIFIED, &date::write(modified));
        let cache = if about.is_restricted {
            PRIVATE.to_owned()
        } else {
            cache_control(kind, lifetimes, None)
        };
        put(CACHE_CONTROL, &cache);
        let vary = match about.role {
            RepresentationRole::Itself => None,
            RepresentationRole::Plain | RepresentationRole::Coded => Some("accept-encoding"),
            RepresentationRole::Page(_) | RepresentationRole::Twin => Some("accept"),
        };
        match (vary, about.is_restricted) {
            (Some(vary), false) => put(VARY, vary),
            (Some(vary), true) => put(VARY, &format!("{vary}, authorization")),
            (None, true) => put(VARY, "authorization"),
            (None, false) => {}
        }
        if about.role == RepresentationRole::Twin {
            put(CONTENT_LOCATION, &format!("{}{}", about.mount, path::encoded(about.name)));
        }
        let mut headers = HeaderMap::with_capacity(16);
        headers.extend(current.clone());
        let mut put = |name: HeaderName, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        if about.media_type == HTML && facts.is_utf8 {
            put(CONTENT_TYPE, "text/html; charset=utf-8");
        } else {
            put(CONTENT_TYPE, about.media_type);
        }
        put(CONTENT_LENGTH, &length.to_string());
        put(ACCEPT_RANGES, "bytes");
        put(X_CONTENT_TYPE_OPTIONS, "nosniff");
        if let Some(coding) = about.coding {
            put(CONTENT_ENCODING, coding.name());
        }
        if let Some(digest) = facts.stored {
            put(REPR_DIGEST, &format!("sha-256=:{}:", encode_base64(&digest.0)));
        }
        if about.media_type == MARKDOWN {
            put(MARKDOWN_TOKENS, &tokens(length).to_string());
            // Search engines should index the URL of the page, not the URL of its Markdown twin.
            if about.role != RepresentationRole::Twin {
                put(ROBOTS_TAG, "noindex");
            }
        }
        if let RepresentationRole::Page(Some(twin)) = about.role {
            let twin = format!("{}{}", about.mount, path::encoded(twin));
            put(LINK, &format!("<{twin}>; rel=\"alternate\"; type=\"text/markdown\""));
        }
        // The earlier of the two expiry times applies.
        let end = facts.expires.into_iter().chain(about.expires).min();
        let end = end.filter(|_| !about.is_restricted);
        Self {
            name: about.name.to_owned(),
            identity,
            headers,
            current,
            tag,
            modified,
            length,
            bytes,
            ending: end.map(|at| CollectionExpiry { at, kind, lifetimes: *lifetimes }),
        }
    }

    /// Returns the memory that the representation takes in the cache.
    pub(crate) fn weight(&self) -> usize {
        OVERHEAD + self.name.len() + self.bytes.as_ref().map_or(0, Bytes::len)
    }
}

/// Returns the suffix of an `ETag`, which distinguishes different bytes of the same content (D08).
///
/// The `ETag` of a collection or a compressed file identifies its content. The `ETag` needs no
/// suffix if the bytes are those that the build recorded. Other bytes, or bytes that the build did
/// not record, are another representation.
fn suffix(about: &RepresentationInput<'_>, facts: &FileFacts) -> String {
    let is_coded = about.role == RepresentationRole::Coded;
    let mut suffix = if is_coded { "-gzip" } else { "" }.to_owned();
    let is_text = is_coded || about.media_type == SCP;
    if let Some(Digest(stored)) = facts.stored
        && is_text
        && !about.is_as_built
        && !facts.is_identified
        && facts.tag != facts.stored
    {
        suffix.push('-');
        suffix.extend(stored.iter().take(16).map(|byte| format!("{byte:02x}")));
    }
    suffix
}

/// `Cache-Control` of restricted content, which shared caches must not store.
pub(crate) const PRIVATE: &str = "private, no-cache";

/// Returns `Cache-Control` for a kind of file; `left` limits the lifetime to the remaining
/// validity.
pub(crate) fn cache_control(
    kind: FileKind,
    lifetimes: &CacheLifetimes,
    left: Option<u64>,
) -> String {
    let age = |seconds: u64| left.map_or(seconds, |left| left.min(seconds));
    match kind {
        FileKind::Snapshot => {
            let age = age(lifetimes.snapshot);
            let stale = left.map_or(lifetimes.stale, |left| lifetimes.stale.min(left - age));
            format!("public, max-age={age}, stale-while-revalidate={stale}")
        }
        FileKind::Delta => format!("public, max-age={}, must-revalidate", age(lifetimes.delta)),
        FileKind::Entry => format!("public, max-age={}", age(lifetimes.entry)),
        FileKind::Twin => format!("public, max-age={}", age(lifetimes.twin)),
        FileKind::Page if lifetimes.page == 0 => "public, max-age=0, must-revalidate".to_owned(),
        FileKind::Page => format!("public, max-age={}", lifetimes.page),
        FileKind::Other => format!("public, max-age={}", age(lifetimes.other)),
    }
}

/// Estimates the number of tokens of a text as a quarter of its bytes. The true number depends on
/// the language model.
fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

/// Reads a small file; `None` if it changed while it was read.
pub(crate) fn read_small(mut file: &File, identity: &Identity) -> io::Result<Option<Bytes>> {
    let size = usize::try_from(identity.size).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(size.saturating_add(1));
    file.by_ref().take(identity.size + 1).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() == size && identity.is_unwritten(file)?;
    Ok(is_whole.then(|| Bytes::from(bytes)))
}

fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or(0);
            let digit = DIGITS.get(digit).filter(|_| place <= group.len());
            text.push(digit.map_or('=', |digit| char::from(*digit)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_base64() {
        for (bytes, wanted) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"\xff\xfe", "//4="),
        ] {
            assert_eq!(encode_base64(bytes), wanted);
        }
    }

    #[test] // SCP-156 SCP-157 SCP-158 SCP-159 SCP-160
    fn limits_cache_lifetimes_to_the_expiry_of_a_collection() {
        let text = |kind, left| cache_control(kind, &CacheLifetimes::DEFAULT, left);
        let snapshot = "public, max-age=604800, stale-while-revalidate=3600";
        assert_eq!(text(FileKind::Snapshot, None), snapshot);
        assert_eq!(text(FileKind::Snapshot, Some(999_999)), snapshot);
        // An expired snapshot must not be served stale.
        let soon = "public, max-age=60, stale-while-revalidate=0";
        assert_eq!(text(FileKind::Snapshot, Some(60)), soon);
        let later = "public, max-age=604800, stale-while-revalidate=200";
        assert_eq!(text(FileKind::Snapshot, Some(605_000)), later);
        assert_eq!(text(FileKind::Delta, None), "public, max-age=3600, must-revalidate");
        assert_eq!(text(FileKind::Delta, Some(0)), "public, max-age=0, must-revalidate");
        assert_eq!(text(FileKind::Entry, None), "public, max-age=3600");
        assert_eq!(text(FileKind::Page, None), "public, max-age=0, must-revalidate");
        let daily = CacheLifetimes { snapshot: 86_400, ..CacheLifetimes::DEFAULT };
        assert!(cache_control(FileKind::Snapshot, &daily, None).contains("max-age=86400,"));
    }

    #[test]
    fn estimates_tokens() {
        assert_eq!([0, 1, 4, 5].map(tokens), [0, 1, 1, 2]);
    }
}
