//! What a sync stores for its next run: the state of the site, validators and URL notes.

use crate::error::{QueryError, WriteError};
use crate::model::DamagedPage;
use crate::model::{Lease, NoteKind, PublisherId, UrlNote, UrlRecords, Validator};

/// Reads and writes what a sync stores for the next sync of a site.
pub trait SyncRecords {
    /// Returns the state of a site, as the last sync stored it. The replica does not interpret the
    /// text.
    fn site_state(&self, publisher: PublisherId) -> Result<Option<String>, QueryError>;

    /// Stores the state of a site. Needs no lease, because an audit stores it, too.
    fn store_site_state(&self, publisher: PublisherId, state: &str) -> Result<(), WriteError>;

    /// Returns the stored validator of the file at a URL.
    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError>;

    /// Returns the note of one kind about a URL.
    fn url_note(&self, kind: NoteKind, url: &str) -> Result<Option<UrlNote>, QueryError>;

    /// Returns at most `most` notes of one kind about URLs of a publisher, sorted by URL, from the
    /// first URL after `after`. A damaged note is an error item.
    fn url_notes(
        &self,
        publisher: PublisherId,
        kind: NoteKind,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<UrlNote, DamagedPage>>, QueryError>;

    /// Stores validators and notes; either all or none.
    fn store_url_records(&self, lease: &Lease, records: &UrlRecords) -> Result<(), WriteError>;

    /// Deletes the notes of one kind about URLs of a publisher.
    fn delete_url_notes(
        &self,
        lease: &Lease,
        kind: NoteKind,
        urls: &[String],
    ) -> Result<(), WriteError>;
}
