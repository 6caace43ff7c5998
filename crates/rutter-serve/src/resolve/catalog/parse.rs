//! Reads `served.json` into a catalog, file by file.
//!
//! Rejects: files of another version, damaged files, missing files.

use std::fs::File;
use std::io;
use std::path::Path;

use rutter_page::{Digest, Timestamp};
use rutter_site::{FileAccess, ServedEntry, ServedError, read_served};

use super::error::CatalogError;
use super::{Catalog, CatalogRow, NO_DATE, NO_DIGEST, TwinName, hash, start, usual_twin};
use crate::resolve::kind::{self, ContentCoding, FileKind};
use crate::resolve::root_dir::FileIdentity;

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
        let identity = FileIdentity::of(&file)?;
        let mut catalog = Self { changed: i128::MIN, identity, ..Self::default() };
        catalog.changed = identity.map_or(i128::MIN, |identity| identity.changed);
        let header = read_served(&mut file, &mut |entry| catalog.push(entry))?;
        catalog.base = header.base;
        catalog.output = header.output;
        catalog.update = header.update;
        catalog.restrictions.close_below(&header.closed);
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
        let is_open = entry.access == Some(FileAccess::Open);
        if entry.access == Some(FileAccess::Token) {
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
            kind: FileKind::parse(entry.cache.name()),
            twin,
            is_open,
            media_type: u16::try_from(media_type).unwrap_or(u16::MAX),
        });
        Ok(())
    }
}

impl From<ServedError> for CatalogError {
    fn from(error: ServedError) -> Self {
        match error {
            ServedError::Io(error) => Self::Io(error),
            ServedError::Form(error) => Self::Form(error),
            _ => Self::Damaged,
        }
    }
}
