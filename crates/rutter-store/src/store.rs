//! The interface of a replica, which is the same for a file and for memory.
//!
//! Queries that may return many rows return them in batches. Writes need a [`Lease`], and pages are
//! written only through a [`Staging`]. Uncommitted changes are never visible, and only one process
//! can write a publisher's pages at a time.

use rutter_arc::ArcEntry;
use rutter_page::Timestamp;
use rutter_spxi::Entity;

use crate::error::{
    CommitError, DamagedPage, LeaseError, PageLine, QueryError, StageError, StorageError,
    WriteError,
};
use crate::model::{
    ArcRow, ChangeBatch, ChangeCounts, ChangeCursor, CheckDepth, ClaimedState, CommitOptions,
    CommitSummary, DownloadRecord, HistorySummary, IndexProgress, Lease, PageCount, PagePosition,
    PageRow, PageTotals, Publisher, PublisherId, RemovalCause, SearchResults, Section, Selection,
    StagedPage, StagingOptions, Tombstone, Validator, WithheldReason,
};
use crate::records::SiteRecords;
use crate::words::SearchQuery;

/// A replica: queries, leases and writes.
///
/// All methods may be called concurrently from several threads. Queries never wait for a staging.
pub trait Store: SiteRecords + Send + Sync {
    /// Returns all publishers, in the order in which they were added.
    fn publishers(&self) -> Result<Vec<Publisher>, QueryError>;

    /// Returns the publisher with exactly this origin; aliases are not compared.
    fn publisher(&self, origin: &str) -> Result<Option<Publisher>, QueryError>;

    /// Returns the sections of a publisher, sorted by name.
    fn sections(&self, publisher: PublisherId) -> Result<Vec<Section>, QueryError>;

    /// Returns the names of the sections of a publisher that contain a page, sorted.
    fn sections_of(&self, publisher: PublisherId, key: &str) -> Result<Vec<String>, QueryError>;

    /// Returns the page with this key. If several publishers have the page, returns that of the
    /// publisher whose origin matches the key, otherwise that of the first publisher.
    fn page(&self, key: &str) -> Result<Option<PageRow>, QueryError>;

    /// Returns the line of a page, after verifying that it matches the digest; `None` if the page
    /// is withheld or unknown.
    fn line(&self, key: &str) -> Result<Option<String>, QueryError>;

    /// Returns at most `most` pages after the position `after`, sorted by publisher and key. One
    /// call returns at most 100,000 pages. A damaged page record is an error item; the listing
    /// continues after it.
    fn rows(
        &self,
        selection: &Selection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<Result<PageRow, DamagedPage>>, QueryError>;

    /// Returns pages like [`Store::rows`], but fails at the first damaged page.
    fn list(
        &self,
        selection: &Selection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<PageRow>, QueryError> {
        let rows = self.rows(selection, after, most)?.into_iter();
        rows.map(|row| row.map_err(|damaged| StorageError::from(damaged).into())).collect()
    }

    /// Returns pages with their lines, each verified against its digest. Withheld pages are
    /// skipped.
    ///
    /// A batch may have fewer than `most` pages if their lines are long; only an empty batch means
    /// that the listing has ended.
    fn lines(
        &self,
        selection: &Selection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<PageLine>, QueryError>;

    /// Returns at most `most` removed pages of a publisher, sorted by key.
    fn tombstones(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Tombstone>, QueryError>;

    /// Returns the record of a removed page. If several publishers had the page, returns that of
    /// the publisher whose origin matches the key.
    fn tombstone(&self, key: &str) -> Result<Option<Tombstone>, QueryError>;

    /// Returns the number of pages of a publisher, by source and withheld reason. The cost is O(n)
    /// in pages.
    fn page_counts(&self, publisher: PublisherId) -> Result<Vec<PageCount>, QueryError>;

    /// Returns consistent page totals of a publisher; `None` if the publisher is unknown.
    fn page_totals(&self, publisher: PublisherId) -> Result<Option<PageTotals>, QueryError>;

    /// Returns at most `most` changes after a cursor; without a cursor, from the beginning of the
    /// history.
    fn changes_since(
        &self,
        cursor: Option<ChangeCursor>,
        most: usize,
    ) -> Result<ChangeBatch, QueryError>;

    /// Returns the number of changes of a publisher after a cursor, by kind.
    fn change_counts_since(
        &self,
        publisher: PublisherId,
        cursor: ChangeCursor,
    ) -> Result<ChangeCounts, QueryError>;

    /// Returns the cursor at the end of the history.
    fn cursor(&self) -> Result<ChangeCursor, QueryError>;

    /// Returns the extent of the history.
    fn history(&self) -> Result<HistorySummary, QueryError>;

    /// Returns the ARC entry of a page.
    fn arc_entry(&self, key: &str) -> Result<Option<ArcRow>, QueryError>;

    /// Returns at most `most` ARC entries of a publisher after `after`, sorted by key.
    fn arc_entries(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<ArcRow>, QueryError>;

    /// Returns the keys of pages whose ARC entry denies consent.
    fn arc_forbidden(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<String>, QueryError>;

    /// Returns the entities of a publisher, in the order of its SPXI index.
    fn entities(&self, publisher: PublisherId) -> Result<Vec<Entity>, QueryError>;

    /// Returns the stored validator of the file at a URL.
    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError>;

    /// Returns the URL notes of a publisher with the prefix `word`. A URL note is a validator whose
    /// URL starts with a prefix and a colon.
    ///
    /// The notes are sorted by URL and start after the URL `after`, which is given without the
    /// prefix. A damaged note is an error item.
    fn url_notes(
        &self,
        publisher: PublisherId,
        word: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<Validator, DamagedPage>>, QueryError>;

    /// Returns the download records of a publisher, newest first.
    fn downloads(
        &self,
        publisher: PublisherId,
        most: usize,
    ) -> Result<Vec<DownloadRecord>, QueryError>;

    /// Returns the pages that contain all words of a query, best match first. If no page contains
    /// all of them, searches for corrected words, then for fewer words.
    ///
    /// The search finds only pages that [`Store::index`] has indexed, and never a removed page.
    fn search(&self, query: &SearchQuery, most: usize) -> Result<SearchResults, QueryError>;

    /// Searches the pages of one publisher; see [`Store::search`].
    fn search_of(
        &self,
        publisher: PublisherId,
        query: &SearchQuery,
        most: usize,
    ) -> Result<SearchResults, QueryError>;

    /// Returns the number of events that are not in the full-text index yet; `None` if there is no
    /// complete index.
    fn unindexed(&self) -> Result<Option<u64>, QueryError>;

    /// Checks the replica and returns a description of each problem.
    fn check(&self, depth: CheckDepth) -> Result<Vec<String>, QueryError>;

    /// Adds a publisher, or updates its policy and aliases. Existing aliases are kept if `aliases`
    /// is empty.
    fn register(
        &self,
        origin: &str,
        aliases: &[&str],
        policy: &str,
    ) -> Result<PublisherId, WriteError>;

    /// Acquires the lease of a publisher, the exclusive right to write its pages.
    ///
    /// A lease is taken over if it has expired, or if its holder is a process of this machine that
    /// has exited.
    fn lease(
        &self,
        publisher: PublisherId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Lease, LeaseError>;

    /// Extends a lease until a later time.
    fn renew(&self, lease: &Lease, until: Timestamp) -> Result<(), LeaseError>;

    /// Releases a lease. Has no effect if the lease was lost.
    fn release(&self, lease: Lease) -> Result<(), LeaseError>;

    /// Opens a staging. Dropping the staging discards its changes.
    fn stage<'s>(
        &'s self,
        lease: &Lease,
        begin: StagingOptions<'_>,
    ) -> Result<Box<dyn Staging + 's>, StageError>;

    /// Deletes the content of pages without a staging, for a site that withdrew its consent without
    /// publishing a collection. Returns the number of pages that had content.
    fn withhold(
        &self,
        lease: &Lease,
        pages: &[(&str, WithheldReason)],
        now: Timestamp,
    ) -> Result<u64, WriteError>;

    /// Replaces all ARC entries of a publisher.
    fn replace_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError>;

    /// Applies an ARC delta: a tombstone removes the stored entry, any other entry replaces it
    /// (D60).
    fn merge_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError>;

    /// Replaces all entities of a publisher.
    fn replace_entities(&self, lease: &Lease, entities: &[Entity]) -> Result<(), WriteError>;

    /// Stores the validator of a file.
    fn store_validator(&self, lease: &Lease, validator: &Validator) -> Result<(), WriteError>;

    /// Stores several validators, in one transaction if the store has transactions.
    fn store_validators(&self, lease: &Lease, validators: &[Validator]) -> Result<(), WriteError> {
        validators.iter().try_for_each(|validator| self.store_validator(lease, validator))
    }

    /// Deletes URL notes of a publisher; each URL in `marks` starts with the prefix of its note.
    fn delete_url_notes(&self, lease: &Lease, marks: &[String]) -> Result<(), WriteError>;

    /// Records a download that was not committed.
    fn record_download(&self, lease: &Lease, taken: &DownloadRecord) -> Result<(), WriteError>;

    /// Sets the time until which a sync sends no requests to a publisher; `None` ends the pause.
    fn pause(&self, lease: &Lease, until: Option<Timestamp>) -> Result<(), WriteError>;

    /// Deletes a publisher with all of its data, including the lease.
    fn forget(&self, lease: Lease, now: Timestamp) -> Result<(), WriteError>;

    /// Adds at most `most` pages to the full-text index.
    fn index(&self, most: u64) -> Result<IndexProgress, WriteError>;

    /// Deletes the history, the tombstones, and the validators and URL notes of removed pages from
    /// before `oldest`, and returns free space to the file system.
    fn maintain(&self, oldest: Timestamp) -> Result<(), WriteError>;
}

/// Uncommitted changes to one section of one publisher.
///
/// [`Staging::commit`] makes all changes visible at once.
pub trait Staging {
    /// Adds a page; returns an error if the publisher would exceed its quota of pages.
    fn add(&mut self, item: &StagedPage<'_>) -> Result<(), StageError>;

    /// Removes a page from the section when the staging is committed.
    fn remove(&mut self, key: &str, cause: RemovalCause) -> Result<(), StageError>;

    /// Stops following another section of the publisher: the commit deletes that section, and its
    /// pages that are in no other section.
    fn unfollow(&mut self, section: &str) -> Result<(), StageError>;

    /// Computes the expected result of a commit without committing. `claim` is
    /// [`CommitOptions::claim`].
    fn preview(&mut self, claim: Option<&ClaimedState>) -> Result<CommitSummary, StageError>;

    /// Commits all changes in one transaction.
    fn commit(self: Box<Self>, finish: &CommitOptions) -> Result<CommitSummary, CommitError>;
}
