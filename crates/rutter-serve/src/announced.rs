//! What a published folder says of itself, where there is no `served.json`:
//! its ARC sitemap marks the pages that need a login.
//!
//! So a folder that was copied without its state does not show what its owner
//! closed. Only pages are marked there; pictures and data below a closed path
//! are known to `served.json` alone.
//!
//! Refuses: to take a sitemap that cannot be read for one in which nothing is
//! closed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::beneath::Identity;
use crate::catalog::{Catalog, CatalogError};
use crate::path;

/// Where an ARC sitemap lies, the canonical place first (D54).
const PLACES: [&str; 2] = ["arc-sitemap.json", ".well-known/arc-sitemap.json"];

/// Largest sitemap that is read, in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// Most closed pages; each takes 64 bytes at most.
const MOST_CLOSED: usize = 4_000_000;

/// The states of the sitemaps of a folder.
pub(crate) type States = [Option<Identity>; 2];

/// What is there now.
pub(crate) fn states(root: &Path) -> States {
    PLACES.map(|name| crate::site::identity_of(&root.join(name)))
}

/// Reads the ARC sitemaps of a folder; `None` where there is none.
pub(crate) fn load(root: &Path) -> Result<Option<Catalog>, CatalogError> {
    let mut found: Option<Catalog> = None;
    // The same sitemap lies in both places; a page counts once.
    let mut closed = BTreeSet::new();
    for name in PLACES {
        let path = root.join(name);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(path, error.to_string())),
        };
        let catalog = found.get_or_insert_default();
        catalog.identity = Identity::of(&file)?;
        let input = BufReader::new(file.take(MOST_BYTES));
        let sitemap: Sitemap =
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

/// Closes every file that an address may lead to.
fn close(catalog: &mut Catalog, address: &str) {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let whole = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/");
    let whole = whole.split(['?', '#']).next().unwrap_or(whole);
    let below = whole.strip_prefix(catalog.mount()).filter(|below| below.starts_with('/'));
    // What cannot be asked for need not be closed.
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

/// What is read of a sitemap.
#[derive(Deserialize)]
struct Sitemap {
    site: Option<String>,
    pages: Closed,
}

/// Addresses of the pages that are closed.
struct Closed(Vec<String>);

impl<'de> Deserialize<'de> for Closed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Pages)
    }
}

struct Pages;

impl<'de> Visitor<'de> for Pages {
    type Value = Closed;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of pages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Closed, A::Error> {
        let mut closed = Vec::new();
        while let Some(Page(page)) = seq.next_element()? {
            closed.extend(page);
            if MOST_CLOSED < closed.len() {
                return Err(serde::de::Error::custom("too many closed pages"));
            }
        }
        Ok(Closed(closed))
    }
}

/// The address of a page, where it is closed.
struct Page(Option<String>);

impl<'de> Deserialize<'de> for Page {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entry)
    }
}

struct Entry;

impl<'de> Visitor<'de> for Entry {
    type Value = Page;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a page")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Page, A::Error> {
        let (mut url, mut is_closed) = (None, false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "url" => url = Some(map.next_value::<String>()?),
                "auth_required" => {
                    // Whatever else it says, it does not say that it is open.
                    let value = map.next_value::<Value>()?;
                    is_closed |= !matches!(value, Value::Bool(false) | Value::Null);
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Page(url.filter(|_| is_closed)))
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
    fn spec_pages_that_need_a_login_are_closed_at_every_address() {
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
    fn ours_a_sitemap_that_cannot_be_read_opens_nothing() {
        for text in ["", "[]", "{}", r#"{"pages":7}"#, r#"{"pages":[7]}"#, r#"{"pages":[]"#] {
            let error = load(folder(text).path()).unwrap_err().to_string();
            assert!(error.contains("arc-sitemap.json"), "{text}: {error}");
        }
        let none = tempfile::tempdir().unwrap();
        assert!(load(none.path()).unwrap().is_none());
        assert!(load(folder(r#"{"pages":[]}"#).path()).unwrap().is_some());
    }
}
