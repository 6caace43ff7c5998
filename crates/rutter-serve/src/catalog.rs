//! `served.json`: what the build knows of each file, as a sorted table of 40
//! bytes a file.
//!
//! Names are kept as hashes; addresses of twins only where they are not the
//! usual ones. Digests are not taken over: a file may be replaced before
//! `served.json` is, so what is said about bytes is found in the bytes. A date
//! counts for the bytes it was told for, restrictions count for all names, in
//! any spelling of cases: a file system may not tell them apart. Other
//! spellings of a name are not found at all (`resolve.rs`).
//!
//! Refuses: files of another version, of another folder, and none at all.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Seek as _};
use std::path::{Path, PathBuf};

use rutter_page::seal::{Sealed, check_json};
use rutter_page::{Digest, Timestamp};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::beneath::Identity;
use crate::kind::{self, Coding, Kind};

/// The version that is read. The first did not say what is closed beside
/// pages, so it must not be taken for one in which nothing is.
const VERSION: u32 = 3;
/// The version of files without a seal.
const UNSEALED: u32 = 2;

/// Types with their codings that are kept; a site has about ten.
const MOST_TYPES: usize = 4096;

/// Why `served.json` cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// It cannot be read.
    #[error("served.json cannot be read")]
    Io(#[from] io::Error),
    /// There is none. What is restricted is not known without it.
    #[error("{0}: no such file; a build writes it")]
    Missing(PathBuf),
    /// It is not what a build writes.
    #[error("served.json is not what a build of this version writes; build the site again")]
    Form(#[from] serde_json::Error),
    /// Its bytes are not those that the build wrote.
    #[error("served.json is damaged; build the site again")]
    Damaged,
    /// The ARC sitemap of a folder without `served.json` cannot be read.
    #[error("{path} cannot be read, so it is not known which pages need a login: {why}", path = .0.display(), why = .1)]
    Announced(PathBuf, String),
    /// There are tokens, and nothing says what they are for.
    #[error("tokens are given, but no served.json and no ARC sitemap says which pages they open")]
    Unknown,
    /// The ARC sitemap that closed pages is gone.
    #[error("the ARC sitemap is gone; what it closed stays closed")]
    Gone,
    /// It speaks of another folder.
    #[error("{path} is about {about}, not about this folder", path = .0.display(), about = .1.display())]
    Elsewhere(PathBuf, PathBuf),
}

/// What is known of one file.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    pub(crate) media_type: Box<str>,
    pub(crate) coding: Option<Coding>,
    pub(crate) kind: Kind,
    pub(crate) dated: Option<Dated>,
    /// Of which bytes it speaks.
    pub(crate) bytes: Bytes,
    /// When a collection ends, in seconds since 1970.
    pub(crate) expires: Option<i64>,
    pub(crate) twin: Option<String>,
}

/// The stored bytes the build speaks of, by the start of their digest; zero
/// where it was not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Bytes([u8; 8]);

impl Bytes {
    /// Whether bytes of this digest are certainly these.
    pub(crate) fn are(self, stored: Option<Digest>) -> bool {
        stored.is_some_and(|stored| self.0 != NO_DIGEST && self.0 == start(&stored))
    }
}

/// A date the build told, and for which bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dated {
    /// Seconds since 1970.
    pub(crate) modified: i64,
    /// The start of their digest; zero where it was not told.
    digest: [u8; 8],
}

impl Dated {
    /// Whether it is told for bytes of this digest; `was_there` counts where
    /// none was told.
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
struct Row {
    name: [u8; 16],
    modified: i64,
    digest: [u8; 8],
    kind: Kind,
    twin: Twin,
    /// Though it lies below a name that is closed.
    is_open: bool,
    media_type: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Twin {
    None,
    /// The name with `.md` for its ending.
    Usual,
    Other,
}

/// Stands for a date that is not known.
const NO_DATE: i64 = i64::MIN;

/// What is known of all files.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    version: u32,
    /// The address of the site, without slash at its end.
    pub(crate) base: String,
    rows: Vec<Row>,
    types: Vec<(Box<str>, Option<Coding>)>,
    twins: HashMap<[u8; 16], String>,
    /// Ends of collections.
    expires: HashMap<[u8; 16], i64>,
    /// Hashes of names of restricted files in lower case, sorted.
    restricted: Vec<[u8; 16]>,
    /// Beginnings of names in lower case, below which all is restricted.
    closed: Vec<String>,
    /// Paths that are closed, as the owner would count them.
    n_closed: usize,
    /// The folder it speaks of, seen from its own.
    output: Option<String>,
    /// Seconds between two snapshots.
    pub(crate) update: Option<u64>,
    /// When `served.json` came into its place; nothing is described by none.
    changed: i128,
    /// Of `served.json` itself.
    pub(crate) identity: Option<Identity>,
}

fn hash(name: &str) -> [u8; 16] {
    let Digest(digest) = Digest::of(name.as_bytes());
    let mut short = [0; 16];
    short.copy_from_slice(digest.first_chunk::<16>().expect("a digest has 32 bytes"));
    short
}

/// Endings of compressed forms, and of pages.
const CODINGS: [&str; 4] = [".gz", ".br", ".zst", ".zz"];
const PAGES: [&str; 3] = [".html", ".htm", ".xhtml"];

fn usual_twin(name: &str) -> Option<String> {
    name.strip_suffix(".html").map(|stem| format!("{stem}.md"))
}

impl Catalog {
    /// Reads the `served.json` of a folder.
    pub(crate) fn load(path: &Path) -> Result<Self, CatalogError> {
        let file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CatalogError::Missing(path.to_owned()),
            _ => error.into(),
        })?;
        let mut file = file;
        let sealed = check_json(&file)?;
        if sealed == Sealed::Broken {
            return Err(CatalogError::Damaged);
        }
        file.rewind()?;
        let identity = Identity::of(&file)?;
        let mut catalog = Self { changed: i128::MIN, identity, ..Self::default() };
        catalog.changed = identity.map_or(i128::MIN, |identity| identity.changed);
        let mut reader = serde_json::Deserializer::from_reader(BufReader::new(file));
        Whole(&mut catalog).deserialize(&mut reader)?;
        reader.end()?;
        // Without its seal nothing says that no closed entry was lost.
        if catalog.version == VERSION && sealed == Sealed::Without {
            return Err(CatalogError::Damaged);
        }
        catalog.rows.sort_unstable_by_key(|row| row.name);
        catalog.rows.shrink_to_fit();
        catalog.n_closed = catalog.restricted.len() + catalog.closed.len();
        catalog.sort_closed();
        while catalog.base.ends_with('/') {
            catalog.base.pop();
        }
        Ok(catalog)
    }

    /// Refuses the catalog in `state` where it speaks of another folder than
    /// `root`. A root that is gone has nothing to show.
    pub(crate) fn must_be_about(&self, root: &Path, state: &Path) -> Result<(), CatalogError> {
        let Some(output) = &self.output else { return Ok(()) };
        let Ok(root) = root.canonicalize() else { return Ok(()) };
        let about = state.join(output);
        match about.canonicalize() {
            Ok(found) if found == root => Ok(()),
            _ => Err(CatalogError::Elsewhere(state.join("served.json"), about)),
        }
    }

    /// Whether `served.json` is there.
    pub(crate) fn is_there(&self) -> bool {
        self.identity.is_some()
    }

    /// The path of the site's address, such as `/docs/`.
    pub(crate) fn mount(&self) -> &str {
        let rest = self.base.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("")
    }

    pub(crate) fn get(&self, name: &str) -> Option<Fact> {
        let hash = hash(name);
        let at = self.rows.binary_search_by_key(&hash, |row| row.name).ok()?;
        let row = self.rows.get(at)?;
        let (media_type, coding) = self.types.get(usize::from(row.media_type))?;
        let twin = match row.twin {
            Twin::None => None,
            Twin::Usual => usual_twin(name),
            Twin::Other => self.twins.get(&hash).cloned(),
        };
        Some(Fact {
            media_type: media_type.clone(),
            coding: *coding,
            kind: row.kind,
            dated: (row.modified != NO_DATE)
                .then_some(Dated { modified: row.modified, digest: row.digest }),
            bytes: Bytes(row.digest),
            expires: self.expires.get(&hash).copied(),
            twin,
        })
    }

    /// Whether the build told of a file of this very name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.rows.binary_search_by_key(&hash(name), |row| row.name).is_ok()
    }

    /// Whether a file was in place when `served.json` came, so that this
    /// speaks of it.
    pub(crate) fn describes(&self, file: &Identity) -> bool {
        file.changed <= self.changed
    }

    /// Whether a file may have come after `served.json`; clocks of files tick
    /// some hundred times a second.
    pub(crate) fn may_precede(&self, file: &Identity) -> bool {
        self.changed <= file.changed
    }

    /// Whether there are collections.
    pub(crate) fn has_collections(&self) -> bool {
        self.types.iter().any(|(name, _)| **name == *kind::SCP)
    }

    /// Whether there are files that need a token.
    pub(crate) fn has_restricted(&self) -> bool {
        !self.restricted.is_empty() || !self.closed.is_empty()
    }

    /// How many paths are closed: files, and beginnings of names.
    pub(crate) fn n_closed(&self) -> usize {
        self.n_closed
    }

    /// Closes a page under each of the names it may have; the names count once
    /// [`Self::sort_closed`] was called.
    pub(crate) fn close(&mut self, names: &[&str]) {
        self.restricted.extend(names.iter().map(|name| hash(&name.to_lowercase())));
        self.n_closed += 1;
    }

    /// Brings the closed names into the order they are looked up in.
    pub(crate) fn sort_closed(&mut self) {
        self.restricted.sort_unstable();
        self.restricted.dedup();
    }

    /// Whether this file needs a token: because it was said of it, of what it
    /// is below, or of the page whose Markdown or compressed form it is.
    pub(crate) fn is_restricted(&self, name: &str) -> bool {
        if !self.has_restricted() {
            return false;
        }
        let lower = name.to_lowercase();
        if self.has_closed_prefix(&lower) {
            return !self.is_open(name);
        }
        let is_said = |name: &str| self.restricted.binary_search(&hash(name)).is_ok();
        let plain = CODINGS.iter().find_map(|ending| lower.strip_suffix(ending)).unwrap_or(&lower);
        let pages = plain.strip_suffix(".md").map(|stem| PAGES.map(|end| format!("{stem}{end}")));
        is_said(&lower)
            || is_said(plain)
            || pages.is_some_and(|pages| pages.iter().any(|page| is_said(page)))
    }

    /// Returns whether everything of this name needs a token, be it a file or
    /// not.
    ///
    /// Below a closed path an unknown name must not be told from a closed one.
    pub(crate) fn is_below_closed(&self, name: &str) -> bool {
        !self.closed.is_empty()
            && self.has_closed_prefix(&name.to_lowercase())
            && !self.is_open(name)
    }

    fn has_closed_prefix(&self, lower: &str) -> bool {
        self.closed.iter().any(|closed| lower.starts_with(closed.as_str()))
    }

    /// The part of a request path below the path of the base URL; `None` for
    /// that path without its final slash. Files for the root of the host, such
    /// as robots.txt, are asked for by their whole path.
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

    /// Whether the build said that this very file is for all.
    fn is_open(&self, name: &str) -> bool {
        let at = self.rows.binary_search_by_key(&hash(name), |row| row.name);
        at.ok().and_then(|at| self.rows.get(at)).is_some_and(|row| row.is_open)
    }

    fn push(&mut self, entry: &Entry<'_>) -> Result<(), &'static str> {
        let coding = match entry.coding.as_deref() {
            Some(name) => Some(Coding::parse(name).ok_or("an unknown coding")?),
            None => None,
        };
        let known =
            self.types.iter().position(|(name, of)| **name == *entry.media_type && *of == coding);
        let media_type = known.unwrap_or(self.types.len());
        if media_type == self.types.len() {
            if MOST_TYPES <= media_type {
                return Err("too many types");
            }
            self.types.push((entry.media_type.as_ref().into(), coding));
        }
        let hash = hash(&entry.path);
        let twin = match entry.twin.as_deref() {
            None => Twin::None,
            Some(twin) if usual_twin(&entry.path).as_deref() == Some(twin) => Twin::Usual,
            Some(twin) => {
                self.twins.insert(hash, twin.to_owned());
                Twin::Other
            }
        };
        let is_open = entry.access.as_deref() == Some("open");
        // Whatever else it is that restricts, it is not less than a token.
        if entry.access.is_some() && !is_open {
            self.restricted.push(self::hash(&entry.path.to_lowercase()));
        }
        if let Some(expires) = entry.expires {
            self.expires.insert(hash, expires.unix_seconds());
        }
        // The digest of a collection is that of its text (D08).
        let told = if entry.media_type == kind::SCP { &entry.stored } else { &entry.digest };
        let digest = told.as_deref().and_then(Digest::parse);
        self.rows.push(Row {
            name: hash,
            modified: entry.modified.map_or(NO_DATE, Timestamp::unix_seconds),
            digest: digest.map_or(NO_DIGEST, |digest| start(&digest)),
            kind: Kind::parse(&entry.cache),
            twin,
            is_open,
            media_type: u16::try_from(media_type).unwrap_or(u16::MAX),
        });
        Ok(())
    }
}

/// One file as the build writes it.
#[derive(Debug, Deserialize)]
struct Entry<'e> {
    #[serde(borrow)]
    path: std::borrow::Cow<'e, str>,
    #[serde(borrow, rename = "type")]
    media_type: std::borrow::Cow<'e, str>,
    coding: Option<String>,
    digest: Option<String>,
    stored: Option<String>,
    modified: Option<Timestamp>,
    expires: Option<Timestamp>,
    twin: Option<String>,
    #[serde(borrow)]
    cache: std::borrow::Cow<'e, str>,
    access: Option<String>,
}

/// Reads the document into a catalog, file by file.
struct Whole<'c>(&'c mut Catalog);

impl<'de> DeserializeSeed<'de> for Whole<'_> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of files")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "version" => self.0.version = map.next_value()?,
                "base" => self.0.base = map.next_value()?,
                "output" => self.0.output = Some(map.next_value()?),
                "update" => self.0.update = Some(map.next_value()?),
                "closed" => {
                    let closed = map.next_value::<Vec<String>>()?;
                    self.0.closed = closed.iter().map(|name| name.to_lowercase()).collect();
                }
                "files" => map.next_value_seed(Files(self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if matches!(self.0.version, UNSEALED | VERSION) {
            Ok(())
        } else {
            Err(A::Error::custom("another version"))
        }
    }
}

struct Files<'c>(&'c mut Catalog);

impl<'de> DeserializeSeed<'de> for Files<'_> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Files<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("files")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut files: A) -> Result<(), A::Error> {
        while let Some(entry) = files.next_element::<Entry<'_>>()? {
            self.0.push(&entry).map_err(A::Error::custom)?;
        }
        Ok(())
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
    fn ours_files_are_known_by_what_the_build_said() {
        let catalog = load(TEXT).unwrap();
        assert!(catalog.is_there());
        assert_eq!(
            (catalog.base.as_str(), catalog.mount()),
            ("https://harbour.example/docs", "/docs")
        );
        let a = catalog.get("a.html").unwrap();
        assert_eq!((a.twin.as_deref(), a.kind), (Some("a.md"), Kind::Page));
        let dated = a.dated.unwrap();
        assert_eq!((dated.modified, catalog.update), (1_777_593_600, Some(86_400)));
        // A date is one of bytes, whenever the file came.
        assert!(dated.is_of(Some(Digest([0x11; 32])), false) && dated.is_of(None, true));
        assert!(!dated.is_of(Some(Digest([0x12; 32])), true) && !dated.is_of(None, false));
        let b = catalog.get("b.html").unwrap();
        assert_eq!((b.twin.as_deref(), b.dated), (Some("other/b.md"), None));
        let scp = catalog.get("scp/a.scp.gz").unwrap();
        assert_eq!((&*scp.media_type, scp.coding), ("application/scp", Some(Coding::Gzip)));
        assert_eq!((scp.kind, scp.expires), (Kind::Delta, Some(1_777_593_600)));
        assert!(catalog.get("c.html").is_none());
    }

    #[test] // ARC-064
    fn spec_what_is_closed_is_closed_in_every_form() {
        let catalog = load(TEXT).unwrap();
        // Also where a file system does not tell cases apart.
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
    fn ours_a_catalog_of_another_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["one/public", "one/state", "two/public"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        let catalog = load(r#"{"version":2,"base":"x","output":"../public","files":[]}"#).unwrap();
        catalog.must_be_about(&at("one/public"), &at("one/state")).unwrap();
        catalog.must_be_about(&at("nowhere"), &at("one/state")).unwrap();
        let error = catalog.must_be_about(&at("two/public"), &at("one/state")).unwrap_err();
        assert!(error.to_string().contains("one/state/../public"), "{error}");
    }

    #[test]
    fn a_catalog_that_lost_its_closed_entries_is_refused() {
        let sealed = TEXT.replacen("\"version\":2", "\"version\":3", 1);
        // A file of this version without a seal was written by another program.
        assert!(matches!(load(&sealed), Err(CatalogError::Damaged)));
        let sealed = rutter_page::seal::seal_json(&sealed, 5);
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
    fn ours_other_versions_and_other_files_are_refused() {
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
