//! Restrictions from the ARC sitemap, for a directory without `served.json`.
//!
//! The sitemap marks the pages that require a login (`auth_required`). The server restricts them,
//! so that a directory that was copied without its state directory does not publish them. The
//! sitemap lists only pages; other restricted files are listed only in `served.json`.
//!
//! Rejects: a sitemap that cannot be read. It must not be treated like a sitemap without
//! restrictions.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::resolve::catalog::{Catalog, CatalogError};
use crate::resolve::path;
use crate::resolve::root_dir::{FileIdentity, identity_of};

/// Paths of an ARC sitemap, the canonical one first (D54).
const PLACES: [&str; 2] = ["arc-sitemap.json", ".well-known/arc-sitemap.json"];

/// Maximum size of a sitemap, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Maximum number of restricted pages. Each page needs at most 64 bytes of memory.
const MAX_CLOSED_PAGES: usize = 4_000_000;

/// Identities of the sitemaps of a directory.
pub(crate) type SitemapIdentities = [Option<FileIdentity>; 2];

/// Returns the current identities of the sitemaps.
pub(crate) fn states(root: &Path) -> SitemapIdentities {
    PLACES.map(|name| identity_of(&root.join(name)))
}

/// Loads the ARC sitemaps of a directory; `None` if there is none.
pub(crate) fn load(root: &Path) -> Result<Option<Catalog>, CatalogError> {
    let mut found: Option<Catalog> = None;
    // Both paths may hold the same sitemap, so each page is counted once.
    let mut closed = BTreeSet::new();
    for name in PLACES {
        let path = root.join(name);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(path, error.to_string())),
        };
        let catalog = found.get_or_insert_default();
        catalog.identity = FileIdentity::of(&file)?;
        let input = BufReader::new(file.take(MAX_BYTES));
        let sitemap: ArcSitemap =
            serde_json::from_reader(input).map_err(|error| unreadable(path, error.to_string()))?;
        let site = sitemap.site.unwrap_or_default();
        site.trim_end_matches('/').clone_into(&mut catalog.base);
        closed.extend(sitemap.pages.0);
    }
    if let Some(catalog) = &mut found {
        for address in &closed {
            close(catalog, address);
        }
        catalog.sort_closed();
    }
    Ok(found)
}

fn unreadable(path: PathBuf, why: String) -> CatalogError {
    CatalogError::Announced(path, why)
}

/// Restricts every file that a URL may refer to.
fn close(catalog: &mut Catalog, address: &str) {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let whole = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/");
    let whole = whole.split(['?', '#']).next().unwrap_or(whole);
    let below = whole.strip_prefix(catalog.mount()).filter(|below| below.starts_with('/'));
    // A path that the server rejects needs no restriction.
    let Ok(asked) = path::read(below.unwrap_or(whole)) else { return };
    let name = asked.name;
    let index =
        if name.is_empty() { "index.html".to_owned() } else { format!("{name}/index.html") };
    if asked.is_folder {
        catalog.close(&[&index]);
    } else {
        catalog.close(&[&name, &format!("{name}.html"), &index]);
    }
}

/// The members of a sitemap that define its restrictions.
#[derive(Deserialize)]
struct ArcSitemap {
    site: Option<String>,
    pages: ClosedPages,
}

/// URLs of the restricted pages.
struct ClosedPages(Vec<String>);

impl<'de> Deserialize<'de> for ClosedPages {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ClosedPagesVisitor)
    }
}

struct ClosedPagesVisitor;

impl<'de> Visitor<'de> for ClosedPagesVisitor {
    type Value = ClosedPages;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of pages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ClosedPages, A::Error> {
        let mut closed = Vec::new();
        while let Some(SitemapPage(page)) = seq.next_element()? {
            closed.extend(page);
            if MAX_CLOSED_PAGES < closed.len() {
                return Err(serde::de::Error::custom("too many restricted pages"));
            }
        }
        Ok(ClosedPages(closed))
    }
}

/// The URL of a page, if it is restricted.
struct SitemapPage(Option<String>);

impl<'de> Deserialize<'de> for SitemapPage {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SitemapPageVisitor)
    }
}

struct SitemapPageVisitor;

impl<'de> Visitor<'de> for SitemapPageVisitor {
    type Value = SitemapPage;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a page")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SitemapPage, A::Error> {
        let (mut url, mut is_closed) = (None, false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "url" => url = Some(map.next_value::<String>()?),
                "auth_required" => {
                    // Any value except false and null means restricted.
                    let value = map.next_value::<Value>()?;
                    is_closed |= !matches!(value, Value::Bool(false) | Value::Null);
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(SitemapPage(url.filter(|_| is_closed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("arc-sitemap.json"), text).unwrap();
        folder
    }

    #[test] // ARC-064
    fn restricts_pages_under_every_url() {
        let text = r#"{"site":"https://harbour.example/docs/","other":[{}],"pages":[
{"url":"https://harbour.example/docs/a.html","ai_snapshot":{"auth_required":true}},
{"auth_required":true,"url":"https://harbour.example/docs/Log.html"},
{"url":"https://harbour.example/docs/nur%20uns/","auth_required":"yes"},
{"url":"https://harbour.example/docs/plain?x#y","auth_required":true},
{"url":"https://harbour.example/docs/open.html","auth_required":false}]}"#;
        let folder = folder(text);
        std::fs::create_dir(folder.path().join(".well-known")).unwrap();
        std::fs::write(folder.path().join(".well-known/arc-sitemap.json"), text).unwrap();
        let catalog = load(folder.path()).unwrap().unwrap();
        assert_eq!((catalog.mount(), catalog.n_closed()), ("/docs", 3));
        for closed in
            ["log.html", "Log.md", "log.html.gz", "nur uns/index.html", "plain", "plain.html"]
        {
            assert!(catalog.is_restricted(closed), "{closed}");
        }
        for open in ["a.html", "open.html", "index.html", "arc-sitemap.json"] {
            assert!(!catalog.is_restricted(open), "{open}");
        }
    }

    #[test]
    fn an_unreadable_sitemap_is_an_error() {
        for text in ["", "[]", "{}", r#"{"pages":7}"#, r#"{"pages":[7]}"#, r#"{"pages":[]"#] {
            let error = load(folder(text).path()).unwrap_err().to_string();
            assert!(error.contains("arc-sitemap.json"), "{text}: {error}");
        }
        let none = tempfile::tempdir().unwrap();
        assert!(load(none.path()).unwrap().is_none());
        assert!(load(folder(r#"{"pages":[]}"#).path()).unwrap().is_some());
    }
}
