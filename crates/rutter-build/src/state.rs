//! The state of the last build: loaded, or rebuilt from published files.

pub(crate) mod rebuild;
pub(crate) mod saved_state;
