//! What a sync stores for the next sync of the site: in the replica and in the spool directory.

pub(crate) mod delivered_pages;
pub(crate) mod lease_guard;
pub(crate) mod site_state;
pub(crate) mod spool_dir;
pub(crate) mod training_terms;
pub(crate) mod url_note;
pub(crate) mod url_set;
