//! Variants of a URL that identify the same page.
//!
//! [`strip_parameters`] removes session and tracking parameters from links without
//! comparing content; URLs that a list contains keep their parameters. URLs that differ
//! only in letter case, a trailing slash, `index.html` or other parameters have the same
//! [`shape`]: they count as one page only if their content is equal.

use rutter_fetch::Url;
use rutter_page::{Page, PageLimits, PageReader};

use crate::state::url_set::stable_hash;

/// Names of session parameters, in lower case.
const SESSIONS: [&str; 5] = ["phpsessid", "jsessionid", "aspsessionid", "cftoken", "sessid"];

/// Names of parameters that count as session parameters only if the value looks like a
/// token, because such parameters often identify content.
const MAYBE_SESSIONS: [&str; 4] = ["sid", "sessionid", "session_id", "cfid"];

/// Minimum length of a value that counts as a token.
const TOKEN: usize = 20;

/// Names of tracking parameters, which identify a campaign or a click.
const TRACKING: [&str; 10] = [
    "gclid", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "mc_cid", "mc_eid",
    "igshid",
];

/// Names of index files. The URL of an index file and the URL of its directory have the
/// same [`shape`].
const INDEXES: [&str; 4] = ["index.html", "index.htm", "index.php", "default.aspx"];

/// Returns whether `name=value` is a session parameter.
pub(crate) fn is_session(pair: &str) -> bool {
    let (name, value) = (name_of(pair), pair.split_once('=').map_or("", |(_, value)| value));
    let is_token = || TOKEN <= value.len() && value.bytes().all(|it| it.is_ascii_alphanumeric());
    SESSIONS.contains(&name.as_str()) || (MAYBE_SESSIONS.contains(&name.as_str()) && is_token())
}

fn is_tracking(pair: &str) -> bool {
    let name = name_of(pair);
    name.starts_with("utm_") || TRACKING.contains(&name.as_str())
}

fn name_of(pair: &str) -> String {
    pair.split('=').next().unwrap_or_default().to_ascii_lowercase()
}

/// Returns a URL without the session and tracking parameters in its path (`;jsessionid=`)
/// and query; `None` if it has none.
#[doc(hidden)]
pub fn strip_parameters(key: &str) -> Option<String> {
    let mut url = Url::parse(key).ok()?;
    let parts: Vec<String> = url.path().split('/').map(without_sessions).collect();
    let path = parts.join("/");
    let query = url.query().map(|query| {
        let is_kept = |pair: &&str| !is_session(pair) && !is_tracking(pair);
        query.split('&').filter(is_kept).collect::<Vec<_>>().join("&")
    });
    let query = query.filter(|query| !query.is_empty() || url.query() == Some(""));
    if path == url.path() && query.as_deref() == url.query() {
        return None;
    }
    url.set_path(&path);
    url.set_query(query.as_deref());
    Some(url.into())
}

/// Returns a path segment without session parameters.
fn without_sessions(part: &str) -> String {
    let mut pieces = part.split(';');
    let name = pieces.next().unwrap_or_default();
    let kept = pieces.filter(|pair| !is_session(pair));
    std::iter::once(name).chain(kept).collect::<Vec<_>>().join(";")
}

/// Returns the shape of a URL, which all its variants have in common: scheme, host and path
/// in lower case, without parameters, index file name and trailing slash.
pub(crate) fn shape(key: &str) -> Option<String> {
    let url = Url::parse(key).ok()?;
    let path = url.path().to_ascii_lowercase();
    let path = path.split('/').map(|part| part.split(';').next().unwrap_or_default());
    let path = path.collect::<Vec<_>>().join("/");
    let index = INDEXES.iter().find_map(|name| path.strip_suffix(name));
    let path = index.filter(|rest| rest.ends_with('/')).unwrap_or(&path).trim_end_matches('/');
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{}{port}{path}", url.scheme(), url.host_str()?))
}

/// Returns the spelling of a URL: a hash of its shape, and of its query without session and
/// tracking parameters. URLs that differ only by letter case, trailing slash or index file
/// have the same spelling.
pub(crate) fn spelling(key: &str) -> Option<u64> {
    let stripped = strip_parameters(key);
    let key = stripped.as_deref().unwrap_or(key);
    let query = key.split_once('?').map_or("", |(_, query)| query);
    shape(key).map(|shape| stable_hash(&format!("{shape}?{query}")))
}

/// Returns a hash of the title and text of a page.
pub(crate) fn content_of(page: &Page<'_>) -> u64 {
    stable_hash(&format!("{}\n{}", page.title, page.to_text()))
}

/// Returns the hash of [`content_of`] for the page of a stored line; `None` if the line is
/// not a valid page.
pub(crate) fn content_of_line(line: &str) -> Option<u64> {
    let limits = PageLimits { blocks: usize::MAX, ..PageLimits::SPEC };
    let page = PageReader::new(limits).read(line, 1, &mut ()).ok().flatten()?;
    Some(content_of(&page))
}

/// A known URL with the same spelling as another URL, and the content hash of its page.
#[derive(Debug, Clone)]
pub(crate) struct KnownSpelling {
    pub(crate) of: String,
    pub(crate) content: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_session_and_tracking_parameters() {
        for (url, wanted) in [
            ("/a", None),
            ("/a?", None),
            ("/a?q=1&lang=en", None),
            ("/m;v=2", None),
            ("/a;jsessionid=1", Some("/a")),
            ("/a;JSessionID=1/b;v=2", Some("/a/b;v=2")),
            ("/a;v=2;jsessionid=1?q=1", Some("/a;v=2?q=1")),
            ("/a?utm_source=x&q=1&UTM_Medium=y", Some("/a?q=1")),
            ("/a?PHPSESSID=x", Some("/a")),
            ("/a?gclid=x&sid=2", Some("/a?sid=2")),
            ("/a?session_id=7&sessionid=8&cfid=9", None),
            ("/a?sid=0a1b2c3d4e5f60718293a4b5c6d7e8f9", Some("/a")),
        ] {
            let wanted = wanted.map(|path| format!("https://h.example{path}"));
            assert_eq!(strip_parameters(&format!("https://h.example{url}")), wanted, "{url}");
        }
    }

    #[test]
    fn shape_ignores_case_slash_and_index_file() {
        let of = |path: &str| shape(&format!("https://h.example{path}")).unwrap();
        let is_alike = |one: &str, other: &str| of(one) == of(other);
        for (one, other) in
            [("/Docs/", "/docs"), ("/", "/index.html"), ("/a/index.php", "/a"), ("/a?x=1", "/a")]
        {
            assert!(is_alike(one, other), "{one} {other}");
        }
        for (one, other) in [("/a", "/b"), ("/a/b", "/a"), ("/myindex.html", "/my"), ("/a", "/")] {
            assert!(!is_alike(one, other), "{one} {other}");
        }
    }
}
