//! The seam: what every replica can do, whatever it is made of.
//!
//! Reading is a question with one answer, in pieces where it may be long.
//! Writing needs a [`Lease`], and pages come in by a [`Staging`] only.
//!
//! Refuses: to show what was not committed, to let two write one publisher.

use rutter_arc::Entry;
use rutter_page::Timestamp;
use rutter_spxi::Entity;

use crate::error::{
    CommitError, DamagedPage, LeaseError, PageLine, QueryError, StageError, Storage, WriteError,
};
use crate::model::{
    After, ArcRow, Begin, Cause, Census, Changes, Claim, Cursor, Depth, Finish, Found, Happened,
    History, Indexed, Item, Lease, Outlook, PageRow, PageTotals, Publisher, PublisherId, Section,
    Selection, Taken, Tombstone, Validator, Withheld,
};
use crate::records::SiteRecords;
use crate::words::Query;

/// A replica.
///
/// All methods may be called from several threads at once; no question waits
/// for a staging.
pub trait Store: SiteRecords + Send + Sync {
    /// All publishers, in the order they came.
    fn publishers(&self) -> Result<Vec<Publisher>, QueryError>;

    /// The publisher of exactly this origin. One that has it among its aliases
    /// is another.
    fn publisher(&self, origin: &str) -> Result<Option<Publisher>, QueryError>;

    /// The sections of a publisher, by name.
    fn sections(&self, publisher: PublisherId) -> Result<Vec<Section>, QueryError>;

    /// Names of the sections of a publisher that have a page, in order.
    fn sections_of(&self, publisher: PublisherId, key: &str) -> Result<Vec<String>, QueryError>;

    /// A page by its key. Where two publishers claim it, the one whose origin
    /// it has; else the first.
    fn page(&self, key: &str) -> Result<Option<PageRow>, QueryError>;

    /// The line of a page, compared with its digest; `None` where it is withheld or not here.
    fn line(&self, key: &str) -> Result<Option<String>, QueryError>;

    /// Pages by publisher and key, behind `after`, at most so many, and never
    /// more than 100,000 in one piece. A page whose record is damaged is an
    /// error in its place; those behind it follow.
    fn rows(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
        most: usize,
    ) -> Result<Vec<Result<PageRow, DamagedPage>>, QueryError>;

    /// The same; the first damaged page is the error.
    fn list(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
        most: usize,
    ) -> Result<Vec<PageRow>, QueryError> {
        let rows = self.rows(selection, after, most)?.into_iter();
        rows.map(|row| row.map_err(|damaged| Storage::from(damaged).into())).collect()
    }

    /// The same with lines, each compared with its digest; pages without
    /// content are left out. Where lines are long a piece is shorter; only an
    /// empty one is the end.
    fn lines(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
        most: usize,
    ) -> Result<Vec<PageLine>, QueryError>;

    /// Pages that went away, by key.
    fn tombstones(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Tombstone>, QueryError>;

    /// What is known of a page that went away. Where it is of two publishers,
    /// the one whose origin it has.
    fn tombstone(&self, key: &str) -> Result<Option<Tombstone>, QueryError>;

    /// Pages of a publisher, counted by where they came from and why they are
    /// withheld. Looks at every page.
    fn census(&self, publisher: PublisherId) -> Result<Vec<Census>, QueryError>;

    /// Numbers of pages of a publisher at one moment; `None` where it is not here.
    fn page_totals(&self, publisher: PublisherId) -> Result<Option<PageTotals>, QueryError>;

    /// What happened behind a cursor; from the beginning without one.
    fn changes_since(&self, cursor: Option<Cursor>, most: usize) -> Result<Changes, QueryError>;

    /// How often what happened to pages of a publisher behind a cursor.
    fn happened_since(
        &self,
        publisher: PublisherId,
        cursor: Cursor,
    ) -> Result<Happened, QueryError>;

    /// The end of the history.
    fn cursor(&self) -> Result<Cursor, QueryError>;

    /// How far the history reaches.
    fn history(&self) -> Result<History, QueryError>;

    /// What ARC says of a page.
    fn arc_entry(&self, key: &str) -> Result<Option<ArcRow>, QueryError>;

    /// ARC entries of a publisher by key.
    fn arc_entries(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<ArcRow>, QueryError>;

    /// Keys of pages that ARC closes, without anything else of their entries.
    fn arc_closed(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<String>, QueryError>;

    /// The entities of a publisher, in the order of its index.
    fn entities(&self, publisher: PublisherId) -> Result<Vec<Entity>, QueryError>;

    /// What a server said about a file.
    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError>;

    /// Marks of a publisher: validators whose address begins with a word and a
    /// colon. By address, behind `after` (without the word), at most so many.
    /// A damaged one is an error in its place.
    fn marks(
        &self,
        publisher: PublisherId,
        word: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<Validator, DamagedPage>>, QueryError>;

    /// What was taken from a publisher, newest first.
    fn taken(&self, publisher: PublisherId, most: usize) -> Result<Vec<Taken>, QueryError>;

    /// Pages with all words of a query, best first; with corrected or fewer
    /// words where no page has all of them.
    ///
    /// Sees what [`Store::index`] has seen, and never a page that is gone.
    fn search(&self, query: &Query, most: usize) -> Result<Found, QueryError>;

    /// The same among the pages of one publisher.
    fn search_of(
        &self,
        publisher: PublisherId,
        query: &Query,
        most: usize,
    ) -> Result<Found, QueryError>;

    /// Events that the full-text index has not seen; `None` where there is no
    /// whole index.
    fn unindexed(&self) -> Result<Option<u64>, QueryError>;

    /// What is wrong with the replica, in words; empty where nothing is.
    fn check(&self, depth: Depth) -> Result<Vec<String>, QueryError>;

    /// Makes a publisher known, or changes what is remembered about it. Where
    /// no aliases are given, those it has stay.
    fn register(
        &self,
        origin: &str,
        aliases: &[&str],
        policy: &str,
    ) -> Result<PublisherId, WriteError>;

    /// Takes the right to write a publisher's pages.
    ///
    /// A lease that ran out is taken over, and so is one whose holder is a
    /// process of this machine that is no more.
    fn lease(
        &self,
        publisher: PublisherId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Lease, LeaseError>;

    /// Keeps a lease for longer.
    fn renew(&self, lease: &Lease, until: Timestamp) -> Result<(), LeaseError>;

    /// Gives a lease back. One that was lost is nobody's loss.
    fn release(&self, lease: Lease) -> Result<(), LeaseError>;

    /// Begins a staging. Dropped, it undoes itself.
    fn stage<'s>(
        &'s self,
        lease: &Lease,
        begin: Begin<'_>,
    ) -> Result<Box<dyn Staging + 's>, StageError>;

    /// Takes the words of pages away at once, because the site took back its
    /// consent without sending a collection. Gives how many had words.
    fn withhold(
        &self,
        lease: &Lease,
        pages: &[(&str, Withheld)],
        now: Timestamp,
    ) -> Result<u64, WriteError>;

    /// Replaces all ARC entries of a publisher.
    fn replace_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = Entry<'_>>,
    ) -> Result<(), WriteError>;

    /// Applies an ARC delta: tombstones remove, others replace (D60).
    fn merge_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = Entry<'_>>,
    ) -> Result<(), WriteError>;

    /// Replaces all entities of a publisher.
    fn replace_entities(&self, lease: &Lease, entities: &[Entity]) -> Result<(), WriteError>;

    /// Remembers what a server said about a file.
    fn remember(&self, lease: &Lease, validator: &Validator) -> Result<(), WriteError>;

    /// The same for many files at once.
    fn remember_all(&self, lease: &Lease, validators: &[Validator]) -> Result<(), WriteError> {
        validators.iter().try_for_each(|validator| self.remember(lease, validator))
    }

    /// Deletes marks of a publisher, each named with its word.
    fn drop_marks(&self, lease: &Lease, marks: &[String]) -> Result<(), WriteError>;

    /// Enters something into the ledger that led to no commit.
    fn note(&self, lease: &Lease, taken: &Taken) -> Result<(), WriteError>;

    /// Says when a publisher may be asked again.
    fn pause(&self, lease: &Lease, until: Option<Timestamp>) -> Result<(), WriteError>;

    /// Forgets a publisher with everything of it, lease included.
    fn forget(&self, lease: Lease, now: Timestamp) -> Result<(), WriteError>;

    /// Brings the full-text index on by at most so many pages.
    fn index(&self, most: u64) -> Result<Indexed, WriteError>;

    /// Drops history and tombstones from before `oldest`, and what was
    /// remembered before of pages that are gone, and gives room back.
    fn maintain(&self, oldest: Timestamp) -> Result<(), WriteError>;
}

/// Pages on their way into one section of one publisher.
///
/// Nothing of it can be seen before [`Staging::commit`], and all of it after.
pub trait Staging {
    /// Adds a page; refuses the first that is beyond the quota of pages.
    fn add(&mut self, item: &Item<'_>) -> Result<(), StageError>;

    /// Takes a page out of the section.
    fn remove(&mut self, key: &str, cause: Cause) -> Result<(), StageError>;

    /// No longer follows another section of the publisher: its memberships go
    /// in the same commit.
    fn unfollow(&mut self, section: &str) -> Result<(), StageError>;

    /// What would come out: a question without consequences. `claim` is that
    /// of [`Finish`].
    fn outlook(&mut self, claim: Option<&Claim>) -> Result<Outlook, StageError>;

    /// Shows everything at once, or nothing.
    fn commit(self: Box<Self>, finish: &Finish) -> Result<Outlook, CommitError>;
}
