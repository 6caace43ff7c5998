//! URLs of pages, and URLs that blocks refer to.
//!
//! Input: text. Output: [`PageUrl`] and [`HttpUrl`]. Nearly all URLs of real collections are
//! already in the form that a URL parser writes; one scan detects this form, and only other URLs
//! are parsed.
//!
//! Rejects URLs that are not absolute or not http or https.

use serde::de::MapAccess;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::{Host, Url};

use crate::rules;
use crate::text::CowStr;
use crate::uri::{is_uri, to_uri};
use crate::wire::{FieldValue, IntoOwned, TolerantField, read_text};

/// An error of [`PageUrl::parse`] and [`HttpUrl::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The text is not an absolute URL.
    #[error("not an absolute URL")]
    Syntax,
    /// The scheme is neither http nor https.
    #[error("scheme is not http or https")]
    Scheme,
    /// The URL contains a user name or password.
    #[error("URL contains a user name or password")]
    Credentials,
    /// The URL is longer than [`PageUrl::LONGEST`].
    #[error("URL is longer than 8192 bytes")]
    TooLong,
}

/// The absolute http or https URL of a page.
///
/// Keeps the original text, and has a key that identifies the page: the parsed and rewritten URL
/// without its fragment (D30).
#[derive(Debug, Clone)]
pub struct PageUrl<'a> {
    text: CowStr<'a>,
    /// `None` if the text is equal to the key.
    key: Option<Box<str>>,
}

impl<'a> PageUrl<'a> {
    /// Maximum length of the URL of a page, in bytes.
    pub const LONGEST: usize = 8192;

    /// Parses the URL of a page.
    ///
    /// ```
    /// # use rutter_page::PageUrl;
    /// let url = PageUrl::parse("HTTPS://Harbour.example:443/a/../b#top").unwrap();
    /// assert_eq!(url.as_str(), "HTTPS://Harbour.example:443/a/../b#top");
    /// assert_eq!(url.key(), "https://harbour.example/b");
    /// assert!(PageUrl::parse("javascript:alert(1)").is_err());
    /// ```
    pub fn parse(text: impl Into<CowStr<'a>>) -> Result<Self, UrlError> {
        let text = text.into();
        if Self::LONGEST < text.len() {
            return Err(UrlError::TooLong);
        }
        if is_plain(&text) {
            return Ok(Self { text, key: None });
        }
        let mut url = parse_http(&text)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials);
        }
        url.set_fragment(None);
        let key = (url.as_str() != &*text).then(|| url.as_str().into());
        Ok(Self { text, key })
    }

    /// Returns the URL in its original form.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the key of the page: two URLs with the same key are the same page.
    pub fn key(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.text)
    }

    /// Returns whether the URL is valid in the page schema: a URI of RFC 3986 that starts with
    /// `http://` or `https://` in lower case.
    pub fn is_uri(&self) -> bool {
        self.text.starts_with("http") && is_uri(&self.text)
    }

    /// Returns the URL written as a URI of RFC 3986, for publishing.
    ///
    /// ```
    /// # use rutter_page::PageUrl;
    /// let url = PageUrl::parse("HTTP://Harbour.example/a b|c").unwrap();
    /// assert_eq!(url.into_uri().as_str(), "http://harbour.example/a%20b%7Cc");
    /// ```
    #[must_use]
    pub fn into_uri(self) -> Self {
        if self.is_uri() {
            return self;
        }
        match parse_http(&self.text).map(|url| Self::parse(to_uri(url.as_str()).into_owned())) {
            Ok(Ok(url)) => url,
            // The URL was parsed before, so only the length of the escaped URL can be a fault.
            _ => self,
        }
    }

    /// Resolves a reference against this URL, like a link on the page.
    ///
    /// Returns an error if the result is not an http or https URL.
    ///
    /// ```
    /// # use rutter_page::PageUrl;
    /// let base = PageUrl::parse("https://harbour.example/a/sitemap.xml").unwrap();
    /// assert_eq!(base.join("tides").unwrap().as_str(), "https://harbour.example/a/tides");
    /// assert!(base.join("mailto:port@harbour.example").is_err());
    /// ```
    pub fn join(&self, reference: &str) -> Result<HttpUrl<'static>, UrlError> {
        let base = Url::parse(self.key()).map_err(|_| UrlError::Syntax)?;
        let url = base.join(reference).map_err(|_| UrlError::Syntax)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme);
        }
        HttpUrl::parse(String::from(url))
    }

    /// Returns the host name of the key in ASCII; an internationalized name has its `xn--` form.
    pub fn host(&self) -> &str {
        let after = self.key().split_once("://").map_or("", |(_, rest)| rest);
        let end = after.find(['/', ':', '?']).unwrap_or(after.len());
        after.get(..end).unwrap_or(after)
    }

    /// Returns whether the scheme is `http` and the host is not loopback.
    ///
    /// Sites are published over https (SCP-196); a preview on the local machine
    /// needs no certificate. Loopback hosts are the loopback addresses,
    /// `localhost` and names below it (RFC 6761, section 6.3).
    ///
    /// ```
    /// # use rutter_page::PageUrl;
    /// let is_plain = |text: &str| PageUrl::parse(text.to_owned()).unwrap().is_plain_http();
    /// assert!(is_plain("http://harbour.example/docs/"));
    /// assert!(!is_plain("https://harbour.example/"));
    /// assert!(!is_plain("http://localhost:8080/") && !is_plain("http://[::1]/"));
    /// ```
    pub fn is_plain_http(&self) -> bool {
        let url = Url::parse(self.key()).ok().filter(|url| url.scheme() == "http");
        url.is_some_and(|url| match url.host() {
            Some(Host::Ipv4(address)) => !address.is_loopback(),
            Some(Host::Ipv6(address)) => !address.to_canonical().is_loopback(),
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                name != "localhost" && !name.ends_with(".localhost")
            }
            None => false,
        })
    }
}

impl PartialEq for PageUrl<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
impl Eq for PageUrl<'_> {}

impl Serialize for PageUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for PageUrl<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(CowStr::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl IntoOwned for PageUrl<'_> {
    type Owned = PageUrl<'static>;
    fn into_owned(self) -> PageUrl<'static> {
        PageUrl { text: self.text.into_owned(), key: self.key }
    }
}

/// The absolute http or https URL of a resource that a block refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpUrl<'a>(CowStr<'a>);

impl<'a> HttpUrl<'a> {
    /// Parses an absolute http or https URL.
    pub fn parse(text: impl Into<CowStr<'a>>) -> Result<Self, UrlError> {
        let text = text.into();
        if !is_plain(&text) {
            parse_http(&text)?;
        }
        Ok(Self(text))
    }

    /// Returns the URL in its original form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the URL is a URI of RFC 3986, as the page schema requires.
    pub fn is_uri(&self) -> bool {
        is_uri(&self.0)
    }

    /// Returns the URL written as a URI of RFC 3986, for publishing.
    #[must_use]
    pub fn into_uri(self) -> Self {
        if self.is_uri() {
            return self;
        }
        match parse_http(&self.0) {
            Ok(url) => Self(to_uri(url.as_str()).into_owned().into()),
            Err(_) => self,
        }
    }
}

impl Serialize for HttpUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for HttpUrl<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(CowStr::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl<'a> TolerantField<'a> for HttpUrl<'a> {
    fn take<A: MapAccess<'a>>(map: &mut A) -> Result<Self, A::Error> {
        let url = map.next_value::<Self>()?;
        if url.is_uri() { Ok(url) } else { Err(serde::de::Error::custom("not a URI")) }
    }

    fn read(raw: &'a str) -> FieldValue<Self> {
        read_text(raw, |text| match Self::parse(text) {
            Ok(url) if url.is_uri() => FieldValue::Valid(url),
            Ok(url) => FieldValue::Repaired(url, &rules::URL_FORM),
            Err(_) => FieldValue::Invalid(&rules::BLOCK_URL),
        })
    }
}

impl IntoOwned for HttpUrl<'_> {
    type Owned = HttpUrl<'static>;
    fn into_owned(self) -> HttpUrl<'static> {
        HttpUrl(self.0.into_owned())
    }
}

fn parse_http(text: &str) -> Result<Url, UrlError> {
    // The URL parser removes tabs and line breaks and trims control characters. A text that needs
    // that is not a URL.
    let odd = |c: char| c.is_control() || c == ' ';
    if text.starts_with(odd) || text.ends_with(odd) || text.contains(['\t', '\n', '\r']) {
        return Err(UrlError::Syntax);
    }
    let url = Url::parse(text).map_err(|_| UrlError::Syntax)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlError::Scheme);
    }
    // `http:relative` and `http:/host` parse, but are not absolute URLs.
    let rest = text.split_once(':').map_or("", |(_, rest)| rest);
    if !rest.starts_with("//") {
        return Err(UrlError::Syntax);
    }
    Ok(url)
}

/// Returns whether a URL parser would return this text unchanged.
///
/// May return `false` for such a text, but never returns `true` for a text that the parser would
/// change.
fn is_plain(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    let Some((host, path)) = rest.split_once('/') else { return false };
    is_plain_host(host) && is_plain_path(path.as_bytes())
}

fn is_plain_host(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or("");
    last.starts_with(|c: char| c.is_ascii_lowercase())
        && !host.starts_with('.')
        && host.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-'))
        && !host.contains("..")
        && !host.contains("--")
}

fn is_plain_path(path: &[u8]) -> bool {
    let mut previous = b'/';
    for &byte in path {
        let fits = match byte {
            b'"' | b'<' | b'>' | b'`' | b'{' | b'}' | b'\\' | b'^' | b'|' | b'#' | b'\'' => false,
            // `.` after a slash may be a dot segment, and so may `%2e`.
            b'.' => previous != b'/',
            b'2' => previous != b'%',
            0x21..=0x7e => true,
            _ => false,
        };
        if !fits {
            return false;
        }
        previous = byte;
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test] // SCP-077 SCP-093 SCP-188 SCP-190
    fn accepts_only_absolute_http_and_https_urls() {
        for text in ["https://h.example", "http://h.example/a?b=c", "https://höhe.example/ü"] {
            assert!(PageUrl::parse(text).is_ok(), "{text}");
        }
        for (text, wanted) in [
            ("javascript:alert(1)", UrlError::Scheme),
            ("file:///etc/passwd", UrlError::Scheme),
            ("data:text/html,x", UrlError::Scheme),
            ("/relative", UrlError::Syntax),
            ("https:relative", UrlError::Syntax),
            ("https://", UrlError::Syntax),
            ("https://h.example/a\nb", UrlError::Syntax),
            (" https://h.example/", UrlError::Syntax),
            ("https://user:pw@h.example/", UrlError::Credentials),
            ("", UrlError::Syntax),
        ] {
            assert_eq!(PageUrl::parse(text).unwrap_err(), wanted, "{text}");
        }
        let long = format!("https://h.example/{}", "a".repeat(100_000));
        assert_eq!(PageUrl::parse(long.as_str()).unwrap_err(), UrlError::TooLong);
    }

    #[test] // D30
    fn key_is_the_parsed_form_without_fragment() {
        for (text, key) in [
            ("https://h.example", "https://h.example/"),
            ("https://H.example:443/x", "https://h.example/x"),
            ("https://h.example/a/./b/../c", "https://h.example/a/c"),
            ("https://h.example/%7Ea#x", "https://h.example/%7Ea"),
            ("https://h.example/a/", "https://h.example/a/"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ] {
            assert_eq!(PageUrl::parse(text).unwrap().key(), key, "{text}");
        }
        assert_eq!(
            PageUrl::parse("https://bücher.example/x").unwrap().host(),
            "xn--bcher-kva.example"
        );
    }

    proptest! {
        #[test]
        fn plain_urls_are_unchanged_by_the_parser(
            host in "[a-z0-9.-]{1,12}", path in "[!-~]{0,24}", scheme in "https?",
        ) {
            let text = format!("{scheme}://{host}/{path}");
            if is_plain(&text) {
                let parsed = Url::parse(&text).expect("plain text parses");
                prop_assert_eq!(parsed.as_str(), text.as_str());
                prop_assert!(parsed.fragment().is_none());
                prop_assert!(parsed.username().is_empty());
            }
        }

        #[test]
        fn key_of_a_key_is_the_key(text in "https?://[ -~é]{1,20}") {
            if let Ok(url) = PageUrl::parse(text.as_str()) {
                let key = url.key().to_owned();
                let again = PageUrl::parse(key.as_str()).unwrap();
                prop_assert_eq!(again.key(), key.as_str());
            }
        }
    }
}
