//! Reads `served.json` into a catalog, file by file.
//!
//! Rejects: files of another version, damaged files, missing files.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Seek as _};
use std::path::Path;

use rutter_page::checksum::{ChecksumStatus, verify_checksum};
use rutter_page::{Digest, Timestamp};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::error::CatalogError;
use super::{Catalog, CatalogRow, NO_DATE, NO_DIGEST, TwinName, hash, start, usual_twin};
use crate::resolve::kind::{self, ContentCoding, FileKind};
use crate::resolve::root_dir::Identity;

/// The supported version. Version 1 did not record restricted files other than pages, so it is
/// rejected.
const VERSION: u32 = 3;
/// The previous version, whose files may lack a checksum.
const UNSEALED: u32 = 2;

/// Maximum number of different pairs of media type and coding; a site has about ten.
const MAX_TYPES: usize = 4096;

impl Catalog {
    /// Loads a `served.json`.
    pub(crate) fn load(path: &Path) -> Result<Self, CatalogError> {
        let file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CatalogError::Missing(path.to_owned()),
            _ => error.into(),
        })?;
        let mut file = file;
        let sealed = verify_checksum(&file)?;
        if sealed == ChecksumStatus::Mismatch {
            return Err(CatalogError::Damaged);
        }
        file.rewind()?;
        let identity = Identity::of(&file)?;
        let mut catalog = Self { changed: i128::MIN, identity, ..Self::default() };
        catalog.changed = identity.map_or(i128::MIN, |identity| identity.changed);
        let mut reader = serde_json::Deserializer::from_reader(BufReader::new(file));
        CatalogSeed(&mut catalog).deserialize(&mut reader)?;
        reader.end()?;
        // Without the checksum, a restriction that was lost would not be detected.
        if catalog.version == VERSION && sealed == ChecksumStatus::Missing {
            return Err(CatalogError::Damaged);
        }
        catalog.rows.sort_unstable_by_key(|row| row.name);
        catalog.rows.shrink_to_fit();
        catalog.restrictions.sort();
        while catalog.base.ends_with('/') {
            catalog.base.pop();
        }
        Ok(catalog)
    }

    fn push(&mut self, entry: &ServedEntry<'_>) -> Result<(), &'static str> {
        let coding = match entry.coding.as_deref() {
            Some(name) => Some(ContentCoding::parse(name).ok_or("unknown content coding")?),
            None => None,
        };
        let known =
            self.types.iter().position(|(name, of)| **name == *entry.media_type && *of == coding);
        let media_type = known.unwrap_or(self.types.len());
        if media_type == self.types.len() {
            if MAX_TYPES <= media_type {
                return Err("too many media types");
            }
            self.types.push((entry.media_type.as_ref().into(), coding));
        }
        let hash = hash(&entry.path);
        let twin = match entry.twin.as_deref() {
            None => TwinName::None,
            Some(twin) if usual_twin(&entry.path).as_deref() == Some(twin) => TwinName::Usual,
            Some(twin) => {
                self.twins.insert(hash, twin.to_owned());
                TwinName::Other
            }
        };
        let is_open = entry.access.as_deref() == Some("open");
        // An unknown value of `access` is treated as a restriction.
        if entry.access.is_some() && !is_open {
            self.restrictions.close(&[&entry.path]);
        }
        if let Some(expires) = entry.expires {
            self.expires.insert(hash, expires.unix_seconds());
        }
        // `digest` of a collection is the digest of its content (D08), so `stored` is used.
        let digest = if entry.media_type == kind::SCP { &entry.stored } else { &entry.digest };
        let digest = digest.as_deref().and_then(Digest::parse);
        self.rows.push(CatalogRow {
            name: hash,
            modified: entry.modified.map_or(NO_DATE, Timestamp::unix_seconds),
            digest: digest.map_or(NO_DIGEST, |digest| start(&digest)),
            kind: FileKind::parse(&entry.cache),
            twin,
            is_open,
            media_type: u16::try_from(media_type).unwrap_or(u16::MAX),
        });
        Ok(())
    }
}

/// The entry of one file in `served.json`.
#[derive(Debug, Deserialize)]
struct ServedEntry<'e> {
    #[serde(borrow)]
    path: Cow<'e, str>,
    #[serde(borrow, rename = "type")]
    media_type: Cow<'e, str>,
    coding: Option<String>,
    digest: Option<String>,
    stored: Option<String>,
    modified: Option<Timestamp>,
    expires: Option<Timestamp>,
    twin: Option<String>,
    #[serde(borrow)]
    cache: Cow<'e, str>,
    access: Option<String>,
}

/// Deserializes the document into a catalog, file by file.
struct CatalogSeed<'c>(&'c mut Catalog);

impl<'de> DeserializeSeed<'de> for CatalogSeed<'_> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for CatalogSeed<'_> {
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
                    self.0.restrictions.close_below(&closed);
                }
                "files" => map.next_value_seed(FilesSeed(self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if matches!(self.0.version, UNSEALED | VERSION) {
            Ok(())
        } else {
            Err(A::Error::custom("unsupported version"))
        }
    }
}

struct FilesSeed<'c>(&'c mut Catalog);

impl<'de> DeserializeSeed<'de> for FilesSeed<'_> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for FilesSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("files")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut files: A) -> Result<(), A::Error> {
        while let Some(entry) = files.next_element::<ServedEntry<'_>>()? {
            self.0.push(&entry).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
