//! Queries about sites: publishers, sections, ARC entries, entities and downloads.

use rutter_spxi::Entity;

use crate::error::QueryError;
use crate::model::{ArcRow, DownloadRecord, Publisher, PublisherId, Section};

/// Reads what a replica stores about sites, apart from their pages.
pub trait SiteQueries {
    /// Returns all publishers, in the order in which they were added.
    fn publishers(&self) -> Result<Vec<Publisher>, QueryError>;

    /// Returns the publisher with exactly this origin; aliases are not compared.
    fn publisher(&self, origin: &str) -> Result<Option<Publisher>, QueryError>;

    /// Returns the sections of a publisher, sorted by name.
    fn sections(&self, publisher: PublisherId) -> Result<Vec<Section>, QueryError>;

    /// Returns the names of the sections of a publisher that contain a page, sorted.
    fn sections_of(&self, publisher: PublisherId, key: &str) -> Result<Vec<String>, QueryError>;

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

    /// Returns the download records of a publisher, newest first.
    fn downloads(
        &self,
        publisher: PublisherId,
        most: usize,
    ) -> Result<Vec<DownloadRecord>, QueryError>;
}
