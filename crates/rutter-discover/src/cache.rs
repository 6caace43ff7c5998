//! Cache of a discovery run, kept for the next run.
//!
//! Input: the files that a run requested. Output: their validators and parsed content,
//! which the caller stores. Entries with a time in the future are not trusted.

use std::collections::{BTreeMap, BTreeSet};

use rutter_fetch::{MissingPageProbe, RobotsFile, Validators};
use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};

use crate::parsed_file::ParsedFile;

/// Age in seconds after which files at default paths are requested again.
const RECHECK_AFTER: i64 = 7 * 86_400;

/// What earlier runs found out about a site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DiscoveryCache {
    /// Files by URL.
    pub files: BTreeMap<String, CachedFile>,
    /// How the host answers a URL that does not exist, and when that was probed.
    pub probe: Option<(Timestamp, MissingPageProbe)>,
    /// The robots.txt file.
    pub robots: Option<RobotsFile>,
    /// URLs that the caller requests itself. Discovery takes their content from `files` and
    /// sends no request for them.
    #[serde(skip)]
    pub fetched_by_caller: BTreeSet<String>,
}

/// One cached file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CachedFile {
    /// When the file was last requested.
    #[serde(rename = "asked")]
    pub requested: Timestamp,
    /// Validators for a conditional request.
    pub validators: Validators,
    /// The parsed content; `None` if there was no usable file.
    #[serde(rename = "said")]
    pub parsed: Option<ParsedFile>,
}

impl CachedFile {
    /// Returns whether the file was requested within the last week.
    pub(crate) fn is_recent(&self, now: Timestamp) -> bool {
        is_recent(self.requested, now)
    }
}

/// Returns whether `requested` is within the last week. A time in the future is not.
pub(crate) fn is_recent(requested: Timestamp, now: Timestamp) -> bool {
    (0..RECHECK_AFTER).contains(&now.seconds_since(requested))
}
