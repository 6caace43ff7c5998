//! Reloading: the catalog and the tokens that are in force, and when their files are read again.
//!
//! If a file cannot be read, its previous version stays in force; if the token file is deleted, no
//! token is valid.

use std::sync::Arc;

use crate::monitor::metrics::Metrics;
use crate::settings::SiteSettings;

pub(crate) mod announced;
pub(crate) mod current_catalog;
pub(crate) mod current_tokens;
pub(crate) mod failure;
pub(crate) mod schedule;

use current_catalog::CurrentCatalog;
use current_tokens::CurrentTokens;
use failure::FailureReporter;
use schedule::CheckSchedule;

/// How often the root, `served.json` and the token file are checked for changes, in milliseconds.
pub(crate) const CHECK_INTERVAL: u64 = 250;

/// Whether a file is loaded for the first time. Then no previous version can stay in force, so a
/// missing file is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadAttempt {
    First,
    Again,
}

/// Everything of a site that is reloaded while the site is served.
pub(crate) struct ReloadState {
    pub(crate) catalog: CurrentCatalog,
    pub(crate) tokens: CurrentTokens,
    pub(crate) schedule: CheckSchedule,
    pub(crate) failures: FailureReporter,
}

impl ReloadState {
    pub(crate) fn new(settings: &SiteSettings, metrics: &Arc<Metrics>) -> Self {
        Self {
            catalog: CurrentCatalog::default(),
            tokens: CurrentTokens::new(settings.tokens.as_deref()),
            schedule: CheckSchedule::default(),
            failures: FailureReporter::new(metrics),
        }
    }
}

/// Returns whether an error is temporary and not caused by the file.
fn is_passing(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let passing = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::INTR, Errno::AGAIN, Errno::IO];
    Errno::from_io_error(error).is_some_and(|error| passing.contains(&error))
}
