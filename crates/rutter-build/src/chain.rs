//! The chain: which collections are published, until when, and which sections
//! there are. Part of the truth, small and plain.

use std::fs;
use std::io;

use rutter_page::seal::{Sealed, check_json, seal_json};
use rutter_page::{Digest, Timestamp};
use rutter_scp::State;
use serde::{Deserialize, Serialize};

use crate::error::{At, BuildError};
use crate::feed::Issue;
use crate::section::Sections;
use crate::state::Paths;

const FORMAT: u32 = 1;

/// Everything that is on offer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Published {
    format: u32,
    /// The site it belongs to.
    pub(crate) base: String,
    pub(crate) sections: Sections,
    /// Whether the owner chose the sections.
    pub(crate) is_given: bool,
    /// What the layers were, as a digest: another choice writes files anew.
    #[serde(default)]
    pub(crate) settings: String,
    /// In the order they were made.
    pub(crate) collections: Vec<Offered>,
    /// The layer for AI agents, where it is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) arc: Option<Issue>,
    /// The files of the sitemap, and when each last changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sitemaps: Vec<SitemapPart>,
}

/// A file of the sitemap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SitemapPart {
    pub(crate) name: String,
    /// Of its bytes.
    pub(crate) digest: String,
    /// When it last changed; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) changed: Option<Timestamp>,
}

/// What a file of any version says first.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// One collection, in all its codings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Offered {
    pub(crate) id: String,
    pub(crate) section: String,
    /// `None` for a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Timestamp>,
    pub(crate) generated: Timestamp,
    pub(crate) expires: Timestamp,
    /// When a later snapshot took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) superseded: Option<Timestamp>,
    pub(crate) pages: u64,
    /// The section's state after it.
    pub(crate) state: String,
    pub(crate) checksum: String,
    /// The first is the preferred one.
    pub(crate) files: Vec<CodedFile>,
}

/// A collection in one coding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CodedFile {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

impl Offered {
    pub(crate) fn is_snapshot(&self) -> bool {
        self.since.is_none()
    }

    pub(crate) fn state(&self) -> Option<State> {
        State::parse(&self.state)
    }

    pub(crate) fn checksum(&self) -> Option<Digest> {
        Digest::parse(&self.checksum)
    }
}

impl Published {
    pub(crate) fn new(base: &str) -> Self {
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

    /// `None` where nothing was ever published.
    pub(crate) fn load(paths: &Paths) -> Result<Option<Self>, BuildError> {
        let path = paths.chain();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(BuildError::Io(path, error)),
        };
        let broken =
            |error: &serde_json::Error| BuildError::State(path.clone(), error.line() as u64);
        if check_json(text.as_bytes()).is_ok_and(|found| found == Sealed::Broken) {
            return Err(BuildError::State(path, text.lines().count() as u64));
        }
        let format: Format = serde_json::from_str(&text).map_err(|error| broken(&error))?;
        if FORMAT < format.format {
            return Err(BuildError::Newer(path));
        }
        serde_json::from_str(&text).map(Some).map_err(|error| broken(&error))
    }

    pub(crate) fn save(&self, path: &std::path::Path) -> Result<(), BuildError> {
        let text = serde_json::to_string_pretty(self).expect("the chain is JSON");
        fs::write(path, seal_json(&text, self.collections.len() as u64)).at(path)
    }

    /// The newest collection of a section.
    pub(crate) fn last<'s>(&'s self, section: &'s str) -> Option<&'s Offered> {
        self.of(section).max_by_key(|one| one.generated)
    }

    /// The newest snapshot of a section.
    pub(crate) fn last_snapshot<'s>(&'s self, section: &'s str) -> Option<&'s Offered> {
        self.of(section).filter(|one| one.is_snapshot()).max_by_key(|one| one.generated)
    }

    fn of<'s>(&'s self, section: &'s str) -> impl Iterator<Item = &'s Offered> {
        self.collections.iter().filter(move |one| one.section == section)
    }

    /// Deltas since the newest snapshot.
    pub(crate) fn deltas<'s>(&'s self, section: &'s str) -> Vec<&'s Offered> {
        let from = self.last_snapshot(section).map(|one| one.generated);
        let is_later =
            |one: &&Offered| !one.is_snapshot() && from.is_none_or(|from| from < one.generated);
        self.of(section).filter(is_later).collect()
    }

    /// Forgets what is said to have been made later than `now`.
    pub(crate) fn forget_later(&mut self, now: Timestamp) {
        self.collections.retain(|one| one.generated <= now);
        self.arc = self.arc.take().filter(|arc| arc.changed <= now);
    }

    /// The newest moment anything was made.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        let collections = self.collections.iter().map(|one| one.generated);
        collections.chain(self.arc.as_ref().map(|arc| arc.changed)).max()
    }
}
