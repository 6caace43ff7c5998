//! Reads, writes, compares and merges SCP 0.1 collections.
//!
//! [`CollectionReader`] reads a collection in constant memory; a [`ReadReceipt`] proves that the
//! whole file was verified. [`CollectionWriter`] writes one, and the same pages always give the
//! same bytes. [`merge`] holds the merge rules as pure functions; [`diff`] and [`apply`] run them
//! on files. [`advert`] reads and writes the `scp:` elements of a sitemap.
//!
//! Rejects files that cannot be read to their end, and never writes a file that readers must
//! reject.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

pub mod advert;
mod apply;
mod batch;
mod batch_source;
mod checksum_span;
mod codec;
mod cursor;
mod diff;
mod error;
mod hash;
mod header;
mod identity;
mod limits;
mod lines;
pub mod merge;
mod pack;
mod reader;
pub mod rules;
mod sort;
mod spool;
mod state;
mod writer;

pub use apply::{
    ApplyOptions, ApplySummary, DeltaOutcome, MassDeletionPolicy, apply, collection_id,
};
pub use codec::{Coding, decoded};
pub use cursor::{CollectionInput, CollectionOpener, InputOrder};
pub use diff::{MergeError, PageChange, SnapshotDiff, diff};
pub use error::{ReadError, WriteError};
pub use hash::ChecksumForm;
pub use header::{CollectionHeader, CollectionKind, FormatVersion, StateChain, is_name};
pub use identity::identifying_checksum;
pub use limits::Limits;
pub use lines::{LineReader, PageBatch, PageRecord, ReadCounts};
pub use pack::{EmptyInputPolicy, PackOptions, canonical, pack};
pub use reader::{CollectionReader, ReadOptions, ReadReceipt, ReaderThreads};
pub use sort::{KeyedLine, LineSorter, SortedLines};
pub use state::SectionState;
pub use writer::{
    CollectionWriter, OutputTarget, SpooledPages, StateTracking, WrittenCollection, parent_folder,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
