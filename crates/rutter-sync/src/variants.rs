//! Variants of a URL that name the same page.
//!
//! [`stripped`] removes parameters that name a visit or a campaign; that needs
//! no evidence, except that a URL which the site lists is fetched as it is.
//! Letter case, a trailing slash, `index.html` and other parameters only give two
//! URLs one [`shape`]: they are one page where both have the same content.

use rutter_fetch::Url;
use rutter_page::{Judge, Page, PageLimits};

use crate::keys::number;

/// Parameters that name a visit and not a page.
const SESSIONS: [&str; 5] = ["phpsessid", "jsessionid", "aspsessionid", "cftoken", "sessid"];

/// Parameters that name a visit where their value is a token, and else often a
/// story, a speech or a shop.
const MAYBE_SESSIONS: [&str; 4] = ["sid", "sessionid", "session_id", "cfid"];

/// Fewest letters and digits of a token.
const TOKEN: usize = 20;

/// Parameters that name a campaign or the page a reader came from.
const TRACKING: [&str; 10] = [
    "gclid", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "mc_cid", "mc_eid",
    "igshid",
];

/// Names of files that stand for their folder.
const INDEXES: [&str; 4] = ["index.html", "index.htm", "index.php", "default.aspx"];

/// Whether a parameter names a visit.
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

/// A URL without parameters that name a visit or a campaign, in its path
/// (`;jsessionid=`) or its query; `None` where it has none.
#[doc(hidden)]
pub fn stripped(key: &str) -> Option<String> {
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

/// A part of a path without `;jsessionid=…`.
fn without_sessions(part: &str) -> String {
    let mut pieces = part.split(';');
    let name = pieces.next().unwrap_or_default();
    let kept = pieces.filter(|pair| !is_session(pair));
    std::iter::once(name).chain(kept).collect::<Vec<_>>().join(";")
}

/// What two URLs of one page have in common: scheme, host and path in lower case,
/// without parameters, the name of an index file and the slash at the end.
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

/// The shape of a URL with its query: what case, slash and index variants of
/// one URL have in common, with and without the name of a visit or campaign.
pub(crate) fn spelling(key: &str) -> Option<u64> {
    let stripped = stripped(key);
    let key = stripped.as_deref().unwrap_or(key);
    let query = key.split_once('?').map_or("", |(_, query)| query);
    shape(key).map(|shape| number(&format!("{shape}?{query}")))
}

/// A number for title and text of a page: equal where the content is.
pub(crate) fn content_of(page: &Page<'_>) -> u64 {
    number(&format!("{}\n{}", page.title, page.to_text()))
}

/// The same for a line of the replica; `None` where it is no page.
pub(crate) fn content_of_line(line: &str) -> Option<u64> {
    let limits = PageLimits { blocks: usize::MAX, ..PageLimits::SPEC };
    let page = Judge::new(limits).read(line, 1, &mut ()).ok().flatten()?;
    Some(content_of(&page))
}

/// Another spelling of a URL that is known, and the content of that page.
#[derive(Debug, Clone)]
pub(crate) struct Twin {
    pub(crate) of: String,
    pub(crate) content: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_visits_and_campaigns_are_removed() {
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
            assert_eq!(stripped(&format!("https://h.example{url}")), wanted, "{url}");
        }
    }

    #[test]
    fn urls_have_one_shape_by_case_slash_and_index() {
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
