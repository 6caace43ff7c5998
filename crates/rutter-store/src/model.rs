//! The data types of a replica.
//!
//! A [`Store`](crate::Store) returns them from queries, and a sync passes them to a
//! [`Staging`](crate::Staging).

/// Defines an enumeration; the database stores its values by name.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $( $(#[$about:meta])* $value:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$about])* $value, )* }

        impl $name {
            /// All values of the enumeration.
            pub const ALL: &[Self] = &[ $( Self::$value, )* ];

            /// Returns the name under which the database stores the value.
            pub fn word(self) -> &'static str {
                match self { $( Self::$value => $word, )* }
            }

            /// Returns the value with this name; `None` if the name is unknown.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

mod history;
mod page;
mod search;
mod site;
mod staging;
mod url;

pub use history::{
    Change, ChangeBatch, ChangeCounts, ChangeCursor, ChangeKind, HistorySummary, RemovalCause,
    Tombstone,
};
pub use page::{
    ArcRow, DamagedPage, PageCount, PagePosition, PageRow, PageSelection, PageSource, PageTotals,
    WithheldReason,
};
pub use search::{CheckDepth, IndexProgress, MatchKind, SearchHit, SearchResults};
pub use site::{Lease, Publisher, PublisherId, Section};
pub use staging::{
    ClaimedState, CommitOptions, CommitSummary, DownloadRecord, Quota, StagedPage, StagingMode,
    StagingOptions, continues_section,
};
pub use url::{Expiry, NoteKind, NoteValue, ResponseValidators, UrlNote, UrlRecords, Validator};
