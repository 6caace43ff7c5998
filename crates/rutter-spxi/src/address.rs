//! URLs of an index and its packets, and the syntax of DOIs.

use rutter_page::PageUrl;
use url::Url;

use crate::index::Entity;

/// Path of the index at the root of a host.
pub const INDEX_FILE: &str = "spxi-index.jsonld";
/// File name of a packet.
pub const PACKET_FILE: &str = "spxi-packet.jsonld";

/// Returns the path of the packet of a page, derived from the path of the page (D68).
///
/// A URL with a query has no packet.
///
/// ```
/// # use rutter_spxi::packet_path;
/// for (page, packet) in [
///     ("/", "/spxi-packet.jsonld"),
///     ("/about/alice", "/about/alice/spxi-packet.jsonld"),
///     ("/about/alice/", "/about/alice/spxi-packet.jsonld"),
///     ("/a/index.html", "/a/spxi-packet.jsonld"),
///     ("/a/b.html", "/a/b/spxi-packet.jsonld"),
/// ] {
///     assert_eq!(packet_path(page).as_deref(), Some(packet));
/// }
/// assert_eq!(packet_path("/a?b=1"), None);
/// ```
pub fn packet_path(path: &str) -> Option<String> {
    if path.contains('?') || !path.starts_with('/') {
        return None;
    }
    let path = without_fragment(path);
    let (folder, name) = path.rsplit_once('/')?;
    let stem = name.rsplit_once('.').and_then(|(stem, ending)| {
        matches!(ending.to_ascii_lowercase().as_str(), "html" | "htm" | "xhtml").then_some(stem)
    });
    Some(match (name, stem) {
        ("", _) | (_, Some("index")) => format!("{folder}/{PACKET_FILE}"),
        (_, Some(stem)) => format!("{folder}/{stem}/{PACKET_FILE}"),
        (name, None) => format!("{folder}/{name}/{PACKET_FILE}"),
    })
}

/// Returns a URL without its fragment.
pub fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(page, _)| page)
}

/// Extracts a DOI from a text that is a DOI, a DOI after `doi:`, or the URL of a DOI.
///
/// ```
/// # use rutter_spxi::find_doi;
/// for text in ["10.5555/light", "doi:10.5555/light", "https://doi.org/10.5555/light"] {
///     assert_eq!(find_doi(text), Some("10.5555/light"));
/// }
/// assert_eq!(find_doi("https://orcid.example/0000"), None);
/// ```
pub fn find_doi(text: &str) -> Option<&str> {
    let roots = [
        "https://doi.org/",
        "http://doi.org/",
        "https://dx.doi.org/",
        "http://dx.doi.org/",
        "doi:",
    ];
    let bare = roots.iter().find_map(|root| text.strip_prefix(root)).unwrap_or(text);
    let (registrant, rest) = bare.strip_prefix("10.")?.split_once('/')?;
    let is_registrant = 4 <= registrant.len()
        && registrant.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_whole = !rest.is_empty() && !bare.contains(char::is_whitespace);
    (is_registrant && is_whole).then_some(bare)
}

/// Returns the URLs at which the packet of an entity may be found, the most likely one first (D68).
///
/// The URLs are the one in the index, the target of the link on the page, and the one derived from
/// the URL of the page. Only URLs on the site of the page are returned (D88). A DOI identifies a
/// deposit, not a packet (D67).
///
/// ```
/// # use rutter_spxi::{Entity, packet_addresses};
/// let entity = Entity {
///     id: Some("https://harbour.example/light#lamp".to_owned()),
///     packet_ref: Some("https://doi.org/10.5555/light".to_owned()),
///     ..Entity::default()
/// };
/// assert_eq!(
///     packet_addresses(&entity, Some("/packets/light.jsonld")),
///     [
///         "https://harbour.example/packets/light.jsonld",
///         "https://harbour.example/light/spxi-packet.jsonld",
///     ]
/// );
/// ```
pub fn packet_addresses(entity: &Entity, head_link: Option<&str>) -> Vec<String> {
    let page = entity.id.as_deref().and_then(|id| Url::parse(without_fragment(id)).ok());
    let Some(page) = page.filter(|page| matches!(page.scheme(), "http" | "https")) else {
        return Vec::new();
    };
    let named = entity.packet_ref.as_deref().filter(|text| find_doi(text).is_none());
    let derived = if page.query().is_some() { None } else { packet_path(page.path()) };
    let mut found: Vec<String> = Vec::new();
    for text in [named, head_link, derived.as_deref()].into_iter().flatten() {
        let url = page.join(text).ok().filter(|url| url.origin() == page.origin());
        if let Some(url) = url.map(String::from).filter(|url| !found.contains(url)) {
            found.push(url);
        }
    }
    found
}

/// Returns the key that identifies a page: its URL without the fragment.
pub(crate) fn page_key(url: &str) -> Option<String> {
    PageUrl::parse(url).ok().map(|url| url.key().to_owned())
}

/// Returns scheme, host and port of a URL.
pub(crate) fn origin(url: &str) -> Option<String> {
    page_key(url).map(|key| origin_of_key(&key).to_owned())
}

/// Returns scheme, host and port of a URL that is a page key already.
pub(crate) fn origin_of_key(key: &str) -> &str {
    let start = key.find("://").map_or(0, |at| at + 3);
    let end = key.get(start..).and_then(|rest| rest.find(['/', '?'])).map(|at| start + at);
    end.and_then(|end| key.get(..end)).unwrap_or(key)
}
