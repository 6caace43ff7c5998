//! A representation of a file: prepared header fields, and the bytes of small files.
//!
//! A [`Representation`] describes one state of one file. Its `ETag` is computed from the bytes that
//! it holds, or from the file with its identity, so its header fields never describe another file.

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE,
    ETAG, HeaderName, LAST_MODIFIED, LINK, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue};
use rutter_page::Digest;

use crate::resolve::kind::{FileKind, HTML, MARKDOWN, SCP};
use crate::resolve::path;
use crate::resolve::resolver::ResolvedFile;
use crate::resolve::root_dir::FileIdentity;
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

/// What the header fields depend on, besides the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RepresentationContext<'a> {
    /// The path of the site's base URL, such as `/docs`.
    pub(crate) mount: &'a str,
    pub(crate) is_restricted: bool,
    pub(crate) lifetimes: &'a CacheLifetimes,
    /// The current time in seconds since 1970.
    pub(crate) now: i64,
}

/// A representation of one state of a file.
#[derive(Debug)]
pub(crate) struct Representation {
    pub(crate) name: String,
    pub(crate) identity: FileIdentity,
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
    /// Prepares the header fields of a file in a role.
    pub(crate) fn new(
        file: ResolvedFile,
        role: RepresentationRole<'_>,
        context: RepresentationContext<'_>,
    ) -> Self {
        let length =
            file.bytes.as_ref().map_or(file.open.identity.size, |bytes| bytes.len() as u64);
        // A date in the future is not a modification date (RFC 9110, section 8.8.2.1).
        let modified = file.facts.generated.unwrap_or(file.modified).min(context.now);
        let tag = file.facts.tag.map(|digest| format!("\"{digest}{}\"", suffix(&file, role)));
        let kind = match file.kind {
            FileKind::Snapshot | FileKind::Delta if file.facts.is_delta => FileKind::Delta,
            kind => kind,
        };
        let mut current = HeaderMap::with_capacity(8);
        if let Some(tag) = &tag {
            put(&mut current, ETAG, tag);
        }
        put(&mut current, LAST_MODIFIED, &date::write(modified));
        put_cache_fields(&mut current, kind, role, context);
        if role == RepresentationRole::Twin {
            let location = format!("{}{}", context.mount, path::encoded(&file.name));
            put(&mut current, CONTENT_LOCATION, &location);
        }
        let mut headers = HeaderMap::with_capacity(16);
        headers.extend(current.clone());
        put_content_fields(&mut headers, &file, length);
        if file.media_type.as_ref() == MARKDOWN {
            put(&mut headers, MARKDOWN_TOKENS, &tokens(length).to_string());
            // Search engines should index the URL of the page, not the URL of its Markdown twin.
            if role != RepresentationRole::Twin {
                put(&mut headers, ROBOTS_TAG, "noindex");
            }
        }
        if let RepresentationRole::Page(Some(twin)) = role {
            let twin = format!("{}{}", context.mount, path::encoded(twin));
            let link = format!("<{twin}>; rel=\"alternate\"; type=\"text/markdown\"");
            put(&mut headers, LINK, &link);
        }
        // The earlier of the two expiry times applies.
        let end = file.facts.expires.into_iter().chain(file.expires).min();
        let end = end.filter(|_| !context.is_restricted);
        let lifetimes = *context.lifetimes;
        Self {
            name: file.name,
            identity: file.open.identity,
            headers,
            current,
            tag,
            modified,
            length,
            bytes: file.bytes,
            ending: end.map(|at| CollectionExpiry { at, kind, lifetimes }),
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
fn suffix(file: &ResolvedFile, role: RepresentationRole<'_>) -> String {
    let facts = &file.facts;
    let is_coded = role == RepresentationRole::Coded;
    let mut suffix = if is_coded { "-gzip" } else { "" }.to_owned();
    let is_text = is_coded || file.media_type.as_ref() == SCP;
    if let Some(Digest(stored)) = facts.stored
        && is_text
        && !file.is_as_built
        && !facts.is_identified
        && facts.tag != facts.stored
    {
        suffix.push('-');
        suffix.extend(stored.iter().take(16).map(|byte| format!("{byte:02x}")));
    }
    suffix
}

/// Adds a header field; a value that is not valid in a header field is omitted.
fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Adds `Cache-Control` and `Vary`.
fn put_cache_fields(
    headers: &mut HeaderMap,
    kind: FileKind,
    role: RepresentationRole<'_>,
    context: RepresentationContext<'_>,
) {
    let cache = if context.is_restricted {
        PRIVATE.to_owned()
    } else {
        cache_control(kind, context.lifetimes, None)
    };
    put(headers, CACHE_CONTROL, &cache);
    let vary = match role {
        RepresentationRole::Itself => None,
        RepresentationRole::Plain | RepresentationRole::Coded => Some("accept-encoding"),
        RepresentationRole::Page(_) | RepresentationRole::Twin => Some("accept"),
    };
    match (vary, context.is_restricted) {
        (Some(vary), false) => put(headers, VARY, vary),
        (Some(vary), true) => put(headers, VARY, &format!("{vary}, authorization")),
        (None, true) => put(headers, VARY, "authorization"),
        (None, false) => {}
    }
}

/// Adds the fields that describe the bytes.
fn put_content_fields(headers: &mut HeaderMap, file: &ResolvedFile, length: u64) {
    if file.media_type.as_ref() == HTML && file.facts.is_utf8 {
        put(headers, CONTENT_TYPE, "text/html; charset=utf-8");
    } else {
        put(headers, CONTENT_TYPE, &file.media_type);
    }
    put(headers, CONTENT_LENGTH, &length.to_string());
    put(headers, ACCEPT_RANGES, "bytes");
    put(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    if let Some(coding) = file.coding {
        put(headers, CONTENT_ENCODING, coding.name());
    }
    if let Some(digest) = file.facts.stored {
        put(headers, REPR_DIGEST, &format!("sha-256=:{}:", encode_base64(&digest.0)));
    }
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
