//! The publication record (`chain.json`): published collections with their expiry, and the
//! sections.
//!
//! A damaged file and a file of a newer format are rejected.

use std::fs;
use std::io;

use rutter_page::checksum::{ChecksumStatus, append_checksum, verify_checksum};
use rutter_page::{Digest, Timestamp};
use rutter_scp::SectionState;
use serde::{Deserialize, Serialize};

use crate::arc::ArcPublication;
use crate::error::{IoErrorContext, StateError};
use crate::paths::StatePaths;
use crate::sections::Sections;

const FORMAT: u32 = 1;

/// The publication record: sections, collections, ARC layer and sitemap files that are published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    format: u32,
    /// Base URL of the site.
    pub base: String,
    /// Sections of the site.
    pub sections: Sections,
    /// Whether the site owner configured the sections.
    pub is_given: bool,
    /// Digest of the build's settings. If the digest changes, the build writes all files again.
    #[serde(default)]
    pub settings: String,
    /// Published collections in the order of their creation.
    pub collections: Vec<PublishedCollection>,
    /// Publication record of the ARC layer; `None` if the layer is not published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arc: Option<ArcPublication>,
    /// Files of the sitemap, each with the time of its last change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sitemaps: Vec<SitemapPart>,
}

/// One file of the published sitemap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SitemapPart {
    /// Path of the sitemap file.
    pub name: String,
    /// Digest of the bytes of the sitemap file.
    pub digest: String,
    /// Time when the sitemap file last changed; `None` if the time is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Timestamp>,
}

/// The member `format`, which a publication record of every version contains.
#[derive(Deserialize)]
struct FormatVersion {
    format: u32,
}

/// One published collection in all its codings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedCollection {
    /// Identifier of the collection.
    pub id: String,
    /// Section of the collection.
    pub section: String,
    /// Start of the period of a delta; `None` for a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Time of generation.
    pub generated: Timestamp,
    /// Time after which the collection may be removed.
    pub expires: Timestamp,
    /// Time when a later snapshot replaced this collection; `None` if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded: Option<Timestamp>,
    /// Number of pages in the collection.
    pub pages: u64,
    /// State of the section after this collection.
    pub state: String,
    /// Checksum of the content.
    pub checksum: String,
    /// Files of the collection, one for each coding; the preferred coding is first.
    pub files: Vec<EncodedFile>,
}

/// File of a collection in one coding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EncodedFile {
    /// File name.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
}

impl PublishedCollection {
    /// Returns whether the collection is a snapshot.
    pub fn is_snapshot(&self) -> bool {
        self.since.is_none()
    }

    /// Returns the state of the section after this collection.
    pub fn state(&self) -> Option<SectionState> {
        SectionState::parse(&self.state)
    }

    /// Returns the checksum of the content.
    pub fn checksum(&self) -> Option<Digest> {
        Digest::parse(&self.checksum)
    }
}

impl Publication {
    /// Returns an empty publication record.
    pub fn new(base: &str) -> Self {
        Self {
            format: FORMAT,
            base: base.to_owned(),
            sections: Sections::default(),
            is_given: false,
            settings: String::new(),
            collections: Vec::new(),
            arc: None,
            sitemaps: Vec::new(),
        }
    }

    /// Loads the publication record; `None` if nothing was published yet.
    pub fn load(paths: &StatePaths) -> Result<Option<Self>, StateError> {
        let path = paths.chain();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StateError::Io(path, error)),
        };
        let broken =
            |error: &serde_json::Error| StateError::Damaged(path.clone(), error.line() as u64);
        if verify_checksum(text.as_bytes()).is_ok_and(|found| found == ChecksumStatus::Mismatch) {
            return Err(StateError::Damaged(path, text.lines().count() as u64));
        }
        let format: FormatVersion = serde_json::from_str(&text).map_err(|error| broken(&error))?;
        if FORMAT < format.format {
            return Err(StateError::NewerFormat(path));
        }
        serde_json::from_str(&text).map(Some).map_err(|error| broken(&error))
    }

    /// Writes the publication record with a checksum.
    pub fn save(&self, path: &std::path::Path) -> Result<(), StateError> {
        let text =
            serde_json::to_string_pretty(self).expect("the publication record serializes to JSON");
        fs::write(path, append_checksum(&text, self.collections.len() as u64)).at(path)
    }

    /// Returns the newest collection of a section.
    pub fn last<'s>(&'s self, section: &'s str) -> Option<&'s PublishedCollection> {
        self.of(section).max_by_key(|one| one.generated)
    }

    /// Returns the newest snapshot of a section.
    pub fn last_snapshot<'s>(&'s self, section: &'s str) -> Option<&'s PublishedCollection> {
        self.of(section).filter(|one| one.is_snapshot()).max_by_key(|one| one.generated)
    }

    fn of<'s>(&'s self, section: &'s str) -> impl Iterator<Item = &'s PublishedCollection> {
        self.collections.iter().filter(move |one| one.section == section)
    }

    /// Returns the deltas of a section since its newest snapshot.
    pub fn deltas<'s>(&'s self, section: &'s str) -> Vec<&'s PublishedCollection> {
        let from = self.last_snapshot(section).map(|one| one.generated);
        let is_later = |one: &&PublishedCollection| {
            !one.is_snapshot() && from.is_none_or(|from| from < one.generated)
        };
        self.of(section).filter(is_later).collect()
    }

    /// Removes the collections that were generated after `now`, and the ARC record if it changed
    /// after `now`.
    pub fn forget_later(&mut self, now: Timestamp) {
        self.collections.retain(|one| one.generated <= now);
        self.arc = self.arc.take().filter(|arc| arc.changed <= now);
    }

    /// Returns the time of the newest collection or of the last ARC change, whichever is later.
    pub fn newest(&self) -> Option<Timestamp> {
        let collections = self.collections.iter().map(|one| one.generated);
        collections.chain(self.arc.as_ref().map(|arc| arc.changed)).max()
    }
}
