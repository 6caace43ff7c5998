//! The parts of a staging: its parameters, and what was added so far.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::RandomState;

use rutter_page::Timestamp;
use rutter_scp::SectionState;

use crate::model::{CommitSummary, PageSource, Quota, RemovalCause, StagingMode};
use crate::sqlite::body::Dictionary;
use crate::sqlite::pipeline::CompressionPipeline;
use crate::sqlite::rows::{PageIdSet, StagedRow};
use crate::sqlite::train::DictionaryTraining;

/// The parameters of a staging; see [`StagingOptions`].
pub(super) struct StagingParameters {
    pub(super) name: String,
    pub(super) mode: StagingMode,
    pub(super) generated: Timestamp,
    pub(super) source: PageSource,
    pub(super) quota: Quota,
    pub(super) now: Timestamp,
}

/// The stored pages of the publisher, and the staged ones.
#[derive(Default)]
pub(super) struct PublisherTotals {
    /// Whether the publisher had pages when the staging was opened.
    pub(super) has_pages: bool,
    /// Number of pages of the publisher, and size of their bodies, including the staged pages.
    pub(super) pages: u64,
    pub(super) bytes: u64,
}

/// The pages that were added so far.
#[derive(Default)]
pub(super) struct AddedPages {
    pub(super) seen: PageIdSet,
    /// `modified` of staged versions that are older than the stored version, by page id. Such
    /// versions occur only if sections overlap.
    pub(super) behind: HashMap<i64, Timestamp>,
    pub(super) hasher: RandomState,
    /// Hashes of all added keys, to detect duplicates.
    pub(super) keys: HashSet<u64>,
}

/// Rows that are not visible yet: to be compressed, in memory, or in the file.
#[derive(Default)]
pub(super) struct RowBuffer {
    pub(super) fresh: Vec<StagedRow>,
    pub(super) fresh_bytes: usize,
    pub(super) pipeline: CompressionPipeline,
    pub(super) held: BTreeMap<String, StagedRow>,
    pub(super) held_bytes: usize,
    /// Whether some staged rows were already written to the file.
    pub(super) is_spilled: bool,
    /// Size of the staged bodies, in bytes.
    pub(super) staged_bytes: u64,
}

/// The compression dictionary of the publisher.
#[derive(Default)]
pub(super) struct StagingDictionary {
    pub(super) current: Option<Dictionary>,
    /// Whether the publisher has no dictionary of its own yet.
    pub(super) is_untrained: bool,
    pub(super) training: Option<DictionaryTraining>,
}

/// What a commit changes.
pub(super) struct StagedChanges {
    pub(super) removed: BTreeMap<String, RemovalCause>,
    pub(super) unfollowed: Vec<String>,
    pub(super) tally: CommitSummary,
    /// Number of staged pages that were not in the section.
    pub(super) joined: u64,
    /// The contribution of the staged pages to the state of the section.
    pub(super) state: SectionState,
}
