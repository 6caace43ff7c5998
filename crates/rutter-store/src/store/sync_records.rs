//! What a sync stores for its next run: validators and URL notes.

use crate::error::{DamagedPage, QueryError, WriteError};
use crate::model::{Lease, PublisherId, Validator};

/// Reads and writes what a sync stores about URLs.
pub trait SyncRecords {
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

    /// Stores the validator of a file.
    fn store_validator(&self, lease: &Lease, validator: &Validator) -> Result<(), WriteError>;

    /// Stores several validators, in one transaction if the store has transactions.
    fn store_validators(&self, lease: &Lease, validators: &[Validator]) -> Result<(), WriteError> {
        validators.iter().try_for_each(|validator| self.store_validator(lease, validator))
    }

    /// Deletes URL notes of a publisher; each URL in `marks` starts with the prefix of its note.
    fn delete_url_notes(&self, lease: &Lease, marks: &[String]) -> Result<(), WriteError>;
}
