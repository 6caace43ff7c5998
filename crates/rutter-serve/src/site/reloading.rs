//! Puts new versions of `served.json`, the tokens and the root directory in force.

use std::sync::Arc;

use tracing::info;

use crate::admission::token::Tokens;
use crate::reload::LoadAttempt;
use crate::reload::failure::SiteError;
use crate::resolve::catalog::CatalogError;
use crate::site::Site;

/// Which files changed and must be reloaded.
#[derive(Debug, Clone, Copy)]
struct ChangedFiles {
    catalog: bool,
    tokens: bool,
}

impl Site {
    /// Reloads `served.json` and the tokens. If a file cannot be read, its previous version stays
    /// in force. If the token file was deleted, no token is valid.
    pub fn reload(&self) -> Result<(), SiteError> {
        let result = self.load(LoadAttempt::Again);
        self.0.metrics.reloaded(result.is_ok());
        info!(is_loaded = result.is_ok(), "reload requested");
        result
    }

    /// Calls `tell` if a changed file cannot be loaded, once per failure. Only the first callback
    /// is used.
    pub fn on_failed_reload(&self, tell: impl Fn(&SiteError) + Send + Sync + 'static) {
        self.0.reload.failures.set_callback(Box::new(tell));
    }

    pub(super) fn load(&self, attempt: LoadAttempt) -> Result<(), SiteError> {
        self.0.resolver.root().reopen();
        let catalog = self.load_catalog(attempt);
        let tokens = self.0.reload.tokens.load(attempt);
        match (catalog, tokens) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(error), Ok(())) => Err(error.into()),
            (Ok(()), Err(error)) => Err(error.into()),
            (Err(one), Err(other)) => Err(SiteError::Both(one, other)),
        }
    }

    fn load_catalog(&self, attempt: LoadAttempt) -> Result<(), CatalogError> {
        let loaded = self.0.reload.catalog.load(&self.0.settings, attempt)?;
        let Some(catalog) = loaded else { return Ok(()) };
        if catalog.has_collections()
            && let Some(monitor) = &self.0.listeners.monitor
        {
            monitor.expect_collections();
        }
        self.0.resolver.clear_pending();
        self.0.cache.clear();
        Ok(())
    }

    /// Returns the tokens in force, after a check whether the token file changed.
    pub(super) fn checked_tokens(&self) -> Option<Arc<Tokens>> {
        let reload = &self.0.reload;
        if let Some(result) = reload.tokens.check(self.clock()) {
            reload.failures.report_tokens(result);
        }
        reload.tokens.get()
    }

    /// Checks at intervals whether the root, `served.json` or the tokens changed.
    pub(crate) fn check_for_changes(&self, now: u64) {
        let reload = &self.0.reload;
        if !reload.schedule.is_due(now) {
            return;
        }
        let root = self.0.resolver.root();
        let is_moved = !root.is_current();
        if is_moved {
            root.reopen();
            self.0.cache.clear();
        }
        let changed = ChangedFiles {
            catalog: reload.catalog.has_changed(&self.0.settings) || is_moved,
            tokens: reload.tokens.has_changed(),
        };
        if !(changed.catalog || changed.tokens) {
            return;
        }
        let Some(permit) = reload.schedule.try_load() else { return };
        // Reading a large file takes long, so the reload runs on its own thread.
        let site = self.clone();
        let work = move || {
            site.reload_changed(changed);
            drop(permit);
        };
        // If no thread can be started, the next check tries again.
        drop(std::thread::Builder::new().name("reload".to_owned()).spawn(work));
    }

    /// Reloads only the files that changed.
    fn reload_changed(&self, changed: ChangedFiles) {
        let failures = &self.0.reload.failures;
        if changed.catalog {
            failures.report_catalog(self.load_catalog(LoadAttempt::Again));
        }
        if changed.tokens {
            failures.report_tokens(self.0.reload.tokens.load(LoadAttempt::Again));
        }
    }
}
