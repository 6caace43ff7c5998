//! Cache of a discovery run, which the caller stores for the next run.
//!
//! Input: the files that a run requested. Output: the validators and the parsed content of
//! these files. An entry with a request time in the future counts as outdated.

use std::collections::{BTreeMap, BTreeSet};

use rutter_fetch::{MissingPageProbe, RobotsFile, Validators};
use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};

use crate::discover::parsed_file::ParsedFile;

/// Age in seconds after which files at default paths are requested again.
const RECHECK_AFTER: i64 = 7 * 86_400;

/// Files of a site as earlier discovery runs parsed them, with their validators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DiscoveryCache {
    /// Cached files by URL.
    pub files: BTreeMap<String, CachedFile>,
    /// Time of the last probe, and how the host answered that request for a URL that does
    /// not exist.
    pub probe: Option<(Timestamp, MissingPageProbe)>,
    /// The robots.txt file of the site.
    pub robots: Option<RobotsFile>,
    /// URLs that the caller requests itself. Discovery sends no request for these URLs and
    /// takes their content from `files`.
    #[serde(skip)]
    pub fetched_by_caller: BTreeSet<String>,
}

/// One file of a site in the cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CachedFile {
    /// When the file was last requested.
    #[serde(rename = "asked")]
    pub requested: Timestamp,
    /// Validators for a conditional request.
    pub validators: Validators,
    /// The parsed content; `None` if the URL had no usable file.
    #[serde(rename = "said")]
    pub parsed: Option<ParsedFile>,
}

impl CachedFile {
    /// Returns whether the file was requested within the last week.
    pub(crate) fn is_recent(&self, now: Timestamp) -> bool {
        is_recent(self.requested, now)
    }
}

/// Returns whether the time `requested` is within the week before `now`. A time in the
/// future is not recent.
pub(crate) fn is_recent(requested: Timestamp, now: Timestamp) -> bool {
    (0..RECHECK_AFTER).contains(&now.seconds_since(requested))
}
