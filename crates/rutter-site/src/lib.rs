//! The state of a built site on disk, shared by the programs that build, check and serve it.
//!
//! Input and output: the files in the state folder (`.rutter`), and the marks in the files that Rutter publishes. Each
//! file has one schema with a version: `docs/formats.md` describes them. A file of a newer version and a damaged file
//! are rejected; a missing cache counts as empty.
//!
//! | file | type |
//! |---|---|
//! | `ledger.tsv` | [`LedgerReader`], [`LedgerWriter`], [`LedgerRow`] |
//! | `chain.json` | [`Publication`] |
//! | `templates.json` | [`load_templates`], [`save_templates`] |
//! | `pages.pack` | [`PageCacheReader`], [`PageCacheWriter`], [`PageRecord`]; [`load_cached_pages`] for checks |
//! | `files.tsv` | [`Manifest`], [`ManifestWriter`] |
//! | `served.json` | [`read_served`], [`ServedFileWriter`], [`ServedEntry`] |
//! | `told.jsonl` | [`FindingsLogWriter`], [`for_each_finding`] |
//! | `journal.json` | [`Journal`], [`JournalDraft`]; [`recover`] completes an interrupted publication |
//! | `sitemaps/` | [`SitemapCopies`] |

mod arc;
mod cached_pages;
mod error;
mod exclusion;
pub mod file_marks;
mod findings_log;
pub mod head_links;
mod journal;
mod ledger;
mod lock;
mod manifest;
pub mod marked_block;
mod page_cache;
mod paths;
mod publication;
mod recovery;
mod sections;
mod served;
mod sitemaps;
mod templates;

pub use arc::{ArcEntryVersion, ArcFields, ArcPublication, NO_ARC_ENTRY};
pub use cached_pages::{CachedPage, is_built_into, load_cached_pages};
pub use error::StateError;
pub use exclusion::ExclusionReason;
pub use findings_log::{FindingsLogWriter, for_each_finding};
pub use journal::{Journal, JournalDraft, sync_folder};
pub use ledger::{
    DateSource, LedgerReader, LedgerRow, LedgerWriter, REMEMBERED_DAYS, UNKNOWN_DIGEST, Visibility,
};
pub use lock::StateLock;
pub use manifest::{
    FileRecord, Manifest, ManifestWriter, Owner, digest_of, digest_of_file, time_of,
};
pub use page_cache::{
    CacheEntry, CacheIndexReader, CacheKey, PageCacheReader, PageCacheWriter, PageMetadata,
    PageRecord, VisibilityKey, WithheldPage,
};
pub use paths::{StatePaths, absolute_path, copy_atomically, remove_folder};
pub use publication::{EncodedFile, Publication, PublishedCollection, SitemapPart};
pub use recovery::{STAGING_FOLDER, recover, remove_remote_stage, roll_forward};
pub use sections::{ALL, MAIN, Sections, is_below};
pub use served::{
    CacheClass, FileAccess, SERVED_REVISION, SERVED_VERSION, ServedEntry, ServedError,
    ServedFileWriter, ServedHeader, TakeServed, is_served_intact, read_served,
};
pub use sitemaps::{
    SitemapCopies, SitemapFile, is_gzip, is_marked_sitemap, may_be_own_sitemap, open_sitemap,
};
pub use templates::{LearnedTemplates, load_learned_templates, load_templates, save_templates};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
