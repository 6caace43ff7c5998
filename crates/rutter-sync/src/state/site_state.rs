//! State of a site that a sync stores for the next sync, as JSON in the replica.
//!
//! Input and output: the text of [`SyncRecords::site_state`](rutter_store::SyncRecords::site_state). The
//! state consists of caches and a few decisions. If it is lost, the next sync sends more
//! requests, but no page is lost. Unreadable text counts as an empty state; text of a newer
//! version is rejected.

use std::collections::{BTreeMap, BTreeSet};

use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};

use crate::consent::scope::ScopeRules;
use crate::discover::{DiscoveryCache, ParsedFile};
use crate::error::SyncError;
use crate::plan::SectionChoice;

/// Version of the format that this program writes, and newest version that it reads.
const VERSION: u32 = 1;

/// State of one site that a sync stores for the next sync.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SiteState {
    version: u32,
    /// Files of the site, as discovery last parsed them.
    #[serde(default, rename = "memory")]
    pub(crate) discovery_cache: DiscoveryCache,
    /// The versions of the ARC sitemap and its deltas that the replica has; `None` if the
    /// sitemap was not read yet.
    #[serde(default)]
    pub(crate) arc: Option<ArcState>,
    /// Pages whose stored content is damaged, as found by an audit. The next sync fetches
    /// these pages again.
    #[serde(default, rename = "damaged")]
    pub(crate) damaged_pages: BTreeSet<String>,
    /// Number of pages without content, at the last count.
    #[serde(default, rename = "withheld")]
    pub(crate) withheld_count: Option<WithheldCount>,
    /// Sections with a mass deletion that is held back, and the time since when.
    #[serde(default, rename = "held")]
    pub(crate) held_deletions: BTreeMap<String, Timestamp>,
    #[serde(flatten)]
    pub(crate) collections: CollectionState,
    #[serde(flatten)]
    pub(crate) crawl: CrawlState,
    #[serde(flatten)]
    pub(crate) settings: SettingState,
}

/// What the collections of a site left for the next sync.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CollectionState {
    /// The sections that the replica follows; `None` before the first sync.
    #[serde(default, rename = "following")]
    pub(crate) section_choice: Option<SectionChoice>,
    /// `generated` of snapshots that were applied to repair a wrong state, by section.
    #[serde(default, rename = "mended")]
    pub(crate) repairs: BTreeMap<String, Timestamp>,
    /// Sections that only a snapshot can bring up to date, because crawled pages replaced
    /// verified lines, or because withheld or damaged content has to be stored again.
    #[serde(default, rename = "stale")]
    pub(crate) stale_sections: BTreeSet<String>,
    /// Collections that failed verification, by URL. For one day, such a file is only
    /// downloaded again if it has changed.
    #[serde(default, rename = "refused")]
    pub(crate) rejected_files: BTreeMap<String, RejectedFile>,
    /// Time since which the sitemap with the collections cannot be read.
    #[serde(default, rename = "lost")]
    pub(crate) sitemap_lost_since: Option<Timestamp>,
}

/// What crawls of a site left for the next sync.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CrawlState {
    /// Crawled pages whose withheld content may be stored again. The next sync fetches
    /// these pages, even if their `lastmod` has not changed.
    #[serde(default, rename = "again")]
    pub(crate) refetch: BTreeSet<String>,
    /// Pages whose request ended a crawl, by a network fault or a `Retry-After` field. The
    /// next crawl fetches these pages last.
    #[serde(default, rename = "stops")]
    pub(crate) stop_urls: BTreeSet<String>,
    /// Sitemaps that list pages which no collection delivers. An empty name means that an
    /// unknown sitemap may list such pages.
    #[serde(default, rename = "rest")]
    pub(crate) uncovered_lists: BTreeSet<String>,
    /// Number of listed pages that are not in the replica, by reason, at the last count.
    #[serde(default, rename = "left_out")]
    pub(crate) left_out_counts: BTreeMap<String, u64>,
    /// When all sitemaps of the site were last read, including those without collections.
    #[serde(default, rename = "whole")]
    pub(crate) lists_read: Option<Timestamp>,
}

/// The settings and rules with which the stored pages were last checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SettingState {
    /// Digest of the robots.txt by whose rules the stored pages were last checked.
    #[serde(default)]
    pub(crate) robots: Option<String>,
    /// Text of the last robots.txt, and the product token of the client; `None` if the file
    /// has no `Content-Signal` lines.
    #[serde(default, rename = "signals")]
    pub(crate) robots_signals: Option<(String, String)>,
    /// Hosts that belonged to the site at the last sync.
    #[serde(default)]
    pub(crate) hosts: Option<BTreeSet<String>>,
    /// The byte quota because of which content was withheld.
    #[serde(default, rename = "quota")]
    pub(crate) exceeded_quota: Option<u64>,
    /// The scope of the last sync; `None` if it included every page.
    #[serde(default)]
    pub(crate) scope: Option<ScopeRules>,
}

/// A collection that failed verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RejectedFile {
    pub(crate) generated: Timestamp,
    /// Validators for a conditional request, which shows whether the file has changed.
    pub(crate) validators: rutter_fetch::Validators,
    pub(crate) why: String,
    /// When the file was downloaded.
    pub(crate) at: Timestamp,
}

/// Number of pages without content at one position of the replica's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WithheldCount {
    /// End of the replica's history when the pages were counted.
    pub(crate) cursor: String,
    /// Number of all pages of the site at that time.
    pub(crate) pages: u64,
    pub(crate) withheld: u64,
}

/// The versions of an ARC sitemap and its deltas that the replica has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArcState {
    /// The last day whose delta is in the replica.
    pub(crate) day: String,
    /// Validators of that day's delta; `None` if the whole sitemap was read last.
    pub(crate) delta: Option<rutter_fetch::Validators>,
    /// Validators that the whole sitemap had before the last deltas were read; `None` if
    /// the whole sitemap was read last, or if the server sends no validators.
    #[serde(default)]
    pub(crate) version: Option<rutter_fetch::Validators>,
    /// Time up to which the replica has all changes of the entries, by the publisher's
    /// clock.
    #[serde(default)]
    pub(crate) until: Option<Timestamp>,
    /// When the whole sitemap was last read, or when the server last answered with status
    /// 304.
    #[serde(default, rename = "whole")]
    pub(crate) whole_checked: Option<Timestamp>,
    /// The pointer file, which says when the sitemap last changed.
    #[serde(default)]
    pub(crate) pointer: PointerState,
}

/// What is known about the pointer file of an ARC sitemap (D53).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PointerState {
    /// The pointer was not requested yet.
    #[default]
    Unknown,
    /// The pointer is missing or has no usable date. It is not requested again until the
    /// whole sitemap is read again.
    Useless,
    /// Date of the sitemap's last change according to the pointer, and the validators of
    /// the pointer.
    Known(Timestamp, rutter_fetch::Validators),
}

impl PointerState {
    /// Returns the date of the sitemap's last change according to the pointer.
    pub(crate) fn date(&self) -> Option<Timestamp> {
        match self {
            Self::Known(date, _) => Some(*date),
            Self::Unknown | Self::Useless => None,
        }
    }
}

impl SiteState {
    /// Reads the state of a publisher.
    ///
    /// Unreadable text gives an empty state. A state of a newer program version is an
    /// error, because this version would overwrite it.
    pub(crate) fn read(origin: &str, text: &str) -> Result<Self, SyncError> {
        #[derive(Deserialize)]
        struct StateVersion {
            version: u32,
        }
        if serde_json::from_str::<StateVersion>(text).is_ok_and(|it| VERSION < it.version) {
            return Err(SyncError::StateVersion(origin.to_owned()));
        }
        Ok(serde_json::from_str(text).unwrap_or_default())
    }

    /// Stores the hosts of the site and returns whether they changed.
    ///
    /// After a change, the ARC and SPXI files are removed from the cache and requested
    /// again, because their entries were accepted or ignored by host.
    pub(crate) fn update_hosts(&mut self, hosts: &BTreeSet<String>) -> bool {
        let has_changed = self.settings.hosts.as_ref().is_some_and(|known| known != hosts);
        self.settings.hosts = Some(hosts.clone());
        if has_changed {
            let is_kept = |parsed: &Option<ParsedFile>| {
                !matches!(parsed, Some(ParsedFile::Arc(_) | ParsedFile::Spxi))
            };
            self.discovery_cache.files.retain(|_, file| is_kept(&file.parsed));
            self.arc = None;
        }
        has_changed
    }

    pub(crate) fn write(&self) -> String {
        let state = Self { version: VERSION, ..self.clone() };
        serde_json::to_string(&state).expect("names are strings and numbers are finite")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_wrote_and_rejects_newer_versions() {
        let stale_sections = BTreeSet::from(["all".to_owned()]);
        let section_choice = Some(SectionChoice::All);
        let collections =
            CollectionState { section_choice, stale_sections, ..CollectionState::default() };
        let state = SiteState { collections, ..SiteState::default() };
        let read = SiteState::read("o", &state.write()).unwrap();
        assert_eq!(read, SiteState { version: VERSION, ..state });
        assert_eq!(SiteState::read("o", "").unwrap(), SiteState::default());
        assert_eq!(SiteState::read("o", "{").unwrap(), SiteState::default());
        let newer = SiteState::read("o", r#"{"version":2}"#);
        assert!(matches!(newer, Err(SyncError::StateVersion(_))));
    }
}
