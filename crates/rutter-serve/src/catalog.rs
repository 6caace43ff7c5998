//! `served.json`: what the build knows of each file, as a sorted table of 32
//! bytes a file.
//!
//! Names are kept as hashes; addresses of twins only where they are not the
//! usual ones. Digests are not taken over: a file may be replaced before
//! `served.json` is, so what is said about bytes is found in the bytes.
//! Dates count for files that were in place when `served.json` came
//! ([`Catalog::describes`]), restrictions for all.
//!
//! Refuses: files of another version, and names that lead out of the root.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use rutter_page::{Digest, Timestamp};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::beneath::Identity;
use crate::kind::{self, Coding, Kind};

/// Types with their codings that are kept; a site has about ten.
const MOST_TYPES: usize = 4096;

/// Why `served.json` cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// It cannot be read.
    #[error("served.json cannot be read")]
    Io(#[from] io::Error),
    /// It is not what a build writes.
    #[error("served.json is not what a build of this version writes")]
    Form(#[from] serde_json::Error),
}

/// What is known of one file.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    pub(crate) media_type: Box<str>,
    pub(crate) coding: Option<Coding>,
    pub(crate) kind: Kind,
    /// Seconds since 1970.
    pub(crate) modified: Option<i64>,
    pub(crate) twin: Option<String>,
    pub(crate) needs_token: bool,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    name: [u8; 16],
    modified: i64,
    kind: Kind,
    twin: Twin,
    needs_token: bool,
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
    /// The address of the site, without slash at its end.
    pub(crate) base: String,
    rows: Vec<Row>,
    types: Vec<(Box<str>, Option<Coding>)>,
    twins: HashMap<[u8; 16], String>,
    /// Hashes of names of restricted files in lower case, sorted: a file
    /// system may not tell cases apart.
    restricted: Vec<[u8; 16]>,
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

fn usual_twin(name: &str) -> Option<String> {
    name.strip_suffix(".html").map(|stem| format!("{stem}.md"))
}

impl Catalog {
    /// Reads `served.json`; an empty catalog where there is none.
    pub(crate) fn load(path: &Path) -> Result<Self, CatalogError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        let identity = Identity::of(&file)?;
        let mut catalog = Self { changed: i128::MIN, identity, ..Self::default() };
        catalog.changed = identity.map_or(i128::MIN, |identity| identity.changed);
        let mut reader = serde_json::Deserializer::from_reader(BufReader::new(file));
        Whole(&mut catalog).deserialize(&mut reader)?;
        reader.end()?;
        catalog.rows.sort_unstable_by_key(|row| row.name);
        catalog.rows.shrink_to_fit();
        catalog.restricted.sort_unstable();
        while catalog.base.ends_with('/') {
            catalog.base.pop();
        }
        Ok(catalog)
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
            modified: (row.modified != NO_DATE).then_some(row.modified),
            twin,
            needs_token: row.needs_token,
        })
    }

    /// Whether a file was in place when `served.json` came, so that this
    /// speaks of it.
    pub(crate) fn describes(&self, file: &Identity) -> bool {
        file.changed <= self.changed
    }

    /// Whether there are collections.
    pub(crate) fn has_collections(&self) -> bool {
        self.types.iter().any(|(name, _)| **name == *kind::SCP)
    }

    /// Whether there are files that need a token.
    pub(crate) fn has_restricted(&self) -> bool {
        !self.restricted.is_empty()
    }

    /// Whether this file, in any spelling of cases, needs a token.
    pub(crate) fn is_restricted(&self, name: &str) -> bool {
        self.has_restricted() && self.restricted.binary_search(&hash(&name.to_lowercase())).is_ok()
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
        // Whatever it is that restricts, it is not less than a token.
        let needs_token = entry.access.is_some();
        if needs_token {
            self.restricted.push(self::hash(&entry.path.to_lowercase()));
        }
        self.rows.push(Row {
            name: hash,
            modified: entry.modified.map_or(NO_DATE, Timestamp::unix_seconds),
            kind: Kind::parse(&entry.cache),
            twin,
            needs_token,
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
    modified: Option<Timestamp>,
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
        let mut version = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "version" => version = Some(map.next_value::<u32>()?),
                "base" => self.0.base = map.next_value()?,
                "files" => map.next_value_seed(Files(self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if version == Some(1) { Ok(()) } else { Err(A::Error::custom("another version")) }
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

    const TEXT: &str = r#"{"version":1,"base":"https://harbour.example/docs/","files":[
{"path":"a.html","type":"text/html","modified":"2026-05-01T00:00:00.5Z","twin":"a.md","cache":"page"},
{"path":"b.html","type":"text/html","twin":"other/b.md","cache":"page","later":[1]},
{"path":"Log.html","type":"text/html","cache":"page","access":"token"},
{"path":"scp/a.scp.gz","type":"application/scp","coding":"gzip","digest":"sha256:00","cache":"delta"}
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
        assert_eq!(a.modified, Some(1_777_593_600));
        let b = catalog.get("b.html").unwrap();
        assert_eq!((b.twin.as_deref(), b.modified), (Some("other/b.md"), None));
        let scp = catalog.get("scp/a.scp.gz").unwrap();
        assert_eq!((&*scp.media_type, scp.coding), ("application/scp", Some(Coding::Gzip)));
        assert_eq!(scp.kind, Kind::Delta);
        assert!(catalog.get("c.html").is_none());
        assert!(catalog.get("Log.html").unwrap().needs_token);
        // Also where a file system does not tell cases apart.
        assert!(catalog.is_restricted("log.HTML") && !catalog.is_restricted("a.html"));
    }

    #[test]
    fn ours_other_versions_and_other_files_are_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"version":2,"base":"x","files":[]}"#,
            r#"{"version":1,"files":[{"path":"a"}]}"#,
            r#"{"version":1,"files":[{"path":"a","type":"x","cache":"x","coding":"br"}]}"#,
            &TEXT[..TEXT.len() - 1],
        ] {
            assert!(matches!(load(text), Err(CatalogError::Form(_))), "{text}");
        }
        let none = Catalog::load(Path::new("/nowhere/served.json")).unwrap();
        assert!(!none.is_there() && none.get("a.html").is_none());
    }
}
