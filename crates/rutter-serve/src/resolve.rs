//! Resolution: from the path of a request to open files and the facts about them.
//!
//! Input: a path, the catalog, the root directory. Output: open files with media type, coding, digest
//! and restriction.

pub(crate) mod catalog;
pub(crate) mod charset;
pub(crate) mod compress;
pub(crate) mod error;
pub(crate) mod facts;
pub(crate) mod inspect;
pub(crate) mod kind;
pub(crate) mod locate;
pub(crate) mod path;
pub(crate) mod pending;
pub(crate) mod resolver;
pub(crate) mod root_dir;
