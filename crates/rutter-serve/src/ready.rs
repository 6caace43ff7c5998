//! Answers that are ready: headers made once, bytes where they are few.
//!
//! A [`Ready`] belongs to one state of one file. Its tag is made of the bytes
//! it holds, or of the file whose identity it holds; nothing in it can speak
//! of another file.

use std::fs::File;
use std::io::{self, Read};

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE,
    ETAG, HeaderName, LAST_MODIFIED, LINK, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue};
use rutter_page::Digest;

use crate::beneath::Identity;
use crate::date;
use crate::facts::Facts;
use crate::kind::{Coding, HTML, Kind, MARKDOWN, SCP};
use crate::path;
use crate::settings::Lifetimes;

pub(crate) const MARKDOWN_TOKENS: HeaderName = HeaderName::from_static("x-markdown-tokens");
const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");
const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// What an entry on the shelf weighs beside its bytes.
const OVERHEAD: usize = 2048;

/// As what a file is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role<'r> {
    /// As itself, whoever asks.
    Itself,
    /// As itself, to those who do not want it compressed.
    Plain,
    /// Compressed, in place of another file (D08).
    Coded,
    /// A page; its twin has this name.
    Page(Option<&'r str>),
    /// The Markdown of a page, at the page's address.
    Twin,
}

/// What a file is sent with.
#[derive(Debug, Clone)]
pub(crate) struct About<'a> {
    pub(crate) name: &'a str,
    /// The path of the site's address, such as `/docs`.
    pub(crate) mount: &'a str,
    pub(crate) media_type: &'a str,
    pub(crate) coding: Option<Coding>,
    pub(crate) kind: Kind,
    /// Seconds since 1970, likewise the time of day.
    pub(crate) modified: i64,
    pub(crate) now: i64,
    /// When a collection ends, as the build told.
    pub(crate) expires: Option<i64>,
    pub(crate) is_restricted: bool,
    /// Whether the bytes are those the build speaks of.
    pub(crate) is_as_built: bool,
    pub(crate) role: Role<'a>,
}

/// An answer for one state of a file.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) name: String,
    pub(crate) identity: Identity,
    /// With status 200.
    pub(crate) headers: HeaderMap,
    /// With status 304.
    pub(crate) current: HeaderMap,
    /// With its quotes.
    pub(crate) tag: Option<String>,
    pub(crate) modified: i64,
    pub(crate) length: u64,
    pub(crate) bytes: Option<Bytes>,
    /// When a collection ends: its lifetime shrinks (D10).
    pub(crate) ending: Option<Ending>,
}

/// The end of a collection, and how long it may be kept before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    at: i64,
    kind: Kind,
    lifetimes: Lifetimes,
}

impl Ending {
    /// `Cache-Control` at a time.
    pub(crate) fn cache_control(&self, now: i64) -> String {
        let left = u64::try_from(self.at.saturating_sub(now)).unwrap_or(0);
        cache_control(self.kind, &self.lifetimes, Some(left))
    }
}

impl Ready {
    pub(crate) fn new(
        about: &About<'_>,
        identity: Identity,
        facts: &Facts,
        bytes: Option<Bytes>,
        lifetimes: &Lifetimes,
    ) -> Self {
        let length = bytes.as_ref().map_or(identity.size, |bytes| bytes.len() as u64);
        // A date that is still to come is not one of a change (RFC 9110, 8.8.2.1).
        let modified = facts.generated.unwrap_or(about.modified).min(about.now);
        let tag = facts.tag.map(|digest| format!("\"{digest}{}\"", suffix(about, facts)));
        let kind = match about.kind {
            Kind::Snapshot | Kind::Delta if facts.is_delta => Kind::Delta,
            kind => kind,
        };
        let mut current = HeaderMap::with_capacity(8);
        let mut put = |name: HeaderName, value: &str| {
            // What cannot stand in a header stands in none.
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
            Role::Itself => None,
            Role::Plain | Role::Coded => Some("accept-encoding"),
            Role::Page(_) | Role::Twin => Some("accept"),
        };
        match (vary, about.is_restricted) {
            (Some(vary), false) => put(VARY, vary),
            (Some(vary), true) => put(VARY, &format!("{vary}, authorization")),
            (None, true) => put(VARY, "authorization"),
            (None, false) => {}
        }
        if about.role == Role::Twin {
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
            put(REPR_DIGEST, &format!("sha-256=:{}:", base64(&digest.0)));
        }
        if about.media_type == MARKDOWN {
            put(MARKDOWN_TOKENS, &tokens(length).to_string());
            // A page is found under one address, and that is not its twin's.
            if about.role != Role::Twin {
                put(ROBOTS_TAG, "noindex");
            }
        }
        if let Role::Page(Some(twin)) = about.role {
            let twin = format!("{}{}", about.mount, path::encoded(twin));
            put(LINK, &format!("<{twin}>; rel=\"alternate\"; type=\"text/markdown\""));
        }
        // What the build told later counts as much as what the file says.
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
            ending: end.map(|at| Ending { at, kind, lifetimes: *lifetimes }),
        }
    }

    /// What it weighs on the shelf.
    pub(crate) fn weight(&self) -> usize {
        OVERHEAD + self.name.len() + self.bytes.as_ref().map_or(0, Bytes::len)
    }
}

/// What tells bytes apart that hold the same text (D08).
///
/// What is known by its text, a collection or a compressed form, has nothing
/// more in its tag while its bytes are those that were built: compressed anew,
/// or where nobody knows, they are another representation.
fn suffix(about: &About<'_>, facts: &Facts) -> String {
    let is_coded = about.role == Role::Coded;
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

/// Bytes for which nobody but their reader has a use.
pub(crate) const PRIVATE: &str = "private, no-cache";

/// How long a file of a kind may be kept; not longer than it is valid.
pub(crate) fn cache_control(kind: Kind, lifetimes: &Lifetimes, left: Option<u64>) -> String {
    let age = |seconds: u64| left.map_or(seconds, |left| left.min(seconds));
    match kind {
        Kind::Snapshot => {
            let age = age(lifetimes.snapshot);
            let stale = left.map_or(lifetimes.stale, |left| lifetimes.stale.min(left - age));
            format!("public, max-age={age}, stale-while-revalidate={stale}")
        }
        Kind::Delta => format!("public, max-age={}, must-revalidate", age(lifetimes.delta)),
        Kind::Entry => format!("public, max-age={}", age(lifetimes.entry)),
        Kind::Twin => format!("public, max-age={}", age(lifetimes.twin)),
        Kind::Page if lifetimes.page == 0 => "public, max-age=0, must-revalidate".to_owned(),
        Kind::Page => format!("public, max-age={}", lifetimes.page),
        Kind::Other => format!("public, max-age={}", age(lifetimes.other)),
    }
}

/// An estimate of how many tokens a language model makes of a text: a quarter
/// of its bytes. Each model counts in its own way.
fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

/// Reads a small file; `None` where it changed meanwhile.
pub(crate) fn read_small(mut file: &File, identity: &Identity) -> io::Result<Option<Bytes>> {
    let size = usize::try_from(identity.size).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(size.saturating_add(1));
    file.by_ref().take(identity.size + 1).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() == size && identity.is_unwritten(file)?;
    Ok(is_whole.then(|| Bytes::from(bytes)))
}

fn base64(bytes: &[u8]) -> String {
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
    fn ours_base64_is_the_usual_one() {
        for (bytes, wanted) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"\xff\xfe", "//4="),
        ] {
            assert_eq!(base64(bytes), wanted);
        }
    }

    #[test] // SCP-156 SCP-157 SCP-158 SCP-159 SCP-160
    fn spec_lifetimes_follow_the_kind_and_never_outlive_a_collection() {
        let text = |kind, left| cache_control(kind, &Lifetimes::USUAL, left);
        let snapshot = "public, max-age=604800, stale-while-revalidate=3600";
        assert_eq!(text(Kind::Snapshot, None), snapshot);
        assert_eq!(text(Kind::Snapshot, Some(999_999)), snapshot);
        // Nor may it be shown while it is stale, when it has ended.
        let soon = "public, max-age=60, stale-while-revalidate=0";
        assert_eq!(text(Kind::Snapshot, Some(60)), soon);
        let later = "public, max-age=604800, stale-while-revalidate=200";
        assert_eq!(text(Kind::Snapshot, Some(605_000)), later);
        assert_eq!(text(Kind::Delta, None), "public, max-age=3600, must-revalidate");
        assert_eq!(text(Kind::Delta, Some(0)), "public, max-age=0, must-revalidate");
        assert_eq!(text(Kind::Entry, None), "public, max-age=3600");
        assert_eq!(text(Kind::Page, None), "public, max-age=0, must-revalidate");
        let daily = Lifetimes { snapshot: 86_400, ..Lifetimes::USUAL };
        assert!(cache_control(Kind::Snapshot, &daily, None).contains("max-age=86400,"));
    }

    #[test]
    fn ours_tokens_are_estimated() {
        assert_eq!([0, 1, 4, 5].map(tokens), [0, 1, 1, 2]);
    }
}
