//! The SCP 0.1 container, both sides.
//!
//! [`Reader`] takes a collection apart in constant memory and ends in a
//! [`Receipt`], the only proof that it verified. [`Writer`] puts one together
//! so that the same pages give the same bytes. [`merge`] holds the rules by
//! which replicas are kept, as pure functions; [`diff`] and [`apply`] use them
//! on files. [`advert`] is what a sitemap says about collections.
//!
//! Refuses: to vouch for what was not read to its end, and to write what
//! readers must refuse.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

pub mod advert;
mod apply;
mod batch;
mod codec;
mod cursor;
mod diff;
mod error;
mod excise;
mod feed;
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

pub use apply::{Applied, Applying, Fate, MassDeletion, apply, collection_id};
pub use codec::{Coding, decoded};
pub use cursor::{Input, Opener, Order};
pub use diff::{Change, Difference, MergeError, diff};
pub use error::{ReadError, WriteError};
pub use hash::Form;
pub use header::{Chain, Header, Kind, Version, is_name};
pub use identity::identifying_checksum;
pub use limits::Limits;
pub use lines::{Lent, Lines, Record, Tally};
pub use pack::{Empty, Packing, canonical, pack};
pub use reader::{Options, Reader, Receipt, Threads};
pub use sort::{Entry, Sorted, Sorter};
pub use state::State;
pub use writer::{Spooled, Target, Track, Writer, Written, folder_of};
