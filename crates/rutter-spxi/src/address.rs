//! Where an index and its packets lie.

/// Path of the index below the root of a host.
pub const INDEX: &str = "spxi-index.jsonld";
/// Name of a packet.
pub const PACKET: &str = "spxi-packet.jsonld";

/// The path of the packet of a page, from the page's path (D68). A page that
/// is told apart by its query has none.
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
        ("", _) | (_, Some("index")) => format!("{folder}/{PACKET}"),
        (_, Some(stem)) => format!("{folder}/{stem}/{PACKET}"),
        (name, None) => format!("{folder}/{name}/{PACKET}"),
    })
}

/// An address up to its fragment.
pub fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(page, _)| page)
}
