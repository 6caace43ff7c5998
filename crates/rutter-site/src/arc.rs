//! What the state holds of the ARC layer: members of entries in the page cache, versions of entries in the ledger, and
//! the publication record of the layer in `chain.json`.

use std::fmt;

use rutter_page::{LineDigest, Timestamp};
use serde::{Deserialize, Serialize};

/// Members of an ARC entry that come from the page; they are part of the page's cached record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ArcFields {
    /// Summary that the page or an annotation states. If it is `None`, the entry uses the page's
    /// description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Tags of the entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Robots directives of the page, such as `noindex`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub robots: Vec<String>,
    /// Whether the page needs a login.
    #[serde(default, skip_serializing_if = "is_false")]
    pub needs_login: bool,
    /// Whether the page states that AI may use it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_for_ai: bool,
    /// Priority that the page states, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// Snapshot of the annotations of the page, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Digest of the page's decoded text; `None` if the page is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl ArcFields {
    /// Returns the summary, tags and snapshot of the entry as one text, which is then searched for
    /// secrets.
    pub fn text(&self) -> String {
        let mut text = self.summary.clone().unwrap_or_default();
        for part in self.tags.iter().chain(&self.snapshot) {
            text.push('\n');
            text.push_str(part);
        }
        text
    }
}

/// Version of a page's ARC entry in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArcEntryVersion {
    /// Digest of the ARC entry; `None` if the page no longer has an entry.
    pub digest: Option<LineDigest>,
    /// Time when the ARC entry last changed.
    pub at: Timestamp,
}

/// Value of the ledger column `arc` for a page that never had an ARC entry.
pub const NO_ARC_ENTRY: &str = "-";

impl ArcEntryVersion {
    /// Parses a value of the ledger column `arc`; `None` if there is no version.
    pub fn parse(column: &str) -> Option<Self> {
        let (digest, at) = column.split_once('@')?;
        let digest = match digest {
            NO_ARC_ENTRY => None,
            digest => Some(LineDigest::parse(digest)?),
        };
        Some(Self { digest, at: Timestamp::parse(at).ok()? })
    }

    /// Returns the version of a newly built entry, given by its digest; its time differs from the old version's time
    /// only if the entry changed.
    pub fn next(old: Option<Self>, digest: Option<LineDigest>, now: Timestamp) -> Option<Self> {
        match old {
            Some(old) if old.digest == digest => Some(old),
            None if digest.is_none() => None,
            _ => Some(Self { digest, at: now }),
        }
    }

    /// Returns the value of the ledger column `arc` for a version.
    pub fn to_column(version: Option<Self>) -> String {
        version.map_or_else(|| NO_ARC_ENTRY.to_owned(), |version| version.to_string())
    }
}

impl fmt::Display for ArcEntryVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.digest {
            Some(digest) => write!(f, "{digest}@{}", self.at),
            None => write!(f, "{NO_ARC_ENTRY}@{}", self.at),
        }
    }
}

/// Publication record of the ARC layer: digests and dates of the published ARC files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArcPublication {
    /// Digest of the settings that decide which pages have ARC entries and what the entries
    /// contain.
    pub entries: String,
    /// Digest of the ARC sitemap's header without its dates.
    pub head: String,
    /// Time of the last change of the ARC sitemap.
    pub changed: Timestamp,
    /// Digest of the ARC policy without its date; `policy_changed` is that date.
    pub policy: String,
    /// Time of the last change of the policy.
    pub policy_changed: Timestamp,
    /// Days that have an ARC delta, in order and without gaps.
    pub days: Vec<String>,
    /// Time of the first publication of the ARC layer. Entries of that time are in the sitemap and
    /// in no delta, because a new reader reads the sitemap first.
    #[serde(rename = "begun", default, skip_serializing_if = "Option::is_none")]
    pub first_published: Option<Timestamp>,
}
