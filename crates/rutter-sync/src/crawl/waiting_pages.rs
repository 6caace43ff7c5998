//! Pages that wait for their canonical page.

use std::collections::BTreeMap;

use crate::crawl::worker_pool::PossibleAlias;

/// Maximum number, and maximum size in bytes, of the pages that wait for a canonical page.
pub(super) const MOST: usize = 1_000;

pub(super) const MOST_BYTES: usize = 16 << 20;

/// Pages that wait for their canonical page.
#[derive(Debug, Default)]
pub(super) struct WaitingPages {
    pub(super) pages: BTreeMap<String, Box<PossibleAlias>>,
    /// Size of the lines of these pages, in bytes.
    pub(super) bytes: usize,
}
