//! Resolves relative URLs against the base URL of a page.
//!
//! Input: the page URL, an optional `<base href>` and an `href`. Output: an absolute URL.
//! Plain paths are joined here; everything else goes to the `url` crate.
//! Rejects schemes other than http and https, and URLs that are too long or do not parse.

use std::cell::OnceCell;

use rutter_page::PageUrl;
use url::Url;

/// Maximum length of a URL, in bytes.
const LONGEST: usize = 4096;

/// The base URL against which relative URLs are resolved.
#[derive(Debug)]
pub(crate) struct BaseUrl {
    /// The parsed base URL, set when the URL parser is first needed.
    url: OnceCell<Url>,
    /// The scheme, host and port of the base URL: `https://host:port`.
    origin: String,
    /// The path of the base URL up to its last slash.
    folder: String,
    /// The complete base URL without its fragment.
    whole: String,
}

impl BaseUrl {
    pub(crate) fn new(page: &PageUrl<'_>) -> Self {
        // `to_uri` writes the page key as a URI of RFC 3986; the key has no fragment.
        Self::of(rutter_page::to_uri(page.key()).into_owned())
    }

    fn of(whole: String) -> Self {
        let host = whole.find("://").map_or(0, |at| at + 3);
        let from = whole[host..].find('/').map_or(whole.len(), |at| host + at);
        let path = whole[from..].split('?').next().unwrap_or("");
        let folder = path.get(..=path.rfind('/').unwrap_or(0)).unwrap_or("/").to_owned();
        Self { url: OnceCell::new(), origin: whole[..from].to_owned(), folder, whole }
    }

    fn join(&self, href: &str) -> Option<Url> {
        // A base URL is made from a `PageUrl` or from a parsed URL, so parsing it cannot fail.
        let url = self.url.get_or_init(|| Url::parse(&self.whole).expect("an address is a URL"));
        let url = url.join(href).ok()?;
        matches!(url.scheme(), "http" | "https").then_some(url)
    }

    /// Returns the base URL that a `<base href>` sets; `self` if `href` is too long or not http(s).
    pub(crate) fn rebase(self, href: &str) -> Self {
        if LONGEST < href.len() {
            return self;
        }
        match self.join(href.trim()) {
            Some(url) => {
                let whole = &url[..url::Position::AfterQuery];
                Self::of(rutter_page::to_uri(whole).into_owned())
            }
            None => self,
        }
    }

    /// Returns the base URL without its fragment.
    pub(crate) fn here(&self) -> &str {
        &self.whole
    }

    /// Resolves `href` to an absolute URL; returns `None` if the URL is not http or https.
    pub(crate) fn resolve(&self, href: &str) -> Option<String> {
        let mut out = String::new();
        self.resolve_into(href, &mut out).then_some(out)
    }

    /// Writes the absolute URL of `href` to `out`, replacing its content. Returns `false` and
    /// leaves `out` empty if the URL is not http or https.
    pub(crate) fn resolve_into(&self, href: &str, out: &mut String) -> bool {
        let href = href.trim_matches(|c: char| c <= ' ');
        out.clear();
        if LONGEST < href.len() {
            return false;
        }
        if self.quick(href, out) {
            return true;
        }
        match self.slow(href) {
            Some(found) => *out = found,
            None => return false,
        }
        true
    }

    fn slow(&self, href: &str) -> Option<String> {
        if has_other_scheme(href) {
            return None;
        }
        let url = String::from(self.join(href)?);
        // The URL parser keeps some characters that RFC 3986 forbids, such as `
        // `.
        let uri = rutter_page::to_uri(&url);
        Some(uri.into_owned())
    }

    /// Joins a URL that needs no URL parser; returns `false` if `href` needs the parser.
    fn quick(&self, href: &str, out: &mut String) -> bool {
        // One pass over the bytes of `href` finds the kinds of bytes and the end of the path.
        let mut bytes = href.bytes();
        let mut kinds = 0;
        let mut end = href.len();
        while let Some(byte) = bytes.next() {
            kinds |= KINDS[byte as usize];
            if kinds & END != 0 {
                end -= bytes.len() + 1;
                break;
            }
        }
        // After the end of the path, only bytes of the kind `ODD` matter.
        kinds |= bytes.fold(0, |kinds, byte| kinds | KINDS[byte as usize]) & ODD;
        let has_two_fragments = || href.bytes().filter(|byte| *byte == b'#').nth(1).is_some();
        if kinds & ODD != 0 || (kinds & END != 0 && has_two_fragments()) {
            return false;
        }
        let mut join = |parts: [&str; 3]| {
            out.reserve(parts.iter().map(|part| part.len()).sum());
            for part in parts {
                out.push_str(part);
            }
            true
        };
        let Some(first) = href.as_bytes().first() else { return false };
        if *first == b'#' {
            return join([&self.whole, href, ""]);
        }
        if *first == b'?' {
            return false;
        }
        let path = href.get(..end).unwrap_or(href);
        if kinds & COLON != 0 {
            return Self::is_absolute(path) && join([href, "", ""]);
        }
        if kinds & DOT == 0 && *first != b'/' {
            return join([&self.origin, &self.folder, href]);
        }
        let (mut folder, mut href, mut path) = (self.folder.as_str(), href, path);
        // Generators write relative paths that start with several `../`.
        while let (Some(rest), Some(rest_of_path)) =
            (href.strip_prefix("../"), path.strip_prefix("../"))
        {
            let above = folder.strip_suffix('/').and_then(|folder| folder.rfind('/'));
            folder = above.and_then(|at| folder.get(..=at)).unwrap_or("/");
            (href, path) = (rest, rest_of_path);
        }
        if has_dots(path) || path.starts_with('/') && *first != b'/' {
            return false;
        }
        if *first == b'/' {
            return !path.starts_with("//") && join([&self.origin, href, ""]);
        }
        join([&self.origin, folder, href])
    }

    /// Returns whether `path` is an absolute URL in the form that the URL parser writes.
    fn is_absolute(path: &str) -> bool {
        let rest = path.strip_prefix("https://").or_else(|| path.strip_prefix("http://"));
        let Some((host, path)) = rest.and_then(|rest| rest.split_once('/')) else { return false };
        let is_host = |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte == b'.';
        // The URL parser may read a label of digits as a number, and it checks a label with `xn--`.
        host.bytes().all(is_host)
            && host.split('.').all(|label| !label.is_empty() && !label.starts_with("xn--"))
            && !path.contains(':')
            && !has_dots(path)
    }
}

/// Returns whether a URL has a scheme other than http and https, such as `mailto:` or
/// `javascript:`.
fn has_other_scheme(href: &str) -> bool {
    let Some((scheme, _)) = href.split_once(':') else { return false };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(is_part)
        && !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Kinds of bytes: bytes that need escaping, bytes that end a path, bytes that may end a scheme,
/// and bytes of which `..` consists.
const ODD: u8 = 1;
const END: u8 = 2;
const COLON: u8 = 4;
const DOT: u8 = 8;

const KINDS: [u8; 256] = {
    let mut table = [ODD; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        if is_plain(byte) {
            table[byte as usize] = match byte {
                b'?' | b'#' => END,
                b':' => COLON,
                b'.' => DOT,
                _ => 0,
            };
        }
        byte += 1;
    }
    table
};

/// Returns whether a character needs no percent-encoding in path, query and fragment.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.'
                | b'_'
                | b'~'
                | b'/'
                | b'?'
                | b'#'
                | b'='
                | b'&'
                | b'+'
                | b','
                | b';'
                | b':'
                | b'@'
                | b'!'
                | b'$'
                | b'*'
                | b'('
                | b')'
        )
}

fn has_dots(path: &str) -> bool {
    let may_have = path.ends_with('.') || path.as_bytes().windows(2).any(|pair| pair == b"./");
    may_have && path.split('/').any(|segment| matches!(segment, "." | ".."))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fast_path_agrees_with_the_url_parser(
            href in "(https?://|//|/|#|\\?|(\\.\\./){1,4}|)[a-z0-9.]{0,6}(/|:80/|)([a-zA-Z0-9._~%-]{0,4}/?){0,3}[?#]?[a-z=&:#?]{0,4}",
            base in prop::sample::select(vec![
                "https://example.org/a/b/c.html?q=1#f", "https://example.org/a/b//c", "http://example.org:8080", "https://x.example/é/",
            ]),
        ) {
            let base = BaseUrl::new(&PageUrl::parse(base).unwrap());
            let mut quick = String::new();
            if base.quick(&href, &mut quick) {
                prop_assert_eq!(Some(quick), base.slow(&href), "{}", href);
            }
        }
    }

    proptest! {
        #[test]
        fn detects_other_schemes_like_the_url_parser(
            href in "[a-zA-Z0-9+./\\-]{0,8}:(//)?[a-z0-9./:]{0,8}",
        ) {
            let base = BaseUrl::new(&PageUrl::parse("https://example.org/a/b").unwrap());
            if has_other_scheme(&href) {
                prop_assert!(base.join(&href).is_none(), "{}", href);
            }
        }
    }

    #[test]
    fn resolves_only_http_and_https() {
        let base = BaseUrl::new(&PageUrl::parse("https://harbour.example/shop/rope.html").unwrap());
        assert_eq!(base.resolve(" ../a b ").as_deref(), Some("https://harbour.example/a%20b"));
        assert_eq!(
            base.resolve("#top").as_deref(),
            Some("https://harbour.example/shop/rope.html#top")
        );
        // SCP-080
        assert_eq!(
            base.resolve("/a|b?c={d}&e=5%#f#g").as_deref(),
            Some("https://harbour.example/a%7Cb?c=%7Bd%7D&e=5%25#f%23g")
        );
        assert_eq!(
            base.resolve("#a#b").as_deref(),
            Some("https://harbour.example/shop/rope.html#a%23b")
        );
        for other in ["mailto:a@b.example", "javascript:x()", "tel:1", "data:,x", "http://"] {
            assert_eq!(base.resolve(other), None, "{other}");
        }
        assert_eq!(
            base.rebase("/docs/").resolve("x.html").as_deref(),
            Some("https://harbour.example/docs/x.html")
        );
    }
}
