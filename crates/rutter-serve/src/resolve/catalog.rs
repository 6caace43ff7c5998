//! The catalog: metadata of all files from `served.json`, as a sorted table of 40 bytes per file.
//!
//! The table stores names as hashes. It stores the name of a Markdown twin only if that name is not
//! the name of the page with the extension `.md`. A publication may replace a file before it
//! replaces `served.json`, so `ETag` and `Repr-Digest` are always computed from the bytes of the
//! file. A date applies only to the bytes that it was recorded for. Restrictions ignore the case of
//! names, because a file system may ignore it; `locate.rs` rejects other spellings of a name.
//!
//! Rejects: files of another version, files about another directory, damaged files, missing files.

use std::collections::HashMap;
use std::path::Path;

use rutter_page::Digest;

use crate::resolve::kind::{self, ContentCoding, FileKind};
use crate::resolve::root_dir::FileIdentity;

mod error;
mod parse;
mod restrictions;

pub use error::CatalogError;
use restrictions::{RestrictedBy, Restrictions};

/// Metadata of one file.
#[derive(Debug, Clone)]
pub(crate) struct CatalogFact {
    pub(crate) media_type: Box<str>,
    pub(crate) coding: Option<ContentCoding>,
    pub(crate) kind: FileKind,
    pub(crate) dated: Option<DigestDate>,
    /// Identifies the bytes that the metadata was recorded for.
    pub(crate) bytes: DigestPrefix,
    /// Expiry of a collection, in seconds since 1970.
    pub(crate) expires: Option<i64>,
    pub(crate) twin: Option<String>,
}

/// The start of the digest of the stored bytes; zero if it was not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DigestPrefix([u8; 8]);

impl DigestPrefix {
    /// Returns whether bytes with this digest are the recorded bytes; `false` if no digest was
    /// recorded.
    pub(crate) fn are(self, stored: Option<Digest>) -> bool {
        stored.is_some_and(|stored| self.0 != NO_DIGEST && self.0 == start(&stored))
    }
}

/// A modification date, and the digest of the bytes that it was recorded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DigestDate {
    /// Seconds since 1970.
    pub(crate) modified: i64,
    /// Start of the digest; zero if it was not recorded.
    digest: [u8; 8],
}

impl DigestDate {
    /// Returns whether the date applies to bytes with this digest. If no digest was recorded,
    /// `was_there` decides: whether the file was in place before `served.json`.
    pub(crate) fn is_of(&self, stored: Option<Digest>, was_there: bool) -> bool {
        match stored {
            Some(stored) if self.digest != NO_DIGEST => self.digest == start(&stored),
            _ => was_there,
        }
    }
}

const NO_DIGEST: [u8; 8] = [0; 8];

fn start(digest: &Digest) -> [u8; 8] {
    *digest.0.first_chunk().expect("a digest has 32 bytes")
}

#[derive(Debug, Clone, Copy)]
struct CatalogRow {
    name: [u8; 16],
    modified: i64,
    digest: [u8; 8],
    kind: FileKind,
    twin: TwinName,
    /// Whether the file is public although a prefix of its name is restricted.
    is_open: bool,
    media_type: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TwinName {
    None,
    /// The name of the page with the extension `.md`.
    Usual,
    Other,
}

/// Marks an unknown date.
const NO_DATE: i64 = i64::MIN;

/// Metadata of all files.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// The base URL of the site, without trailing slash.
    pub(crate) base: String,
    rows: Vec<CatalogRow>,
    types: Vec<(Box<str>, Option<ContentCoding>)>,
    twins: HashMap<[u8; 16], String>,
    /// Expiry of collections.
    expires: HashMap<[u8; 16], i64>,
    restrictions: Restrictions,
    /// The directory that `served.json` describes, relative to the directory of `served.json`.
    output: Option<String>,
    /// Seconds between two snapshots.
    pub(crate) update: Option<u64>,
    /// When `served.json` was put in place; the minimum if there is none.
    changed: i128,
    /// Identity of `served.json` itself.
    pub(crate) identity: Option<FileIdentity>,
}

fn hash(name: &str) -> [u8; 16] {
    let Digest(digest) = Digest::of(name.as_bytes());
    let mut short = [0; 16];
    short.copy_from_slice(digest.first_chunk::<16>().expect("a digest has 32 bytes"));
    short
}

fn usual_twin(name: &str) -> Option<String> {
    name.strip_suffix(".html").map(|stem| format!("{stem}.md"))
}

impl Catalog {
    /// Checks that the catalog in `state` describes `root`. A missing root passes, because it has
    /// no files to serve.
    pub(crate) fn check_output_dir(&self, root: &Path, state: &Path) -> Result<(), CatalogError> {
        let Some(output) = &self.output else { return Ok(()) };
        let Ok(root) = root.canonicalize() else { return Ok(()) };
        let about = state.join(output);
        match about.canonicalize() {
            Ok(found) if found == root => Ok(()),
            _ => Err(CatalogError::Elsewhere(state.join("served.json"), about)),
        }
    }

    /// Returns whether a `served.json` or an ARC sitemap was loaded.
    pub(crate) fn is_there(&self) -> bool {
        self.identity.is_some()
    }

    /// Returns the path of the base URL, such as `/docs`.
    pub(crate) fn mount(&self) -> &str {
        let rest = self.base.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("")
    }

    pub(crate) fn get(&self, name: &str) -> Option<CatalogFact> {
        let hash = hash(name);
        let at = self.rows.binary_search_by_key(&hash, |row| row.name).ok()?;
        let row = self.rows.get(at)?;
        let (media_type, coding) = self.types.get(usize::from(row.media_type))?;
        let twin = match row.twin {
            TwinName::None => None,
            TwinName::Usual => usual_twin(name),
            TwinName::Other => self.twins.get(&hash).cloned(),
        };
        Some(CatalogFact {
            media_type: media_type.clone(),
            coding: *coding,
            kind: row.kind,
            dated: (row.modified != NO_DATE)
                .then_some(DigestDate { modified: row.modified, digest: row.digest }),
            bytes: DigestPrefix(row.digest),
            expires: self.expires.get(&hash).copied(),
            twin,
        })
    }

    /// Returns whether the catalog contains exactly this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.rows.binary_search_by_key(&hash(name), |row| row.name).is_ok()
    }

    /// Returns whether a file was in place before `served.json`, so that the catalog describes it.
    pub(crate) fn describes(&self, file: &FileIdentity) -> bool {
        file.changed <= self.changed
    }

    /// Returns whether a file may be newer than `served.json`; file times have a resolution of a
    /// few milliseconds.
    pub(crate) fn may_precede(&self, file: &FileIdentity) -> bool {
        self.changed <= file.changed
    }

    /// Returns whether the site has collections.
    pub(crate) fn has_collections(&self) -> bool {
        self.types.iter().any(|(name, _)| **name == *kind::SCP)
    }

    /// Returns whether any file requires a token.
    pub(crate) fn has_restricted(&self) -> bool {
        self.restrictions.any()
    }

    /// Returns the number of restricted paths: files and name prefixes.
    pub(crate) fn n_closed(&self) -> usize {
        self.restrictions.n_paths()
    }

    /// Restricts a page under each of its possible names. Call [`Self::sort_closed`] after the last
    /// page.
    pub(crate) fn close(&mut self, names: &[&str]) {
        self.restrictions.close(names);
    }

    /// Sorts the restricted names for lookup.
    pub(crate) fn sort_closed(&mut self) {
        self.restrictions.sort();
    }

    /// Returns whether a file requires a token: by its name, by a prefix, or as the Markdown or
    /// compressed file of a restricted page.
    pub(crate) fn is_restricted(&self, name: &str) -> bool {
        match self.restrictions.find(name) {
            Some(RestrictedBy::Name) => true,
            Some(RestrictedBy::Prefix) => !self.is_open(name),
            None => false,
        }
    }

    /// Returns whether every file with this name requires a token, existing or not.
    ///
    /// Below a restricted prefix, a missing file must get the same response as a restricted file.
    pub(crate) fn is_below_closed(&self, name: &str) -> bool {
        self.restrictions.is_below_prefix(name) && !self.is_open(name)
    }

    /// Returns the part of a request path below the path of the base URL; `None` for that path
    /// without its final slash. Files for the root of the host, such as robots.txt, keep their
    /// whole path.
    pub(crate) fn below_mount<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.mount() {
            "" => Some(path),
            mount => match path.strip_prefix(mount) {
                Some("") => None,
                Some(rest) if rest.starts_with('/') => Some(rest),
                _ => Some(path),
            },
        }
    }

    /// Returns whether the build marked this file as public.
    fn is_open(&self, name: &str) -> bool {
        let at = self.rows.binary_search_by_key(&hash(name), |row| row.name);
        at.ok().and_then(|at| self.rows.get(at)).is_some_and(|row| row.is_open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"version":2,"base":"https://harbour.example/docs/","update":86400,"closed":["Nur für uns/"],"files":[
{"path":"a.html","type":"text/html","digest":"sha256:1111111111111111111111111111111111111111111111111111111111111111","modified":"2026-05-01T00:00:00.5Z","twin":"a.md","cache":"page"},
{"path":"Nur für uns/sitemap.xml","type":"application/xml","cache":"entry","access":"open"},
{"path":"b.html","type":"text/html","twin":"other/b.md","cache":"page","later":[1]},
{"path":"Log.html","type":"text/html","cache":"page","access":"token"},
{"path":"scp/a.scp.gz","type":"application/scp","coding":"gzip","digest":"sha256:00","expires":"2026-05-01T00:00:00Z","cache":"delta"}
]}"#;

    fn load(text: &str) -> Result<Catalog, CatalogError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("served.json");
        std::fs::write(&path, text).unwrap();
        Catalog::load(&path)
    }

    #[test]
    fn reads_metadata_of_files() {
        let catalog = load(TEXT).unwrap();
        assert!(catalog.is_there());
        assert_eq!(
            (catalog.base.as_str(), catalog.mount()),
            ("https://harbour.example/docs", "/docs")
        );
        let a = catalog.get("a.html").unwrap();
        assert_eq!((a.twin.as_deref(), a.kind), (Some("a.md"), FileKind::Page));
        let dated = a.dated.unwrap();
        assert_eq!((dated.modified, catalog.update), (1_777_593_600, Some(86_400)));
        // A date applies to bytes, regardless of when the file was written.
        assert!(dated.is_of(Some(Digest([0x11; 32])), false) && dated.is_of(None, true));
        assert!(!dated.is_of(Some(Digest([0x12; 32])), true) && !dated.is_of(None, false));
        let b = catalog.get("b.html").unwrap();
        assert_eq!((b.twin.as_deref(), b.dated), (Some("other/b.md"), None));
        let scp = catalog.get("scp/a.scp.gz").unwrap();
        assert_eq!((&*scp.media_type, scp.coding), ("application/scp", Some(ContentCoding::Gzip)));
        assert_eq!((scp.kind, scp.expires), (FileKind::Delta, Some(1_777_593_600)));
        assert!(catalog.get("c.html").is_none());
    }

    #[test] // ARC-064
    fn restricts_every_form_of_a_file() {
        let catalog = load(TEXT).unwrap();
        // Also on file systems that ignore case.
        for closed in [
            "Log.html",
            "log.HTML",
            "log.html.gz",
            "Log.md",
            "log.md.br",
            "Nur für uns/log",
            "nur FÜR uns/data.json",
            "Nur für uns/log.pdf",
            "nur für uns/SITEMAP.xml",
        ] {
            assert!(catalog.is_restricted(closed), "{closed}");
        }
        for open in ["a.html", "a.md", "log.pdf", "b.html.gz", "Nur für uns/sitemap.xml", "Nur für"]
        {
            assert!(!catalog.is_restricted(open), "{open}");
        }
        let none = load(r#"{"version":2,"base":"x","files":[]}"#).unwrap();
        assert!(!none.has_restricted() && !none.is_restricted("Log.html"));
        let all = load(r#"{"version":2,"base":"x","closed":[""],"files":[]}"#).unwrap();
        assert!(all.is_restricted("a.html"));
    }

    #[test]
    fn rejects_a_catalog_of_another_directory() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["one/public", "one/state", "two/public"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        let catalog = load(r#"{"version":2,"base":"x","output":"../public","files":[]}"#).unwrap();
        catalog.check_output_dir(&at("one/public"), &at("one/state")).unwrap();
        catalog.check_output_dir(&at("nowhere"), &at("one/state")).unwrap();
        let error = catalog.check_output_dir(&at("two/public"), &at("one/state")).unwrap_err();
        assert!(error.to_string().contains("one/state/../public"), "{error}");
    }

    #[test]
    fn a_catalog_that_lost_its_closed_entries_is_refused() {
        let sealed = TEXT.replacen("\"version\":2", "\"version\":3", 1);
        // A file of this version without a checksum was written by another program.
        assert!(matches!(load(&sealed), Err(CatalogError::Damaged)));
        let sealed = rutter_page::checksum::append_checksum(&sealed, 5);
        assert!(load(&sealed).unwrap().is_restricted("Log.html"));
        let spread = sealed.replacen("\"records\":", "\"records\": ", 1);
        assert!(matches!(load(&spread), Err(CatalogError::Damaged)));
        for (from, to) in [
            (",\"access\":\"token\"", ""),
            ("\"Nur für uns/\"", ""),
            ("\"records\":5", "\"records\":4"),
        ] {
            let other = sealed.replacen(from, to, 1);
            assert_ne!(other, sealed);
            assert!(matches!(load(&other), Err(CatalogError::Damaged)), "{from}");
        }
    }

    #[test]
    fn rejects_other_versions_and_invalid_files() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"version":1,"base":"x","files":[]}"#,
            r#"{"version":4,"base":"x","files":[]}"#,
            r#"{"version":2,"files":[{"path":"a"}]}"#,
            r#"{"version":2,"closed":"a","files":[]}"#,
            r#"{"version":2,"files":[{"path":"a","type":"x","cache":"x","coding":"br"}]}"#,
            &TEXT[..TEXT.len() - 1],
        ] {
            assert!(matches!(load(text), Err(CatalogError::Form(_))), "{text}");
        }
        let none = Catalog::load(Path::new("/nowhere/served.json"));
        assert!(matches!(none, Err(CatalogError::Missing(_))));
    }
}
