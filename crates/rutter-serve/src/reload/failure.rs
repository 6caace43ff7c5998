//! Reports failed reloads, each failure once.

use std::error::Error;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::admission::token::TokenError;
use crate::monitor::metrics::Metrics;
use crate::resolve::catalog::CatalogError;

/// Why a site could not be opened or reloaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// The catalog could not be loaded.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The tokens could not be loaded.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// Both failed.
    #[error("{0}; {1}")]
    Both(CatalogError, TokenError),
}

/// Callback for failed reloads.
type FailureCallback = Box<dyn Fn(&SiteError) + Send + Sync>;

/// Counts reloads, and calls the callback for new failures.
pub(crate) struct FailureReporter {
    callback: OnceLock<FailureCallback>,
    metrics: Arc<Metrics>,
    /// The last failures, of the catalog and of the tokens.
    catalog: Mutex<Option<String>>,
    tokens: Mutex<Option<String>>,
}

impl FailureReporter {
    pub(crate) fn new(metrics: &Arc<Metrics>) -> Self {
        Self {
            callback: OnceLock::new(),
            metrics: Arc::clone(metrics),
            catalog: Mutex::default(),
            tokens: Mutex::default(),
        }
    }

    /// Sets the callback, unless there is one.
    pub(crate) fn set_callback(&self, callback: FailureCallback) {
        drop(self.callback.set(callback));
    }

    /// Reports the result of reloading the catalog.
    pub(crate) fn report_catalog(&self, result: Result<(), CatalogError>) {
        self.report(result, &self.catalog);
    }

    /// Reports the result of reloading the tokens.
    pub(crate) fn report_tokens(&self, result: Result<(), TokenError>) {
        self.report(result, &self.tokens);
    }

    fn report<E: Error + Into<SiteError> + 'static>(
        &self,
        result: Result<(), E>,
        last: &Mutex<Option<String>>,
    ) {
        self.metrics.reloaded(result.is_ok());
        let failure = result.as_ref().err().map(|error| rutter_finding::error_chain(error));
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = std::mem::replace(&mut *last, failure.clone()) == failure;
        drop(last);
        if let (Err(error), false, Some(callback)) = (result, is_known, self.callback.get()) {
            callback(&error.into());
        }
    }
}
