//! Resolution: from the path of a request to open files and the facts about them.
//!
//! Input: a path, the catalog, the root directory. Output: open files with media type, coding, digest
//! and restriction.

pub(crate) mod announced;
pub(crate) mod catalog;
pub(crate) mod charset;
pub(crate) mod compress;
pub(crate) mod facts;
pub(crate) mod kind;
pub(crate) mod lookup;
pub(crate) mod path;
pub(crate) mod root_dir;
